//! What a regular expression may cost, read from its text before it runs.
//!
//! The engine backtracks and counts its steps, but not the memory it needs to backtrack, nor how long one step takes.
//! It stores something for each part of a repeated group on every repetition, so memory grows with the text and with
//! the parts. A step is long where a part is retried over the same text without a step in between: in a look-around,
//! a back reference, and a repetition with a high minimum. Both limit how long a text may be. The estimate is rough,
//! and never below the real cost.

use std::iter::Peekable;
use std::str::Chars;

/// The most that the engine may remember to go back, in entries of 24 bytes, in room that doubles as it grows.
const REMEMBERED_MAX: usize = 500_000;

/// The longest text for a pattern whose steps may each go over all of it.
const LONG_STEPS_TEXT_BYTES_MAX: usize = 1_024;

/// How often one character may have to be repeated before it counts, in a pattern whose steps are short.
const SHORT_REPEAT_MAX: usize = 64;

/// What entering, numbering and leaving a group takes to be remembered.
const GROUP_ENTRIES: usize = 3;

/// What a round of a repetition takes by itself.
const ROUND_ENTRIES: usize = 2;

/// What a pattern may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cost {
    /// The entries that are remembered for each byte of the text.
    entries: usize,
    /// Whether a single step may go over all of the text.
    pub(crate) has_long_steps: bool,
}

impl Cost {
    /// Reads a pattern. One that is malformed has any cost: the engine refuses it.
    pub(crate) fn of(pattern: &str) -> Cost {
        let mut reader =
            Reader { rest: pattern.chars().peekable(), groups: vec![Part::default()], cost: Cost::default() };
        while let Some(character) = reader.rest.next() {
            reader.read(character);
        }
        let entries = reader.groups.iter().fold(0, |sum: usize, group| sum.saturating_add(group.repeated));
        Cost { entries, ..reader.cost }
    }

    /// Returns the cost of what may be either.
    pub(crate) fn or(self, other: Cost) -> Cost {
        Cost {
            entries: self.entries.max(other.entries),
            has_long_steps: self.has_long_steps || other.has_long_steps,
        }
    }

    /// Returns how long a text may be, if that has to be bounded.
    pub(crate) fn text_bytes_max(self) -> Option<usize> {
        let by_memory = REMEMBERED_MAX.checked_div(self.entries);
        let by_time = self.has_long_steps.then_some(LONG_STEPS_TEXT_BYTES_MAX);
        by_memory.into_iter().chain(by_time).min()
    }
}

/// A group, as far as it has been read.
#[derive(Default)]
struct Part {
    /// What going through it once takes.
    once: usize,
    /// What its repeated parts take for each byte of the text.
    repeated: usize,
}

struct Reader<'p> {
    rest: Peekable<Chars<'p>>,
    /// The groups that are open, the whole pattern first.
    groups: Vec<Part>,
    cost: Cost,
}

impl Reader<'_> {
    fn read(&mut self, character: char) {
        match character {
            '\\' => self.read_escape(),
            '[' => self.skip_class(),
            '(' => self.open(),
            ')' => self.close(),
            '|' => self.remember(1),
            '*' | '+' | '?' => self.remember(1),
            '{' => {
                self.cost.has_long_steps |= self.read_least() > SHORT_REPEAT_MAX;
                self.remember(1);
            }
            _ => {}
        }
    }

    fn read_escape(&mut self) {
        let escaped = self.rest.next();
        if !escaped.is_some_and(|escaped| escaped == 'k' || ('1'..='9').contains(&escaped)) {
            return;
        }
        self.cost.has_long_steps = true;
        if self.rest.peek().is_some_and(|next| "*+{".contains(*next)) {
            self.last().repeated += ROUND_ENTRIES;
        }
    }

    fn skip_class(&mut self) {
        while let Some(character) = self.rest.next() {
            match character {
                '\\' => drop(self.rest.next()),
                ']' => return,
                _ => {}
            }
        }
    }

    fn open(&mut self) {
        self.groups.push(Part { once: GROUP_ENTRIES, repeated: 0 });
        if self.rest.next_if_eq(&'?').is_some() {
            // `(?:` groups, and `(?<name>` names; `(?=`, `(?!`, `(?<=` and `(?<!` look around.
            self.rest.next_if_eq(&'<');
            self.cost.has_long_steps |= self.rest.next_if(|next| "=!".contains(*next)).is_some();
        }
    }

    fn close(&mut self) {
        if self.groups.len() < 2 {
            return;
        }
        let group = self.groups.pop().unwrap_or_default();
        let least = match self.rest.next_if(|next| "*+{".contains(*next)) {
            Some('{') => self.read_least(),
            Some(_) => 1,
            None => {
                let parent = self.last();
                parent.once = parent.once.saturating_add(group.once);
                parent.repeated = parent.repeated.saturating_add(group.repeated);
                return;
            }
        };
        let round = group.once.saturating_add(group.repeated).saturating_add(ROUND_ENTRIES);
        let parent = self.last();
        parent.once = parent.once.saturating_add(group.once).saturating_add(ROUND_ENTRIES);
        parent.repeated = parent.repeated.saturating_add(round.saturating_mul(least.max(1)));
    }

    /// Reads the number behind a `{`.
    fn read_least(&mut self) -> usize {
        let mut least = 0_usize;
        while let Some(digit) = self.rest.peek().and_then(|next| next.to_digit(10)) {
            self.rest.next();
            least = least.saturating_mul(10).saturating_add(digit as usize);
        }
        least
    }

    fn remember(&mut self, entries: usize) {
        self.last().once += entries;
    }

    fn last(&mut self) -> &mut Part {
        if self.groups.is_empty() {
            self.groups.push(Part::default());
        }
        let last = self.groups.len() - 1;
        &mut self.groups[last]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_remembers_little_is_not_bounded() {
        for pattern in
            ["done$", "^(fix|feat): .*", "[a-z]+(x)?", r"\d{4}-\d\d", "(?:a|b)?c", r"[)*(+]+\)", "(?<n>a+)"]
        {
            assert_eq!(Cost::of(pattern).text_bytes_max(), None, "{pattern}");
        }
    }

    #[test]
    fn repeated_groups_bound_the_text_by_what_is_remembered() {
        for (pattern, bytes_max) in [
            ("(a|a)+b", 500_000 / 6),
            ("((((((a))))))+?b", 500_000 / 20),
            ("(a+)+", 500_000 / 6),
            ("((a?)*)*", 500_000 / 17),
            ("(a){1000}", 500_000 / 5_000),
            ("((a?){1000}){1000}", 0),
            ("((a?){99999999999999999999}){99999999999999999999}", 0),
        ] {
            assert_eq!(Cost::of(pattern).text_bytes_max(), Some(bytes_max), "{pattern}");
        }
    }

    #[test]
    fn long_steps_bound_the_text_by_time() {
        for pattern in [r"(a+)\1b", r"(?=(a+))\1b", "(?<!a+)b", r"(?<n>a+)\k<n>", "a{65}", "(?!a)(b)*"] {
            assert_eq!(Cost::of(pattern).text_bytes_max(), Some(1_024), "{pattern}");
        }
    }

    #[test]
    fn malformed_patterns_hide_no_repeated_group() {
        for pattern in [")))", "((((", "[", "\\", "(?", "{", "a{", "]", "(?<", ")*+?{9"] {
            assert_eq!(Cost::of(pattern).text_bytes_max(), None, "{pattern}");
        }
        for pattern in [")))(a)+", "((((a)+", "(a)+[", "(a)+\\", "{(a)+"] {
            assert_eq!(Cost::of(pattern).text_bytes_max(), Some(500_000 / 5), "{pattern}");
        }
    }
}
