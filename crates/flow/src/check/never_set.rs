//! The rule about what a condition waits for: somebody sets it.
//!
//! A comparison that nothing can change decides the same way for ever. In a loop, a number that is compared must be
//! set within the loop; any other field that an edge looks at must be set somewhere.

use std::collections::BTreeMap;

use regatta_expr::{Comparison, Expression as Compiled};

use super::bounds::{find_bounds, names, replaces, touches};
use super::loops::{find_circle_through, tell};
use super::report::Report;
use super::shape::{Field, Shape};
use super::subject::Subject;
use crate::expression::Expression;
use crate::fault::Fault;
use crate::graph::{Graph, Way};
use crate::place::Place;
use crate::workflow::{Assignment, Workflow};

/// The place and the text of a comparison, and the way on which it is looked at.
type Where = (String, String, String);

/// Checks the conditions of every level. One that something changes at another level is let pass.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    // What cannot be read may set anything.
    if !subject.workflow.gaps.is_graph_whole() {
        return;
    }
    let mut looked_at: BTreeMap<Where, Vec<(u32, Option<Fault>)>> = BTreeMap::new();
    for view in &subject.levels {
        // Nor is it known where a run goes behind a name that no node has.
        if !view.graph.is_whole() {
            return;
        }
        for way in view.graph.ways.iter().filter(|way| view.is_reached[way.from]) {
            for condition in way.conditions() {
                for comparison in condition.compiled().comparisons() {
                    let key = (
                        condition.at().to_string(),
                        comparison.text.clone(),
                        format!("{} {}", way.name(), way.to),
                    );
                    let fault = check_comparison(&view.graph, way, condition, &comparison);
                    looked_at.entry(key).or_default().push((view.level, fault));
                }
            }
        }
    }
    for ((place, text, _), found) in looked_at {
        let faults: Option<Vec<(u32, Fault)>> =
            found.into_iter().map(|(level, fault)| Some((level, fault?))).collect();
        for (level, fault) in faults.into_iter().flatten() {
            report.add_at(level, format!("{place} {text}"), fault);
        }
    }
}

fn check_comparison(
    graph: &Graph<'_>,
    way: &Way<'_>,
    condition: &Expression,
    comparison: &Comparison,
) -> Option<Fault> {
    let fields = find_fields(graph.workflow, condition, comparison)?;
    let at = condition.position_of(&graph.workflow.folder, comparison.at.start..comparison.at.end);
    let bounds = find_bounds(comparison);
    let circle = find_circle_through(graph, *way);
    if let ([bound, ..], Some(circle)) = (bounds.as_slice(), circle)
        && !is_set(graph, &ways_of_part(graph, way), |place| fields.iter().any(|path| replaces(place, path)))
    {
        let (field, verb) = (bound.path.join("."), if bound.is_below { "raises" } else { "lowers" });
        let told = tell(graph, &circle).0;
        let message =
            format!("nothing in the loop {told} {verb} `{field}`, so `{}` never changes", comparison.text);
        let sign = if bound.is_below { '+' } else { '-' };
        let hint = format!("`set` it on an edge of the loop: {field} = \"{field} {sign} 1\"");
        return Some(Fault::error("never-set", &at, message).with_hint(hint));
    }
    if is_set(graph, &graph.ways, |place| fields.iter().any(|path| touches(place, path))) {
        return None;
    }
    let told: Vec<String> = fields.iter().map(|path| format!("`{}`", path.join("."))).collect();
    let message = format!("nothing sets {}, so `{}` never changes", told.join(" or "), comparison.text);
    let hint = "`set` it at a node or on an edge, or look at `output`";
    Some(Fault::error("never-set", &at, message).with_hint(hint))
}

/// Returns the fields of the state that a comparison reads, if it reads some and nothing that changes by itself.
fn find_fields(
    workflow: &Workflow,
    condition: &Expression,
    comparison: &Comparison,
) -> Option<Vec<Vec<String>>> {
    let compiled = Compiled::compile(&comparison.text).ok()?;
    let reads = compiled.reads();
    let first = |path: &Vec<String>| path.first().cloned().unwrap_or_default();
    if reads.whole_input
        || reads.any_variable
        || reads.paths.iter().any(|path| ["output", "feedback"].contains(&first(path).as_str()))
    {
        return None;
    }
    let state = Shape::new(workflow.schema.document());
    let is_field = |path: &&Vec<String>| matches!(state.field(&first(path)), Field::Known(_));
    // Inside a filter a name means the item's; only what the whole condition reads too is a field of the state.
    let is_read = |path: &&Vec<String>| condition.reads().paths.iter().any(|read| read.starts_with(path));
    let mut fields: Vec<Vec<String>> = reads.paths.iter().filter(is_field).filter(is_read).cloned().collect();
    for bind in workflow.bind.iter().filter(|bind| reads.variables.contains(&bind.name)) {
        fields.push(names(&bind.place));
        let within = super::expressions::of_place(&bind.place)
            .into_iter()
            .flat_map(|expression| &expression.reads().paths);
        fields.extend(within.filter(is_field).cloned());
    }
    (!fields.is_empty()).then_some(fields)
}

fn ways_of_part<'w>(graph: &Graph<'w>, way: &Way<'w>) -> Vec<Way<'w>> {
    let parts = super::loops::find_parts(graph.workflow.nodes.len(), &graph.ways);
    let is_within =
        |other: &&Way<'w>| parts[other.from] == parts[way.from] && parts[other.to] == parts[way.from];
    graph.ways.iter().filter(is_within).copied().collect()
}

/// Whether a way, or the node it leaves, sets a place that counts.
fn is_set(graph: &Graph<'_>, ways: &[Way<'_>], counts: impl Fn(&Place) -> bool) -> bool {
    let sets = |assignment: &Assignment| {
        assignment.is_kept(graph.workflow, graph.level) && counts(&assignment.place)
    };
    ways.iter().any(|way| way.set().iter().chain(&graph.node(way.from).set).any(&sets))
}
