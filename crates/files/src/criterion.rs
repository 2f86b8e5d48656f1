//! Acceptance criteria: items with a box under `### Acceptance Criteria`.
//!
//! ```text
//! - [ ] The login answers within a second (check: speed)
//! ```
//!
//! The outermost items count, whatever their bullet (`-`, `*`, `+`, `1.`); boxes of nested lists belong to the
//! text around them. A criterion may name a check of the project: `(check: NAME)` at the end of its first
//! paragraph, where NAME is made of letters, digits, `_`, `-`, `.` and `:`.

use std::ops::Range;

use crate::line::on_one_line;
use crate::outline::Item;

/// How a criterion begins to name its check.
const CHECK: &str = "(check:";

/// One acceptance criterion of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// Its first paragraph on one line, without the box and the name of its check.
    pub text: String,
    /// Whether its box is ticked: a claim by the one who ticked it.
    pub checked: bool,
    /// The check that proves it.
    pub check: Option<String>,
    /// The line it begins on, from 1.
    pub line: usize,
    /// All of it, from the beginning of its line.
    pub range: Range<usize>,
    /// The one byte between the brackets.
    pub(crate) mark: usize,
    /// Its first paragraph after the box.
    pub(crate) words: Range<usize>,
}

/// A criterion to be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewCriterion {
    /// What must hold.
    pub text: String,
    /// Whether its box is ticked.
    pub checked: bool,
    /// The check that proves it.
    pub check: Option<String>,
}

impl NewCriterion {
    /// Returns an unticked criterion without a check.
    pub fn of(text: impl Into<String>) -> Self {
        NewCriterion { text: text.into(), checked: false, check: None }
    }

    /// Writes what follows the box.
    pub(crate) fn render_words(&self) -> String {
        let text = on_one_line(&self.text);
        match &self.check {
            Some(check) => format!("{text} {CHECK} {check})").trim_start().to_owned(),
            None => text,
        }
    }

    pub(crate) fn render(&self, bullet: &str) -> String {
        let mark = if self.checked { 'x' } else { ' ' };
        format!("{bullet}[{mark}] {}", self.render_words()).trim_end().to_owned()
    }
}

/// Reads an item; returns nothing when it has no box.
pub(crate) fn parse(text: &str, item: &Item, range: Range<usize>, line: usize) -> Option<Criterion> {
    let head = &text[item.head.clone()];
    let bullet = bullet_of(head)?;
    let content = head.trim_start_matches([' ', '\t']);
    let after = &content[bullet.len()..];
    let box_at = item.head.end - after.len();
    let mark = match after.as_bytes() {
        [b'[', mark @ (b' ' | b'x' | b'X'), b']', ..] => *mark,
        _ => return None,
    };
    let words = &after[3..];
    if !words.is_empty() && !words.starts_with(char::is_whitespace) {
        return None;
    }
    let (text, check) = split_check(&on_one_line(words));
    Some(Criterion {
        text,
        checked: mark != b' ',
        check,
        line,
        range,
        mark: box_at + 1,
        words: box_at + 3..item.head.end,
    })
}

fn split_check(words: &str) -> (String, Option<String>) {
    let split = || {
        let (before, name) = words.strip_suffix(')')?.rsplit_once(CHECK)?;
        let name = name.trim();
        let is_name = |c: char| c.is_alphanumeric() || "_-.:".contains(c);
        (!name.is_empty() && name.chars().all(is_name))
            .then(|| (before.trim_end().to_owned(), Some(name.into())))
    };
    split().unwrap_or_else(|| (words.to_owned(), None))
}

/// Returns the bullet of an item with the space after it.
fn bullet_of(item: &str) -> Option<&str> {
    let content = item.trim_start_matches([' ', '\t']);
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    let mark = content[digits..].chars().next()?;
    let rest = &content[digits + mark.len_utf8()..];
    Some(&content[..content.len() - rest.trim_start_matches([' ', '\t']).len()])
}

/// Returns the beginning of the line for an item after this one: the same bullet, or the next number.
pub(crate) fn next_bullet(item: &str) -> String {
    let indentation = &item[..item.len() - item.trim_start_matches([' ', '\t']).len()];
    let bullet = bullet_of(item).unwrap_or("- ");
    let digits = bullet.bytes().take_while(u8::is_ascii_digit).count();
    let mark = bullet[digits..].trim_end();
    let space = Some(&bullet[digits + mark.len()..]).filter(|space| !space.is_empty()).unwrap_or(" ");
    let number =
        bullet[..digits].parse::<u32>().map_or(String::new(), |number| number.saturating_add(1).to_string());
    format!("{indentation}{number}{mark}{space}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::Outline;

    fn read(text: &str) -> Vec<Option<(String, bool, Option<String>)>> {
        let parse = |item: &Item| {
            let found = parse(text, item, item.range.clone(), 1)?;
            Some((found.text, found.checked, found.check))
        };
        Outline::of(text).items.iter().map(parse).collect()
    }

    fn plain(text: &str, checked: bool) -> Option<(String, bool, Option<String>)> {
        Some((text.to_owned(), checked, None))
    }

    #[test]
    fn every_bullet_and_both_ticks_count() {
        assert_eq!(
            read("- [ ] a\n- [x] b\n- [X]\u{a0}c\n"),
            [plain("a", false), plain("b", true), plain("c", true)]
        );
        assert_eq!(read("*   [ ] a\n"), [plain("a", false)]);
        assert_eq!(read("+ [x] a\n  b\n    - [ ] c\n"), [plain("a b", true)]);
        assert_eq!(read("3) [x] a\r\n\r\n   b\r\n"), [plain("a", true)]);
        assert_eq!(read("- [ ]\n"), [plain("", false)]);
    }

    #[test]
    fn an_item_without_a_box_is_no_criterion() {
        assert_eq!(read("- a\n- [y] a\n- [x]a\n- [x](b)\n-     [x] code\n-\n"), vec![None; 6]);
    }

    #[test]
    fn a_check_is_named_at_the_end() {
        assert_eq!(read("- [ ] a (check: unit-test)"), [Some(("a".into(), false, Some("unit-test".into())))]);
        assert_eq!(read("- [ ] a (check: two words)"), [plain("a (check: two words)", false)]);
        assert_eq!(read("- [ ] a (check: x) b"), [plain("a (check: x) b", false)]);
    }

    #[test]
    fn numbers_go_on() {
        assert_eq!(["- a", "  9. a", "2)\t", "-"].map(next_bullet), ["- ", "  10. ", "3)\t", "- "]);
    }
}
