//! The rule about caps: an edge that is used up has a way out.
//!
//! Edges below a used-up one are not tried, so another edge is not a way out.

use super::report::Report;
use super::subject::Subject;
use crate::fault::Fault;
use crate::workflow::{Edge, Route};

/// Checks the caps.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let workflow = subject.workflow;
    let is_read = |edge: &&Edge| !workflow.gaps.edges.contains(edge.id.as_str());
    for edge in workflow.edges.iter().filter(is_read) {
        let Some(most) = edge.max_iterations else { continue };
        let may_not_hold = |route: &Route| route.when.as_ref().is_some_and(|when| when.is_known());
        if edge.exhausted.is_empty() {
            let times = if most == 1 { "once".to_owned() } else { format!("{most} times") };
            let message = format!("nothing follows after `{}` was taken {times}", edge.id);
            let hint = "add an `[[edges.exhausted]]` route, for example to an end";
            report.add(Fault::error("cap-without-way-out", &edge.at, message).with_hint(hint));
        } else if edge.exhausted.iter().all(may_not_hold) {
            let message = format!("none of the `exhausted` routes of `{}` may hold", edge.id);
            let hint = "remove `when` from the last `[[edges.exhausted]]` route";
            report.add(Fault::warning("cap-may-have-no-way-out", &edge.at, message).with_hint(hint));
        }
    }
}
