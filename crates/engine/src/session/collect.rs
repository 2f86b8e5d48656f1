//! Judges how a session ended and keeps its work: restores what it may not change, commits, and records.

use crate::commands::orders;
use crate::core::{self, CommentAnswer, CommentAnswers, Complete, Task};
use crate::error::Error;
use crate::perform::Work;
use crate::runs::cancelled;
use crate::session::lifecycle::End;
use crate::session::plan::{Owner, Plan};
use crate::session::prepare::Ready;
use crate::session::roles::{read_only, recording_mode};
use crate::session::{owner, reservation, worked};
use regatta_agents::{Ended, Outcome, StopReason, read_answers};
use regatta_git::CommitId;
use serde_json::Value;

/// Keeps what a session left; an answer whose work cannot be kept does not count.
pub(crate) async fn collect(
    work: &Work,
    plan: &Plan<'_>,
    ready: &Ready,
    ended: &Ended,
) -> Result<End, Error> {
    if let Err(error) = restore(plan, ready).await {
        return Ok(End::Failed(owner::explain_error(plan, error)?));
    }
    match &ended.outcome {
        Outcome::Stopped(reason) => Ok(End::Stopped(*reason)),
        Outcome::Failed(failure) => {
            Ok(End::Broke(reservation::breakdown(failure, owner::explain_failure(plan, failure))))
        }
        Outcome::Finished => keep(work, plan, ready, ended).await,
    }
}

/// Removes from the worktree of a task what a role changed that may only read.
async fn restore(plan: &Plan<'_>, ready: &Ready) -> Result<(), Error> {
    match (&plan.owner, &ready.task, &ready.start) {
        (Owner::RoleInTask { ask, .. }, Some(task), Some(start)) if !plan.writes => {
            read_only::undo(ask, &plan.worktree, (task, plan.subject.session), start).await
        }
        _ => Ok(()),
    }
}

/// Commits the work for a task, and records the answer of a role if its run is recorded.
async fn keep(work: &Work, plan: &Plan<'_>, ready: &Ready, ended: &Ended) -> Result<End, Error> {
    if let Owner::RoleInTask { task, ask } = plan.owner
        && cancelled::find(&work.project, ask.run.id, task).await?.is_some()
    {
        return Ok(End::Stopped(StopReason::Cancelled));
    }
    let complete = match &ready.task {
        None => None,
        Some(task) => match commit(work, plan, task, (ready.start.as_ref(), ended)).await {
            Ok(complete) => Some(complete),
            Err(error) => return Ok(End::Failed(owner::explain_error(plan, error)?)),
        },
    };
    if let (Some(task), Some(result)) = (&ready.task, &ended.result) {
        note_answers(work, plan, task, result).await?;
    }
    // A missing answer is judged like a wrong one: the role learns what is wrong, and is asked again.
    let result = ended.result.clone().unwrap_or_default();
    if let Some(ask) = plan.owner.ask() {
        let (commits, folder) = ((&plan.worktree.base, ready.start.as_ref()), plan.folder(&work.project));
        if let Some(failure) = recording_mode::record(ask, &result, commits, &folder).await? {
            return Ok(End::Failed(failure));
        }
    }
    Ok(End::Returned { result, complete })
}

/// Records what the agent says to the comments of a reviewer, before the new change closes them.
async fn note_answers(work: &Work, plan: &Plan<'_>, task: &Task, result: &Value) -> Result<(), Error> {
    let answers = read_answers(result);
    if answers.is_empty() {
        return Ok(());
    }
    let answers = answers.into_iter().map(|(comment, text)| CommentAnswer { comment, text }).collect();
    let (agent_id, session) = (plan.subject.agent.clone(), plan.subject.session);
    work.note(task.id, core::Outcome::CommentsAnswered(CommentAnswers { agent_id, session, answers })).await
}

/// Commits what the agent left, and computes the diff.
async fn commit(
    work: &Work,
    plan: &Plan<'_>,
    before: &Task,
    (start, ended): (Option<&CommitId>, &Ended),
) -> Result<Complete, Error> {
    let task = orders::get_task(&work.project, before.id).await?;
    let role = plan.owner.ask().map_or_else(String::new, |ask| format!(" ({})", ask.role));
    let message = format!("Task #{}: work of session {}{role}", task.id, plan.subject.session);
    let diff = orders::commit_work(&work.project, &task, &message).await?;
    if let (Owner::RoleInTask { .. }, true, Some(start)) = (&plan.owner, plan.writes, start) {
        let head = orders::to_git(&diff.head)?;
        worked::note(work, &task, plan.subject.session, (start, &head)).await?;
    }
    Complete::new(diff, ended.turns.max(1), ended.summary.clone()).map_err(orders::invalid)
}
