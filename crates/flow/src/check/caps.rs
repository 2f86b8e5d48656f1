//! The rules about caps: an edge that is used up has a way out, and its scope is something to count for.
//!
//! Edges below a used-up one are not asked, so another edge is no way out.

use super::ground::Ground;
use super::kinds::{Kinds, kinds_of};
use super::report::Report;
use super::subject::Subject;
use crate::fault::Fault;
use crate::workflow::Edge;

/// Checks the caps.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let workflow = subject.workflow;
    let ground = Ground::new(workflow);
    for edge in workflow.edges.iter().filter(|edge| !workflow.gaps.edges.contains(edge.id.as_str())) {
        if let (Some(most), true) = (edge.max_iterations, edge.exhausted.is_empty()) {
            let times = if most == 1 { "once".to_owned() } else { format!("{most} times") };
            let message = format!("after `{}` was taken {times} there is no way out", edge.id);
            let hint = "add an `[[edges.exhausted]]` route, to an end for example";
            report.add(Fault::error("cap-without-way-out", &edge.at, message).with_hint(hint));
        }
        check_routes(edge, report);
        check_scope(
            &ground,
            edge,
            workflow.nodes.iter().position(|node| node.name == edge.from.name),
            report,
        );
    }
}

/// A text, a number or a boolean is counted for; anything else stops the run.
fn check_scope(ground: &Ground<'_>, edge: &Edge, from: Option<usize>, report: &mut Report) {
    let Some(scope) = &edge.scope else { return };
    let kinds = kinds_of(ground, scope, from);
    if let Some(kinds) = kinds.filter(|kinds| kinds.is_within(Kinds::LIST.or(Kinds::OBJECT))) {
        let message = format!("`{}` cannot be counted for: it is {kinds}", scope.text());
        let hint = "let `scope` give a text, a number or a boolean, such as the key of a task";
        report.add(Fault::error("scope-does-not-fit", scope.at(), message).with_hint(hint));
    }
}

fn check_routes(edge: &Edge, report: &mut Report) {
    let always = edge.exhausted.iter().position(|route| route.when.is_none());
    for route in edge.exhausted.iter().skip(always.map_or(usize::MAX, |always| always + 1)) {
        let message = format!("this route of `{}` is never tried: the one before it always holds", edge.id);
        report.add(
            Fault::error("route-never-tried", &route.at, message).with_hint("put it first, or remove it"),
        );
    }
}
