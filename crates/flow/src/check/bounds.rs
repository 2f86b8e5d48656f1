//! Whether a link of a loop steps a field towards a bound that its own condition sets.
//!
//! `currentTaskIndex < $count(tasks) - 1` with `currentTaskIndex = "currentTaskIndex + 1"` is such a link: it can be
//! taken only so often, as long as nothing else in the loop sets the index back or moves the bound.

use regatta_expr::{Comparison, Expression as Compiled};

use super::condition::plain_path;
use super::expressions::of_place;
use crate::expression::RESERVED;
use crate::graph::{Graph, Link};
use crate::place::{Place, Segment};
use crate::shown::{Sources, View};
use crate::workflow::{Assignment, Workflow};

/// A condition such as `a.b < limit`, read from the side of the field.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) path: Vec<String>,
    /// Whether the field must stay below the limit, rather than above it.
    pub(super) is_below: bool,
    limit: Compiled,
}

/// Whether a link can be taken only a bounded number of times among the links of its part of the graph.
pub(super) fn is_bounded_by_steps(graph: &Graph<'_>, link: &Link<'_>, part: &[Link<'_>]) -> bool {
    let required = link.conditions().flat_map(|condition| condition.compiled().required_comparisons());
    required.flat_map(|one| find_bounds(&one)).any(|bound| is_approached(graph, link, part, &bound))
}

/// Lists the bounds that a comparison sets; either side may be the field.
pub(super) fn find_bounds(comparison: &Comparison) -> Vec<Bound> {
    let is_below = match comparison.operator {
        "<" | "<=" => true,
        ">" | ">=" => false,
        _ => return Vec::new(),
    };
    let sides =
        [(&comparison.left, &comparison.right, is_below), (&comparison.right, &comparison.left, !is_below)];
    let bound = |(field, limit, is_below): (&String, &String, bool)| {
        let path = plain_path(&Compiled::compile(field).ok()?)?;
        Some(Bound { path, is_below, limit: Compiled::compile(limit).ok()? })
    };
    sides.into_iter().filter_map(bound).collect()
}

fn is_approached(graph: &Graph<'_>, link: &Link<'_>, part: &[Link<'_>], bound: &Bound) -> bool {
    let is_kept = |assignment: &&Assignment| assignment.is_kept(graph.workflow, graph.level);
    let of = |link: &Link<'_>| {
        let set = link.set().iter().chain(graph.set_of(link.from));
        set.filter(is_kept).cloned().collect::<Vec<_>>()
    };
    let all: Vec<Assignment> = part.iter().flat_map(of).collect();
    let mut touching = all.iter().filter(|assignment| touches(&assignment.place, &bound.path));
    touching.all(|assignment| is_step(assignment, bound))
        && (of(link).iter().any(|assignment| is_step(assignment, bound))
            || leads_to_step(graph, link, part, bound))
        && !moves(graph.workflow, &bound.limit, &all)
}

/// Whether the node that a link leads to makes the step, however it is left within the part: an outcome skips its `set`.
fn leads_to_step(graph: &Graph<'_>, link: &Link<'_>, part: &[Link<'_>], bound: &Bound) -> bool {
    let mut set = graph.set_of(link.to).filter(|assignment| assignment.is_kept(graph.workflow, graph.level));
    let mut leaving = part.iter().filter(|other| other.from == link.to);
    set.any(|assignment| is_step(assignment, bound)) && leaving.all(|other| other.edge.outcome().is_none())
}

/// Whether a `set`, the time or chance can move a limit. What a limit reads beside the state may be anything.
///
/// A part of what it reads whole moves it too; what it only counts stays as long as its parts change alone. A view is read
/// as if it were written out; what only a signal sets does not move, because each signal needs somebody.
fn moves(workflow: &Workflow, limit: &Compiled, set: &[Assignment]) -> bool {
    let reads = limit.reads();
    let moves_view = |name: &String| workflow.find_view(name).is_none_or(|view| is_moved(view, set));
    let is_other =
        |path: &&Vec<String>| path.first().is_some_and(|name| RESERVED[1..].contains(&name.as_str()));
    let changes = |place: &Place| {
        reads.paths.iter().any(|path| replaces(place, path))
            || reads.whole_paths.iter().any(|path| touches(place, path))
    };
    limit.is_fickle()
        || reads.whole_input
        || reads.any_variable
        || reads.variables.iter().any(moves_view)
        || reads.paths.iter().any(|path| is_other(&path))
        || set
            .iter()
            .filter(|assignment| assignment.place.is_known())
            .any(|assignment| changes(&assignment.place))
}

/// Whether a `set`, a fact, the time or chance can move a view, which may be everything that it reads through others.
fn is_moved(view: &View, set: &[Assignment]) -> bool {
    let Sources { fields, any_field, facts, .. } = &view.reads;
    let is_set = |field: &String| set.iter().any(|assignment| assignment.place.field() == field);
    !view.value.is_known()
        || view.value.compiled().is_fickle()
        || *any_field
        || !facts.is_empty()
        || fields.iter().any(|field| RESERVED.contains(&field.as_str()) || is_set(field))
}

/// Whether an assignment is `path = path + n`, towards the bound. An unknown one may be.
fn is_step(assignment: &Assignment, bound: &Bound) -> bool {
    if !assignment.is_known() {
        return touches(&assignment.place, &bound.path);
    }
    let sign = if bound.is_below { '+' } else { '-' };
    let Some((field, number)) = assignment.value.text().rsplit_once(sign) else { return false };
    let is_path = |text: &str| {
        Compiled::compile(text).ok().and_then(|field| plain_path(&field)).as_ref() == Some(&bound.path)
    };
    !assignment.place.appends()
        && of_place(&assignment.place).is_empty()
        && names(&assignment.place) == bound.path
        && number.trim().parse::<f64>().is_ok_and(|number| number > 0.0)
        && is_path(field)
}

/// Returns the names of a place; what is within brackets stands for all items or fields there.
pub(super) fn names(place: &Place) -> Vec<String> {
    let name = |segment: &Segment| match segment {
        Segment::Name(name) => Some(name.to_string()),
        Segment::At(_) => None,
    };
    place.segments().iter().filter_map(name).collect()
}

/// Whether setting a place puts a new value at a path, rather than changing a part of what is there.
///
/// A number, a text or the length of a list changes only so.
pub(super) fn replaces(place: &Place, path: &[String]) -> bool {
    path.starts_with(&names(place))
}

/// Whether setting a place can change what is read at a path.
pub(super) fn touches(place: &Place, path: &[String]) -> bool {
    let names = names(place);
    names.starts_with(path) || path.starts_with(&names)
}
