//! A role that works in the worktree of a task.

use super::{
    Act, AgentRoles, IDLE, Try, abandon, answer, begin, finish, names_of_run, open, record, see_start,
    subject_of, variables,
};
use crate::clock;
use crate::core::run::{Run, Taping};
use crate::core::{
    Actor, AgentId, Assign, Code, Command, Complete, Failure, Outcome, Problem, Refusal, SessionEnd, Stage,
    Start, Task, TaskId, WorkPhase,
};
use crate::error::Error;
use crate::keeper;
use crate::orders::{self, Order};
use crate::perform::{session_entry, sessions};
use crate::prompt;
use crate::runs::roles::{Ask, Played};
use crate::runs::{cancelled, get_run, replay_branch, trouble};
use regatta_agents::{ResultIs, StopReason};
use serde_json::Value;

/// Plays in the worktree of a task, again and again while it breaks off for a reason that passes.
pub(super) async fn play(
    roles: &AgentRoles,
    ask: &Ask<'_>,
    agent: AgentId,
    id: TaskId,
) -> Result<Played, Error> {
    loop {
        match try_in_task(roles, ask, &agent, id).await? {
            Try::Played(played) => return Ok(played),
            Try::Later => {}
        }
    }
}

async fn try_in_task(roles: &AgentRoles, ask: &Ask<'_>, agent: &AgentId, id: TaskId) -> Result<Try, Error> {
    let (project, work) = (ask.project, ask.work);
    let played = |played| Ok(Try::Played(played));
    let task = match drive(roles, ask, agent, id).await? {
        Driven::Ready(task) => *task,
        Driven::Not(other) => return played(other),
    };
    let number = match &task.stage {
        Stage::InProgress(work) => match work.phase {
            // An engine before this one was killed over it.
            WorkPhase::Driven { session: Some(session), .. } => session,
            _ => task.sessions + 1,
        },
        _ => task.sessions + 1,
    };
    let _place = tokio::select! {
        biased;
        reason = ask.control.asked() => return played(stopped(ask, id, reason).await?),
        place = work.places.take(agent) => place,
    };
    work.keep_file(id).await?;
    session_entry::archive_if_due(work, id).await?;
    let start = session_entry::find_start(project, &task).await;
    let worktree = task.worktree().expect("a task that a run drives has a worktree");
    let folder = project.place(&worktree.path);
    let mark = project.session_mark(id, number);
    let charge = match open(ask, agent, &mark, Some(id), number).await? {
        Ok(charge) => charge,
        Err(failure) => return played(Played::Failed(failure)),
    };
    let transcript = project.transcript(id, number);
    let request = sessions::Request {
        mark,
        agent,
        speaks_for: subject_of(ask, agent, number, Some(id)),
        subject: format!("task #{id}"),
        number: ask.run.count_visits() + 1,
        item: ask.run.item.clone(),
        result_is: ResultIs::Answer,
        folder: folder.clone(),
        branch: orders::branch_of(worktree)?,
        prompt: format!("{}{}", ask.prompt, prompt::render_protocol(&task, &keeper::file_path(project, id))),
        transcript: transcript.clone(),
        own: [names_of_run(ask), sessions::names_of_task(project, &task, agent, number)].concat(),
        variables: variables(ask, Some(&task)),
        charge: charge.as_ref(),
    };
    let act = match begin(roles, ask, request).await {
        Ok(Some(act)) => act,
        Ok(None) => {
            abandon(work, charge.as_ref()).await?;
            return played(stopped(ask, id, StopReason::Cancelled).await?);
        }
        Err(failure) => {
            abandon(work, charge.as_ref()).await?;
            return played(Played::Failed(*failure));
        }
    };
    if let Act::Take(tape, take) = &act
        && let Some(failure) = replay_branch::find_misfit(project, (tape, take), (ask.run, worktree)).await?
    {
        return played(Played::Failed(failure));
    }
    work.note(id, Outcome::RoleStarted { agent: agent.clone(), session: number }).await?;
    let acted = match finish(ask, act, &folder, (agent, charge.as_ref()), &transcript).await {
        Ok(acted) => acted,
        Err(error) => {
            let failure = trouble::of_run(ask.run, error)?;
            work.note(id, Outcome::RoleEnded { session: number }).await?;
            return played(Played::Failed(failure));
        }
    };
    let (ending, broke) = (acted.ending.clone(), acted.broke.clone());
    let (mut answered, end) = match answer(acted) {
        Played::Stopped(StopReason::Shutdown) => return played(Played::Stopped(StopReason::Shutdown)),
        Played::Returned(output) | Played::Committed(output, _) => commit(ask, id, number, output).await?,
        Played::Failed(failure) => (Played::Failed(failure.clone()), SessionEnd::Failed(failure)),
        Played::Stopped(reason) => (stopped(ask, id, reason).await?, SessionEnd::Stopped),
    };
    if let Played::Committed(output, _) = &answered
        && let Some(failure) = record(ask, output, (&worktree.base, start.as_ref()), &folder).await?
    {
        answered = Played::Failed(failure);
    }
    session_entry::remember(work, &task, number, start.as_ref(), (&ending, &end)).await?;
    let Some(breakdown) = broke else {
        work.note(id, Outcome::RoleEnded { session: number }).await?;
        return played(answered);
    };
    work.note(id, Outcome::RoleBroke { session: number, breakdown }).await?;
    let is_parked = orders::get_task(project, id).await?.find_park().is_some();
    if is_parked { Ok(Try::Later) } else { played(answered) }
}

/// Commits what the agent left; an answer whose work cannot be kept is none.
async fn commit(
    ask: &Ask<'_>,
    id: TaskId,
    number: u32,
    output: Value,
) -> Result<(Played, SessionEnd), Error> {
    if let Some(failure) = cancelled::find(ask.project, ask.run.id, id).await? {
        return Ok((Played::Failed(failure), SessionEnd::Stopped));
    }
    let found = orders::get_task(ask.project, id).await?;
    let message = format!("Task #{id}: work of session {number} ({})", ask.role);
    let failed = |failure: Failure| (Played::Failed(failure.clone()), SessionEnd::Failed(failure));
    let diff = match orders::commit_work(ask.project, &found, &message).await {
        Ok(diff) => diff,
        Err(error) => return Ok(failed(trouble::of_run(ask.run, error)?)),
    };
    let head = diff.head.clone();
    Ok(match Complete::new(diff, 1, None) {
        Ok(complete) => (Played::Committed(output, head), SessionEnd::Finished(complete)),
        Err(faults) => failed(Failure::from(orders::invalid(faults).explain())),
    })
}

/// Says what stopped a role: that its task was cancelled, or something that concerns the whole run.
async fn stopped(ask: &Ask<'_>, id: TaskId, reason: StopReason) -> Result<Played, Error> {
    let cancelled = cancelled::find(ask.project, ask.run.id, id).await?;
    Ok(cancelled.map_or(Played::Stopped(reason), Played::Failed))
}

enum Driven {
    Ready(Box<Task>),
    Not(Played),
}

/// Makes sure that the task is this run's, and has its worktree.
async fn drive(roles: &AgentRoles, ask: &Ask<'_>, agent: &AgentId, id: TaskId) -> Result<Driven, Error> {
    let (project, run) = (ask.project, ask.run.id);
    let mut seen = project.store().head().await?;
    let mut is_asked = false;
    loop {
        let task = orders::get_task(project, id).await?;
        let is_mine = task.run == Some(run);
        match &task.stage {
            Stage::InProgress(work) if is_mine => match work.phase {
                WorkPhase::Driven { .. }
                    if task.find_park().is_none_or(|park| park.until <= clock::now()) =>
                {
                    return Ok(Driven::Ready(Box::new(task)));
                }
                WorkPhase::Driven { .. } => {}
                WorkPhase::Preparing => {}
                _ if cancelled::is_being_cancelled(&task) => {
                    return Ok(Driven::Not(Played::Failed(cancelled::explain_step(run, id))));
                }
                _ => return Ok(Driven::Not(Played::Failed(taken(ask.run, &task)))),
            },
            Stage::Backlog if cancelled::is_work_gone(ask.run, &task) => {
                return Ok(Driven::Not(Played::Failed(cancelled::explain_work(run, id))));
            }
            // It was tried, and is back with the error.
            Stage::Backlog if is_asked && task.error.is_some() => {
                let failure = task.error.clone().unwrap_or_else(|| taken(ask.run, &task));
                return Ok(Driven::Not(Played::Failed(failure)));
            }
            Stage::Backlog => match assign(roles, ask, agent, &task).await {
                Ok(()) => is_asked = true,
                // Somebody else is at work; it is this run's turn when they are done.
                Err(Error::Refused(Refusal::AgentAlreadyRunning { .. } | Refusal::NoPlace { .. })) => {}
                Err(error) => return Ok(Driven::Not(Played::Failed(trouble::of_run(ask.run, error)?))),
            },
            _ => return Ok(Driven::Not(Played::Failed(taken(ask.run, &task)))),
        }
        tokio::select! {
            reason = ask.control.asked() => {
                // One that is still in the backlog was not cancelled: it waits for its agent.
                let task = orders::get_task(project, id).await?;
                let is_cancelled = cancelled::is_being_cancelled(&task);
                let failed = || Played::Failed(cancelled::explain_step(run, id));
                return Ok(Driven::Not(if is_cancelled { failed() } else { Played::Stopped(reason) }));
            }
            head = project.store().wait_past(seen, IDLE) => seen = head?,
        }
    }
}

async fn assign(roles: &AgentRoles, ask: &Ask<'_>, agent: &AgentId, task: &Task) -> Result<(), Error> {
    let start = find_start(ask, task, see_start(roles, ask).await?).await?;
    if ask.is_replay() {
        replay_branch::ensure_branch(ask.project, &start).await?;
    }
    let (run, is_taped) = (Some(ask.run.id), ask.is_replay());
    let assign = Assign { agent: agent.clone(), priority: None, start, run, is_taped };
    let order = Order { fence: Some(ask.work.token), ..Order::new(Some(task.id), &Actor::Engine) };
    orders::give(ask.project, order, Command::Assign(assign)).await.map(|_| ())
}

/// A fork goes on with an item from the commit that the other run had come to; work that was cancelled does not.
async fn find_start(ask: &Ask<'_>, task: &Task, start: Start) -> Result<Start, Error> {
    let head = ask.run.item.as_ref().and_then(|item| ask.run.heads.get(item));
    let Some(head) = head.filter(|_| task.sessions == 0) else { return Ok(start) };
    let (target, begun) = (orders::to_git(&start.base)?, orders::to_git(head)?);
    let base = match ask.project.repository().find_merge_base(&target, &begun).await? {
        // It was merged later: the diff is the one that the step saw, or there would be nothing to review.
        Some(base) if base == begun => find_base_before(ask, &begun).await?.or(Some(base)),
        other => other,
    };
    Ok(match base {
        Some(base) => Start { base: orders::from_git(&base), from: Some(head.clone()), ..start },
        None => start,
    })
}

/// Finds what the work on the item was first compared with, in the run that this one was forked from.
async fn find_base_before(
    ask: &Ask<'_>,
    head: &regatta_git::CommitId,
) -> Result<Option<regatta_git::CommitId>, Error> {
    let Some(item) = &ask.run.item else { return Ok(None) };
    let mut forked = ask.run.forked;
    // Each was forked from an older one.
    while let Some(fork) = forked {
        let other = get_run(ask.project, fork.run_id).await?;
        if let Some(task) = other.tasks.get(item) {
            let task = orders::get_task(ask.project, *task).await?;
            let base = task.diff().map(|diff| &diff.base).or(task.worktree().map(|worktree| &worktree.base));
            if let Some(base) = base.map(orders::to_git).transpose()?
                && base != *head
                && ask.project.repository().is_ancestor(&base, head).await?
            {
                return Ok(Some(base));
            }
        }
        forked = other.forked;
    }
    Ok(None)
}

/// Says who has a task that a run cannot work on, and what leads on from there.
fn taken(run: &Run, task: &Task) -> Failure {
    let (id, task_id) = (run.id, task.id);
    let (why, next) = match &task.stage {
        Stage::Verified(_) => ("it is merged, and this run did not do it".to_owned(), go_round(run)),
        _ => (
            format!("it is in {}, and not in the hands of this run", task.column()),
            format!(
                "`regatta task cancel {task_id}` gives that work up (it is kept as a salvage), then `regatta run --resume \
                 {id}` does it; or {}",
                go_round(run)
            ),
        ),
    };
    let what = format!("run {id} cannot work on task #{task_id}");
    Failure::from(Problem::new(Code::TaskBusy, what, why, next).with("taskId", task_id.number()))
}

/// Names the way round a task that is never this run's again. A replay has no fork, and that of a child no parent.
fn go_round(run: &Run) -> String {
    let id = run.id;
    match &run.parent {
        Some(parent) => {
            format!("`regatta run stop {id}`: run {} goes on, with this item as failed", parent.run_id)
        }
        None if matches!(run.tape, Some(Taping::Replay(_))) => format!("`regatta run stop {id}`"),
        None => format!(
            "`regatta run fork {id}` works on the item as a new task, from what is merged now, and `regatta run stop {id}` \
             ends this run"
        ),
    }
}
