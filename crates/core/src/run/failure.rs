//! Why a run ended badly or is held, in the words that users read.

use super::nesting::LEVELS_MAX;
use super::{Choice, Run};
use crate::{Code, Failure, Problem, RunId};
use regatta_flow::{EdgeId, NodeName, StepFault, Tried};
use std::error::Error;

/// More values than this do not make a choice clearer; the details of the error have them all.
const SEEN_MAX: usize = 3;

/// Says why the node that a run is at cannot be performed.
pub fn explain_node(run: &Run, fault: &StepFault) -> Failure {
    of_fault(run, &run.node, format!("run {} stopped before node `{}`", run.id, run.node), fault)
}

/// An expression failed, or the new state is not allowed.
pub(super) fn of_step(run: &Run, node: &NodeName, fault: &StepFault) -> Failure {
    of_fault(run, node, format!("run {} stopped after node `{node}`", run.id), fault)
}

fn of_fault(run: &Run, node: &NodeName, what: String, fault: &StepFault) -> Failure {
    let code = match fault {
        StepFault::Schema { .. } | StepFault::Place { .. } => Code::StateInvalid,
        StepFault::Evaluation { .. }
        | StepFault::Unusable { .. }
        | StepFault::NoKey { .. }
        | StepFault::NoPlace { .. }
        | StepFault::UnknownItem { .. }
        | StepFault::ItemsInCircle { .. }
        | StepFault::ChildInput { .. }
        | StepFault::Endless { .. }
        | StepFault::Prompt(_)
        | StepFault::Missing { .. } => Code::EdgeEvaluationFailed,
    };
    let why = reasons(fault);
    let next = format!(
        "fix the workflow (`regatta workflow check`), then {} continues from the last good step",
        fork_with(run)
    );
    let mut problem = Problem { why, ..Problem::new(code, what, "", next) }.with("node", node.as_str());
    if let Some(expression) = fault.expression() {
        problem = problem.with("expression", expression);
    }
    Failure::from(problem)
}

/// What the step would keep could be written, and not be read again.
pub(super) fn too_deep(run: &Run) -> Failure {
    let why = format!("its new state is nested deeper than {LEVELS_MAX} levels and could not be read back");
    let next = format!(
        "make the workflow keep less of it (`regatta workflow check`), then {} continues from the last good step",
        fork_with(run)
    );
    let what = format!("run {} stopped after node `{}`", run.id, run.node);
    Failure::from(Problem::new(Code::StateInvalid, what, why, next).with("node", run.node.as_str()))
}

/// Returns why a step could not be made, from the outside in.
pub(super) fn reasons(fault: &StepFault) -> Vec<String> {
    let mut why = vec![fault.to_string()];
    let mut source = fault.source();
    while let Some(cause) = source {
        why.push(cause.to_string());
        source = cause.source();
    }
    why
}

/// No edge holds.
pub(super) fn stalled(run: &Run, node: &NodeName, tried: &[Tried]) -> Failure {
    let why = if tried.is_empty() {
        "no edge leaves it at this level, and it is not an end".to_owned()
    } else {
        let edges: Vec<String> = tried.iter().map(describe_tried).collect();
        format!("none of its edges holds: {}", edges.join("; "))
    };
    Failure::from(
        Problem::new(
            Code::RunStalled,
            format!("run {} cannot continue from node `{node}`", run.id),
            why,
            format!("give the node an edge for this case, then {}", fork_with(run)),
        )
        .with("node", node.as_str())
        .with("tried", serde_json::to_value(tried).unwrap_or_default()),
    )
}

fn describe_tried(tried: &Tried) -> String {
    let Tried { edge, saw, .. } = tried;
    if saw.is_empty() {
        return format!("`{edge}` saw nothing");
    }
    let seen: Vec<String> = saw.iter().take(SEEN_MAX).map(ToString::to_string).collect();
    format!("`{edge}` saw {}", seen.join(", "))
}

/// An edge was taken as often as it may be; the end that its route leads to may say more.
pub(super) fn exhausted(run: RunId, edge: &EdgeId, scope: &str, reason: Option<String>) -> Failure {
    let whose = if scope.is_empty() { String::new() } else { format!(" for {scope}") };
    let mut problem = Problem::new(
        Code::MaxIterationsExceeded,
        format!("run {run} gave up"),
        format!("edge `{edge}` reached its iteration limit{whose}"),
        format!(
            "look at the work with `regatta run show {run}`; `regatta run fork {run} --at STEP` tries again, \
             with a changed workflow if you add `--with WORKFLOW`"
        ),
    );
    problem.why.extend(reason);
    Failure::from(problem.with("edge", edge.as_str()).with("scope", scope))
}

/// A task that the run has given up is left to a person.
pub(super) fn given_up(run: RunId, choice: &Choice) -> Failure {
    if choice.exhausted.is_some() {
        return exhausted(run, &choice.edge, &choice.scope, None);
    }
    left_to_a_person(run, format!("edge `{}` of its workflow says so", choice.edge))
}

/// A task that was sent back, and that the route for this gives up.
pub(super) fn sent_back_and_given_up(run: RunId) -> Failure {
    left_to_a_person(run, "it was sent back, and its workflow then gives it up".to_owned())
}

fn left_to_a_person(run: RunId, why: String) -> Failure {
    let next = "see the work with `regatta task diff`; submit or cancel the task yourself";
    Failure::from(Problem::new(Code::RunFailed, format!("run {run} gave the task up"), why, next))
}

/// An end that says it failed.
pub(super) fn ended(run: RunId, node: &NodeName, reason: Option<String>) -> Failure {
    Failure::from(
        Problem::new(
            Code::RunFailed,
            format!("run {run} ended at node `{node}`"),
            reason.unwrap_or_else(|| "the node's status is `failed`".to_owned()),
            format!("see its steps with `regatta run show {run} --steps`"),
        )
        .with("node", node.as_str()),
    )
}

/// A role kept returning what its schema does not allow.
pub(super) fn output_invalid(run: RunId, node: &NodeName, faults: &[String]) -> Failure {
    Failure::from(
        Problem::new(
            Code::AgentOutputInvalid,
            format!("run {run} has no usable answer at node `{node}`"),
            format!("the role was asked again and still returned: {}", faults.join("; ")),
            format!(
                "read the transcript; then `regatta run fork {run}`, perhaps with another agent for the role, or with \
                 `--with WORKFLOW` after fixing its schema"
            ),
        )
        .with("node", node.as_str())
        .with("faults", faults.to_vec()),
    )
}

/// A person stopped it.
pub(super) fn stopped(run: RunId, reason: Option<&str>) -> Failure {
    Failure::from(Problem::new(
        Code::RunStopped,
        format!("run {run} was stopped"),
        reason.unwrap_or("a person stopped it"),
        format!("`regatta run fork {run}` continues from where it was"),
    ))
}

/// A node is to work on a task that is not on the board, though all items have been put there.
pub(super) fn no_such_task(run: &Run, item: &str) -> Failure {
    let node = &run.node;
    Failure::from(
        Problem::new(
            Code::RunFailed,
            format!("run {} cannot work on `{item}` at node `{node}`", run.id),
            "no task on the board has that key",
            format!("fix `task` of the node, or the keys of the workflow's board, then {}", fork_with(run)),
        )
        .with("node", node.as_str())
        .with("item", item),
    )
}

/// An edge puts a task up for approval that is not on the board.
pub(super) fn not_on_board(run: &Run, item: &str) -> Failure {
    Failure::from(Problem::new(
        Code::RunFailed,
        format!("run {} cannot submit `{item}` for approval", run.id),
        "no task on the board has that key",
        format!("fix `submit` in the workflow, or the keys of its board, then {}", fork_with(run)),
    ))
}

/// A person sent a task back, and the workflow has no route for that.
pub(super) fn no_way_back(run: &Run, edge: &EdgeId) -> Failure {
    Failure::from(Problem::new(
        Code::RunFailed,
        format!("run {} cannot continue", run.id),
        format!("its task was sent back, and edge `{edge}` has no `rejected` route"),
        format!("give the edge a route, then {}; or finish the task by hand", fork_with(run)),
    ))
}

/// A run plays the definition that it began with, and so does its fork: only another definition makes a difference.
///
/// A child plays a part of the definition of the run that a person began, and that run alone can be given another. A fork
/// of a child has no such run.
fn fork_with(run: &Run) -> String {
    let fork = |id: &dyn std::fmt::Display| format!("`regatta run fork {id} --with WORKFLOW`");
    match (&run.within[..], &run.parent) {
        ([], _) => fork(&run.id),
        ([_], Some(parent)) => fork(&parent.run_id),
        (_, Some(_)) => format!("{}, for the run that a person started,", fork(&"RUN")),
        (_, None) => "`regatta run WORKFLOW`".to_owned(),
    }
}
