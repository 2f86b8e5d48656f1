//! Whose move is next in a run, and which move: a person's, the engine's, or nobody's.
//!
//! Every state that is not final has an owner and a next action. A run that waits at its task or for its
//! children has those of the task or of the children, and so it shows their errors too. Work that the log has
//! as started is in progress only while an engine runs: without one the move is a person's, and the phase is
//! `unattended`. The core says whose turn it is ([`Run::turn`]); this module looks up what that means and
//! puts it into words.

use crate::commands::orders;
use crate::commands::run_orders::get_run;
use crate::core::run::{Hold, Phase, Run, Situation, Turn, waits_for_person};
use crate::core::{Around, Code, Effect, Failure, ReviewPhase, RunId, Stage, Task, TaskId, Wait, WaitsFor};
use crate::error::Error;
use crate::log;
use crate::project::Project;
use crate::recording::recorded_task;
use crate::runs::conflicts;
use crate::runs::family::find_above;
use crate::session::retry::find_park;
use crate::view::task as view;
use crate::view::task::UNATTENDED;
use regatta_store::Intent;

/// What has to be done next with a run, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NextMove {
    pub(crate) phase: &'static str,
    pub(crate) owner: &'static str,
    pub(crate) next: String,
    pub(crate) error: Option<Failure>,
    pub(crate) wait: Wait,
}

/// Whose move it is, with the move.
enum Move {
    Person(String),
    Engine(String),
    Nobody(String),
}

/// Looks at a run, and at the task or the children that it waits for.
pub(crate) async fn look(project: &Project, run: &Run, has_engine: bool) -> Result<NextMove, Error> {
    let (next_move, error) = find_move(project, run).await?;
    let around = Around { has_engine, ..Around::default() };
    let is_persons = matches!(next_move, Move::Person(_));
    let wait = match find_park(project, run).await? {
        Some(park) if has_engine => Wait { waits_for: WaitsFor::Clock, until: Some(park.until) },
        _ => run.find_wait(is_persons, around, &view::spans(project, None)),
    };
    Ok(match next_move {
        Move::Engine(_) if !has_engine && run.is_parent_paused() => {
            let above = find_paused_above(project, run.clone()).await?.id;
            let next = format!("run {above}, which waits for it, is paused: regatta run --resume {above}");
            NextMove { phase: UNATTENDED, owner: "you", next, error, wait }
        }
        Move::Engine(_) if !has_engine && run.may_be_put_off() => {
            let next = format!("it is paused before this step: regatta run --resume {}", run.id);
            NextMove { phase: UNATTENDED, owner: "you", next, error, wait }
        }
        Move::Engine(_) if !has_engine => {
            let next = format!("nobody works on it: {}", take_up(run));
            NextMove { phase: UNATTENDED, owner: "you", next, error, wait }
        }
        Move::Engine(next) => NextMove { phase: phase_of(run), owner: "engine", next, error, wait },
        Move::Person(next) => NextMove { phase: phase_of(run), owner: "you", next, error, wait },
        Move::Nobody(next) => NextMove { phase: phase_of(run), owner: "nobody", next, error, wait },
    })
}

/// Says how to continue a run that only lacks an engine; nothing if it has ended, or waits for a person.
pub(crate) async fn find_way_on(project: &Project, run: RunId) -> Result<Option<String>, Error> {
    let run = get_run(project, run).await?;
    Ok(match find_move(project, &run).await? {
        (Move::Engine(_), _) => Some(take_up(&run)),
        (Move::Person(_) | Move::Nobody(_), _) => None,
    })
}

/// Names the commands that run an engine for it. A run that is being stopped cannot be resumed, only waited
/// for.
fn take_up(run: &Run) -> String {
    let id = run.id;
    match run.hold() {
        Some(Hold::Stopping { .. }) => format!("regatta run stop {id}, or regatta up"),
        _ => format!("regatta run --resume {id}, or regatta up"),
    }
}

fn phase_of(run: &Run) -> &'static str {
    let working = match &run.situation {
        Situation::Working(working) => working,
        Situation::Completed { .. } => return "completed",
        Situation::Failed { .. } => return "failed",
    };
    match &working.phase {
        Phase::Publishing { .. } => "publishing",
        Phase::Performing { .. } | Phase::Parallel { .. } => "performing",
        Phase::Asking { .. } => "asking",
        Phase::Mapping(_) => "mapping",
        Phase::Landing { .. } => "landing",
        Phase::Passing => "passing",
        Phase::Ending => "ending",
    }
}

/// Tells whether nothing happens to a run until a person does something, or ever.
pub(crate) async fn rests(project: &Project, run: &Run) -> Result<bool, Error> {
    Ok(match find_move(project, run).await?.0 {
        Move::Person(_) => true,
        Move::Nobody(_) => !is_something_left(project, run).await?,
        Move::Engine(_) => false,
    })
}

/// Tells whether an engine still has something to do for a run that has ended: its tasks are released and put
/// up for approval, and the runs below it end after it.
async fn is_something_left(project: &Project, run: &Run) -> Result<bool, Error> {
    for intent in project.store().open_intents().await? {
        if log::find_task(&intent.lane).is_some_and(|task| run.tasks.values().any(|own| *own == task)) {
            // A session of a released task no longer belongs to the run.
            if !log::is_of_sessions(&intent.lane) {
                return Ok(true);
            }
            continue;
        }
        let Some(other) = log::find_run(&intent.lane) else { continue };
        if other == run.id || find_above(project, &get_run(project, other).await?).await?.contains(&run.id) {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn find_move(project: &Project, run: &Run) -> Result<(Move, Option<Failure>), Error> {
    Ok(match run.turn() {
        Turn::Nobody => at_end(run),
        Turn::Person => ask_person(run),
        Turn::Engine => (Move::Engine(describe_work(run)), None),
        Turn::Task(task) => wait_for_task(project, run, task).await?,
        Turn::Children => (Box::pin(wait_for_children(project, run)).await?, None),
        Turn::Parent => (wait_for_parent(project, run).await?, None),
    })
}

fn at_end(run: &Run) -> (Move, Option<Failure>) {
    match &run.situation {
        Situation::Failed { error } => (Move::Nobody(error.hint.clone()), Some(error.clone())),
        _ => (Move::Nobody("nothing; it is done".to_owned()), None),
    }
}

fn ask_person(run: &Run) -> (Move, Option<Failure>) {
    let id = run.id;
    match run.hold() {
        // To resume it would find the same again.
        Some(Hold::Error { error }) if error.code == Code::TaskCancelled => {
            (Move::Person(error.hint.clone()), Some(error.clone()))
        }
        Some(Hold::Error { error }) => (Move::Person(resume_after(id, &error.hint)), Some(error.clone())),
        Some(Hold::Paused | Hold::Stopping { .. }) => {
            (Move::Person(format!("regatta run resume {id}")), None)
        }
        None => (Move::Person(format!("regatta run answer {id} \"…\"")), None),
    }
}

/// Says what to do about the error that holds a run, and then about the run. Most hints say both.
fn resume_after(id: RunId, hint: &str) -> String {
    if hint.contains("regatta run ") {
        hint.to_owned()
    } else {
        format!("{hint}; then regatta run resume {id}")
    }
}

fn list_names(names: &[String]) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", names.join(" and "))
}

/// Says what the engine is doing with a run.
fn describe_work(run: &Run) -> String {
    let node = &run.node;
    match (run.phase(), run.hold()) {
        (_, Some(Hold::Stopping { .. })) => "it is being stopped".to_owned(),
        (Some(Phase::Mapping(_)), Some(_)) => {
            let id = run.id;
            format!("it pauses after its children's current steps; regatta run resume {id} undoes that")
        }
        (_, Some(_)) => {
            let id = run.id;
            format!("it pauses after this step of `{node}`; regatta run resume {id} undoes that")
        }
        (_, None) if run.is_parent_paused() => {
            format!("it pauses after this step of `{node}`, since a run that waits for it is paused")
        }
        (Some(Phase::Publishing { .. }), None) => "its items are added to the board".to_owned(),
        (Some(Phase::Performing { .. }), None) => match &run.item {
            Some(item) => format!("`{node}` works on {item}"),
            None => format!("`{node}` is performed"),
        },
        (Some(Phase::Parallel { members }), None) => {
            let open = members.iter().filter(|state| state.is_open());
            let names: Vec<String> = open.map(|state| format!("`{}`", state.member.node)).collect();
            format!("{} performed", list_names(&names))
        }
        (Some(Phase::Mapping(_)), None) => "its children run".to_owned(),
        (_, None) => "it ends".to_owned(),
    }
}

/// Says whose move it is while a run waits until a task is merged or sent back, with the error that the task
/// shows. A replay decides about its tasks as its recording says, however long a person would take.
async fn wait_for_task(project: &Project, run: &Run, task: TaskId) -> Result<(Move, Option<Failure>), Error> {
    let task = orders::get_task(project, task).await?;
    let found = wait_for(&task);
    let is_ready =
        matches!(&task.stage, Stage::WaitingApproval(review) if review.phase == ReviewPhase::Ready);
    if is_ready && conflicts::is_handled(project, run, &task).await? {
        return Ok((Move::Engine(format!("the workflow handles the conflict of #{}", task.id)), None));
    }
    if !is_ready || task.error.is_some() || !matches!(found.0, Move::Person(_)) {
        return Ok(found);
    }
    // A recording that cannot be read decides nothing.
    Ok(match recorded_task::find_decision(project, run).await {
        Ok(Some(decision)) if !decision.approved => {
            (Move::Engine(format!("#{} is sent back, as recorded", task.id)), None)
        }
        Ok(_) | Err(_) => found,
    })
}

/// Tells whether an effect of a run waits for a person, so that an engine could do nothing about it.
pub(crate) async fn awaits_person(project: &Project, intent: &Intent) -> Result<bool, Error> {
    let Ok(Effect::LandTask { run, task, .. }) = log::effect_of(intent) else { return Ok(false) };
    let run = get_run(project, run).await?;
    Ok(matches!(wait_for_task(project, &run, task).await?.0, Move::Person(_)))
}

fn wait_for(task: &Task) -> (Move, Option<Failure>) {
    let id = task.id;
    let (_, _, next) = view::next_move(task, None);
    if waits_for_person(task) {
        return match &task.error {
            Some(error) => (Move::Person(error.hint.clone()), Some(error.clone())),
            None => (Move::Person(next), None),
        };
    }
    let work = match &task.stage {
        Stage::Verified(_) => format!("it continues, since #{id} is merged"),
        Stage::Backlog => format!("it learns that #{id} was cancelled"),
        Stage::WaitingApproval(review) if review.phase == ReviewPhase::Ready => {
            format!("the policy approves #{id}")
        }
        Stage::WaitingApproval(_) => format!("the engine {next} of #{id}"),
        Stage::InProgress(_) => format!("#{id} is submitted for approval"),
    };
    (Move::Engine(work), None)
}

/// A run waits for a person if every child that has not ended does, and none is about to start.
async fn wait_for_children(project: &Project, run: &Run) -> Result<Move, Error> {
    for child in run.children_under_way() {
        match find_move(project, &get_run(project, child).await?).await? {
            (Move::Person(_), _) => {}
            // The end of a child is about to be recorded in its parent.
            (Move::Engine(_) | Move::Nobody(_), _) => return Ok(Move::Engine(describe_work(run))),
        }
    }
    if run.hold().is_some() {
        return Ok(ask_person(run).0);
    }
    if run.is_parent_paused() {
        return wait_for_parent(project, run).await;
    }
    Ok(match find_waiting(project, run).await?.as_slice() {
        [] => Move::Engine(describe_work(run)),
        [child] => Move::Person(format!("run {child} waits for you: regatta run show {child}")),
        [child, rest @ ..] => Move::Person(format!(
            "run {child} waits for you, and {} more: regatta run show {child}",
            rest.len()
        )),
    })
}

/// Returns the runs below that a person has to look at: a child, or the runs that it waits for.
async fn find_waiting(project: &Project, run: &Run) -> Result<Vec<RunId>, Error> {
    let mut waiting = Vec::new();
    for child in run.children_under_way() {
        let child = get_run(project, child).await?;
        match child.turn() {
            Turn::Children if !child.is_held() => {
                waiting.extend(Box::pin(find_waiting(project, &child)).await?);
            }
            _ => waiting.push(child.id),
        }
    }
    Ok(waiting)
}

/// Finds the paused run that keeps a run from continuing: itself, or one above it.
pub(crate) async fn find_paused(project: &Project, run: RunId) -> Result<Option<RunId>, Error> {
    let found = get_run(project, run).await?;
    Ok(match found.hold() {
        Some(Hold::Paused) => Some(found.id),
        _ if found.is_parent_paused() => Some(find_paused_above(project, found).await?.id),
        _ => None,
    })
}

/// Finds the run above that was paused.
pub(crate) async fn find_paused_above(project: &Project, run: Run) -> Result<Run, Error> {
    let mut found = run;
    while let Some(parent) = &found.parent {
        found = get_run(project, parent.run_id).await?;
        if found.hold().is_some() {
            break;
        }
    }
    Ok(found)
}

async fn wait_for_parent(project: &Project, run: &Run) -> Result<Move, Error> {
    let above = find_paused_above(project, run.clone()).await?.id;
    Ok(Move::Person(format!("run {above}, which waits for it, is paused: regatta run resume {above}")))
}
