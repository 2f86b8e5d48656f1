//! What a `set` changes: each place with its new value.

use serde_json::Value;

use crate::patch::{Assigned, Patch};
use crate::path::{PathStep, ResolvedPath};
use crate::step::items::ITEMS_BYTES_MAX;
use crate::step::{Look, StepFault};
use crate::workflow::Assignment;

/// Evaluates the assignments of one `set`. All of them see the state as it is before any of them.
///
/// An undefined value leaves its place as it is, and fields that the level does not keep up are left out.
pub fn assign(look: &Look<'_>, level: u32, assignments: &[Assignment]) -> Result<Vec<Patch>, StepFault> {
    let kept = assignments.iter().filter(|assignment| look.workflow().keeps(level, assignment.place.field()));
    let mut patches = Vec::new();
    for assignment in kept {
        if assignment.place.appends() {
            append(look, assignment, &mut patches)?;
        } else {
            patches.extend(assign_one(look, assignment)?);
        }
    }
    Ok(patches)
}

/// Adds one value, or each item of a list, behind the last item of the list at the place.
fn append(look: &Look<'_>, assignment: &Assignment, patches: &mut Vec<Patch>) -> Result<(), StepFault> {
    let Assignment { place, value, .. } = assignment;
    let added = match value.find_part_of_output(look.output()) {
        Some(part) => items_of_output(part, look.output()),
        None => match look.evaluate_items(value, ITEMS_BYTES_MAX)? {
            None => Vec::new(),
            Some(Value::Array(items)) => items.into_iter().map(Assigned::Value).collect(),
            Some(value) => vec![Assigned::Value(value)],
        },
    };
    if added.is_empty() {
        return Ok(());
    }
    let list = place.resolve(look)?.ok_or_else(|| no_place(assignment))?;
    let length = list.find(look.root()).and_then(Value::as_array).map_or(0, Vec::len);
    // Another assignment of the same `set` may have added to the list too.
    let is_before = |patch: &&Patch| {
        matches!(patch.place.steps().split_last(), Some((PathStep::Index(index), within))
            if *index >= length && within == list.steps())
    };
    let first = length + patches.iter().filter(is_before).count();
    for (number, assigned) in added.into_iter().enumerate() {
        let mut place = list.clone();
        place.0.push(PathStep::Index(first + number));
        patches.push(Patch { place, assigned });
    }
    Ok(())
}

fn items_of_output(part: &ResolvedPath, output: &Value) -> Vec<Assigned> {
    let Some(Value::Array(items)) = part.find(output) else { return vec![Assigned::Output(part.clone())] };
    let item = |number: usize| {
        let mut item = part.clone();
        item.0.push(PathStep::Index(number));
        Assigned::Output(item)
    };
    (0..items.len()).map(item).collect()
}

fn no_place(assignment: &Assignment) -> StepFault {
    let Assignment { place, value, .. } = assignment;
    StepFault::NoPlace { part: value.part().clone(), place: place.text().to_owned() }
}

fn assign_one(look: &Look<'_>, assignment: &Assignment) -> Result<Option<Patch>, StepFault> {
    let Assignment { place, value, .. } = assignment;
    let assigned = match value.find_part_of_output(look.output()) {
        Some(part) => Some(Assigned::Output(part.clone())),
        None => look.evaluate(value)?.map(Assigned::Value),
    };
    let Some(assigned) = assigned else { return Ok(None) };
    let place = place.resolve(look)?.ok_or_else(|| no_place(assignment))?;
    Ok(Some(Patch { place, assigned }))
}
