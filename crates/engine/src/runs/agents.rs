//! Roles played by the agents of the config: each answer is one session.
//!
//! A node with a task works in the task's worktree, which the run has assigned to it; what the agent leaves uncommitted
//! there is committed. A node without one works in a worktree of its own, which is thrown away afterwards, with a
//! salvage if something was changed in it.

use super::roles::{Ask, Played, Playing, Roles};
use super::tape::{self, Take, Tape};
use super::tape_files::TapeFiles;
use crate::clock;
use crate::core::run::{Phase, Run};
use crate::core::{
    Actor, AgentId, Assign, Breakdown, Code, Command, Complete, Failure, Outcome, Problem, Refusal, RunId,
    SessionEnd, Stage, Start, Task, TaskId, WorkPhase, find_next_try,
};
use crate::error::Error;
use crate::keeper;
use crate::orders::{self, Order};
use crate::perform::charge::{self, Charge, Purpose};
use crate::perform::{session_entry, sessions};
use crate::prompt;
use crate::salvage::{Removal, set_aside_and_remove};
use jiff::Timestamp;
use regatta_agents::{FailureClass, Outcome as Ending, ResultIs, Session, StopReason};
use regatta_git::BranchName;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long it sleeps when nothing happens; it wakes at once when the log moves.
const IDLE: Duration = Duration::from_secs(1);

/// Plays roles by sessions of agents, or from a tape; what they do may be recorded on another.
#[derive(Debug, Default)]
pub struct AgentRoles {
    replay: Option<Tape>,
    record: Option<Tape>,
    differences: Mutex<Vec<String>>,
}

impl AgentRoles {
    /// Keeps what the agents do on a tape.
    pub fn recording(tape: Tape) -> Self {
        AgentRoles { record: Some(tape), ..AgentRoles::default() }
    }

    /// Has no agent work: every answer is on the tape.
    pub fn replaying(tape: Tape) -> Self {
        AgentRoles { replay: Some(tape), ..AgentRoles::default() }
    }

    /// Returns what the roles were told differently than on the tape, a line each.
    pub fn differences(&self) -> Vec<String> {
        self.differences.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Finds what is on the tape for this question.
    fn find_take(&self, ask: &Ask<'_>) -> Result<Option<(&Tape, &Take)>, Box<Failure>> {
        let Some(tape) = &self.replay else { return Ok(None) };
        let asks = asks_of(ask.run);
        let take = tape.find(ask.run, asks).ok_or_else(|| Box::new(not_recorded(ask.run)))?;
        if take.prompt_digest != tape::digest_of(&ask.prompt) {
            let line = format!("step {}: `{}` would be told something else", ask.run.step, ask.run.node);
            self.differences.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
        Ok(Some((tape, take)))
    }
}

impl Roles for AgentRoles {
    fn play<'a>(&'a self, ask: Ask<'a>) -> Playing<'a> {
        Box::pin(play(self, ask))
    }
}

async fn play(roles: &AgentRoles, ask: Ask<'_>) -> Result<Played, Error> {
    let agent = match find_agent(&ask) {
        Ok(agent) => agent,
        Err(problem) => return Ok(Played::Failed(Failure::from(*problem))),
    };
    match ask.run.find_task() {
        Some(task) => in_task(roles, &ask, agent, task).await,
        None => alone(roles, &ask, agent).await,
    }
}

/// A session under way, or what a tape has in its place.
enum Act<'a> {
    Session(Session),
    Take(&'a Tape, &'a Take),
}

/// What came of it.
struct Acted {
    ending: Ending,
    result: Option<Value>,
    /// How it broke off, if it did.
    broke: Option<Breakdown>,
}

/// One try to have a role play.
enum Try {
    Played(Played),
    /// It broke off, and is to be tried again.
    Later,
}

/// Has an agent begin, unless a tape is played.
async fn begin<'a>(
    roles: &'a AgentRoles,
    ask: &Ask<'_>,
    request: sessions::Request<'_>,
) -> Result<Act<'a>, Box<Failure>> {
    if let Some((tape, take)) = roles.find_take(ask)? {
        return Ok(Act::Take(tape, take));
    }
    let begun = sessions::begin(ask.work, request).await;
    begun.map(Act::Session).map_err(|problem| Box::new(Failure::from(*problem)))
}

async fn finish(
    ask: &Ask<'_>,
    act: Act<'_>,
    folder: &Path,
    (agent, charge): (&AgentId, &Charge),
    transcript: &Path,
) -> Result<Acted, Error> {
    match act {
        Act::Session(session) => {
            let mut ended = sessions::watch(session, ask.control).await;
            if let Some(entry) = ask.project.config().agents.get(agent) {
                charge.judge(&entry.limits, &mut ended);
            }
            // One that goes on with the next engine stays open.
            if ended.outcome != Ending::Stopped(StopReason::Shutdown) {
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
            tape.play(take, folder)?;
            Ok(Acted { ending: Ending::Finished, result: Some(take.output.clone()), broke: None })
        }
    }
}

/// Finds the agent of a role: the one that `[roles]` names, or one of the role's own name.
fn find_agent(ask: &Ask<'_>) -> Result<AgentId, Box<Problem>> {
    let config = ask.project.config();
    let named = config.roles.get(ask.role).cloned();
    let own = || config.agents.keys().find(|agent| agent.as_str() == ask.role).cloned();
    named.or_else(own).ok_or_else(|| {
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

/// Plays in the worktree of a task, again and again while it breaks off for a reason that passes.
async fn in_task(roles: &AgentRoles, ask: &Ask<'_>, agent: AgentId, id: TaskId) -> Result<Played, Error> {
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
    let task = match drive(ask, agent, id).await? {
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
        reason = ask.control.asked() => return played(Played::Stopped(reason)),
        place = work.places.take(agent) => place,
    };
    work.keep_file(id).await?;
    session_entry::archive_if_due(work, id).await?;
    let start = session_entry::find_start(project, &task).await;
    let folder = task.worktree().map(|worktree| project.place(&worktree.path)).unwrap_or_default();
    let mark = project.session_mark(id, number);
    let charge = match open(ask, agent, &mark, Some(id), number).await? {
        Ok(charge) => charge,
        Err(failure) => return played(Played::Failed(failure)),
    };
    let transcript = project.transcript(id, number);
    let request = sessions::Request {
        mark,
        agent,
        subject: format!("task #{id}"),
        number: ask.run.count_visits() + 1,
        item: ask.run.item.clone(),
        result_is: ResultIs::Answer,
        folder: folder.clone(),
        prompt: format!("{}{}", ask.prompt, prompt::render_protocol(&task, &keeper::file_path(project, id))),
        transcript: transcript.clone(),
        own: [names_of_run(ask), sessions::names_of_task(project, &task, agent, number)].concat(),
        variables: variables(ask, Some(&task)),
        charge: Some(&charge),
    };
    let act = match begin(roles, ask, request).await {
        Ok(act) => act,
        Err(failure) => {
            charge.abandon(work).await?;
            return played(Played::Failed(*failure));
        }
    };
    work.note(id, Outcome::RoleStarted { agent: agent.clone(), session: number }).await?;
    let acted = finish(ask, act, &folder, (agent, &charge), &transcript).await?;
    let (ending, broke) = (acted.ending.clone(), acted.broke.clone());
    let (answered, end) = match answer(acted) {
        Played::Stopped(StopReason::Shutdown) => return played(Played::Stopped(StopReason::Shutdown)),
        Played::Returned(output) | Played::Committed(output, _) => commit(ask, id, number, output).await?,
        Played::Failed(failure) => (Played::Failed(failure.clone()), SessionEnd::Failed(failure)),
        Played::Stopped(reason) => (Played::Stopped(reason), SessionEnd::Stopped),
    };
    if let (Some(tape), Played::Committed(output, _)) = (&roles.record, &answered) {
        keep(ask, tape, output, start.as_ref(), &folder).await?;
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

/// Opens a session for a role.
async fn open(
    ask: &Ask<'_>,
    agent: &AgentId,
    mark: &str,
    task: Option<TaskId>,
    number: u32,
) -> Result<Result<Charge, Failure>, Error> {
    let (run, role) = (Some(ask.run.id), Some(ask.role));
    charge::open(ask.work, Purpose { mark, agent, task, run, role, number }).await
}

/// Records an answer with the files that changed since a commit.
async fn keep(
    ask: &Ask<'_>,
    tape: &Tape,
    output: &Value,
    start: Option<&regatta_git::CommitId>,
    folder: &Path,
) -> Result<(), Error> {
    let mut files = TapeFiles::default();
    if let Some(start) = start {
        let head = ask.project.repository().head_of_worktree(folder).await?;
        let changed = ask.project.repository().diff(start, &head).await?.files;
        files = TapeFiles::look(folder, changed.into_iter().map(|file| file.path))?;
    }
    let take = Take {
        step: ask.run.step,
        node: ask.run.node.to_string(),
        item: ask.run.item.clone(),
        visit: ask.run.count_visits() + 1,
        asks: asks_of(ask.run),
        prompt_digest: tape::digest_of(&ask.prompt),
        output: output.clone(),
        files,
    };
    tape.keep(&take, &ask.prompt, folder)
}

fn asks_of(run: &Run) -> u32 {
    if let Phase::Performing { asks, .. } = run.phase { asks } else { 0 }
}

/// Commits what the agent left; an answer whose work cannot be kept is none.
async fn commit(
    ask: &Ask<'_>,
    id: TaskId,
    number: u32,
    output: Value,
) -> Result<(Played, SessionEnd), Error> {
    let found = orders::get_task(ask.project, id).await?;
    let message = format!("Task #{id}: work of session {number} ({})", ask.role);
    let failed = |failure: Failure| (Played::Failed(failure.clone()), SessionEnd::Failed(failure));
    let diff = match orders::commit_work(ask.project, &found, &message).await {
        Ok(diff) => diff,
        Err(error) => return Ok(failed(Failure::from(error.explain()))),
    };
    let head = diff.head.clone();
    Ok(match Complete::new(diff, 1, None) {
        Ok(complete) => (Played::Committed(output, head), SessionEnd::Finished(complete)),
        Err(faults) => failed(Failure::from(orders::invalid(faults).explain())),
    })
}

enum Driven {
    Ready(Box<Task>),
    Not(Played),
}

/// Makes sure that the task is this run's, and has its worktree.
async fn drive(ask: &Ask<'_>, agent: &AgentId, id: TaskId) -> Result<Driven, Error> {
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
                _ => return Ok(Driven::Not(Played::Failed(taken(run, &task)))),
            },
            // It was tried, and is back with the error.
            Stage::Backlog if is_asked && task.error.is_some() => {
                let failure = task.error.clone().unwrap_or_else(|| taken(run, &task));
                return Ok(Driven::Not(Played::Failed(failure)));
            }
            Stage::Backlog => match assign(ask, agent, &task).await {
                Ok(()) => is_asked = true,
                // Somebody else is at work; it is this run's turn when they are done.
                Err(Error::Refused(Refusal::AgentAlreadyRunning { .. } | Refusal::NoPlace { .. })) => {}
                Err(error) => return Ok(Driven::Not(Played::Failed(Failure::from(error.explain())))),
            },
            _ => return Ok(Driven::Not(Played::Failed(taken(run, &task)))),
        }
        tokio::select! {
            reason = ask.control.asked() => return Ok(Driven::Not(Played::Stopped(reason))),
            head = project.store().wait_past(seen, IDLE) => seen = head?,
        }
    }
}

async fn assign(ask: &Ask<'_>, agent: &AgentId, task: &Task) -> Result<(), Error> {
    let start = find_start(ask, task).await?;
    let assign = Assign { agent: agent.clone(), priority: None, start, run: Some(ask.run.id) };
    let order = Order { fence: Some(ask.work.token), ..Order::new(Some(task.id), &Actor::Engine) };
    orders::give(ask.project, order, Command::Assign(assign)).await.map(|_| ())
}

/// A fork goes on with an item from the commit that the other run had come to; work that was cancelled does not.
async fn find_start(ask: &Ask<'_>, task: &Task) -> Result<Start, Error> {
    let start = orders::see_start(ask.project).await?;
    let head = ask.run.item.as_ref().and_then(|item| ask.run.heads.get(item));
    let Some(head) = head.filter(|_| task.sessions == 0) else { return Ok(start) };
    let (target, begun) = (orders::to_git(&start.base)?, orders::to_git(head)?);
    Ok(match ask.project.repository().find_merge_base(&target, &begun).await? {
        Some(base) => Start { base: orders::from_git(&base), from: Some(head.clone()), ..start },
        None => start,
    })
}

fn taken(run: RunId, task: &Task) -> Failure {
    Failure::from(
        Problem::new(
            Code::TaskBusy,
            format!("run {run} cannot work on task #{}", task.id),
            format!("it is in {}, and not in the hands of this run", task.column()),
            format!("see `regatta task show {}`; then `regatta run resume {run}`", task.id),
        )
        .with("taskId", task.id.number()),
    )
}

/// Plays in a worktree that is made for the step and removed after it.
async fn alone(roles: &AgentRoles, ask: &Ask<'_>, agent: AgentId) -> Result<Played, Error> {
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
        match try_alone(roles, ask, &agent, (&folder, &transcript), attempt).await? {
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
    (folder, transcript): (&Path, &Path),
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
        subject: format!("run {}", ask.run.id),
        number,
        item: ask.run.item.clone(),
        result_is: ResultIs::Answer,
        folder: folder.to_owned(),
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

fn answer(acted: Acted) -> Played {
    match (acted.ending, acted.broke) {
        (_, Some(broke)) => Played::Failed(broke.failure),
        (Ending::Stopped(reason), _) => Played::Stopped(reason),
        // What is no answer is judged as one: the role is told so, and asked again.
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

fn not_recorded(run: &Run) -> Failure {
    let item = run.item.as_ref().map_or_else(String::new, |item| format!(" for {item}"));
    Failure::from(Problem::new(
        Code::RunFailed,
        format!("step {} of run {} cannot be replayed", run.step, run.id),
        format!("the tape has no answer {} of `{}`{item}", run.count_visits() + 1, run.node),
        "the workflow decides otherwise than when it was recorded; record it again if that is meant",
    ))
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
