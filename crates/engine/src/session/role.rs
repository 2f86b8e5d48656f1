//! Who plays the roles of a workflow: agents in sessions, or something else that answers in their place.

use crate::core::run::{RecordingMode, Run};
use crate::core::{AgentId, CommitId, Failure};
use crate::perform::Work;
use crate::project::Project;
use crate::project::config::Config;
use crate::runs::post::Handed;
use crate::runtime::stop_handle::StopHandle;
use regatta_agents::StopReason;
use regatta_flow::{Node, NodeKind, Workflow};
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;

/// A request to a role: perform the current node of the run.
pub struct RoleRequest<'a> {
    /// The project.
    pub project: &'a Project,
    /// The workflow.
    pub workflow: &'a Workflow,
    /// The run, at that node.
    pub run: &'a Run,
    /// The node.
    pub node: &'a Node,
    /// The name of the role.
    pub role: &'a str,
    /// The prompt of the role, made from the inputs of the node.
    pub prompt: String,
    /// The messages that its prompt ends with.
    pub(crate) handed: Handed,
    pub(crate) stop_handle: &'a StopHandle,
    pub(crate) work: &'a Work,
}

impl RoleRequest<'_> {
    /// Tells whether the role may change files.
    pub(crate) fn writes(&self) -> bool {
        !matches!(self.node.kind, NodeKind::Agent { writes: false, .. })
    }

    /// Tells whether the answer is on a recording, so that no agent is needed.
    pub(crate) fn is_replay(&self) -> bool {
        matches!(self.run.recording, Some(RecordingMode::Replay(_)))
    }
}

/// What a role answered.
#[derive(Debug)]
pub enum RoleOutcome {
    /// Its result, not yet judged.
    Returned(Value),
    /// Its result, and the head of its task's branch.
    Committed(Value, CommitId),
    /// It could not answer.
    Failed(Failure),
    /// It broke off, and its run was paused before it was tried again.
    PutOff,
    /// It was stopped.
    Stopped(StopReason),
}

/// A future of an answer.
pub type Playing<'a> = Pin<Box<dyn Future<Output = Result<RoleOutcome, crate::Error>> + Send + 'a>>;

/// Plays the roles of a run.
pub trait Roles: Send + Sync + 'static {
    /// Tells whether prompts are read; making one costs something.
    fn reads_prompts(&self) -> bool {
        true
    }

    /// Performs a node.
    fn play<'a>(&'a self, ask: RoleRequest<'a>) -> Playing<'a>;
}

/// Finds the agent that plays a role: the one that `[roles]` names, or the one with the role's name.
pub(crate) fn find_player(config: &Config, role: &str) -> Option<AgentId> {
    let own = || config.agents.keys().find(|agent| agent.as_str() == role).cloned();
    config.roles.get(role).cloned().or_else(own)
}
