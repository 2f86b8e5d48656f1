//! Whether the scope of a cap can have new values without bound while a run goes round in a loop.
//!
//! A cap counts for each value of its scope, so it ends a loop only if these are few. They are if all that the scope
//! reads is settled in the loop: nothing there sets it, or only constants are put there, or its schema is a choice
//! (`enum`, `const`, a boolean, an integer with both bounds). An item of a list that the loop leaves alone is one of
//! so many, whatever the index is. A comparison has two answers whatever it reads. The clock and all other results of agents are not settled.

use super::bounds::{names, touches};
use super::condition::fields_behind;
use super::ground::Ground;
use super::shape::Shape;
use crate::expression::Expression;
use crate::graph::{Graph, Way};
use crate::workflow::Assignment;
use regatta_expr::Condition;

/// What gives another value at another moment; `$eval` may name any of them.
const CLOCKS: [&str; 6] = ["$now", "$millis", "$toMillis", "$random", "$shuffle", "$eval"];

/// Returns what the scope of a way reads that can have ever new values in a part of the graph, as a message names it.
///
/// Nobody is asked in such a part, so that `feedback` stays as it is; `input` does in the whole run.
pub(super) fn find_unsettled(
    ground: &Ground<'_>,
    graph: &Graph<'_>,
    way: &Way<'_>,
    part: &[Way<'_>],
) -> Option<String> {
    let scope = way.edge.scope.as_ref().filter(|scope| scope.is_known())?;
    if is_answer(&scope.compiled().condition()) {
        return None;
    }
    if let Some(clock) = find_clock(scope.text()) {
        return Some(format!("`{clock}`"));
    }
    let reads = scope.reads();
    if reads.whole_input || reads.any_variable {
        return Some("what it reads".to_owned());
    }
    let set = assignments_of(graph, part);
    let of_binds = || paths_of_binds(graph, scope);
    let gaps = &graph.workflow.gaps;
    let is_settled = |path: &Vec<String>| match path.first().map(String::as_str) {
        Some("input" | "feedback") => true,
        Some("output") if gaps.is_output_unknown(graph.node(way.from)) => true,
        Some(_) if gaps.is_state_unknown => true,
        Some("output") => ground.output_of(way.from).is_some_and(|shape| is_choice(shape, &path[1..])),
        _ => is_left_alone(path, &set) || is_choice(ground.state(), path),
    };
    let unsettled = reads.paths.iter().find(|path| !is_settled(path)).cloned();
    let unsettled = unsettled.or_else(|| of_binds().into_iter().find(|path| !is_left_alone(path, &set)));
    unsettled.map(|path| format!("`{}`", path.join(".")))
}

/// Whether a condition is true or false or undefined, whatever it reads.
fn is_answer(condition: &Condition) -> bool {
    match condition {
        Condition::Joined(..) | Condition::Not(_) | Condition::Compared(..) | Condition::Exists(_) => true,
        Condition::Truth(_) | Condition::Other => false,
    }
}

/// Finds what tells the time in a text, also within its strings: a scope is short, and this must not miss one.
fn find_clock(text: &str) -> Option<&'static str> {
    let is_named = |clock: &&'static str| {
        let ends = text.match_indices(*clock).map(|(at, _)| &text[at + clock.len()..]);
        ends.into_iter().any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    CLOCKS.iter().find(|clock| is_named(clock)).copied()
}

/// Lists what is set along the ways, by them and by the nodes that they leave.
fn assignments_of<'w>(graph: &Graph<'w>, part: &[Way<'w>]) -> Vec<&'w Assignment> {
    let all = part.iter().flat_map(|way| way.set().iter().chain(&graph.node(way.from).set));
    all.filter(|assignment| assignment.is_known() && assignment.is_kept(graph.workflow, graph.level))
        .collect()
}

/// Whether nothing new is put at a path.
fn is_left_alone(path: &[String], set: &[&Assignment]) -> bool {
    let mut touching = set.iter().filter(|assignment| touches(&assignment.place, path));
    touching.all(|assignment| assignment.value.compiled().is_constant())
}

/// Lists what a scope reads behind names for places: the items of a list share a path.
fn paths_of_binds(graph: &Graph<'_>, scope: &Expression) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for bind in graph.workflow.bind.iter().filter(|bind| scope.reads().variables.contains(&bind.name)) {
        let place = names(&bind.place);
        // A regular expression may hold a quote, behind which names would be taken for a text.
        let behind =
            if scope.text().contains('/') { Vec::new() } else { fields_behind(scope.text(), &bind.name) };
        match behind.is_empty() {
            true => paths.push(place),
            false => paths.extend(behind.into_iter().map(|fields| [place.clone(), fields].concat())),
        }
    }
    paths
}

/// Whether a schema leaves only so many values at a path that leads through no list.
fn is_choice(shape: Shape<'_>, path: &[String]) -> bool {
    let alternatives = shape.alternatives();
    let is_one = |one: &Shape<'_>| match path.split_first() {
        None => one.is_finite(),
        Some((name, rest)) => {
            let types = one.types();
            let is_known = !types.is_empty() && !types.contains(&"array");
            let fields = one.properties();
            match fields.iter().find(|(field, ..)| field == name) {
                _ if !is_known => false,
                Some((_, field, _)) => is_choice(*field, rest),
                None => !types.contains(&"object") || one.is_closed(),
            }
        }
    };
    // A schema that refers to itself, or has very many alternatives, is not known to the end.
    !alternatives.is_empty()
        && alternatives.len() < Shape::ALTERNATIVES_MAX
        && alternatives.iter().all(is_one)
}
