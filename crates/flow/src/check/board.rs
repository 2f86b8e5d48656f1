//! The rules about keys that need another key: tasks need the board, routes need a cap or a `submit`.

use super::report::Report;
use super::subject::Subject;
use crate::fault::{Fault, Position};
use crate::workflow::{Edge, Node, NodeKind, Route};

/// Checks what needs the board, and what needs another part of its edge.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let workflow = subject.workflow;
    if workflow.board.is_none() && subject.above.iter().all(|above| above.board.is_none()) {
        workflow.nodes.iter().for_each(|node| {
            node.kind.task().into_iter().for_each(|task| report.add(without_board("task", task.at())));
        });
        for edge in &workflow.edges {
            let routes = || edge.exhausted.iter().chain(&edge.rejected);
            let (failing, dropping) = (
                routes().filter_map(|route| route.fail.as_ref()),
                routes().filter_map(|route| route.drop.as_ref()),
            );
            edge.submit.iter().for_each(|submit| report.add(without_board("submit", submit.at())));
            edge.fail.iter().chain(failing).for_each(|fail| report.add(without_board("fail", fail.at())));
            edge.drop.iter().chain(dropping).for_each(|drop| report.add(without_board("drop", drop.at())));
        }
    }
    workflow.nodes.iter().for_each(|node| check_node(node, report));
    let is_read = |edge: &&Edge| !workflow.gaps.edges.contains(edge.id.as_str());
    workflow.edges.iter().filter(is_read).for_each(|edge| check_edge(edge, report));
}

/// The project's checks run in the worktree of a task, and nowhere else.
fn check_node(node: &Node, report: &mut Report) {
    if let NodeKind::Check { task: None, .. } = node.kind {
        let message = format!("`{}` names no task, so its checks have no worktree to run in", node.name);
        let hint = "add `task` with the key of an item of the board";
        report.add(Fault::error("check-without-task", &node.at, message).with_hint(hint));
    }
}

fn without_board(key: &str, at: &Position) -> Fault {
    let message = format!("`{key}` refers to a task, but no items are tasks");
    Fault::error("task-without-board", at, message).with_hint("add `[board]` with `items` and `key`")
}

/// A task has one fate: it is submitted, left to a person, or cancelled.
fn check_fates(edge: &Edge, report: &mut Report) {
    let own: Vec<(&str, &Position)> = [("submit", &edge.submit), ("fail", &edge.fail), ("drop", &edge.drop)]
        .into_iter()
        .filter_map(|(key, expression)| Some((key, expression.as_ref()?.at())))
        .collect();
    let of_route = |route: &Route| match (&route.fail, &route.drop) {
        (Some(fail), Some(drop)) => vec![("fail", fail.at().clone()), ("drop", drop.at().clone())],
        _ => Vec::new(),
    };
    let own = own.into_iter().map(|(key, at)| (key, at.clone())).collect();
    let routes = edge.exhausted.iter().chain(&edge.rejected).map(of_route);
    for keys in std::iter::once(own).chain(routes) {
        if let [(first, _), (second, at), ..] = &keys[..] {
            let message = format!("`{}` has both `{first}` and `{second}`, and a task has one fate", edge.id);
            report.add(Fault::error("two-fates", at, message).with_hint("keep one of them"));
        }
    }
}

fn check_edge(edge: &Edge, report: &mut Report) {
    check_fates(edge, report);
    if let (Some(route), None) = (&edge.rejected, &edge.submit) {
        let message =
            format!("`{}` has a `rejected` route but submits nothing that could be rejected", edge.id);
        let hint = "add `submit` with the key of the task, or remove the route";
        report.add(Fault::error("rejected-without-submit", &route.at, message).with_hint(hint));
    }
    if edge.max_iterations.is_none() {
        let message =
            |what: &str| format!("`{}` has {what} but no `maxIterations`, so it is never used up", edge.id);
        if let Some(route) = edge.exhausted.first() {
            let fault = Fault::error("exhausted-without-cap", &route.at, message("an `exhausted` route"));
            report.add(fault.with_hint("add `maxIterations`, or remove the route"));
        }
        if let Some(scope) = &edge.scope {
            let fault = Fault::warning("scope-without-cap", scope.at(), message("a `scope`"));
            report.add(fault.with_hint("add `maxIterations`, or remove the scope"));
        }
    }
}
