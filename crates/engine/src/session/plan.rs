//! Everything that differs between sessions: whose it is, where it works, and where its result comes from.
//!
//! A plan is complete before the first phase. It starts nothing, and does not say what happens after the session.

use crate::clock;
use crate::commands::orders;
use crate::core::session;
use crate::core::{Resume, RunId, TaskId, Worktree};
use crate::error::Error;
use crate::project::Project;
use crate::recording::entry::Entry;
use crate::recording::recorder::Recording;
use crate::session::endpoint::Subject;
use crate::session::reservation;
use crate::session::role::RoleRequest;
use regatta_agents::ResultIs;
use regatta_git::BranchName;
use std::path::PathBuf;
use std::sync::Arc;

/// One session to be run.
pub(crate) struct Plan<'a> {
    /// The prefix of its marks, whichever engine runs it.
    pub(crate) mark: String,
    /// Whom it acts for: the agent with the number of its session, the task, and the step of a run.
    pub(crate) subject: Subject,
    /// The runs that its run is a child of, the nearest first.
    pub(crate) above: Vec<RunId>,
    pub(crate) owner: Owner<'a>,
    /// Where it works. A worktree of its own exists before the session and is removed after it.
    pub(crate) worktree: Worktree,
    /// Whether it may change the worktree.
    pub(crate) writes: bool,
    /// The number that scripts select by: of the session of a task, or of the visit of a role.
    pub(crate) number: u32,
    /// Whether an earlier engine was killed during it.
    pub(crate) is_repeated: bool,
    pub(crate) transcript: PathBuf,
    pub(crate) source: Source,
}

/// Who waits for the session.
#[derive(Clone, Copy)]
pub(crate) enum Owner<'a> {
    /// A task; `has_started` if it knows already that the session began.
    Task { task: TaskId, resume: Option<&'a Resume>, has_started: bool },
    /// A role of a run, in the worktree of a task.
    RoleInTask { task: TaskId, ask: &'a RoleRequest<'a> },
    /// A role of a run, in a worktree of its own.
    RoleAlone { ask: &'a RoleRequest<'a>, attempt: u32 },
}

/// Where the result comes from.
pub(crate) enum Source {
    /// A session of an agent.
    Agent,
    /// A recorded answer, which needs no place, no budget and no process.
    Recording(Arc<Recording>, Box<Entry>),
}

impl<'a> Owner<'a> {
    /// Returns the request of the run, if a role works.
    pub(crate) fn ask(&self) -> Option<&'a RoleRequest<'a>> {
        match self {
            Owner::Task { .. } => None,
            Owner::RoleInTask { ask, .. } | Owner::RoleAlone { ask, .. } => Some(ask),
        }
    }
}

impl Plan<'_> {
    /// Returns what the session is called on its accounts, and what it is charged to, if it begins today.
    pub(crate) fn account(&self) -> session::Subject {
        let Subject { agent, session, task, run } = &self.subject;
        session::Subject {
            session: reservation::name_of(&self.mark).to_owned(),
            agent_id: agent.clone(),
            task_id: *task,
            run_id: run.as_ref().map(|run| run.id),
            above: self.above.clone(),
            role: run.as_ref().map(|run| run.role.clone()),
            number: *session,
            day: clock::now().to_zoned(jiff::tz::TimeZone::system()).date(),
        }
    }

    /// Tells whether the agent starts a new conversation, even if it could continue an old one.
    pub(crate) fn is_fresh(&self) -> bool {
        matches!(self.owner, Owner::Task { resume: Some(resume), .. } if resume.follows)
    }

    /// Names the work in an error, such as `task #3`.
    pub(crate) fn name(&self) -> String {
        match &self.owner {
            Owner::Task { task, .. } | Owner::RoleInTask { task, .. } => format!("task #{task}"),
            Owner::RoleAlone { ask, .. } => format!("run {}", ask.run.id),
        }
    }

    /// Returns what its result is.
    pub(crate) fn result_is(&self) -> ResultIs {
        if self.owner.ask().is_some() { ResultIs::Answer } else { ResultIs::Report }
    }

    /// Returns the folder of its worktree.
    pub(crate) fn folder(&self, project: &Project) -> PathBuf {
        project.place(&self.worktree.path)
    }

    /// Returns the branch of its worktree.
    pub(crate) fn branch(&self) -> Result<BranchName, Error> {
        orders::branch_of(&self.worktree)
    }
}
