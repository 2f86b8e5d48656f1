//! Collects the faults of one workflow, and merges those that several levels share.

use crate::fault::Fault;
use crate::graph::levels;
use crate::workflow::Workflow;

/// The faults of a workflow.
pub(super) struct Report {
    levels: Vec<u32>,
    found: Vec<Found>,
}

struct Found {
    /// What makes two faults the same one at different levels.
    key: String,
    fault: Fault,
    /// Where it was found; empty if levels do not matter.
    levels: Vec<u32>,
}

impl Report {
    pub(super) fn new(workflow: &Workflow) -> Report {
        Report { levels: levels(workflow), found: Vec::new() }
    }

    /// Adds a fault for which levels do not matter.
    pub(super) fn add(&mut self, fault: Fault) {
        self.found.push(Found { key: String::new(), fault, levels: Vec::new() });
    }

    /// Adds a fault of one level. Faults with the same rule and key are reported once, with all their levels.
    pub(super) fn add_at(&mut self, level: u32, key: String, fault: Fault) {
        let same = |found: &&mut Found| {
            found.key == key && found.fault.rule == fault.rule && !found.levels.is_empty()
        };
        match self.found.iter_mut().find(same) {
            Some(found) if found.levels.contains(&level) => {}
            Some(found) => {
                found.levels.push(level);
                found.levels.sort_unstable();
            }
            None => self.found.push(Found { key, fault, levels: vec![level] }),
        }
    }

    /// Returns the faults, with the levels in the message where it is not all of them.
    pub(super) fn finish(self) -> Vec<Fault> {
        let tell = |mut found: Found| {
            if !found.levels.is_empty() && found.levels != self.levels {
                found.fault.message.push_str(&format!(" ({})", tell_levels(&found.levels)));
            }
            found.fault
        };
        self.found.into_iter().map(tell).collect()
    }
}

/// Tells levels in ascending order as `at levels 1, 4-7`.
pub(super) fn tell_levels(levels: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for level in levels {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *level => *last = *level,
            _ => runs.push((*level, *level)),
        }
    }
    let run = |(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}-{last}"),
    };
    let word = if levels.len() == 1 { "level" } else { "levels" };
    format!("at {word} {}", runs.iter().map(run).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_told_in_runs() {
        assert_eq!(tell_levels(&[4]), "at level 4");
        assert_eq!(tell_levels(&[1, 2, 4, 5, 6, 9]), "at levels 1, 2, 4-6, 9");
    }
}
