//! Commits that a text names: `commit 1a2b3c4`, `**Commits:** abc123, def456`, or bare digits of an id.
//!
//! This module only reads the text. Only git knows whether a commit exists: ask it about those that the text
//! does not call commits, because other things are written in the same digits.

/// Git abbreviates to seven digits or more; words such as `decade` are shorter.
const BARE_DIGITS_MIN: usize = 7;

/// What is called a commit may be shorter.
const CALLED_DIGITS_MIN: usize = 6;

/// A whole id; longer ones are digests of something else.
const DIGITS_MAX: usize = 40;

/// Words that may stand between `commit` and its id, or between two ids.
const CONNECTING: &[&str] = &["and", "as", "at", "hash", "id", "is", "with"];

/// A commit as a text names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitName {
    /// The first digits of its id, or all of them, as written.
    pub digits: String,
    /// Whether the text calls it a commit; if not, it only looks like one.
    pub is_called: bool,
}

/// Returns the commits that a text names, each once, in the order of the text.
pub fn find_commit_names(text: &str) -> Vec<CommitName> {
    let mut found: Vec<CommitName> = Vec::new();
    let mut is_called = false;
    let mut before = ' ';
    for word in text.split_inclusive(|character: char| !is_part_of_word(character)) {
        let bare = word.trim_end_matches(|character: char| !is_part_of_word(character));
        let follows = std::mem::replace(&mut before, word.chars().next_back().unwrap_or(' '));
        if bare.is_empty() {
            continue;
        }
        if has_digits_of_commit(bare, is_called) && follows != '#' {
            note(&mut found, bare, is_called);
        } else {
            is_called = is_commit_word(bare)
                || is_called && CONNECTING.iter().any(|word| word.eq_ignore_ascii_case(bare));
        }
    }
    found
}

/// Tells whether two names mean the same commit: one is the beginning of the other.
pub(crate) fn is_same_commit(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

fn note(found: &mut Vec<CommitName>, digits: &str, is_called: bool) {
    match found.iter_mut().find(|name| is_same_commit(&name.digits, digits)) {
        Some(name) => name.is_called |= is_called,
        None => found.push(CommitName { digits: digits.to_owned(), is_called }),
    }
}

fn is_part_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn is_commit_word(word: &str) -> bool {
    ["commit", "commits", "committed"].iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Tells whether a word can be the id of a commit. A bare one needs digits and letters: a date has no letters, and
/// `defaced` has no digits.
fn has_digits_of_commit(word: &str, is_called: bool) -> bool {
    let is_hex = word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = word.bytes().any(|byte| byte.is_ascii_lowercase());
    let minimum = if is_called { CALLED_DIGITS_MIN } else { BARE_DIGITS_MIN };
    is_hex && (minimum..=DIGITS_MAX).contains(&word.len()) && has_digit && (has_letter || is_called)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, called: &[&str], bare: &[&str]) {
        let found = find_commit_names(text);
        let of_kind = |kind| {
            found.iter().filter(|name| name.is_called == kind).map(|name| name.digits.as_str()).collect()
        };
        let (found_called, found_bare): (Vec<&str>, Vec<&str>) = (of_kind(true), of_kind(false));
        assert_eq!((found_called.as_slice(), found_bare.as_slice()), (called, bare), "{text:?}");
    }

    #[test]
    fn what_is_called_a_commit_is_one() {
        check("made commit abc123 today", &["abc123"], &[]);
        check("**Commits:** abc123, `def456` and 1234567\n", &["abc123", "def456", "1234567"], &[]);
        check("Committed as 1a2b3c4d5e.", &["1a2b3c4d5e"], &[]);
        check("- commit: 1a2b3c4\n- commit: 5d6e7f8", &["1a2b3c4", "5d6e7f8"], &[]);
    }

    #[test]
    fn bare_digits_only_look_like_one() {
        check("1 file changed, +1 -0, at 1a2b3c4d5e.", &[], &["1a2b3c4d5e"]);
        check("fixed in 1a2b3c4, see commit 1a2b3c4d", &["1a2b3c4"], &[]);
        check(&format!("is {}", "0a".repeat(20)), &[], &["0a".repeat(20).as_str()]);
    }

    #[test]
    fn other_things_in_such_digits_are_none() {
        check("defaced on 20241126, colour #ff00aa1, abc123, x1a2b3c4, 1A2B3C4", &[], &[]);
        check(&"0a".repeat(32), &[], &[]);
        check("did not commit; the face of a decade: decade", &[], &[]);
        check("commit the change. Then 123456 lines", &[], &[]);
        check("", &[], &[]);
    }
}
