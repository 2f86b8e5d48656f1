//! Runs a session of a task's agent, if the task still waits for it.
//!
//! The intent stays open while the session runs. If the engine is killed, the next one ends the session's
//! remaining processes and runs the session again in the same worktree.

use crate::commands::orders;
use crate::core::{AgentId, Outcome, Resume, SessionEnd, TaskId};
use crate::crash;
use crate::error::Error;
use crate::perform::Work;
use crate::runtime::stop_handle::StopHandle;
use crate::session::endpoint::Subject;
use crate::session::owner::{Wanted, find_wanted};
use crate::session::plan::{Owner, Plan, Source};
use crate::session::{leftovers, lifecycle};

pub(crate) async fn perform(
    work: &Work,
    task: TaskId,
    agent: &AgentId,
    session: u32,
    resume: Option<&Resume>,
    stop_handle: &StopHandle,
) -> Result<(), Error> {
    crash::point("run_session.before");
    let project = &work.project;
    let found = orders::get_task(project, task).await?;
    let Some(wanted) = find_wanted(&found, session) else {
        leftovers::end_lost_session(work, task, session).await?;
        return work.settle(task, Outcome::SessionEnded { session, end: SessionEnd::Stopped }).await;
    };
    let has_started = wanted == Wanted::Running;
    let plan = Plan {
        mark: project.session_mark(task, session),
        subject: Subject { agent: agent.clone(), session, task: Some(task), run: None },
        above: Vec::new(),
        owner: Owner::Task { task, resume, has_started },
        worktree: found.worktree().expect("a task in progress has a worktree").clone(),
        writes: true,
        number: session,
        is_repeated: has_started,
        transcript: project.transcript(task, session),
        source: Source::Agent,
    };
    lifecycle::run(work, &plan, stop_handle).await.map(|_| ())
}
