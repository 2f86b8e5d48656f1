//! Drives a run: performs its current node, and continues with the next as long as the run asks for nothing
//! else.
//!
//! The run stays in memory from step to step. The intent of each step is settled by the append that asks for
//! the next, so a crash loses at most what a role was just doing, and nothing whose result was stored is done
//! again.

use crate::commands::batch::Batch;
use crate::commands::round::{self, Envelope, Round, Verdict};
use crate::core::run::{Command, Hold, Phase, Run};
use crate::core::{Actor, Code, Effect, Evidence, Failure, Problem, RunId, Task, TaskId};
use crate::crash;
use crate::error::Error;
use crate::on_heap::on_heap;
use crate::perform::runs::{fork_hint, members, or_hold};
use crate::perform::{Work, run_checks};
use crate::project::Project;
use crate::recording::signals;
use crate::run_files;
use crate::runs::cancelled;
use crate::runs::claim::{self, Claim, Driven};
use crate::runs::driver::{self, Driver};
use crate::runs::findings;
use crate::runs::trouble;
use crate::runtime::active_steps::OnTask;
use crate::runtime::stop_handle::StopHandle;
use crate::session::role::{RoleOutcome, RoleRequest, Roles};
use crate::session::roles::left;
use regatta_agents::StopReason;
use regatta_flow::NodeKind;
use regatta_store::IntentId;
use serde_json::{Value, json};
use std::time::Instant;

pub(crate) async fn perform(
    work: &Work,
    roles: &dyn Roles,
    (run, step): (RunId, u64),
    stop_handle: &StopHandle,
) -> Result<(), Error> {
    let mut driver = match Driver::load(&work.project, run).await {
        Ok(driver) => driver,
        Err(error) => return or_hold(work, run, step, Err(error)).await,
    };
    run_files::ensure_first(&work.project, driver.run()).await;
    let mut intent = work.intent;
    loop {
        let envelope = Envelope { settles: vec![intent], ..work.envelope() };
        let (asks, is_parallel) = match driver.run().phase() {
            Some(Phase::Performing { asks, .. }) => (*asks, false),
            Some(Phase::Parallel { .. }) => (0, true),
            _ => return round::settle(&work.project, &envelope).await,
        };
        if find_hold(driver.run()).is_some() {
            left::end(work, driver.run()).await?;
            let held = round::submit(&work.project, &envelope, &PutOff { run }, Some(driver)).await?;
            match held.reads.filter(|_| !held.answer) {
                Some(resumed) => driver = resumed,
                None => return Ok(()),
            }
            continue;
        }
        match on_heap(|| signals::give_due(&work.project, driver.run())).await {
            Ok(false) => {}
            Ok(true) => {
                driver = Driver::load(&work.project, run).await?;
                continue;
            }
            Err(error) => {
                let failure = trouble::of_run(driver.run(), error)?;
                let command = Command::NotPerformed { step: driver.run().step, failure };
                return driver::give(&work.project, &envelope, (run, Some(driver)), command).await.map(drop);
            }
        }
        // What cannot be read is said with the file.
        if on_heap(|| run_files::read_before_prompt(&work.project, driver.run())).await.unwrap_or(false) {
            driver = Driver::load(&work.project, run).await?;
            continue;
        }
        if is_parallel {
            let joined = on_heap(|| members::perform(work, roles, &driver, intent, stop_handle)).await?;
            let (stepped, asked) = match joined {
                Some(joined) => joined,
                None if work.is_leaving() => return Ok(()),
                // It was stopped or paused meanwhile: look again.
                None => {
                    driver = Driver::load(&work.project, run).await?;
                    continue;
                }
            };
            match next_of(&asked) {
                Some(next) if !work.is_leaving() => (driver, intent) = (stepped, next),
                _ => return Ok(()),
            }
            continue;
        }
        // Held until the outcome is stored: until then its task is not cancelled.
        let on_task = driver.run().find_task().map(|task| work.active_steps.enter(task, stop_handle));
        let stop_handle = on_task.as_ref().map_or(stop_handle, OnTask::stop_handle);
        let played = on_heap(|| play(work, roles, &mut driver, asks, stop_handle)).await;
        let Some(command) = trouble::or_hold(driver.run(), played)? else { return Ok(()) };
        if let Command::PutOff { .. } = command {
            // As if nobody had begun: read the run again.
            driver = Driver::load(&work.project, run).await?;
            continue;
        }
        crash::point("perform_node.played");
        let begun = Instant::now();
        let (stepped, asked) = driver::give(&work.project, &envelope, (run, Some(driver)), command).await?;
        work.project.meters().step.note(begun.elapsed());
        match (stepped, next_of(&asked)) {
            (Some(stepped), Some(next)) if !work.is_leaving() => (driver, intent) = (stepped, next),
            _ => return Ok(()),
        }
    }
}

/// Leaves a step that is not to be performed now. The answer is whether it did: if somebody resumes the run right
/// then, the intent stays open and the step is performed.
struct PutOff {
    run: RunId,
}

impl Round for PutOff {
    type Reads = Driver;
    type Answer = bool;

    async fn load(&self, project: &Project) -> Result<Driver, Error> {
        Driver::load(project, self.run).await
    }

    fn decide(&self, driver: &mut Driver, batch: &mut Batch) -> Result<Verdict<bool>, Error> {
        let Some(command) = find_hold(driver.run()) else { return Ok(Verdict::Withdraw(false)) };
        driver.decide(Actor::Engine, &command, batch)?;
        Ok(Verdict::Append(true))
    }
}

/// Tells whether the current node of a run should be performed; otherwise what is left of it is ended.
pub(crate) fn is_performed(run: &Run) -> bool {
    let is_node = matches!(run.phase(), Some(Phase::Performing { .. } | Phase::Parallel { .. }));
    is_node && find_hold(run).is_none()
}

/// Returns the command for a run whose node is not performed, because it was stopped or paused before anybody
/// began.
fn find_hold(run: &Run) -> Option<Command> {
    match run.hold() {
        Some(Hold::Stopping { .. }) => Some(Command::Stopped),
        _ => run.may_be_put_off().then_some(Command::PutOff { step: run.step }),
    }
}

/// Returns the intent to continue with, if performing the next node is all that is asked for.
fn next_of(asked: &[(IntentId, Effect)]) -> Option<IntentId> {
    match asked {
        [(intent, Effect::PerformNode { .. })] => Some(*intent),
        _ => None,
    }
}

/// Performs the node, and returns the command for the run; nothing when the engine shuts down.
pub(super) async fn play(
    work: &Work,
    roles: &dyn Roles,
    driver: &mut Driver,
    asks: u32,
    stop_handle: &StopHandle,
) -> Result<Option<Command>, Error> {
    let step = driver.run().step;
    driver.gather(&work.project).await?;
    // What its prompt knows; a later edit is one that it may overtake.
    let edits = driver.run().edits.count;
    let played = match find_kind(driver) {
        Some(Kind::Role { role, prompt }) => {
            match ask(work, roles, driver, (&role, &prompt), stop_handle).await? {
                Ok(played) => played,
                Err(failure) => return Ok(Some(Command::Unperformable { step, failure: *failure })),
            }
        }
        Some(Kind::Pass) => RoleOutcome::Returned(Value::Null),
        Some(Kind::Checks(names)) => check(work, driver, &names, stop_handle).await?,
        None => RoleOutcome::Failed(gone(driver.run().id, &fork_hint::find(work, driver.run()).await?)),
    };
    if let RoleOutcome::Committed(output, head) = &played {
        driver.gather(&work.project).await?;
        findings::note(work, driver, output, head).await?;
    }
    Ok(match played {
        RoleOutcome::Returned(output) => Some(Command::Performed { step, asks, output, head: None, edits }),
        RoleOutcome::Committed(output, head) => {
            Some(Command::Performed { step, asks, output, head: Some(head), edits })
        }
        RoleOutcome::Failed(failure) => Some(Command::NotPerformed { step, failure }),
        RoleOutcome::PutOff => Some(Command::PutOff { step }),
        RoleOutcome::Stopped(StopReason::Shutdown) => None,
        RoleOutcome::Stopped(_) => {
            let failure = stopped(driver.run().id);
            Some(if driver.run().hold().is_some() {
                Command::Stopped
            } else {
                Command::NotPerformed { step, failure }
            })
        }
    })
}

enum Kind {
    Role { role: String, prompt: String },
    Pass,
    Checks(Option<Vec<String>>),
}

fn find_kind(driver: &Driver) -> Option<Kind> {
    let kind = &driver.workflow().find_node(driver.run().node.as_str())?.kind;
    match kind {
        NodeKind::Agent { role, .. } => {
            Some(Kind::Role { role: role.name.clone(), prompt: kind.prompt_name()?.name.clone() })
        }
        NodeKind::Pass => Some(Kind::Pass),
        NodeKind::Check { names, .. } => {
            let names = names.as_ref().map(|names| names.iter().map(|name| name.name.clone()).collect());
            Some(Kind::Checks(names))
        }
        NodeKind::Map { .. }
        | NodeKind::Parallel { .. }
        | NodeKind::Approval { .. }
        | NodeKind::End { .. } => None,
    }
}

/// Lets a role play, or says why there is no prompt for it.
async fn ask(
    work: &Work,
    roles: &dyn Roles,
    driver: &mut Driver,
    (role, prompt): (&str, &str),
    stop_handle: &StopHandle,
) -> Result<Result<RoleOutcome, Box<Failure>>, Error> {
    let text = if roles.reads_prompts() {
        match crate::session::role_prompt::render(driver, prompt) {
            Ok(prompt) => prompt,
            Err(failure) => return Ok(Err(failure)),
        }
    } else {
        String::new()
    };
    let handed = driver.hand_to(role);
    let workflow = driver.workflow();
    let Some(node) = workflow.find_node(driver.run().node.as_str()) else {
        return Ok(Ok(RoleOutcome::Failed(gone(
            driver.run().id,
            &fork_hint::find(work, driver.run()).await?,
        ))));
    };
    let ask = RoleRequest {
        project: &work.project,
        workflow,
        run: driver.run(),
        node,
        role,
        prompt: text,
        handed,
        stop_handle,
        work,
    };
    roles.play(ask).await.map(Ok)
}

/// Runs the project's checks in the worktree of the node's task, which is taken up as for a role.
async fn check(
    work: &Work,
    driver: &Driver,
    names: &Option<Vec<String>>,
    stop_handle: &StopHandle,
) -> Result<RoleOutcome, Error> {
    let run = driver.run();
    let all: Vec<String> = work.project.config().checks.keys().cloned().collect();
    let names = names.clone().unwrap_or_else(|| all.clone());
    let unknown: Vec<&str> = names.iter().filter(|name| !all.contains(name)).map(String::as_str).collect();
    if !unknown.is_empty() {
        let command = fork_hint::find(work, run).await?;
        return Ok(RoleOutcome::Failed(unknown_checks(run.id, &unknown, &all, &command)));
    }
    let (Some(item), Some(task)) = (&run.item, run.find_task()) else {
        let command = fork_hint::find(work, run).await?;
        return Ok(RoleOutcome::Failed(if run.wants_board() {
            no_task(run.id, &command)
        } else {
            no_board(run.id, &command)
        }));
    };
    let agent = match claim::find_agent(work, (run, driver.workflow()), (item, task)) {
        Ok(agent) => agent,
        Err(failure) => return Ok(RoleOutcome::Failed(failure)),
    };
    let claim = Claim { work, run, item, task, agent: &agent };
    match claim.until_ready(stop_handle).await? {
        Driven::Ready(task) => check_in(work, driver, &task, &names, stop_handle).await,
        Driven::Not(played) => Ok(played),
    }
}

async fn check_in(
    work: &Work,
    driver: &Driver,
    task: &Task,
    names: &[String],
    stop_handle: &StopHandle,
) -> Result<RoleOutcome, Error> {
    let (run, id) = (driver.run().id, task.id);
    let results = tokio::select! {
        biased;
        reason = stop_handle.asked() => Err(reason),
        results = run_checks::run_all(work, id, names) => Ok(results?),
    };
    let otherwise = match results {
        Ok(Some(results)) => return Ok(RoleOutcome::Returned(evidence(id, &results))),
        Err(StopReason::Shutdown) => return Ok(RoleOutcome::Stopped(StopReason::Shutdown)),
        Ok(None) => RoleOutcome::Failed(no_worktree(run, task)),
        Err(reason) => RoleOutcome::Stopped(reason),
    };
    let cancelled = cancelled::find(&work.project, run, id).await?;
    Ok(cancelled.map_or(otherwise, RoleOutcome::Failed))
}

fn evidence(task: TaskId, results: &[Evidence]) -> Value {
    let passed = results.iter().all(|evidence| evidence.passed);
    json!({ "taskId": task.number(), "passed": passed, "results": results })
}

fn gone(run: RunId, command: &str) -> Failure {
    Failure::from(Problem::new(
        Code::RunFailed,
        format!("run {run} has no such node to perform"),
        "its definition does not have the node that it has reached",
        format!("see `regatta run show {run}`; {command} continues with a definition that has it"),
    ))
}

fn no_task(run: RunId, command: &str) -> Failure {
    Failure::from(Problem::new(
        Code::RunFailed,
        format!("run {run} cannot run the checks"),
        "the node names no task that is on the board",
        format!("give the node a `task` that is on the board, then {command}"),
    ))
}

fn no_board(run: RunId, command: &str) -> Failure {
    Failure::from(Problem::new(
        Code::RunFailed,
        format!("run {run} cannot run the checks"),
        "the run does not use the board, and checks run in the worktree of a task",
        format!("start again without `--no-board`; or remove the node from the workflow, then {command}"),
    ))
}

fn no_worktree(run: RunId, task: &Task) -> Failure {
    let path = task.worktree().map(|worktree| worktree.path.as_str()).unwrap_or_default();
    Failure::from(
        Problem::new(
            Code::RunFailed,
            format!("run {run} cannot run the checks of task #{}", task.id),
            format!("its worktree {path} is gone"),
            format!(
                "`regatta run fork {run}` continues in a new one from the last commit; or `regatta task \
                 cancel {}`, then `regatta run resume {run}`",
                task.id
            ),
        )
        .with("taskId", task.id.number()),
    )
}

/// A check that nobody has defined has not failed; a run that continued would treat it as failed.
fn unknown_checks(run: RunId, unknown: &[&str], known: &[String], command: &str) -> Failure {
    let known_names = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Failure::from(
        Problem::new(
            Code::ChecksFailed,
            format!("run {run} cannot run the checks"),
            format!("the config has no check `{}`; it has: {known_names}", unknown.join("`, `")),
            format!(
                "add it to `[checks]` in the config, then `regatta run resume {run}`; or fix `checks` of the \
                 node, then {command}"
            ),
        )
        .with("unknown", unknown.to_vec())
        .with("known", known.to_vec()),
    )
}

fn stopped(run: RunId) -> Failure {
    Failure::from(Problem::new(
        Code::AgentSessionFailed,
        format!("a step of run {run} did not finish"),
        "its session was stopped",
        format!("`regatta run resume {run}` performs the step again"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::orders::Caller;
    use crate::commands::races::race;
    use crate::runs::{self, NewRun};
    use regatta_testkit::repo::TestRepo;
    use std::sync::Arc;

    #[tokio::test]
    async fn a_step_that_is_resumed_while_it_is_put_off_keeps_its_intent() {
        let repo = TestRepo::new();
        repo.write(".regatta/config.toml", "[project]\ndefault_branch = \"main\"\n");
        repo.commit("a project");
        let project = Arc::new(Project::open_own(repo.path()).await.unwrap());
        let caller = Caller::new(Actor::User("local".to_owned()));
        let workflow = runs::find_workflow(None, "speckit").unwrap();
        let input = json!({ "prd": "Make it so.", "title": "So" });
        let new = NewRun { workflow, prd: None, level: None, input, board: false, recording: None };
        let run = runs::create(&project, &caller, new).await.unwrap();
        runs::pause(&project, &caller, run).await.unwrap();
        let work = Work::for_first_intent(&project).await;
        let put_off = PutOff { run };
        let (other, resumes) = (Arc::clone(&project), caller.clone());
        let resume = async move { runs::resume(&other, &resumes, run).await.unwrap() };
        let left = race(resume, round::submit(&project, &work.envelope(), &put_off, None)).await.unwrap();
        assert!(!left.answer && !left.reads.unwrap().run().is_held());
        assert!(project.store().is_open(work.intent).await.unwrap());

        runs::pause(&project, &caller, run).await.unwrap();
        let left = round::submit(&project, &work.envelope(), &put_off, None).await.unwrap();
        assert!(left.answer && !project.store().is_open(work.intent).await.unwrap());
    }
}
