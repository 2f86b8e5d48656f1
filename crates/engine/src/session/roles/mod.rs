//! Roles played by the agents of the config: each answer is one session.
//!
//! A node with a task works in the task's worktree, which the run has assigned to it; what the agent leaves uncommitted
//! there is committed. A node without one works in a worktree of its own, which is thrown away afterwards, with a
//! salvage if something was changed in it. It does not choose which node comes next.

mod alone;
mod in_task;
pub(crate) mod left;
mod read_only;

use crate::commands::accounts;
use crate::commands::orders;
use crate::core::run::{Phase, Run, Taping};
use crate::core::session::Scope;
use crate::core::{AgentId, Breakdown, Code, CommitId, Failure, Park, Problem, Start, Task, TaskId};
use crate::error::Error;
use crate::perform::Work;
use crate::project::Project;
use crate::recording::difference::Difference;
use crate::recording::replay_branch;
use crate::recording::take::{Take, digest_of};
use crate::recording::tape::{self, Tape};
use crate::recording::tape_files::TapeFiles;
use crate::recording::tape_fit::TapeChange;
use crate::recording::tape_name::name_of;
use crate::runs::family;
use crate::runs::trouble;
use crate::runs::way::find_way;
use crate::session::charge::{self, Charge, Opening, Purpose};
use crate::session::desk::{OfRun, Subject};
use crate::session::role::{Ask, Played, Playing, Roles, find_player};
use crate::session::sessions;
use regatta_agents::{FailureClass, Outcome as Ending, StopReason};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long it sleeps when nothing happens; it wakes at once when the log moves.
const IDLE: Duration = Duration::from_secs(1);

/// Plays roles by sessions of agents, or from the tape of their run; their answers may be recorded on a tape.
#[derive(Debug, Default)]
pub struct AgentRoles {
    /// The tapes that are played, by their folders.
    tapes: Mutex<BTreeMap<String, Arc<Tape>>>,
    differences: Mutex<Vec<Difference>>,
}

impl AgentRoles {
    /// Returns the prompts that differ from the tape, in the order in which they were noticed.
    pub fn differences(&self) -> Vec<Difference> {
        self.differences.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Finds what is on the tape for this question.
    async fn find_take(&self, ask: &Ask<'_>) -> Result<Option<(Arc<Tape>, Take)>, Box<Failure>> {
        let Some(Taping::Replay(folder)) = &ask.run.tape else { return Ok(None) };
        let failed = |error: Error| Box::new(trouble::explain(ask.run, &error));
        let tape = self.open(folder).map_err(failed)?;
        let asks = asks_of(ask.run);
        let way = find_way(ask.project, ask.run).await.map_err(failed)?;
        let take =
            tape.find(&way, ask.run, asks).ok_or_else(|| Box::new(not_recorded(ask.run, asks)))?.clone();
        if take.prompt_digest != digest_of(&ask.prompt) {
            let text = format!("`{}` would get another prompt", ask.run.node);
            let difference = Difference::at(&way, ask.run.step, text);
            self.differences.lock().unwrap_or_else(PoisonError::into_inner).push(difference);
        }
        Ok(Some((tape, take)))
    }

    /// Opens the tape of a run, once for all of its steps.
    fn open(&self, folder: &str) -> Result<Arc<Tape>, Error> {
        let mut tapes = self.tapes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tape) = tapes.get(folder) {
            return Ok(Arc::clone(tape));
        }
        let tape = Arc::new(Tape::open(Path::new(folder))?);
        tapes.insert(folder.to_owned(), Arc::clone(&tape));
        Ok(tape)
    }
}

impl Roles for AgentRoles {
    fn play<'a>(&'a self, ask: Ask<'a>) -> Playing<'a> {
        Box::pin(play(self, ask))
    }
}

async fn play(roles: &AgentRoles, ask: Ask<'_>) -> Result<Played, Error> {
    let played = try_to_play(roles, &ask).await?;
    left::end_sessions_after(ask.work, ask.run, &played).await?;
    Ok(played)
}

async fn try_to_play(roles: &AgentRoles, ask: &Ask<'_>) -> Result<Played, Error> {
    let agent = match find_agent(ask) {
        Ok(agent) => agent,
        Err(problem) => return Ok(Played::Failed(Failure::from(*problem))),
    };
    if let Some(failure) = find_recording_trouble(ask.run)? {
        return Ok(Played::Failed(failure));
    }
    match ask.run.find_task() {
        Some(task) => in_task::play(roles, ask, agent, task).await,
        None => alone::play(roles, ask, agent).await,
    }
}

/// A running session, or what a tape has in its place.
enum Act {
    Session(Box<sessions::Live>),
    Take(Arc<Tape>, Box<Take>),
}

/// Its outcome.
struct Acted {
    ending: Ending,
    result: Option<Value>,
    /// How it broke off, if it did.
    broke: Option<Breakdown>,
}

/// One attempt to let a role play.
enum Try {
    Played(Played),
    /// It broke off, and will be tried again.
    Later,
}

/// Starts an agent, unless a tape is played; nothing when a stop was recorded meanwhile.
async fn begin(
    roles: &AgentRoles,
    ask: &Ask<'_>,
    request: sessions::Request<'_>,
) -> Result<Option<Act>, Box<Failure>> {
    if let Some((tape, take)) = roles.find_take(ask).await? {
        return Ok(Some(Act::Take(tape, Box::new(take))));
    }
    let begun = sessions::begin(ask.work, request).await;
    let begun = begun.map_err(|problem| Box::new(Failure::from(*problem)))?;
    Ok(begun.map(|live| Act::Session(Box::new(live))))
}

async fn finish(
    ask: &Ask<'_>,
    act: Act,
    folder: &Path,
    (agent, charge): (&AgentId, Option<&Charge>),
    transcript: &Path,
) -> Result<Acted, Error> {
    match act {
        Act::Session(live) => {
            let mut ended = sessions::watch(ask.project, *live, ask.control).await;
            if let (Some(charge), Some(entry)) = (charge, ask.project.config().agents.get(agent)) {
                charge.judge(&entry.limits, &mut ended);
            }
            // A session that the next engine continues stays open.
            if let Some(charge) = charge.filter(|_| ended.outcome != Ending::Stopped(StopReason::Shutdown)) {
                charge.close(ask.work, &ended).await?;
            }
            let broke = match &ended.outcome {
                Ending::Failed(failure) => {
                    Some(charge::breakdown(failure, explain(ask, failure, transcript)))
                }
                _ => None,
            };
            Ok(Acted { ending: ended.outcome, result: ended.result, broke })
        }
        Act::Take(tape, take) => {
            tape.play(&take, folder)?;
            Ok(Acted { ending: Ending::Finished, result: Some(take.output.clone()), broke: None })
        }
    }
}

/// Finds the agent of a role; a tape needs no agent.
fn find_agent(ask: &Ask<'_>) -> Result<AgentId, Box<Problem>> {
    if ask.is_replay() {
        return Ok(tape::player());
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

/// Opens a session for a role. An answer from a tape costs nothing, and takes no place of an agent.
async fn open(
    ask: &Ask<'_>,
    agent: &AgentId,
    mark: &str,
    task: Option<TaskId>,
    number: u32,
) -> Result<Result<Option<Charge>, Played>, Error> {
    if ask.is_replay() {
        return Ok(Ok(None));
    }
    let (run, role) = (Some(ask.run.id), Some(ask.role));
    let above = family::find_above(ask.project, ask.run).await?;
    let purpose = Purpose { mark, agent, task, run, above, role, number, is_fresh: false };
    Ok(match charge::open(ask.work, purpose, ask.control).await? {
        Opening::Open(charge) => Ok(Some(charge)),
        Opening::Refused(failure) => Err(Played::Failed(failure)),
        Opening::Stopped(reason) => Err(Played::Stopped(reason)),
    })
}

/// Closes a session that never began.
async fn abandon(work: &Work, charge: Option<&Charge>) -> Result<(), Error> {
    match charge {
        Some(charge) => charge.abandon(work).await,
        None => Ok(()),
    }
}

/// Finds the pause before another try that the current step of a run is in.
pub(crate) async fn find_park(project: &Project, run: &Run) -> Result<Option<Park>, Error> {
    if !matches!(run.phase(), Some(Phase::Performing { .. })) || run.is_held() {
        return Ok(None);
    }
    if let Some(task) = run.find_task() {
        let task = orders::get_task(project, task).await?;
        return Ok(task.find_park().filter(|_| task.run == Some(run.id)).cloned());
    }
    let account = accounts::get_account(project, Scope::Run(run.id)).await?;
    let mark = project.run_mark(run.id, run.step);
    Ok(account.find_park(charge::name_of(&mark), run.updated_at).cloned())
}

/// Finds where work on a task, or in a worktree of its own, would start.
async fn see_start(roles: &AgentRoles, ask: &Ask<'_>) -> Result<Start, Error> {
    match &ask.run.tape {
        Some(Taping::Replay(folder)) => {
            replay_branch::see_start(ask.project, ask.run, &*roles.open(folder)?).await
        }
        Some(Taping::Record(_)) | None => orders::see_start(ask.project).await,
    }
}

/// Says why no answer of a run can be recorded, before an answer is paid for.
fn find_recording_trouble(run: &Run) -> Result<Option<Failure>, Error> {
    let Some(Taping::Record(tape)) = &run.tape else { return Ok(None) };
    match Tape::at(Path::new(tape)).check_writable() {
        Ok(()) => Ok(None),
        Err(error) => trouble::of_recording(run, error).map(Some),
    }
}

/// Records an answer with the files that changed since a commit, if the run is recorded, or says why it was not.
async fn record(
    ask: &Ask<'_>,
    output: &Value,
    commits: (&CommitId, Option<&regatta_git::CommitId>),
    folder: &Path,
) -> Result<Option<Failure>, Error> {
    let Some(Taping::Record(tape)) = &ask.run.tape else { return Ok(None) };
    match keep(ask, Tape::at(Path::new(tape)), output, commits, folder).await {
        Ok(()) => Ok(None),
        Err(error) => trouble::of_recording(ask.run, error).map(Some),
    }
}

async fn keep(
    ask: &Ask<'_>,
    tape: Tape,
    output: &Value,
    (base, start): (&CommitId, Option<&regatta_git::CommitId>),
    folder: &Path,
) -> Result<(), Error> {
    let (mut files, mut changes) = (TapeFiles::default(), BTreeMap::new());
    if let Some(start) = start {
        let repository = ask.project.repository();
        let head = repository.head_of_worktree(folder).await?;
        let committed = repository.changed_entries(start, &head).await?;
        let left = repository.status(folder, &[]).await?.into_iter().map(|entry| entry.place);
        let changed: BTreeSet<PathBuf> =
            committed.iter().map(|change| change.path.clone()).chain(left).collect();
        files = TapeFiles::look(folder, changed)?;
        changes = committed.iter().map(|change| (name_of(&change.path), TapeChange::of(change))).collect();
    }
    let take = Take {
        way: find_way(ask.project, ask.run).await?,
        step: ask.run.step,
        node: ask.run.node.to_string(),
        item: ask.run.item.clone(),
        visit: ask.run.count_visits() + 1,
        asks: asks_of(ask.run),
        prompt_digest: digest_of(&ask.prompt),
        output: output.clone(),
        base: Some(base.clone()),
        files,
        changes,
    };
    tape.keep(&take, &ask.prompt, folder)
}

fn asks_of(run: &Run) -> u32 {
    if let Some(Phase::Performing { asks, .. }) = run.phase() { *asks } else { 0 }
}

fn answer(acted: Acted) -> Played {
    match (acted.ending, acted.broke) {
        (_, Some(broke)) => Played::Failed(broke.failure),
        (Ending::Stopped(reason), _) => Played::Stopped(reason),
        // A missing answer is judged like a wrong one: the role learns what is wrong, and is asked again.
        (Ending::Finished | Ending::Failed(_), _) => Played::Returned(acted.result.unwrap_or_default()),
    }
}

fn explain(ask: &Ask<'_>, failure: &regatta_agents::Failure, transcript: &Path) -> Failure {
    let code = match failure.class {
        FailureClass::RateLimit => Code::RateLimited,
        FailureClass::Budget => Code::BudgetExceeded,
        _ => Code::AgentSessionFailed,
    };
    let mut why = vec![failure.to_string()];
    why.extend(Some(failure.tail.clone()).filter(|tail| !tail.is_empty()));
    let (run, transcript) = (ask.run.id, transcript.display().to_string());
    let problem = Problem::new(
        code,
        format!("step {} of run {run} failed", ask.run.step),
        "",
        format!("read {transcript}; then `regatta run resume {run}` performs the step again"),
    );
    let problem = Problem { why, ..problem };
    Failure::from(problem.with("class", failure.class.name()).with("transcript", transcript))
}

fn not_recorded(run: &Run, asks: u32) -> Failure {
    Failure::from(Problem::new(
        Code::RunFailed,
        format!("step {} of run {} cannot be replayed", run.step, run.id),
        missing(run.node.as_str(), run.item.as_deref(), run.count_visits() + 1, asks),
        "the workflow decides differently from when it was recorded; record it again if that is intended",
    ))
}

/// Names the answer that a tape does not have.
fn missing(node: &str, item: Option<&str>, visit: u32, asks: u32) -> String {
    let item = item.map_or_else(String::new, |item| format!(" for {item}"));
    match asks {
        0 => format!("the recording has no answer {visit} of `{node}`{item}"),
        1 => {
            format!("the recording has answer {visit} of `{node}`{item}, but none for when it is asked again")
        }
        _ => format!(
            "the recording has answer {visit} of `{node}`{item}, but none for when it is asked again {asks} times"
        ),
    }
}

fn subject_of(ask: &Ask<'_>, agent: &AgentId, session: u32, task: Option<TaskId>) -> Subject {
    let run = OfRun {
        id: ask.run.id,
        step: ask.run.step,
        role: ask.role.to_owned(),
        item: ask.run.item.clone(),
        digest: ask.run.digest.clone(),
        within: ask.run.within.clone(),
    };
    Subject { agent: agent.clone(), session, task, run: Some(run) }
}

fn names_of_run(ask: &Ask<'_>) -> Vec<(String, String)> {
    let pairs = [
        ("REGATTA_RUN_ID", ask.run.id.to_string()),
        ("REGATTA_STEP", ask.run.step.to_string()),
        ("REGATTA_ROLE", ask.role.to_owned()),
        ("REGATTA_ITEM", ask.run.item.clone().unwrap_or_default()),
        ("REGATTA_PROJECT", ask.project.root().display().to_string()),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value)).into()
}

fn variables(ask: &Ask<'_>, task: Option<&Task>) -> BTreeMap<String, String> {
    let pairs = [
        ("run", ask.run.id.to_string()),
        ("step", ask.run.step.to_string()),
        ("role", ask.role.to_owned()),
        ("item", ask.run.item.clone().unwrap_or_default()),
        ("visit", (ask.run.count_visits() + 1).to_string()),
        ("task", task.map_or_else(String::new, |task| task.id.to_string())),
        ("title", task.map_or_else(String::new, |task| task.title.clone())),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value)).into()
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn an_answer_that_is_there_is_not_called_missing() {
        assert_eq!(missing("coder", Some("T001"), 2, 0), "the recording has no answer 2 of `coder` for T001");
        assert_eq!(
            missing("coder", None, 1, 1),
            "the recording has answer 1 of `coder`, but none for when it is asked again"
        );
    }
}
