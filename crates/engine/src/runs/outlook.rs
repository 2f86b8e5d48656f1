//! Whose move a run is, and which move: a person's, the engine's, or nobody's.
//!
//! Every state that is not final has an owner and a next action. A run that waits at its task or for its children has
//! those of the task or of the children, and so it shows their errors too. What the log says is under way is under
//! way only while an engine runs: without one the move is a person's, and the phase is `unattended`.

use super::orders::get_run;
use crate::core::run::{Hold, Mapping, Phase, Run};
use crate::core::{Approval, Failure, ReviewPhase, RunId, Stage, Task};
use crate::error::Error;
use crate::orders;
use crate::project::Project;
use crate::view;

/// The phase of what nobody works on, though the log says that it is under way.
const UNATTENDED: &str = "unattended";

/// What is to be done next with a run, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outlook {
    pub(super) phase: &'static str,
    pub(super) owner: &'static str,
    pub(super) next: String,
    pub(super) error: Option<Failure>,
}

/// Whose move it is, with the move.
enum Move {
    Person(String),
    Engine(String),
    Nobody(String),
}

/// Looks at a run, and at the task or the children that it waits for.
pub(super) async fn look(project: &Project, run: &Run, has_engine: bool) -> Result<Outlook, Error> {
    let (next_move, error) = find_move(project, run).await?;
    Ok(match next_move {
        Move::Engine(_) if !has_engine => {
            let next = format!("nobody works on it: {}", take_up(run));
            Outlook { phase: UNATTENDED, owner: "you", next, error }
        }
        Move::Engine(next) => Outlook { phase: phase_of(run), owner: "engine", next, error },
        Move::Person(next) => Outlook { phase: phase_of(run), owner: "you", next, error },
        Move::Nobody(next) => Outlook { phase: phase_of(run), owner: "nobody", next, error },
    })
}

/// Says how a run goes on that only lacks an engine; nothing if it has ended, or waits for a person.
pub(crate) async fn find_way_on(project: &Project, run: RunId) -> Result<Option<String>, Error> {
    let run = get_run(project, run).await?;
    Ok(match find_move(project, &run).await? {
        (Move::Engine(_), _) => Some(take_up(&run)),
        (Move::Person(_) | Move::Nobody(_), _) => None,
    })
}

/// Names the commands that run an engine for it. A run that is being stopped cannot be resumed, but waited for.
fn take_up(run: &Run) -> String {
    let id = run.id;
    match run.hold {
        Some(Hold::Stopping { .. }) => format!("regatta run stop {id}, or regatta up"),
        _ => format!("regatta run --resume {id}, or regatta up"),
    }
}

fn phase_of(run: &Run) -> &'static str {
    match &run.phase {
        Phase::Publishing => "publishing",
        Phase::Performing { .. } => "performing",
        Phase::Asking { .. } => "asking",
        Phase::Mapping(_) => "mapping",
        Phase::Landing { .. } => "landing",
        Phase::Ending => "ending",
        Phase::Completed { .. } => "completed",
        Phase::Failed { .. } => "failed",
    }
}

async fn find_move(project: &Project, run: &Run) -> Result<(Move, Option<Failure>), Error> {
    Ok(match (&run.phase, &run.hold) {
        (Phase::Landing { task, .. }, None) => wait_for(&orders::get_task(project, *task).await?),
        (Phase::Mapping(mapping), None) => (Box::pin(wait_for_children(project, run, mapping)).await?, None),
        (Phase::Failed { error }, _) => (Move::Nobody(error.hint.clone()), Some(error.clone())),
        (_, Some(Hold::Error { error })) => {
            (Move::Person(format!("{}; then regatta run resume {}", error.hint, run.id)), Some(error.clone()))
        }
        (_, Some(Hold::Paused | Hold::Stopping { .. }) | None) => (move_alone(run), None),
    })
}

/// Says whose move a run is that depends on nothing else.
fn move_alone(run: &Run) -> Move {
    let id = run.id;
    match (&run.phase, &run.hold) {
        (Phase::Completed { .. }, _) => Move::Nobody("nothing; it is done".to_owned()),
        (_, Some(Hold::Stopping { .. })) => Move::Engine("it is being stopped".to_owned()),
        (Phase::Performing { .. } | Phase::Publishing, Some(Hold::Paused)) if run.is_asked => {
            Move::Engine(format!(
                "it pauses when this step of `{}` is over; regatta run resume {id} takes that back",
                run.node
            ))
        }
        (_, Some(_)) => Move::Person(format!("regatta run resume {id}")),
        (Phase::Asking { .. }, None) => Move::Person(format!("regatta run answer {id} \"…\"")),
        (Phase::Publishing, None) => Move::Engine("its items go on the board".to_owned()),
        (Phase::Performing { .. }, None) => Move::Engine(match &run.item {
            Some(item) => format!("`{}` works on {item}", run.node),
            None => format!("`{}` is performed", run.node),
        }),
        (Phase::Mapping(_), None) => Move::Engine("its children run".to_owned()),
        (Phase::Landing { .. } | Phase::Ending | Phase::Failed { .. }, None) => {
            Move::Engine("it ends".to_owned())
        }
    }
}

/// Says whose move a run is that waits until a task is merged or sent back, with the error that the task shows.
fn wait_for(task: &Task) -> (Move, Option<Failure>) {
    let id = task.id;
    let (_, owner, next) = view::outlook(task, None);
    match &task.stage {
        Stage::Verified(_) => (Move::Engine(format!("it goes on, since #{id} is merged")), None),
        Stage::Backlog => (Move::Engine(format!("it learns that #{id} was cancelled")), None),
        Stage::WaitingApproval(review)
            if review.phase == ReviewPhase::Ready
                && review.approval == Approval::Auto
                && task.error.is_none() =>
        {
            (Move::Engine(format!("the policy approves #{id}")), None)
        }
        Stage::WaitingApproval(_) | Stage::InProgress(_) if owner == "you" => match &task.error {
            Some(error) => (Move::Person(error.hint.clone()), Some(error.clone())),
            None => (Move::Person(next), None),
        },
        Stage::WaitingApproval(_) => (Move::Engine(format!("the engine {next} of #{id}")), None),
        Stage::InProgress(_) => (Move::Engine(format!("#{id} is put up for approval")), None),
    }
}

/// A run waits for a person if every child that is under way does, and none is about to start.
async fn wait_for_children(project: &Project, run: &Run, mapping: &Mapping) -> Result<Move, Error> {
    let mut waiting = Vec::new();
    if run.is_asked || !mapping.startable().is_empty() {
        return Ok(move_alone(run));
    }
    for child in mapping.children.iter().filter(|child| child.end.is_none()).filter_map(|child| child.run) {
        match find_move(project, &get_run(project, child).await?).await? {
            (Move::Person(_), _) => waiting.push(child),
            (Move::Engine(_) | Move::Nobody(_), _) => return Ok(move_alone(run)),
        }
    }
    Ok(match waiting.as_slice() {
        [] => move_alone(run),
        [child] => Move::Person(format!("run {child} waits for you: regatta run show {child}")),
        [child, rest @ ..] => Move::Person(format!(
            "run {child} waits for you, and {} more: regatta run show {child}",
            rest.len()
        )),
    })
}
