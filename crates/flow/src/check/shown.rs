//! The rules about `[view]` and `[files]`: what they read stays known, and each file has a place of its own.

use super::expressions::{all_expressions, shown_expressions};
use super::places::{assignments, shapes_at};
use super::report::Report;
use super::shape::{Field, Shape};
use super::subject::Subject;
use crate::expression::{Expression, find_word};
use crate::fault::{Fault, Position};
use crate::import::{ImportRule, ImportTarget};
use crate::path::{PathStep, ResolvedPath};
use crate::place::Segment;
use crate::shown::{Content, StateFile};
use crate::workflow::{Named, Workflow};

/// Checks views and files.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let workflow = subject.workflow;
    for usage in shown_expressions(workflow) {
        check_reads(workflow, usage.expression, report);
    }
    for (number, file) in workflow.files.iter().enumerate() {
        check_path(workflow, number, file, report);
        match &file.content {
            Content::Place { place, at, body } => check_place(workflow, place, at, body.as_ref(), report),
            Content::Append { list, at, .. } => check_list(workflow, list, at, report),
            Content::Value { .. } => {}
        }
        file.import.iter().for_each(|rule| check_import(workflow, rule, report));
    }
}

/// What an import sets is a place of the state, or a property of the input.
fn check_import(workflow: &Workflow, rule: &ImportRule, report: &mut Report) {
    match &rule.target {
        ImportTarget::State(place) => drop(find_shapes(workflow, place, &rule.at, report)),
        ImportTarget::Input(name) => {
            let Some(input) = workflow.input.as_ref().map(|schema| Shape::new(schema.document())) else {
                return;
            };
            if matches!(input.field(name), Field::Closed | Field::Undescribed) {
                let message = format!("the input has no property `{name}`");
                let nearest = crate::nearest::find_nearest(name, input.names());
                report.add(Fault::error("unknown-field", &rule.at, message).with_nearest(nearest));
            }
        }
        ImportTarget::Run(_) | ImportTarget::Messages => {}
    }
}

/// Returns the shapes of what a file holds; empty if nothing is known.
pub(super) fn shapes_of_file<'w>(workflow: &'w Workflow, file: &'w StateFile) -> Vec<Shape<'w>> {
    match &file.content {
        Content::Value { schema, .. } => schema.iter().map(|schema| Shape::new(schema.document())).collect(),
        Content::Place { place, .. } | Content::Append { list: place, .. } => {
            shapes_at(workflow, place).unwrap_or_default()
        }
    }
}

/// What is shown is evaluated again when something that it reads has changed; nothing says when time has.
fn check_reads(workflow: &Workflow, expression: &Expression, report: &mut Report) {
    if !expression.is_known() {
        return;
    }
    let position = |word: &str| {
        let found = find_word(expression.text(), word);
        found.map_or_else(|| expression.at().clone(), |bytes| expression.position_of(&workflow.folder, bytes))
    };
    if expression.compiled().is_fickle() {
        let word = ["$now", "$millis", "$random", "$shuffle"]
            .into_iter()
            .find(|word| expression.text().contains(word))
            .unwrap_or("$now");
        let message = "views and files may not read the clock or chance";
        let hint = "use `$run.updatedAt`, or `set` the value in a step";
        report.add(Fault::error("shown-not-fixed", &position(word), message).with_hint(hint));
    }
    if expression.reads().paths.iter().any(|path| path.first().is_some_and(|name| name == "output")) {
        let message = "views and files may not read `output`, which is there only within a step";
        let fault = Fault::error("shown-not-fixed", &position("output"), message);
        report.add(fault.with_hint("`set` what they need in the state"));
    }
}

fn check_path(workflow: &Workflow, number: usize, file: &StateFile, report: &mut Report) {
    for name in file.path.views() {
        match workflow.find_view(name) {
            None => {
                let message = format!("there is no view `{name}`");
                let known = workflow.views.iter().map(|view| view.name.as_str());
                let nearest = crate::nearest::find_nearest(name, known);
                report.add(Fault::error("unknown-view", &file.at, message).with_nearest(nearest));
            }
            Some(view) if !view.reads.is_constant => {
                let message =
                    format!("the path of file `{}` may change: `{name}` is not constant", file.name);
                let hint = "in a path, use views that read only `input`, `$run.id` and `$run.createdAt`";
                report.add(Fault::error("path-not-constant", &file.at, message).with_hint(hint));
            }
            Some(_) => {}
        }
    }
    if let Some(other) = workflow.files[..number].iter().find(|other| other.path == file.path) {
        let message = format!("file `{}` has the path of file `{}`", file.name, other.name);
        report.add(Fault::error("path-taken", &file.at, message));
    }
}

fn check_place(
    workflow: &Workflow,
    place: &ResolvedPath,
    at: &Position,
    body: Option<&Named>,
    report: &mut Report,
) {
    let Some(shapes) = find_shapes(workflow, place, at, report) else { return };
    let Some(body) = body.filter(|_| !shapes.is_empty()) else { return };
    let is_text = |shape: &Shape<'_>| {
        shape.alternatives().iter().any(|one| one.types().is_empty() || one.types().contains(&"string"))
    };
    let fields = shapes.iter().map(|shape| shape.field(&body.name));
    let is_fit = fields.into_iter().any(|field| match field {
        Field::Known(shapes) => shapes.iter().any(is_text),
        Field::Open => true,
        Field::Undescribed | Field::Closed => false,
    });
    if !is_fit {
        let message = format!("`{place}` has no field `{}` that is a text", body.name);
        let hint = "`body` names the field that is the text of the file; the others are its front matter";
        report.add(Fault::error("body-no-text", &body.at, message).with_hint(hint));
    }
}

fn check_list(workflow: &Workflow, list: &ResolvedPath, at: &Position, report: &mut Report) {
    let Some(shapes) = find_shapes(workflow, list, at, report) else { return };
    let may_be_list = |shape: &Shape<'_>| {
        shape.alternatives().iter().any(|one| one.types().is_empty() || one.types().contains(&"array"))
    };
    if !shapes.is_empty() && !shapes.iter().any(may_be_list) {
        let message = format!("`{list}` is no list");
        let hint = "use `place` for a value that changes as a whole";
        report.add(Fault::error("append-to-no-list", at, message).with_hint(hint));
        return;
    }
    // What is in the file stays there, so nothing may change or remove what is in the list.
    let is_replaced = assignments(workflow).find(|assignment| {
        let steps = list.steps();
        let segments = assignment.place.segments();
        let meets = segments.iter().zip(steps).all(|(segment, step)| match (segment, step) {
            (Segment::Name(name), PathStep::Key(key)) => name == key,
            _ => true,
        });
        let is_whole_append = assignment.place.appends() && segments.len() == steps.len();
        meets && !segments.is_empty() && !is_whole_append
    });
    if let Some(assignment) = is_replaced {
        let message = format!("`{}` is kept in a file that only grows", assignment.place);
        let hint = format!("add to it: `\"{list}[+]\" = …`");
        report.add(Fault::error("append-replaced", &assignment.at, message).with_hint(hint));
    }
}

/// Returns the shapes at a place; nothing if it is outside the schema, which is reported.
fn find_shapes<'w>(
    workflow: &'w Workflow,
    place: &ResolvedPath,
    at: &Position,
    report: &mut Report,
) -> Option<Vec<Shape<'w>>> {
    match shapes_at(workflow, place) {
        Ok(shapes) => Some(shapes),
        Err((why, hint)) => {
            let message = format!("`{place}` is outside the schema of the state: {why}");
            report.add(Fault::error("file-outside-schema", at, message).with_hint(hint));
            None
        }
    }
}

/// Finds views that nothing reads, neither here nor in the run above.
pub(super) fn check_unread(workflow: &Workflow, parent: Option<&Workflow>, report: &mut Report) {
    if !workflow.gaps.is_graph_whole() || parent.is_some_and(|parent| !parent.gaps.is_graph_whole()) {
        return;
    }
    let own = all_expressions(workflow);
    let above = parent.map(all_expressions).unwrap_or_default();
    for view in &workflow.views {
        let is_read = own.iter().any(|usage| {
            let reads = usage.expression.reads();
            reads.variables.contains(&view.name) || !usage.expression.is_known()
        });
        let is_in_path = workflow.files.iter().any(|file| file.path.views().any(|name| name == view.name));
        let is_shown = above.iter().any(|usage| {
            let reads_children = usage.expression.reads().variables.iter().any(|name| name == "children");
            !usage.expression.is_known() || (reads_children && usage.expression.text().contains(&*view.name))
        });
        if !(is_read || is_in_path || is_shown) {
            let message = format!("nothing reads the view `{}`", view.name);
            report.add(Fault::warning("unused-view", &view.at, message).with_hint("remove it from `[view]`"));
        }
    }
}
