//! What changed within a line, by words.

use similar::{Algorithm, DiffTag, capture_diff_slices};
use std::ops::Range;

/// Longer lines are data, not text that is read by words.
const LINE_BYTES_MAX: usize = 2_000;
const TOKENS_MAX: usize = 500;
/// Lines that share less are two different lines; marking nearly everything says nothing.
const SHARED_PERCENT_MIN: usize = 35;

/// The parts of two lines that differ, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// In the line before.
    pub old: Vec<Range<usize>>,
    /// In the line after.
    pub new: Vec<Range<usize>>,
}

/// Finds what differs between two versions of a line; nothing if they are two different lines, or too long.
pub fn find_words(old: &str, new: &str) -> Option<Words> {
    if old.len() > LINE_BYTES_MAX || new.len() > LINE_BYTES_MAX {
        return None;
    }
    let (old_tokens, new_tokens) = (split(old), split(new));
    if old_tokens.len() > TOKENS_MAX || new_tokens.len() > TOKENS_MAX {
        return None;
    }
    let text = |tokens: &[Range<usize>], line: &'_ str| -> Vec<String> {
        tokens.iter().map(|token| line[token.clone()].to_owned()).collect()
    };
    let (old_words, new_words) = (text(&old_tokens, old), text(&new_tokens, new));
    let mut words = Words::default();
    let mut shared = 0;
    for op in capture_diff_slices(Algorithm::Myers, &old_words, &new_words) {
        if op.tag() == DiffTag::Equal {
            shared += old_words[op.old_range()].iter().map(|word| word.trim().len()).sum::<usize>();
            continue;
        }
        push(&mut words.old, &old_tokens[op.old_range()], old);
        push(&mut words.new, &new_tokens[op.new_range()], new);
    }
    let weigh =
        |line: &str| line.chars().filter(|character| !character.is_whitespace()).map(char::len_utf8).sum();
    let total: usize = [old, new].map(weigh).iter().sum();
    (shared * 200 >= total * SHARED_PERCENT_MIN).then_some(words)
}

/// How alike two lines are, in percent of their words; cheap enough for all pairs of a block.
pub(super) fn weigh_likeness(old: &[&str], new: &[&str]) -> usize {
    let (mut left, mut right, mut shared) = (0, 0, 0);
    while left < old.len() && right < new.len() {
        match old[left].cmp(new[right]) {
            std::cmp::Ordering::Less => left += 1,
            std::cmp::Ordering::Greater => right += 1,
            std::cmp::Ordering::Equal => {
                shared += old[left].len();
                (left, right) = (left + 1, right + 1);
            }
        }
    }
    let total: usize = old.iter().chain(new).map(|word| word.len()).sum();
    (shared * 200).checked_div(total).unwrap_or(0)
}

/// Returns the words of a line in alphabetical order, for [`weigh_likeness`].
pub(super) fn sort_words(line: &str) -> Vec<&str> {
    let line = cut(line, LINE_BYTES_MAX);
    let mut words: Vec<&str> = split(line).into_iter().map(|range| &line[range]).collect();
    words.retain(|word| !word.trim().is_empty());
    words.truncate(TOKENS_MAX);
    words.sort_unstable();
    words
}

/// Returns the beginning of a text, of at most this many bytes.
pub(super) fn cut(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Appends the range of the tokens; joins it with the one before if only white space lies between them.
fn push(ranges: &mut Vec<Range<usize>>, tokens: &[Range<usize>], line: &str) {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return };
    match ranges.last_mut() {
        Some(before) if line[before.end..first.start].trim().is_empty() => before.end = last.end,
        _ => ranges.push(first.start..last.end),
    }
}

/// Splits a line into words, runs of white space, and single other characters.
fn split(line: &str) -> Vec<Range<usize>> {
    #[derive(PartialEq)]
    enum Kind {
        Word,
        Space,
        Other,
    }
    let kind = |character: char| match character {
        '_' => Kind::Word,
        other if other.is_alphanumeric() => Kind::Word,
        other if other.is_whitespace() => Kind::Space,
        _ => Kind::Other,
    };
    let mut tokens: Vec<Range<usize>> = Vec::new();
    let mut before = Kind::Other;
    for (at, character) in line.char_indices() {
        let (now, end) = (kind(character), at + character.len_utf8());
        match tokens.last_mut() {
            Some(token) if now != Kind::Other && now == before => token.end = end,
            _ => tokens.push(at..end),
        }
        before = now;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(old: &str, new: &str) -> String {
        let mark = |line: &str, ranges: &[Range<usize>]| {
            let (mut text, mut at) = (String::new(), 0);
            for range in ranges {
                text += &format!("{}[{}]", &line[at..range.start], &line[range.clone()]);
                at = range.end;
            }
            text + &line[at..]
        };
        find_words(old, new).map_or("two lines".to_owned(), |words| {
            format!("{} | {}", mark(old, &words.old), mark(new, &words.new))
        })
    }

    #[test]
    fn changed_words_are_found() {
        assert_eq!(
            show("fn a(headers: &Map) -> Option {", "fn a(headers: &Map, at: Time) -> Option {"),
            "fn a(headers: &Map) -> Option { | fn a(headers: &Map[, at: Time]) -> Option {"
        );
        assert_eq!(show("let a = old;", "let a = new;"), "let a = [old]; | let a = [new];");
        assert_eq!(show("a b c d one two", "a b c d eins zwei"), "a b c d [one two] | a b c d [eins zwei]");
        assert_eq!(show("größe = 1", "größe = 2"), "größe = [1] | größe = [2]");
    }

    #[test]
    fn what_is_another_line_or_too_long_is_not_compared() {
        assert_eq!(show("let a = 1;", "return Err(problem)"), "two lines");
        assert_eq!(show("", "x"), "two lines");
        let long = "x ".repeat(5_000);
        assert_eq!(show(&long, &long), "two lines");
        assert_eq!(find_words("", "").map(|words| words.old.len()), Some(0));
    }
}
