//! The rule about fields: what an expression reads is described by a schema.

use super::bounds::names;
use super::condition::plain_path;
use super::expressions::{Sees, Usage, all_expressions};
use super::fact_shapes::shape_of;
use super::ground::{Ground, Stray, follow_from};
use super::outcomes;
use super::report::Report;
use super::shape::Shape;
use super::shown;
use super::subject::Subject;
use crate::expression::{Part, RESERVED, find_word};
use crate::fault::Fault;
use crate::nearest::find_nearest;
use crate::variables::{FactName, Local};
use crate::workflow::{Edge, Workflow};

/// Checks what every expression reads.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let workflow = subject.workflow;
    let ground = Ground::new(workflow);
    let facts = FactName::ALL.map(|fact| (fact, shape_of(workflow, fact)));
    for usage in all_expressions(workflow) {
        let mut strays = find_strays(&ground, usage);
        strays.extend(find_strays_behind_binds(workflow, &ground, usage));
        strays.extend(find_strays_behind_facts(workflow, &facts, usage));
        strays.extend(find_strays_behind_signal(workflow, usage));
        strays.extend(find_strays_behind_file(workflow, usage));
        strays.extend(find_strays_behind_outcome(workflow, usage));
        strays.dedup();
        // What is written out may have been chosen, or put beside what the schema describes.
        strays
            .retain(|stray| !stray.path.last().is_some_and(|name| is_written(usage.expression.text(), name)));
        strays.into_iter().for_each(|stray| report.add(tell(workflow, usage, &stray)));
    }
}

/// Whether a name stands in quotes in a text, as a key of an object that is written out does.
fn is_written(text: &str, name: &str) -> bool {
    ['\'', '"'].iter().any(|quote| text.contains(&format!("{quote}{name}{quote}")))
}

fn find_strays(ground: &Ground<'_>, usage: Usage<'_>) -> Vec<Stray> {
    let reads = usage.expression.reads();
    if reads.whole_input {
        return Vec::new();
    }
    let strays = |follow: &dyn Fn(&Vec<String>) -> Result<(), Stray>| {
        reads.paths.iter().filter_map(|path| follow(path).err()).collect()
    };
    match usage.sees {
        Sees::OutputOf(node) => strays(&|path| ground.follow(path, Some(node))),
        Sees::AnyOutput | Sees::Signal(_) | Sees::File(_) => strays(&|path| ground.follow(path, None)),
        Sees::Key(items) | Sees::Item(items) => {
            let list = plain_path(items.compiled());
            match list.map(|path| ground.items_at(&path)).unwrap_or_default() {
                shapes if shapes.is_empty() => Vec::new(),
                shapes => strays(&|path| follow_from(shapes.clone(), path, 0)),
            }
        }
    }
}

/// Follows what stands behind the name of a place, such as `$task.status`.
fn find_strays_behind_binds(workflow: &Workflow, ground: &Ground<'_>, usage: Usage<'_>) -> Vec<Stray> {
    let mut strays = Vec::new();
    for bind in &workflow.bind {
        let shapes = ground.follow_in_state(&names(&bind.place));
        if shapes.is_empty() {
            continue;
        }
        let paths = usage.expression.reads().variable_paths.iter().filter(|path| path[0] == bind.name);
        for path in paths {
            if let Err(stray) = follow_from(shapes.clone(), &path[1..], 0) {
                let path = [format!("${}", bind.name)].into_iter().chain(stray.path).collect();
                strays.push(Stray { path, ..stray });
            }
        }
    }
    strays
}

/// Follows what stands behind `$outcome`.
fn find_strays_behind_outcome(workflow: &Workflow, usage: Usage<'_>) -> Vec<Stray> {
    let Part::Edge(id) = usage.expression.part() else { return Vec::new() };
    let Some(outcome) = workflow.find_edge(id).and_then(Edge::outcome) else { return Vec::new() };
    let name = Local::Outcome.as_str();
    let shape = outcomes::shape_of(outcome);
    let paths = usage.expression.reads().variable_paths.iter().filter(|path| path[0] == name);
    let stray = |path: &Vec<String>| {
        let stray = follow_from(vec![Shape::new(&shape)], &path[1..], 0).err()?;
        let path = [format!("${name}")].into_iter().chain(stray.path).collect();
        Some(Stray { path, ..stray })
    };
    paths.filter_map(stray).collect()
}

/// Follows what stands behind the name of a fact, such as `$run.status`.
fn find_strays_behind_facts(
    workflow: &Workflow,
    facts: &[(FactName, serde_json::Value)],
    usage: Usage<'_>,
) -> Vec<Stray> {
    let mut strays = Vec::new();
    for path in &usage.expression.reads().variable_paths {
        let Some((name, within)) = path.split_first() else { continue };
        let is_bound = workflow.bind.iter().any(|bind| bind.name == *name);
        let Some((_, shape)) = facts.iter().find(|(fact, _)| fact.as_str() == name).filter(|_| !is_bound)
        else {
            continue;
        };
        if let Err(stray) = follow_from(vec![Shape::new(shape)], within, 0) {
            let path = [format!("${name}")].into_iter().chain(stray.path).collect();
            strays.push(Stray { path, ..stray });
        }
    }
    strays
}

/// Follows what comes with a signal, such as `$signal.text`.
fn find_strays_behind_signal(workflow: &Workflow, usage: Usage<'_>) -> Vec<Stray> {
    let Sees::Signal(number) = usage.sees else { return Vec::new() };
    let (name, shape) = (Local::Signal.as_str(), Shape::new(workflow.signals[number].input.document()));
    let paths = usage.expression.reads().variable_paths.iter().filter(|path| path[0] == name);
    let stray = |path: &Vec<String>| {
        let stray = follow_from(vec![shape], &path[1..], 0).err()?;
        Some(Stray { path: [format!("${name}")].into_iter().chain(stray.path).collect(), ..stray })
    };
    paths.filter_map(stray).collect()
}

/// Follows what stands in a file that is imported, such as `$file.title`.
fn find_strays_behind_file(workflow: &Workflow, usage: Usage<'_>) -> Vec<Stray> {
    let Sees::File(number) = usage.sees else { return Vec::new() };
    let shapes = shown::shapes_of_file(workflow, &workflow.files[number]);
    let name = Local::File.as_str();
    let paths = usage.expression.reads().variable_paths.iter().filter(|path| path[0] == name);
    let stray = |path: &Vec<String>| {
        let stray = follow_from(shapes.clone(), &path[1..], 0).err()?;
        Some(Stray { path: [format!("${name}")].into_iter().chain(stray.path).collect(), ..stray })
    };
    if shapes.is_empty() { Vec::new() } else { paths.filter_map(stray).collect() }
}

fn tell(workflow: &Workflow, usage: Usage<'_>, stray: &Stray) -> Fault {
    let (name, before) = (stray.path.last().map_or("", String::as_str), &stray.path[..stray.path.len() - 1]);
    let is_of_item = matches!(usage.sees, Sees::Key(_) | Sees::Item(_)) && !stray.path[0].starts_with('$');
    let whose = match before {
        [] if is_of_item => "an item".to_owned(),
        [] => "the state".to_owned(),
        _ => format!("`{}`", before.join(".")),
    };
    let found = find_word(usage.expression.text(), name);
    let at = &found.map_or_else(
        || usage.expression.at().clone(),
        |bytes| usage.expression.position_of(&workflow.folder, bytes),
    );
    // A name that nobody ever heard of is a mistake; one inside an open object may come from an agent. But an item whose
    // key is not there stops the run.
    let is_of_state = before.is_empty() && !is_of_item;
    let is_key = before.is_empty() && matches!(usage.sees, Sees::Key(_));
    let fault = if is_of_state || is_key || stray.is_closed {
        Fault::error("unknown-field", at, format!("{whose} has no field `{name}`"))
    } else {
        Fault::warning(
            "unknown-field",
            at,
            format!("the schema does not describe a field `{name}` of {whose}"),
        )
    };
    let beside = if is_of_state { &RESERVED[..] } else { &[] };
    let known = stray.known.iter().map(String::as_str).chain(beside.iter().copied());
    match find_nearest(name, known) {
        Some(nearest) => fault.with_nearest(Some(nearest)),
        None if is_of_state => {
            fault.with_hint("add it to the schema of the state, or write a text in quotes")
        }
        None => fault,
    }
}
