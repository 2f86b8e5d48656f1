//! The rules about caps: an edge that is used up has a way out.
//!
//! Edges below a used-up one are not asked, so another edge is no way out.

use super::report::Report;
use super::subject::Subject;
use crate::fault::Fault;
use crate::workflow::Edge;

/// Checks the caps.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let workflow = subject.workflow;
    for edge in workflow.edges.iter().filter(|edge| !workflow.gaps.edges.contains(edge.id.as_str())) {
        if let (Some(most), true) = (edge.max_iterations, edge.exhausted.is_empty()) {
            let times = if most == 1 { "once".to_owned() } else { format!("{most} times") };
            let message = format!("after `{}` was taken {times} there is no way out", edge.id);
            let hint = "add an `[[edges.exhausted]]` route, to an end for example";
            report.add(Fault::error("cap-without-way-out", &edge.at, message).with_hint(hint));
        }
        check_routes(edge, report);
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
