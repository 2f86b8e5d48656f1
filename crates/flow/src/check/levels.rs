//! The rules about levels: one of them is the default, and levels and fields that are named exist.

use super::report::Report;
use super::shape::{Field, Shape};
use super::subject::Subject;
use crate::fault::Fault;
use crate::nearest::find_nearest;
use crate::workflow::{Edge, Level, Workflow};

/// Checks the levels.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let workflow = subject.workflow;
    if !workflow.gaps.is_state_unknown {
        workflow.levels.values().for_each(|level| check_fields(workflow, level, report));
    }
    if !workflow.gaps.has_doubtful_levels {
        check_defaults(workflow, report);
        check_edges(workflow, report);
    }
}

fn check_defaults(workflow: &Workflow, report: &mut Report) {
    let defaults: Vec<&Level> = workflow.levels.values().filter(|level| level.default).collect();
    if let (true, Some(last)) = (defaults.is_empty(), workflow.levels.values().next_back()) {
        let message = format!("no level is the default; a run would have the last, {}", last.number);
        let hint = "add `default = true` to one level";
        report.add(Fault::error("level-without-default", &last.at, message).with_hint(hint));
    }
    for level in defaults.iter().skip(1) {
        let message = format!("levels {} and {} are both the default", defaults[0].number, level.number);
        report.add(
            Fault::error("two-default-levels", &level.at, message).with_hint("keep `default` at one of them"),
        );
    }
}

fn check_fields(workflow: &Workflow, level: &Level, report: &mut Report) {
    let shape = Shape::new(workflow.schema.document());
    for field in level.fields.iter().flatten() {
        if !matches!(shape.field(&field.name), Field::Known(_)) {
            let message = format!("the state has no field `{}`", field.name);
            let nearest = find_nearest(&field.name, shape.names());
            report.add(Fault::error("unknown-field", &field.at, message).with_nearest(nearest));
        }
    }
}

fn check_edges(workflow: &Workflow, report: &mut Report) {
    let named = workflow.edges.iter().flat_map(|edge| edge.levels.iter().flatten());
    for (number, at) in named.filter(|(number, _)| !workflow.levels.contains_key(number)) {
        let known: Vec<String> = workflow.levels.keys().map(u32::to_string).collect();
        let hint = format!("the workflow has level {}", known.join(", "));
        report.add(Fault::error("unknown-level", at, format!("there is no level {number}")).with_hint(hint));
    }
    let is_read = |edge: &&Edge| !workflow.gaps.edges.contains(edge.id.as_str());
    let is_nowhere = |edge: &&Edge| edge.levels.as_ref().is_some_and(Vec::is_empty);
    for edge in workflow.edges.iter().filter(is_read).filter(is_nowhere) {
        let fault = Fault::error("edge-at-no-level", &edge.at, format!("`{}` is part of no level", edge.id));
        report.add(fault.with_hint("name its levels, or remove `levels` to make it part of all"));
    }
}
