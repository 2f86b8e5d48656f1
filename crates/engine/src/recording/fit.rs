//! Whether the changes of a recorded answer fit the commit that it is played on.
//!
//! The recording has the entry of each path before and after the answer. It fits if every path is as it was
//! before, or as the answer leaves it; anything else would undo work that the role never saw. Only names and
//! ids are read here.

use regatta_git::{EntryChange, TreeEntry};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a recorded answer does to one path, as mode and id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<String>,
}

impl RecordedChange {
    /// Returns what became of a path, as a recording keeps it.
    pub(crate) fn of(change: &EntryChange) -> RecordedChange {
        let [from, to] = [&change.before, &change.after].map(|entry| entry.as_ref().map(shown));
        RecordedChange { from, to }
    }
}

/// How a recorded answer fits a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It can be played.
    Fits,
    /// All of its changes are there already.
    Done,
    /// These paths differ from what it expects.
    Differs(Vec<String>),
}

/// Tells how changes fit the current entries of their paths.
pub(crate) fn judge(
    changes: &BTreeMap<String, RecordedChange>,
    find: impl Fn(&str) -> Option<String>,
) -> Fit {
    let present: Vec<(&String, &RecordedChange, Option<String>)> =
        changes.iter().map(|(name, change)| (name, change, find(name))).collect();
    let differs: Vec<String> = present
        .iter()
        .filter(|(_, change, now)| *now != change.from && *now != change.to)
        .map(|(name, ..)| (*name).clone())
        .collect();
    if !differs.is_empty() {
        return Fit::Differs(differs);
    }
    let is_done = !present.is_empty() && present.iter().all(|(_, change, now)| *now == change.to);
    if is_done { Fit::Done } else { Fit::Fits }
}

/// Describes the entry of a path.
pub(crate) fn shown(entry: &TreeEntry) -> String {
    format!("{} {}", entry.mode, entry.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_take_fits_where_nothing_else_has_changed() {
        let change = |from: &str, to: &str| {
            let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            RecordedChange { from: text(from), to: text(to) }
        };
        let changes = BTreeMap::from([
            ("new".to_owned(), change("", "a")),
            ("old".to_owned(), change("b", "c")),
            ("gone".to_owned(), change("d", "")),
        ]);
        let at = |present: &[(&str, &str)]| {
            let present: BTreeMap<&str, &str> = present.iter().copied().collect();
            judge(&changes, |name| present.get(name).map(|id| (*id).to_owned()))
        };
        assert_eq!(at(&[("old", "b"), ("gone", "d"), ("other", "x")]), Fit::Fits);
        assert_eq!(at(&[("new", "a"), ("old", "b")]), Fit::Fits, "some of it stands there already");
        assert_eq!(at(&[("new", "a"), ("old", "c")]), Fit::Done);
        let differs = |names: &[&str]| Fit::Differs(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(at(&[("new", "z"), ("old", "b"), ("gone", "d")]), differs(&["new"]));
        assert_eq!(at(&[("gone", "z")]), differs(&["gone", "old"]));
        assert_eq!(judge(&BTreeMap::new(), |_| None), Fit::Fits, "a tape that does not know is played");
    }
}
