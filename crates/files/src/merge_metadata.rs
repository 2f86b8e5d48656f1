//! Merging two versions of the metadata, key by key.

use std::collections::BTreeSet;

use crate::line;
use crate::metadata::{self, Metadata, Splice};

/// A key that both sides changed differently; each side as written, empty where the key is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyConflict {
    pub(crate) key: String,
    pub(crate) base: String,
    pub(crate) ours: String,
    pub(crate) theirs: String,
}

/// Returns our JSON with their changes in it, and the keys on which both sides disagree.
///
/// Returns nothing when one of the three cannot be read.
pub(crate) fn merge(base: &str, ours: &str, theirs: &str) -> Option<(String, Vec<KeyConflict>)> {
    let read = |json: &str| metadata::parse(json, 0..json.len()).ok();
    let (base_read, theirs_read) = (read(base)?, read(theirs)?);
    let mut merged = ours.to_owned();
    let mut conflicts = Vec::new();
    let mut merged_read = read(ours)?;
    for key in keys(&[&base_read, &merged_read, &theirs_read]) {
        let (before, our, their) =
            (base_read.raw(base, &key), merged_read.raw(&merged, &key), theirs_read.raw(theirs, &key));
        if their == before || their == our {
            continue;
        }
        if our != before {
            let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
            conflicts.push(KeyConflict { base: text(before), ours: text(our), theirs: text(their), key });
            continue;
        }
        let splice = match their {
            Some(value) => Some(merged_read.set(&merged, &key, value, line::ending_of(ours))),
            None => merged_read.remove(&merged, &key),
        };
        if let Some(Splice { range, with }) = splice {
            merged.replace_range(range, &with);
            merged_read = read(&merged)?;
        }
    }
    Some((merged, conflicts))
}

fn keys(all: &[&Metadata]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let members = all.iter().flat_map(|metadata| &metadata.members);
    members.filter(|member| seen.insert(&member.key)).map(|member| member.key.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_keys_are_both_kept() {
        let (text, conflicts) = merge(
            "{ \"a\": 1, \"b\": 2, \"c\": 3 }",
            "{ \"a\": 9, \"b\": 2, \"c\": 3 }",
            "{ \"a\": 1, \"b\": 8, \"d\": 4 }",
        )
        .unwrap();
        assert_eq!(text, "{ \"a\": 9, \"b\": 8, \"d\": 4 }");
        assert_eq!(conflicts, []);
    }

    #[test]
    fn the_same_key_changed_twice_is_a_conflict() {
        let (text, conflicts) = merge("{\"a\": 1}", "{\"a\": 2}", "{\"a\": 3}").unwrap();
        assert_eq!(text, "{\"a\": 2}");
        let [conflict] = conflicts.as_slice() else { panic!("{conflicts:?}") };
        assert_eq!([&conflict.base, &conflict.ours, &conflict.theirs], ["1", "2", "3"]);
        assert!(merge("{}", "{}", "not JSON").is_none());
    }
}
