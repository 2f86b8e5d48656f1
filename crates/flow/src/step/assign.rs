//! What a `set` changes: each place with its new value.

use crate::patch::{Assigned, Patch};
use crate::step::{Look, StepFault};
use crate::workflow::Assignment;

/// Evaluates the assignments of one `set`. All of them see the state as it is before any of them.
///
/// An undefined value leaves its place as it is, and fields that the level does not keep up are left out.
pub fn assign(look: &Look<'_>, level: u32, assignments: &[Assignment]) -> Result<Vec<Patch>, StepFault> {
    let kept = assignments.iter().filter(|assignment| look.workflow().keeps(level, assignment.place.field()));
    let mut patches = Vec::new();
    for assignment in kept {
        patches.extend(assign_one(look, assignment)?);
    }
    Ok(patches)
}

fn assign_one(look: &Look<'_>, assignment: &Assignment) -> Result<Option<Patch>, StepFault> {
    let Assignment { place, value, .. } = assignment;
    let assigned = match value.find_part_of_output(look.output()) {
        Some(part) => Some(Assigned::Output(part.clone())),
        None => look.evaluate(value)?.map(Assigned::Value),
    };
    let Some(assigned) = assigned else { return Ok(None) };
    let no_place = || StepFault::NoPlace { part: value.part().clone(), place: place.text().to_owned() };
    let place = place.resolve(look)?.ok_or_else(no_place)?;
    Ok(Some(Patch { place, assigned }))
}
