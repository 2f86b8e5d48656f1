//! Which branches change the same files: the pairs that are worth a trial merge, and the overlaps. Pure.

use super::branch::Branch;
use std::collections::{BTreeMap, BTreeSet};

/// Two branches with files in common; the second is nothing if it is the target of the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Meeting {
    /// The place of the first in the list.
    pub(super) one: usize,
    /// The place of the second, which comes after it.
    pub(super) other: Option<usize>,
    /// Whether both have committed changes to a file, so that a trial merge can tell more.
    pub(super) is_committed: bool,
    /// The files that both are changing and that at least one has not committed.
    pub(super) overlap: BTreeSet<String>,
}

/// Finds the branches with files in common, of those with the same target.
pub(super) fn meet(branches: &[Branch]) -> Vec<Meeting> {
    let mut pairs: BTreeMap<(usize, usize), BTreeSet<&str>> = BTreeMap::new();
    for (path, places) in index(branches) {
        for (nth, one) in places.iter().enumerate() {
            for other in &places[nth + 1..] {
                if branches[*one].target == branches[*other].target {
                    pairs.entry((*one, *other)).or_default().insert(path);
                }
            }
        }
    }
    let with_target = branches.iter().enumerate().filter_map(|(one, branch)| meet_target(one, branch));
    let with_others = pairs.into_iter().map(|((one, other), paths)| {
        let is_committed = |path: &&str| {
            branches[one].committed.contains(*path) && branches[other].committed.contains(*path)
        };
        let is_uncommitted = |path: &&str| {
            branches[one].uncommitted.contains(*path) || branches[other].uncommitted.contains(*path)
        };
        Meeting {
            one,
            other: Some(other),
            is_committed: paths.iter().any(is_committed),
            overlap: paths
                .iter()
                .filter(|path| is_uncommitted(path))
                .map(|path| (*path).to_owned())
                .collect(),
        }
    });
    with_target.chain(with_others).collect()
}

/// Lists for each file the branches that change it.
fn index(branches: &[Branch]) -> BTreeMap<&str, Vec<usize>> {
    let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, branch) in branches.iter().enumerate() {
        let uncommitted = branch.uncommitted.iter().filter(|path| !branch.committed.contains(*path));
        for path in branch.committed.iter().chain(uncommitted) {
            found.entry(path).or_default().push(place);
        }
    }
    found
}

fn meet_target(one: usize, branch: &Branch) -> Option<Meeting> {
    let on_target = &branch.changed_on_target;
    let is_committed = on_target.iter().any(|path| branch.committed.contains(path));
    let overlap: BTreeSet<String> = branch.uncommitted.intersection(on_target).cloned().collect();
    (is_committed || !overlap.is_empty()).then_some(Meeting { one, other: None, is_committed, overlap })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Forecast, TaskId};
    use regatta_git::CommitId;
    use std::sync::Arc;

    fn paths(text: &str) -> BTreeSet<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// Makes a branch of what it committed, what it is changing, and what the target changed.
    fn branch(number: u32, committed: &str, uncommitted: &str, on_target: &str) -> Branch {
        let commit = |digit: u32| CommitId::parse(&format!("{digit:040x}")).unwrap();
        Branch {
            task: TaskId::new(number).unwrap(),
            name: format!("task/{number}"),
            head: commit(number),
            target: "main".to_owned(),
            target_head: commit(0),
            committed: Arc::new(paths(committed)),
            uncommitted: paths(uncommitted),
            changed_on_target: Arc::new(paths(on_target)),
            recorded: Forecast::default(),
        }
    }

    fn said(branches: &[Branch]) -> Vec<String> {
        let name = |place: Option<usize>| place.map_or("main".to_owned(), |at| branches[at].task.to_string());
        let line = |found: Meeting| {
            let overlap: Vec<String> = found.overlap.into_iter().collect();
            let trial = if found.is_committed { " trial" } else { "" };
            format!("{}-{}{trial} [{}]", branches[found.one].task, name(found.other), overlap.join(" "))
        };
        meet(branches).into_iter().map(line).collect()
    }

    #[test]
    fn committed_changes_are_tried_and_others_overlap() {
        let cases = [
            (vec![branch(1, "a b", "", ""), branch(2, "c", "d", "")], vec![]),
            (vec![branch(1, "a b", "", ""), branch(2, "b c", "", "")], vec!["1-2 trial []"]),
            (vec![branch(1, "a", "", ""), branch(2, "", "a", "")], vec!["1-2 [a]"]),
            (vec![branch(1, "", "a", ""), branch(2, "b", "a", "")], vec!["1-2 [a]"]),
            (vec![branch(1, "a b", "", ""), branch(2, "a", "a b", "")], vec!["1-2 trial [a b]"]),
            (
                vec![branch(1, "a", "", ""), branch(2, "a", "", ""), branch(3, "a", "", "")],
                vec!["1-2 trial []", "1-3 trial []", "2-3 trial []"],
            ),
        ];
        for (branches, expected) in cases {
            assert_eq!(said(&branches), expected);
        }
    }

    #[test]
    fn the_target_counts_with_what_it_changed_since() {
        assert_eq!(said(&[branch(1, "a", "b", "c")]), [""; 0]);
        assert_eq!(said(&[branch(1, "a", "b", "a")]), ["1-main trial []"]);
        assert_eq!(said(&[branch(1, "a", "b", "a b")]), ["1-main trial [b]"]);
        assert_eq!(said(&[branch(1, "", "b", "b")]), ["1-main [b]"]);
    }

    #[test]
    fn branches_of_different_targets_do_not_meet() {
        let elsewhere = Branch { target: "next".to_owned(), ..branch(2, "a", "a", "") };
        assert_eq!(said(&[branch(1, "a", "a", ""), elsewhere]), [""; 0]);
    }
}
