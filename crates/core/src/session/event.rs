//! What happens to a session, in the words of the log.

use super::{Allowance, Scope, Usage};
use crate::{AgentId, FailureClass, RunId, TaskId};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// What a session is for, and so what it is charged to.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// Its name, the same when it is run again after a crash.
    pub session: String,
    /// The agent.
    pub agent_id: AgentId,
    /// The task.
    pub task_id: Option<TaskId>,
    /// The run.
    pub run_id: Option<RunId>,
    /// The runs that this run is a child of, the nearest first: what it uses is used by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<RunId>,
    /// The role that the agent plays in it.
    pub role: Option<String>,
    /// The session number within its piece of work.
    pub number: u32,
    /// The day on which it began, where the engine is.
    pub day: Date,
}

events! {
    /// Everything that can happen to a session.
    pub enum Event {
        SessionOpened = "session:opened" {
            #[serde(flatten)]
            subject: Subject,
            #[serde(default, skip_serializing_if = "Allowance::is_unlimited")]
            reserved: Allowance,
            resumes: Option<String>,
        },
        SessionAsked = "session:asked" {
            #[serde(flatten)]
            subject: Subject,
            question: u64,
            what: String,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            paths: Vec<String>,
        },
        SessionAnswered = "session:answered" {
            #[serde(flatten)]
            subject: Subject,
            question: Option<u64>,
            what: String,
            answer: Grant,
            by: String,
        },
        SessionParked = "session:parked" {
            #[serde(flatten)]
            subject: Subject,
            class: FailureClass,
            attempt: u32,
            until: Timestamp,
        },
        SessionClosed = "session:closed" {
            #[serde(flatten)]
            subject: Subject,
            ending: Ending,
            class: Option<FailureClass>,
            usage: Usage,
            turns: u32,
            agent_session: Option<String>,
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            agent_session_gone: bool,
        },
    }
}

/// What an agent that asked for permission was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Grant {
    Allowed,
    Denied,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// On its own, with its work done.
    Finished,
    /// At somebody's word.
    Stopped,
    /// Badly.
    Failed,
    /// Nobody saw it: the engine was killed, and the session is not run again.
    Lost,
}

impl Event {
    /// The subjects with which the names of these kinds begin.
    pub const SUBJECTS: &'static [&'static str] = &["session"];

    /// Returns what the session is for.
    pub fn subject(&self) -> &Subject {
        match self {
            Event::SessionOpened { subject, .. }
            | Event::SessionAsked { subject, .. }
            | Event::SessionAnswered { subject, .. }
            | Event::SessionParked { subject, .. }
            | Event::SessionClosed { subject, .. } => subject,
        }
    }
}

impl Subject {
    /// Returns the accounts that it is charged to.
    pub fn scopes(&self) -> Vec<Scope> {
        let mut scopes = vec![Scope::Project, Scope::Day(self.day)];
        scopes.extend(self.task_id.map(Scope::Task));
        scopes.extend(self.run_id.into_iter().chain(self.above.iter().copied()).map(Scope::Run));
        scopes
    }

    /// Tells whether it is for the task or the run of an account, and not only charged to it.
    pub fn is_of(&self, scope: Scope) -> bool {
        match scope {
            Scope::Project | Scope::Day(_) => true,
            Scope::Task(task) => self.task_id == Some(task),
            Scope::Run(run) => self.run_id == Some(run),
        }
    }

    /// Names one of its questions among all of the project.
    pub fn name_question(&self, question: u64) -> String {
        format!("{}/{question}", self.session)
    }

    /// Returns under what its agent's own session is remembered: the next session of the same agent in the same role
    /// can take it up again.
    pub fn conversation(&self) -> String {
        let conversation = format!("{}/{}", self.agent_id, self.role.as_deref().unwrap_or_default());
        match (self.task_id, self.run_id) {
            // It is on the accounts of the runs above too, where it must not be taken for theirs.
            (None, Some(run)) if !self.above.is_empty() => format!("{conversation}/{run}"),
            _ => conversation,
        }
    }
}
