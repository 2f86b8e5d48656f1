//! Which paths (`std::fs::read`) a source names, with groups (`std::{fs, io}`) written out.

/// A path that a source names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named<'a> {
    /// Its parts, in order.
    pub(crate) parts: Vec<&'a str>,
    /// Where its last part stands.
    pub(crate) offset: usize,
}

impl Named<'_> {
    /// Tells whether these parts stand in it, one after the other.
    pub(crate) fn contains(&self, wanted: &[&str]) -> bool {
        self.parts.windows(wanted.len()).any(|window| window == wanted)
    }
}

/// Returns every path that masked code names, single words too.
pub(crate) fn names_in(code: &str) -> Vec<Named<'_>> {
    let mut found = Vec::new();
    // The path before each open brace; empty for one that opens a block.
    let mut groups: Vec<Vec<&str>> = vec![Vec::new()];
    let mut at = 0;
    while let Some(first) = code[at..].chars().next() {
        if is_word(first) {
            let (named, opens_group, end) = read_path(code, at, groups.last().map_or(&[], Vec::as_slice));
            at = end;
            if opens_group {
                groups.push(named.parts);
            } else {
                found.push(named);
            }
            continue;
        }
        match first {
            '{' => groups.push(Vec::new()),
            '}' if groups.len() > 1 => {
                groups.pop();
            }
            _ => {}
        }
        at += first.len_utf8();
    }
    found
}

/// Reads the path at `start`; returns it, whether a group of it follows, and where it (or the brace) ends.
fn read_path<'a>(code: &'a str, start: usize, prefix: &[&'a str]) -> (Named<'a>, bool, usize) {
    let mut parts = prefix.to_vec();
    let (mut at, mut offset) = (start, start);
    loop {
        let word_end =
            code[at..].find(|character| !is_word(character)).map_or(code.len(), |length| at + length);
        parts.push(&code[at..word_end]);
        offset = if word_end > at { at } else { offset };
        let Some(after) = code[word_end..].trim_start().strip_prefix("::") else {
            return (Named { parts, offset }, false, word_end);
        };
        let after = after.trim_start();
        let next = code.len() - after.len();
        match after.chars().next() {
            Some('{') => return (Named { parts, offset }, true, next + 1),
            Some(character) if is_word(character) => at = next,
            _ => return (Named { parts, offset }, false, next),
        }
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(code: &str) -> Vec<String> {
        names_in(code).into_iter().map(|named| named.parts.join("::")).collect()
    }

    #[test]
    fn groups_are_written_out() {
        assert_eq!(
            names("use std::{fs, collections::{BTreeMap, BTreeSet}, io};"),
            ["use", "std::fs", "std::collections::BTreeMap", "std::collections::BTreeSet", "std::io"]
        );
        assert_eq!(names("{ std :: fs } x"), ["std::fs", "x"]);
        assert_eq!(names("Vec::<u8>::new() } y"), ["Vec", "u8", "new", "y"]);
    }

    #[test]
    fn a_name_has_its_place() {
        let code = "use a::{\n    b,\n    c,\n};";
        let named = names_in(code);
        assert_eq!(
            named.iter().map(|named| &code[named.offset..=named.offset]).collect::<Vec<_>>(),
            ["u", "b", "c"]
        );
    }

    #[test]
    fn parts_must_stand_together() {
        let named = Named { parts: vec!["std", "time", "Instant"], offset: 0 };
        assert!(named.contains(&["Instant"]) && named.contains(&["time", "Instant"]));
        assert!(!named.contains(&["std", "Instant"]));
    }
}
