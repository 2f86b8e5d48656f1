//! The rule about `[bind]`: every name is used. Undefined variables are already found by the load.

use super::expressions::all_expressions;
use super::report::Report;
use super::subject::Subject;
use crate::fault::Fault;

/// Checks `[bind]`.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let workflow = subject.workflow;
    if !workflow.gaps.is_graph_whole() {
        return;
    }
    let uses = all_expressions(workflow);
    for bind in &workflow.bind {
        let is_used = uses.iter().any(|usage| {
            let reads = usage.expression.reads();
            reads.any_variable || reads.variables.contains(&bind.name)
        });
        if !is_used {
            let message = format!("no expression uses `${}`", bind.name);
            report.add(Fault::warning("unused-bind", &bind.at, message).with_hint("remove it from `[bind]`"));
        }
    }
}
