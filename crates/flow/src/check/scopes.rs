//! Whether the scope of a cap can take ever new values while a run is in a loop.
//!
//! A cap counts each value of its scope separately, so it ends a loop only if there are few of them. That is so if
//! everything the scope reads is settled in the loop: nothing there sets it, or only constants are set there, or its
//! schema is a choice (`enum`, `const`, a boolean, an integer with both bounds). An item of a list that the loop does
//! not change is one of finitely many, whatever the index is. A comparison has two results whatever it reads. The
//! time and all other results of agents are not settled.

use super::bounds::{names, touches};
use super::ground::Ground;
use super::shape::Shape;
use crate::expression::Expression;
use crate::graph::{Graph, Link};
use crate::workflow::{Assignment, Bind};
use regatta_expr::Condition;

/// Returns what the scope of a link reads that can have ever new values in a part of the graph, as a message names it.
///
/// Nobody is asked in such a part, so that `feedback` stays as it is; `input` does in the whole run.
pub(super) fn find_unsettled(
    ground: &Ground<'_>,
    graph: &Graph<'_>,
    link: &Link<'_>,
    part: &[Link<'_>],
) -> Option<String> {
    let scope = link.edge.scope.as_ref().filter(|scope| scope.is_known())?;
    if is_answer(&scope.compiled().condition()) {
        return None;
    }
    let reads = scope.reads();
    if reads.whole_input || reads.any_variable || scope.compiled().is_fickle() {
        return Some("what it reads".to_owned());
    }
    let set = assignments_of(graph, part);
    let of_binds = || paths_of_binds(graph, scope);
    let gaps = &graph.workflow.gaps;
    let is_settled = |path: &Vec<String>| match path.first().map(String::as_str) {
        Some("input" | "feedback") => true,
        Some("output") if gaps.is_output_unknown(graph.node(link.from)) => true,
        Some(_) if gaps.is_state_unknown => true,
        Some("output") => ground.output_of(link.from).is_some_and(|shape| is_choice(shape, &path[1..])),
        _ => is_left_alone(path, &set) || is_choice(ground.state(), path),
    };
    let unsettled = reads.paths.iter().find(|path| !is_settled(path)).cloned();
    let unsettled = unsettled.or_else(|| of_binds().into_iter().find(|path| !is_left_alone(path, &set)));
    unsettled.map(|path| format!("`{}`", path.join(".")))
}

/// Whether a condition is true or false or undefined, whatever it reads.
fn is_answer(condition: &Condition) -> bool {
    match condition {
        Condition::And(..)
        | Condition::Or(..)
        | Condition::Not(_)
        | Condition::Compared(..)
        | Condition::Exists(_) => true,
        Condition::Truth(_) | Condition::Other => false,
    }
}

/// Lists what is set along the links, by them and by the nodes that they leave.
fn assignments_of<'w>(graph: &Graph<'w>, part: &[Link<'w>]) -> Vec<&'w Assignment> {
    let all = part.iter().flat_map(|link| link.set().iter().chain(graph.set_of(link.from)));
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
    let of_bind = |bind: &Bind| {
        let paths = scope.reads().variable_paths.iter().filter(|path| path[0] == bind.name);
        let place = names(&bind.place);
        paths.map(|path| [&place[..], &path[1..]].concat()).collect::<Vec<_>>()
    };
    graph.workflow.bind.iter().flat_map(of_bind).collect()
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
