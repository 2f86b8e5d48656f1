//! The rules about places: each is inside the schema, and a constant that is set there fits.

use super::condition::constant;
use super::expressions::of_place;
use super::parents::Parents;
use super::report::Report;
use super::shape::{Field, Shape};
use super::subject::Subject;
use crate::fault::{Fault, Position};
use crate::nearest::find_nearest;
use crate::path::{PathStep, ResolvedPath};
use crate::place::{Place, Segment};
use crate::workflow::{Assignment, Workflow};

/// What was found at the end of a place.
enum Walked<'s> {
    /// The shapes that a value there may have; empty if nothing is known.
    Inside(Vec<Shape<'s>>),
    /// The part of the place that leads outside, why, and what to do.
    Outside { part: String, why: String, hint: String, is_closed: bool },
}

/// Checks the places of `[bind]` and of every `set`.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let workflow = subject.workflow;
    let parents = Parents::find(workflow);
    for bind in &workflow.bind {
        check_keys(&bind.place, report);
        if let Some(fault) = check_place(workflow, "bind-outside-schema", &bind.place, &bind.at) {
            report.add(fault);
        }
    }
    for assignment in assignments(workflow) {
        check_keys(&assignment.place, report);
        match check_place(workflow, "set-outside-schema", &assignment.place, &assignment.at) {
            Some(fault) => report.add(fault),
            None => {
                let fault = check_list(workflow, assignment).or_else(|| check_value(workflow, assignment));
                let is_list = fault.as_ref().is_none_or(|fault| fault.rule != "append-to-no-list");
                let parents = parents.as_ref().filter(|_| is_list);
                let absent = parents.and_then(|parents| parents.check(assignment));
                fault.into_iter().chain(absent).for_each(|fault| report.add(fault));
            }
        }
    }
}

/// Lists the assignments of all nodes, edges, routes and signals.
pub(super) fn assignments(workflow: &Workflow) -> impl Iterator<Item = &Assignment> {
    let of_edges = workflow.edges.iter().flat_map(|edge| {
        let routes = edge.exhausted.iter().chain(&edge.rejected).flat_map(|route| &route.set);
        edge.set.iter().chain(routes)
    });
    let of_signals = workflow.signals.iter().flat_map(|signal| &signal.set);
    workflow.nodes.iter().flat_map(|node| &node.set).chain(of_edges).chain(of_signals)
}

/// What stands in the brackets of a place is an index or a key.
fn check_keys(place: &Place, report: &mut Report) {
    for expression in of_place(place) {
        let Some(value) = constant(expression.compiled()).filter(|_| expression.is_known()) else { continue };
        if value.as_u64().is_none() && !value.is_string() {
            let message = format!("{value} is neither an index nor a key");
            let hint = "items are counted from 0; `[$count(tasks) - 1]` is the last one";
            report.add(Fault::error("no-index", expression.at(), message).with_hint(hint));
        }
    }
}

fn check_place(workflow: &Workflow, rule: &'static str, place: &Place, at: &Position) -> Option<Fault> {
    let Walked::Outside { part, why, hint, is_closed } = walk(Shape::new(workflow.schema.document()), place)
    else {
        return None;
    };
    let message = format!("`{part}` is outside the schema of the state: {why}");
    let fault = if is_closed { Fault::error(rule, at, message) } else { Fault::warning(rule, at, message) };
    Some(fault.with_hint(hint))
}

fn walk<'s>(state: Shape<'s>, place: &Place) -> Walked<'s> {
    if place.segments().is_empty() {
        return Walked::Inside(Vec::new());
    }
    let mut shapes = vec![state];
    let mut told = String::new();
    for (depth, segment) in place.segments().iter().enumerate() {
        let before = if told.is_empty() { "the state".to_owned() } else { format!("`{told}`") };
        let found = match segment {
            Segment::Name(name) => {
                told = if told.is_empty() { name.to_string() } else { format!("{told}.{name}") };
                named(&shapes, name)
            }
            Segment::At(expression) => {
                told = format!("{told}[{}]", if expression.is_known() { expression.text() } else { "…" });
                match constant(expression.compiled()) {
                    Some(serde_json::Value::String(name)) => named(&shapes, &name),
                    _ => indexed(&shapes),
                }
            }
        };
        match found {
            Field::Known(next) => shapes = next,
            Field::Open => return Walked::Inside(Vec::new()),
            Field::Closed | Field::Undescribed => {
                let (why, hint) = tell_outside(&shapes, segment, &before);
                // An open object takes any field, but the state itself should say what it holds.
                let is_closed = depth == 0 || matches!(found, Field::Closed);
                return Walked::Outside { part: told, why, hint, is_closed };
            }
        }
    }
    Walked::Inside(shapes)
}

/// Returns the shapes at a path; empty if nothing is known. If it leads outside, why, and what to do.
pub(super) fn shapes_at<'w>(
    workflow: &'w Workflow,
    path: &ResolvedPath,
) -> Result<Vec<Shape<'w>>, (String, String)> {
    let name = |step: &PathStep| match step {
        PathStep::Key(name) => Some(Segment::Name(name.clone())),
        PathStep::Index(_) => None,
    };
    let segments = path.steps().iter().filter_map(name).collect();
    match walk(Shape::new(workflow.schema.document()), &Place::new(&path.to_string(), segments, false)) {
        Walked::Inside(shapes) => Ok(shapes),
        Walked::Outside { why, hint, .. } => Err((why, hint)),
    }
}

fn tell_outside(shapes: &[Shape<'_>], segment: &Segment, before: &str) -> (String, String) {
    let is_list = |shape: &Shape<'_>| shape.alternatives().iter().any(|one| one.types().contains(&"array"));
    match segment {
        Segment::Name(_) if shapes.iter().any(is_list) => {
            (format!("{before} is a list"), "name one item, as in `tasks[0].status`".to_owned())
        }
        Segment::Name(name) if shapes.iter().any(|shape| shape.rules_out(name)) => {
            let why = format!("`false` says that {before} has no field `{name}`");
            (why, "describe the field in the schema, or remove the `set`".to_owned())
        }
        Segment::Name(name) => {
            let nearest = find_nearest(name, shapes.iter().flat_map(|shape| shape.names()));
            let add = "add it to the schema of the state".to_owned();
            let hint = nearest.map_or(add, |nearest| format!("did you mean `{nearest}`?"));
            (format!("{before} has no field `{name}`"), hint)
        }
        Segment::At(_) => {
            (format!("{before} is neither a list nor an object"), "remove the brackets".to_owned())
        }
    }
}

fn named<'s>(shapes: &[Shape<'s>], name: &str) -> Field<'s> {
    merge(shapes.iter().map(|shape| shape.field(name)))
}

/// Follows an index or a key that is known only when it is evaluated.
fn indexed<'s>(shapes: &[Shape<'s>]) -> Field<'s> {
    let alternatives = shapes.iter().flat_map(|shape| shape.alternatives());
    merge(alternatives.map(|shape| {
        let types = shape.types();
        let others = shape.keyword("additionalProperties").filter(|others| others.is_object());
        match (types.contains(&"array"), types.is_empty() || types.contains(&"object")) {
            (true, _) => shape.items().map_or(Field::Open, |items| Field::Known(vec![items])),
            (false, true) if others.is_some() => shape.field(""),
            (false, true) => Field::Open,
            (false, false) => Field::Closed,
        }
    }))
}

fn merge<'s>(fields: impl Iterator<Item = Field<'s>>) -> Field<'s> {
    let mut merged = Field::Closed;
    for field in fields {
        merged = match (merged, field) {
            (Field::Known(mut shapes), Field::Known(more)) => {
                shapes.extend(more);
                Field::Known(shapes)
            }
            (known @ Field::Known(_), _) | (_, known @ Field::Known(_)) => known,
            (Field::Open, _) | (_, Field::Open) => Field::Open,
            (Field::Undescribed, _) | (_, Field::Undescribed) => Field::Undescribed,
            (Field::Closed, Field::Closed) => Field::Closed,
        };
    }
    merged
}

/// Only to a list can something be added.
fn check_list(workflow: &Workflow, assignment: &Assignment) -> Option<Fault> {
    let Walked::Inside(shapes) = walk(Shape::new(workflow.schema.document()), &assignment.place) else {
        return None;
    };
    let may_be_list = |shape: &Shape<'_>| {
        let alternatives = shape.alternatives();
        alternatives.iter().any(|one| one.types().is_empty() || one.types().contains(&"array"))
    };
    if !assignment.place.appends() || shapes.is_empty() || shapes.iter().any(may_be_list) {
        return None;
    }
    let message = format!("`{}` adds to what is no list", assignment.place);
    let hint = "remove `[+]` to set the place, or make it a list in the schema of the state";
    Some(Fault::error("append-to-no-list", &assignment.at, message).with_hint(hint))
}

fn check_value(workflow: &Workflow, assignment: &Assignment) -> Option<Fault> {
    let Walked::Inside(shapes) = walk(Shape::new(workflow.schema.document()), &assignment.place) else {
        return None;
    };
    let value = constant(assignment.value.compiled())?;
    let fits = |shapes: &[Shape<'_>], value: &serde_json::Value| {
        shapes.is_empty() || shapes.iter().any(|shape| shape.may_hold(value))
    };
    // Each item is added by itself.
    let of_items = || if let Field::Known(items) = indexed(&shapes) { items } else { Vec::new() };
    let is_fit = match (&value, assignment.place.appends()) {
        (_, false) => fits(&shapes, &value),
        (serde_json::Value::Array(added), true) => added.iter().all(|item| fits(&of_items(), item)),
        (item, true) => fits(&of_items(), item),
    };
    if is_fit {
        return None;
    }
    let message = format!("{value} does not fit `{}`", assignment.place);
    let fault = Fault::error("set-does-not-fit", assignment.value.at(), message);
    Some(fault.with_hint("the schema of the state says what is allowed there"))
}
