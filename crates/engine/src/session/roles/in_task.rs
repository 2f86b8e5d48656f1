//! A role that works in the worktree of a task.

use crate::commands::orders;
use crate::core::{AgentId, Complete, Failure, Outcome, SessionEnd, Stage, TaskId, WorkPhase};
use crate::error::Error;
use crate::recording::replay_branch;
use crate::runs::drive::{Drive, Driven};
use crate::runs::{cancelled, trouble};
use crate::session::prompt::{self, Share};
use crate::session::role::{Ask, Played};
use crate::session::roles::{
    Act, AgentRoles, Try, abandon, answer, begin, finish, names_of_run, open, read_only, record, subject_of,
    variables,
};
use crate::session::{session_entry, sessions};
use crate::task_files;
use regatta_agents::{Outcome as Ending, ResultIs, StopReason};
use serde_json::Value;

/// Plays in the worktree of a task, again and again while it breaks off for a reason that passes.
pub(crate) async fn play(
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
    let item = ask.run.item.as_deref().unwrap_or_default();
    let drive = Drive { work, run: ask.run, item, task: id, agent };
    let task = match drive.until_ready(ask.control).await? {
        Driven::Ready(task) => *task,
        Driven::Not(other) => return played(other),
    };
    // An engine before this one was killed over it.
    let repeated = match &task.stage {
        Stage::InProgress(work) => match work.phase {
            WorkPhase::Driven { session, .. } => session,
            _ => None,
        },
        _ => None,
    };
    let number = repeated.unwrap_or(task.sessions + 1);
    let worktree = task.worktree().expect("a task that a run drives has a worktree");
    let folder = project.place(&worktree.path);
    let mark = project.session_mark(id, number);
    let charge = match open(ask, agent, &mark, Some(id), number).await? {
        Ok(charge) => charge,
        Err(Played::Stopped(reason)) => return played(stopped(ask, id, reason).await?),
        Err(instead) => return played(instead),
    };
    work.keep_file(id).await?;
    session_entry::archive_if_due(work, id).await?;
    let start = if ask.writes() {
        session_entry::find_start(project, &task).await
    } else {
        match read_only::find_start(ask, &task, repeated.is_some()).await {
            Ok(start) => Some(start),
            Err(error) => {
                abandon(work, charge.as_ref()).await?;
                return played(Played::Failed(trouble::of_run(ask.run, error)?));
            }
        }
    };
    let transcript = project.transcript(id, number);
    let file = task_files::file_path(project, id);
    let protocol = if ask.writes() {
        prompt::render_protocol(&task, &file, Share::OfRun)
    } else {
        prompt::render_reading(&file)
    };
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
        writes: ask.writes(),
        prompt: format!("{}{}", ask.prompt, protocol),
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
    let is_left = ending == Ending::Stopped(StopReason::Shutdown);
    if let (false, false, Some(start)) = (ask.writes(), is_left, &start)
        && let Err(error) = read_only::undo(ask, worktree, (&task, number), start).await
    {
        let failure = trouble::of_run(ask.run, error)?;
        work.note(id, Outcome::RoleEnded { session: number }).await?;
        return played(Played::Failed(failure));
    }
    let (mut answered, mut end) = match answer(acted) {
        left @ (Played::PutOff | Played::Stopped(StopReason::Shutdown)) => return played(left),
        Played::Returned(output) | Played::Committed(output, _) => commit(ask, id, number, output).await?,
        Played::Failed(failure) => (Played::Failed(failure.clone()), SessionEnd::Failed(failure)),
        Played::Stopped(reason) => (stopped(ask, id, reason).await?, SessionEnd::Stopped),
    };
    if let Played::Committed(output, _) = &answered
        && let Some(failure) = record(ask, output, (&worktree.base, start.as_ref()), &folder).await?
    {
        answered = Played::Failed(failure.clone());
        end = SessionEnd::Failed(failure);
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
