//! Plans the session of a role: in the worktree of its task, which is taken up first, or in one of its own.

use crate::core::{AgentId, Stage, Task, TaskId, WorkPhase, Worktree};
use crate::error::Error;
use crate::runs::claim::{Claim, Driven};
use crate::runs::family;
use crate::session::endpoint::{OfRun, Subject};
use crate::session::plan::{Owner, Plan};
use crate::session::role::{RoleOutcome, RoleRequest};
use crate::session::roles::AgentRoles;

/// Where a role works.
#[derive(Clone, Copy)]
pub(crate) enum Where<'a> {
    /// In the worktree of a task.
    OfTask(TaskId),
    /// In a worktree that was made for the step.
    Own(&'a Worktree),
}

/// Plans one try of a role, or returns what the run learns instead.
pub(crate) async fn plan<'a>(
    roles: &AgentRoles,
    ask: &'a RoleRequest<'a>,
    agent: &AgentId,
    place: Where<'_>,
    attempt: u32,
) -> Result<Result<Plan<'a>, RoleOutcome>, Error> {
    let (project, run) = (ask.project, ask.run);
    let task = match place {
        Where::Own(_) => None,
        Where::OfTask(task) => match take_up(ask, agent, task).await? {
            Driven::Ready(task) => Some(task),
            Driven::Not(instead) => return Ok(Err(instead)),
        },
    };
    let source = match roles.find_source(ask).await {
        Ok(source) => source,
        Err(failure) => return Ok(Err(RoleOutcome::Failed(*failure))),
    };
    let number = run.count_visits() + 1;
    let interrupted = task.as_deref().and_then(find_interrupted);
    let session = task.as_ref().map_or(number, |task| interrupted.unwrap_or(task.sessions + 1));
    let (owner, mark, transcript) = match place {
        Where::OfTask(task) => (
            Owner::RoleInTask { task, ask },
            project.session_mark(task, session),
            project.transcript(task, session),
        ),
        Where::Own(_) => (
            Owner::RoleAlone { ask, attempt },
            project.run_mark(run.id, &run.step_name()),
            project.transcript_of_step(run.id, &run.step_name()),
        ),
    };
    let worktree = match place {
        Where::OfTask(_) => task.as_ref().and_then(|task| task.worktree()),
        Where::Own(worktree) => Some(worktree),
    };
    Ok(Ok(Plan {
        mark,
        subject: subject(ask, agent, session, task.as_ref().map(|task| task.id)),
        above: family::find_above(project, run).await?,
        owner,
        worktree: worktree.expect("a task that a run drives has a worktree").clone(),
        writes: ask.writes(),
        number,
        is_repeated: interrupted.is_some(),
        transcript,
        source,
    }))
}

/// Takes the task up for the run, and waits until it has its worktree.
async fn take_up(ask: &RoleRequest<'_>, agent: &AgentId, task: TaskId) -> Result<Driven, Error> {
    let item = ask.run.item.as_deref().unwrap_or_default();
    Claim { work: ask.work, run: ask.run, item, task, agent }.until_ready(ask.stop_handle).await
}

/// Returns the session of a task during which an earlier engine was killed.
fn find_interrupted(task: &Task) -> Option<u32> {
    let Stage::InProgress(work) = &task.stage else { return None };
    if let WorkPhase::Driven { session, .. } = work.phase { session } else { None }
}

fn subject(ask: &RoleRequest<'_>, agent: &AgentId, session: u32, task: Option<TaskId>) -> Subject {
    let run = OfRun {
        id: ask.run.id,
        step: ask.run.step,
        step_name: ask.run.step_name(),
        role: ask.role.to_owned(),
        prompt: ask.node.kind.prompt_name().map_or(ask.role, |prompt| &prompt.name).to_owned(),
        item: ask.run.item.clone(),
        digest: ask.run.digest.clone(),
        within: ask.run.within.clone(),
    };
    Subject { agent: agent.clone(), session, task, run: Some(run) }
}
