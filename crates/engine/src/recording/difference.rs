//! The differences between a replay and the recorded run, by step.
//!
//! Children run in parallel, so the order in which differences are noticed means nothing: they are sorted by
//! their places.

use crate::runs::path::Stage;
use std::fmt;

/// One difference from the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    place: Place,
    text: String,
}

/// Where in a run, or in a child of it, something belongs; what belongs to no step comes last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// The steps from the outermost run inwards, each with the item whose child continues there; the last has
    /// none.
    Step(Vec<(u64, String)>),
    Whole,
}

impl Difference {
    /// Notes something about a step of the run at the end of a path.
    pub(crate) fn at(way: &[Stage], step: u64, text: String) -> Self {
        let stages = way.iter().map(|stage| (stage.step, stage.item.clone()));
        Difference { place: Place::Step(stages.chain([(step, String::new())]).collect()), text }
    }

    /// Sorts differences by step; those of one step keep their order.
    pub(crate) fn sort(found: &mut [Self]) {
        found.sort_by(|one, other| one.place.cmp(&other.place));
    }

    /// Notes something about the run as a whole.
    pub(crate) fn of_run(text: String) -> Self {
        Difference { place: Place::Whole, text }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place::Step(way) = &self.place else { return f.write_str(&self.text) };
        for (step, item) in way {
            match item.as_str() {
                "" => write!(f, "step {step}: ")?,
                item => write!(f, "step {step} for {item}, ")?,
            }
        }
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_in_the_order_of_their_steps() {
        let child = |step: u64, item: &str, within: u64| Difference {
            place: Place::Step(vec![(step, item.to_owned()), (within, String::new())]),
            text: "it differs".to_owned(),
        };
        let root = |step: u64| Difference::at(&[], step, "it differs".to_owned());
        let mut found = [
            Difference::of_run("the run was this, and is that".to_owned()),
            root(10),
            child(2, "T002", 1),
            child(2, "T001", 10),
            root(3),
            child(2, "T001", 9),
        ];
        Difference::sort(&mut found);
        assert_eq!(
            found.map(|difference| difference.to_string()),
            [
                "step 2 for T001, step 9: it differs",
                "step 2 for T001, step 10: it differs",
                "step 2 for T002, step 1: it differs",
                "step 3: it differs",
                "step 10: it differs",
                "the run was this, and is that",
            ]
        );
    }
}
