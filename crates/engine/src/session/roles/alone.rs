//! A role that works on no task: in a worktree that is made for the step and thrown away after it.

use crate::clock;
use crate::commands::orders;
use crate::commands::run_orders::get_run;
use crate::core::run::Run;
use crate::core::{AgentId, Park, Start, find_next_try};
use crate::error::Error;
use crate::perform::Work;
use crate::project::Project;
use crate::runs::drive;
use crate::runs::trouble;
use crate::session::role::{Ask, Played};
use crate::session::roles::{
    AgentRoles, IDLE, abandon, answer, begin, find_park, finish, left, names_of_run, open, record, see_start,
    subject_of, variables,
};
use crate::session::sessions;
use crate::worktree::salvage::{Removal, set_aside_and_remove};
use crate::worktree::worktree_place;
use jiff::Timestamp;
use regatta_agents::{ResultIs, StopReason};
use regatta_git::BranchName;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Plays, again and again while it breaks off for a reason that passes.
pub(crate) async fn play(roles: &AgentRoles, ask: &Ask<'_>, agent: AgentId) -> Result<Played, Error> {
    let (folder, branch, transcript) = find_places(ask.project, ask.run)?;
    let start = see_start(roles, ask).await?;
    let base = orders::to_git(&start.base)?;
    if let Err(error) = ensure_worktree(ask, (&folder, &branch, &transcript), &start).await {
        return Ok(Played::Failed(trouble::of_run(ask.run, error)?));
    }
    let places = (folder.as_path(), &branch, transcript.as_path());
    let mut played = try_until_played(roles, ask, &agent, places).await?;
    if let Played::Returned(output) = &played
        && let Some(failure) = record(ask, output, (&start.base, Some(&base)), &folder).await?
    {
        played = Played::Failed(failure);
    }
    // Before the worktree goes: nobody may be at work in it.
    left::end_sessions_after(ask.work, ask.run, &played).await?;
    match clear_away(ask.work, ask.run, (&folder, &branch), &start).await {
        Err(error) if error.is_of_engine() => Err(error),
        // What stays is found by the doctor; it is no reason to lose an answer.
        Err(_) | Ok(()) => Ok(played),
    }
}

/// Removes the worktree of a step, if an earlier engine made it and this one does not perform the step.
pub(crate) async fn clear_left(work: &Work, run: &Run) -> Result<(), Error> {
    let (folder, branch, transcript) = find_places(&work.project, run)?;
    if !folder.is_dir() && !was_one(run, &transcript) {
        return Ok(());
    }
    let start = drive::see_start(&work.project, run).await?;
    clear_away(work, run, (&folder, &branch), &start).await
}

/// Returns the folder, the branch and the transcript of the step that a run is at.
fn find_places(project: &Project, run: &Run) -> Result<(PathBuf, BranchName, PathBuf), Error> {
    let name = format!("run-{}-step-{}", run.id, run.step);
    let branch =
        BranchName::parse(&format!("run/{}-{}", run.id, run.step)).map_err(regatta_git::Error::from)?;
    let transcript = project.transcript_of_step(run.id, run.step);
    Ok((project.place(&project.config().worktrees).join(&name), branch, transcript))
}

/// Tells whether a branch of that name was ours: a transcript, or a tape, says so.
fn was_one(run: &Run, transcript: &Path) -> bool {
    transcript.exists() || run.tape.is_some()
}

/// Makes the worktree. An engine that was killed while it threw it away left the branch, which goes last.
async fn ensure_worktree(
    ask: &Ask<'_>,
    (folder, branch, transcript): (&Path, &BranchName, &Path),
    start: &Start,
) -> Result<(), Error> {
    let (repository, base) = (ask.project.repository(), orders::to_git(&start.base)?);
    let was_one = was_one(ask.run, transcript);
    match worktree_place::ensure(ask.project, folder, branch, &base, was_one).await {
        Err(Error::Git(regatta_git::Error::BranchTaken { .. })) if was_one => {
            clear_away(ask.work, ask.run, (folder, branch), start).await?;
            Ok(repository.ensure_worktree(folder, branch, &base).await?)
        }
        other => other,
    }
}

/// Tries until there is an answer; a pause that an earlier engine was in is waited for and counted.
async fn try_until_played(
    roles: &AgentRoles,
    ask: &Ask<'_>,
    agent: &AgentId,
    places: (&Path, &BranchName, &Path),
) -> Result<Played, Error> {
    let mut parked = find_park(ask.project, ask.run).await?;
    let mut last = ask.run.updated_at;
    loop {
        let attempt = match &parked {
            None => 1,
            Some(park) => match wait(ask, park.until, last).await? {
                Waited::Out => park.attempt + 1,
                Waited::Resumed(at) => {
                    last = at;
                    1
                }
                Waited::Stopped(reason) => return Ok(Played::Stopped(reason)),
            },
        };
        match try_alone(roles, ask, agent, places, attempt).await? {
            Ok(played) => return Ok(played),
            Err(park) => parked = Some(park),
        }
    }
}

/// Tries once, and returns the pause before the next try if there is to be one.
async fn try_alone(
    roles: &AgentRoles,
    ask: &Ask<'_>,
    agent: &AgentId,
    (folder, branch, transcript): (&Path, &BranchName, &Path),
    attempt: u32,
) -> Result<Result<Played, Park>, Error> {
    let (project, work) = (ask.project, ask.work);
    let number = ask.run.count_visits() + 1;
    let mark = project.run_mark(ask.run.id, ask.run.step);
    let charge = match open(ask, agent, &mark, None, number).await? {
        Ok(charge) => charge,
        Err(instead) => return Ok(Ok(instead)),
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
        writes: ask.writes(),
        prompt: ask.prompt.clone(),
        transcript: transcript.to_owned(),
        own: names_of_run(ask),
        variables: variables(ask, None),
        charge: charge.as_ref(),
    };
    let acted = match begin(roles, ask, request).await {
        Ok(Some(act)) => finish(ask, act, folder, (agent, charge.as_ref()), transcript).await?,
        Ok(None) => {
            abandon(work, charge.as_ref()).await?;
            return Ok(Ok(Played::Stopped(StopReason::Cancelled)));
        }
        Err(failure) => {
            abandon(work, charge.as_ref()).await?;
            return Ok(Ok(Played::Failed(*failure)));
        }
    };
    if let Some(broke) = &acted.broke
        && let Some(until) = find_next_try(&project.config().settings.retries, attempt, broke)
    {
        let park = Park { class: broke.class, attempt, until };
        if let Some(charge) = &charge {
            charge.park(work, &park).await?;
        }
        return Ok(Err(park));
    }
    Ok(Ok(answer(acted)))
}

/// How the pause before a try ended.
enum Waited {
    /// It is over.
    Out,
    /// A person had the run go on, at that time.
    Resumed(Timestamp),
    /// The step was stopped, or the engine leaves: the next one waits for what is left.
    Stopped(StopReason),
}

/// Waits for the next try, and longer if the run is paused meanwhile; `last` is what happened last to the run.
async fn wait(ask: &Ask<'_>, until: Timestamp, last: Timestamp) -> Result<Waited, Error> {
    loop {
        if ask.work.is_leaving() {
            return Ok(Waited::Stopped(StopReason::Shutdown));
        }
        let now = get_run(ask.project, ask.run.id).await?;
        let left = Duration::try_from(until.duration_since(clock::now())).unwrap_or(Duration::ZERO);
        if !now.is_held() && now.updated_at > last {
            return Ok(Waited::Resumed(now.updated_at));
        }
        if !now.is_held() && left.is_zero() {
            return Ok(Waited::Out);
        }
        let look_after = if left.is_zero() { IDLE } else { left.min(IDLE) };
        tokio::select! {
            reason = ask.control.asked() => return Ok(Waited::Stopped(reason)),
            () = tokio::time::sleep(look_after) => {}
        }
    }
}

async fn clear_away(
    work: &Work,
    run: &Run,
    (folder, branch): (&Path, &BranchName),
    start: &Start,
) -> Result<(), Error> {
    let removal = Removal {
        owner: format!("run-{}", run.id),
        folder: folder.to_owned(),
        branch: branch.clone(),
        base: orders::to_git(&start.base)?,
        merged_into: BranchName::parse(&start.target).map_err(regatta_git::Error::from)?,
        at: work.at,
        message: format!("Salvage of run {}, step {}\n", run.id, run.step),
    };
    set_aside_and_remove(&work.project, work.token, &removal).await.map(|_| ())
}
