//! Roles played by the agents of the config: each answer is one session.
//!
//! A node with a task works in the task's worktree, which the run has assigned to it; what the agent leaves uncommitted
//! there is committed. A node without one works in a worktree of its own, which is thrown away afterwards, with a
//! salvage if something was changed in it. It does not choose which node comes next.

pub(crate) mod left;
mod own_worktree;
pub(crate) mod planning;
pub(crate) mod read_only;
pub(crate) mod recording_mode;

use crate::core::{AgentId, Code, Failure, Problem};
use crate::error::Error;
use crate::recording::difference::Difference;
use crate::recording::recorder::{self, Recording};
use crate::runs::{cancelled, trouble};
use crate::session::lifecycle::{End, Finished};
use crate::session::retry;
use crate::session::role::{Playing, RoleOutcome, RoleRequest, Roles, find_player};
use crate::session::roles::planning::Where;
use regatta_agents::StopReason;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Plays roles by sessions of agents, or from the recording of their run; their answers may be recorded on a recording.
#[derive(Debug, Default)]
pub struct AgentRoles {
    /// The recordings that are played, by their folders.
    recordings: Mutex<BTreeMap<String, Arc<Recording>>>,
    differences: Mutex<Vec<Difference>>,
}

impl AgentRoles {
    /// Returns the prompts that differ from the recording, in the order in which they were noticed.
    pub fn differences(&self) -> Vec<Difference> {
        self.differences.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Roles for AgentRoles {
    fn play<'a>(&'a self, ask: RoleRequest<'a>) -> Playing<'a> {
        Box::pin(play(self, ask))
    }
}

async fn play(roles: &AgentRoles, ask: RoleRequest<'_>) -> Result<RoleOutcome, Error> {
    let played = try_to_play(roles, &ask).await?;
    left::end_sessions_after(ask.work, ask.run, &played).await?;
    Ok(played)
}

async fn try_to_play(roles: &AgentRoles, ask: &RoleRequest<'_>) -> Result<RoleOutcome, Error> {
    let agent = match find_agent(ask) {
        Ok(agent) => agent,
        Err(problem) => return Ok(RoleOutcome::Failed(Failure::from(*problem))),
    };
    if let Some(failure) = recording_mode::find_recording_trouble(ask.run)? {
        return Ok(RoleOutcome::Failed(failure));
    }
    match ask.run.find_task() {
        Some(task) => retry::try_until_answered(roles, ask, &agent, Where::OfTask(task)).await,
        None => play_alone(roles, ask, &agent).await,
    }
}

/// Plays in a worktree that is made for the step and thrown away after it.
async fn play_alone(
    roles: &AgentRoles,
    ask: &RoleRequest<'_>,
    agent: &AgentId,
) -> Result<RoleOutcome, Error> {
    let (work, run) = (ask.work, ask.run);
    let worktree = own_worktree::describe(ask.project, run, roles.see_start(ask).await?);
    if let Err(error) = own_worktree::ensure(work, run, &worktree).await {
        return Ok(RoleOutcome::Failed(trouble::of_run(run, error)?));
    }
    let played = retry::try_until_answered(roles, ask, agent, Where::Own(&worktree)).await?;
    // Before the worktree is removed: nobody may be working in it.
    left::end_sessions_after(work, run, &played).await?;
    match own_worktree::remove(work, run, &worktree).await {
        Err(error) if error.is_of_engine() => Err(error),
        // The doctor finds what is left; it is no reason to lose an answer.
        Err(_) | Ok(()) => Ok(played),
    }
}

/// Returns what the run learns of a session.
pub(crate) async fn answer(ask: &RoleRequest<'_>, finished: Finished) -> Result<RoleOutcome, Error> {
    match finished {
        Finished::Left => Ok(RoleOutcome::Stopped(StopReason::Shutdown)),
        Finished::CalledOff(reason) | Finished::Ended(End::Stopped(reason)) => stopped(ask, reason).await,
        Finished::NotStarted(failure) | Finished::Ended(End::Failed(failure)) => {
            Ok(RoleOutcome::Failed(failure))
        }
        Finished::Ended(End::Broke(breakdown)) => Ok(RoleOutcome::Failed(breakdown.failure)),
        Finished::Ended(End::Returned { result, complete: None }) => Ok(RoleOutcome::Returned(result)),
        Finished::Ended(End::Returned { result, complete: Some(complete) }) => {
            Ok(RoleOutcome::Committed(result, complete.diff().head.clone()))
        }
    }
}

/// Says what stopped a role: that its task was cancelled, or something that concerns the whole run.
pub(crate) async fn stopped(ask: &RoleRequest<'_>, reason: StopReason) -> Result<RoleOutcome, Error> {
    let cancelled = match ask.run.find_task() {
        Some(task) => cancelled::find(ask.project, ask.run.id, task).await?,
        None => None,
    };
    Ok(cancelled.map_or(RoleOutcome::Stopped(reason), RoleOutcome::Failed))
}

/// Finds the agent of a role; a recording needs no agent.
fn find_agent(ask: &RoleRequest<'_>) -> Result<AgentId, Box<Problem>> {
    if ask.is_replay() {
        return Ok(recorder::player());
    }
    let config = ask.project.config();
    find_player(config, ask.role).ok_or_else(|| {
        let why = format!("`[roles]` in the config names no agent for `{}`", ask.role);
        let known: Vec<&str> = config.agents.keys().map(AgentId::as_str).collect();
        let next = format!(
            "add `{} = \"…\"` to `[roles]` (agents: {}), then `regatta run resume {}`",
            ask.role,
            known.join(", "),
            ask.run.id
        );
        Box::new(Problem::new(
            Code::AgentNotFound,
            format!("nobody plays the role `{}`", ask.role),
            why,
            next,
        ))
    })
}
