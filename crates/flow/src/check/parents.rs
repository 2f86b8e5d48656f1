//! The rule about parents of places: a `set` adds a field to an existing object, and does not create the objects
//! around it.
//!
//! A parent exists if a default creates it or if some `set` may. Whether that `set` comes first is not checked.

use serde_json::Value;

use super::condition::constant;
use super::places::assignments;
use crate::fault::Fault;
use crate::place::{Place, Segment};
use crate::workflow::{Assignment, Workflow};

/// What is known of the objects and lists that places lie in.
pub(super) struct Parents<'w> {
    workflow: &'w Workflow,
    initial: Value,
}

impl<'w> Parents<'w> {
    /// Looks at a workflow; `None` if something of it cannot be read, which may put anything anywhere.
    pub(super) fn find(workflow: &'w Workflow) -> Option<Parents<'w>> {
        let gaps = &workflow.gaps;
        let is_known = gaps.is_graph_whole()
            && !gaps.is_state_unknown
            && !gaps.has_doubtful_values
            && assignments(workflow).all(|assignment| assignment.place.is_known());
        is_known.then(|| Parents { workflow, initial: workflow.schema.initial() })
    }

    /// Checks the place of one assignment.
    pub(super) fn check(&self, assignment: &Assignment) -> Option<Fault> {
        let parent = fixed_parent(&assignment.place);
        let find = |end: &usize| parent[..*end].iter().try_fold(&self.initial, |value, name| value.get(name));
        let is_there = |end: &usize| find(end).is_some_and(|value| value.is_object() || value.is_array());
        let absent = (1..=parent.len()).find(|end| !is_there(end))?;
        let is_made = assignments(self.workflow).any(|other| may_make(&other.place, &parent[..absent]));
        (!is_made).then(|| match find(&absent) {
            Some(value) => tell(assignment, &parent[..absent], &format!("is {value} by default")),
            // A default of an inner part puts the outer ones there too.
            None => tell(assignment, &parent, "has no default"),
        })
    }
}

fn tell(assignment: &Assignment, parent: &[String], begins: &str) -> Fault {
    let is_object = assignment.place.segments().get(parent.len()).and_then(name_of).is_some();
    let such = match (is_object, assignment.place.appends()) {
        (true, _) => " such as {}",
        (false, true) => " such as []",
        (false, false) => "",
    };
    let parent = parent.join(".");
    let message =
        format!("`{}` can never be set: `{parent}` {begins}, and no `set` changes that", assignment.place);
    let hint = format!("give `{parent}` a default{such} in the schema of the state, or set it before");
    Fault::error("set-without-parent", &assignment.at, message).with_hint(hint)
}

/// Returns the names of what a place lies in, as far as they are the same in every state.
fn fixed_parent(place: &Place) -> Vec<String> {
    let parents = match place.segments().split_last() {
        // What is added to must be there itself.
        Some(_) if place.appends() => place.segments(),
        Some((_, parents)) => parents,
        None => &[],
    };
    parents.iter().map_while(name_of).collect()
}

fn name_of(segment: &Segment) -> Option<String> {
    match segment {
        Segment::Name(name) => Some(name.to_string()),
        Segment::At(expression) => match constant(expression.compiled()) {
            Some(Value::String(name)) => Some(name),
            _ => None,
        },
    }
}

/// Whether setting a place may put something at a path. Brackets may hold any name.
fn may_make(place: &Place, path: &[String]) -> bool {
    let is_like = |(segment, name): (&Segment, &String)| name_of(segment).is_none_or(|own| own == *name);
    !place.appends() && place.segments().len() <= path.len() && place.segments().iter().zip(path).all(is_like)
}
