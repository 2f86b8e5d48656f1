//! A role that works on no task: in a worktree that is made for the step and thrown away after it.

use super::{AgentRoles, IDLE, Try, answer, begin, finish, keep, names_of_run, open, subject_of, variables};
use crate::clock;
use crate::core::{AgentId, Failure, find_next_try};
use crate::error::Error;
use crate::orders;
use crate::perform::sessions;
use crate::runs::roles::{Ask, Played};
use crate::salvage::{Removal, set_aside_and_remove};
use jiff::Timestamp;
use regatta_agents::{ResultIs, StopReason};
use regatta_git::BranchName;
use std::path::Path;
use std::time::Duration;

/// Plays, again and again while it breaks off for a reason that passes.
pub(super) async fn play(roles: &AgentRoles, ask: &Ask<'_>, agent: AgentId) -> Result<Played, Error> {
    let project = ask.project;
    let name = format!("run-{}-step-{}", ask.run.id, ask.run.step);
    let folder = project.place(&project.config().worktrees).join(&name);
    let branch = BranchName::parse(&format!("run/{}-{}", ask.run.id, ask.run.step))
        .map_err(regatta_git::Error::from)?;
    let start = orders::see_start(project).await?;
    let base = orders::to_git(&start.base)?;
    if let Err(error) = project.repository().ensure_worktree(&folder, &branch, &base).await {
        return Ok(Played::Failed(Failure::from(Error::Git(error).explain())));
    }
    let transcript = project.place(&project.config().sessions).join(format!("{name}.jsonl"));
    let mut attempt = 1;
    let played = loop {
        match try_alone(roles, ask, &agent, (&folder, &branch, &transcript), attempt).await? {
            Try::Played(played) => break played,
            Try::Later => attempt += 1,
        }
    };
    if let (Some(tape), Played::Returned(output)) = (&roles.record, &played) {
        keep(ask, tape, output, None, &folder).await?;
    }
    clear_away(ask, &folder, &branch, &base).await?;
    Ok(played)
}

async fn try_alone(
    roles: &AgentRoles,
    ask: &Ask<'_>,
    agent: &AgentId,
    (folder, branch, transcript): (&Path, &BranchName, &Path),
    attempt: u32,
) -> Result<Try, Error> {
    let (project, work) = (ask.project, ask.work);
    let held = tokio::select! {
        biased;
        reason = ask.control.asked() => return Ok(Try::Played(Played::Stopped(reason))),
        place = work.places.take(agent) => place,
    };
    let number = ask.run.count_visits() + 1;
    let mark = project.run_mark(ask.run.id, ask.run.step);
    let charge = match open(ask, agent, &mark, None, number).await? {
        Ok(charge) => charge,
        Err(failure) => return Ok(Try::Played(Played::Failed(failure))),
    };
    let request = sessions::Request {
        mark,
        agent,
        speaks_for: subject_of(ask, agent, number, None),
        subject: format!("run {}", ask.run.id),
        number,
        item: ask.run.item.clone(),
        result_is: ResultIs::Answer,
        folder: folder.to_owned(),
        branch: branch.clone(),
        prompt: ask.prompt.clone(),
        transcript: transcript.to_owned(),
        own: names_of_run(ask),
        variables: variables(ask, None),
        charge: Some(&charge),
    };
    let acted = match begin(roles, ask, request).await {
        Ok(act) => finish(ask, act, folder, (agent, &charge), transcript).await?,
        Err(failure) => {
            charge.abandon(work).await?;
            return Ok(Try::Played(Played::Failed(*failure)));
        }
    };
    if let Some(broke) = &acted.broke
        && let Some(until) = find_next_try(&project.config().settings.retries, attempt, broke)
    {
        charge.park(work, broke.class, attempt, until).await?;
        drop(held);
        return Ok(match wait_until(ask, until).await {
            Some(reason) => Try::Played(Played::Stopped(reason)),
            None => Try::Later,
        });
    }
    Ok(Try::Played(answer(acted)))
}

/// Waits for a time, or until the step is stopped.
async fn wait_until(ask: &Ask<'_>, until: Timestamp) -> Option<StopReason> {
    loop {
        let left = Duration::try_from(until.duration_since(clock::now())).unwrap_or(Duration::ZERO);
        if left.is_zero() {
            return None;
        }
        tokio::select! {
            reason = ask.control.asked() => return Some(reason),
            () = tokio::time::sleep(left.min(IDLE)) => {}
        }
    }
}

async fn clear_away(
    ask: &Ask<'_>,
    folder: &Path,
    branch: &BranchName,
    base: &regatta_git::CommitId,
) -> Result<(), Error> {
    let removal = Removal {
        owner: format!("run-{}", ask.run.id),
        folder: folder.to_owned(),
        branch: branch.clone(),
        base: base.clone(),
        merged_into: ask.project.config().default_branch.clone(),
        at: ask.work.at,
        message: format!("Salvage of run {}, step {}\n", ask.run.id, ask.run.step),
    };
    set_aside_and_remove(ask.project, &removal).await.map(|_| ())
}
