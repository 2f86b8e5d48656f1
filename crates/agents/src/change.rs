//! What an edit changed in a file, small enough to be read in passing.
//!
//! An agent tells an edit as the text before and after, as hunks, or as the whole new file. All become a few lines with
//! their marks. The difference in full is git's to show; this is for who watches. Pure and bounded.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::cut_length;

/// Lines that are kept of one edit: what is longer is read in the diff of the task.
const LINES_MAX: usize = 16;

/// How much is kept of one line; a line of a minified file may have megabytes.
const LINE_BYTES_MAX: usize = 240;

/// Lines on either side that are compared one by one. Beyond it, all old lines are shown as replaced by all new ones.
const COMPARED_LINES_MAX: usize = 600;

/// Longest text that is looked at; it is held in memory twice meanwhile.
pub(crate) const TEXT_BYTES_MAX: usize = 512 * 1024;

/// The names under which agents give the text before an edit, and after it.
const BEFORE_KEYS: [&str; 5] = ["old_string", "oldString", "old_str", "before", "oldText"];
const AFTER_KEYS: [&str; 5] = ["new_string", "newString", "new_str", "after", "newText"];

/// The names under which they give a whole new file.
const WHOLE_KEYS: [&str; 2] = ["content", "file_text"];

/// The lines that an edit removed and added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Change {
    /// How many lines were added.
    pub added: u64,
    /// How many lines were removed.
    pub removed: u64,
    /// The first of them, each with its mark: `+`, `-`, a space for a line beside them, `@` for a gap.
    pub lines: Vec<String>,
    /// How many further lines there are.
    pub left_out: u64,
}

impl Change {
    /// Returns what changed between two texts; nothing if they are too long or the same.
    pub(crate) fn between(old: &str, new: &str) -> Option<Change> {
        if old == new || old.len() > TEXT_BYTES_MAX || new.len() > TEXT_BYTES_MAX {
            return None;
        }
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let rest = old[before..].iter().rev().zip(new[before..].iter().rev());
        let after = rest.take_while(|(old, new)| old == new).count();
        let (gone, come) = (&old[before..old.len() - after], &new[before..new.len() - after]);
        let mut change = Change::default();
        if before > 0 {
            change.push(' ', old[before - 1]);
        }
        change.compare(gone, come);
        if after > 0 {
            change.push(' ', old[old.len() - after]);
        }
        Some(change).filter(|change| change.added + change.removed > 0)
    }

    /// Returns what the input of a tool says that it changes.
    pub(crate) fn of_input(input: &Value) -> Option<Change> {
        let find = |keys: &[&str]| keys.iter().find_map(|key| input.get(key)?.as_str());
        if let Some(edits) = input.get("edits").and_then(Value::as_array) {
            return edits.iter().filter_map(Change::of_input).reduce(Change::followed_by);
        }
        match (find(&BEFORE_KEYS), find(&AFTER_KEYS)) {
            (Some(before), after) => Change::between(before, after.unwrap_or_default()),
            (None, Some(after)) => Change::between("", after),
            (None, None) => Change::between("", find(&WHOLE_KEYS)?),
        }
    }

    /// Reads hunks, each a list of lines with their marks.
    pub(crate) fn of_hunks(hunks: &[Value]) -> Option<Change> {
        let mut change = Change::default();
        for (index, hunk) in hunks.iter().enumerate() {
            if index > 0 {
                change.push('@', "");
            }
            for line in hunk["lines"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                match line.as_bytes().first() {
                    Some(b'+') => change.push('+', &line[1..]),
                    Some(b'-') => change.push('-', &line[1..]),
                    Some(b' ') => change.push(' ', &line[1..]),
                    _ => {}
                }
            }
        }
        Some(change).filter(|change| change.added + change.removed > 0)
    }

    fn followed_by(mut self, other: Change) -> Change {
        self.push('@', "");
        self.added += other.added;
        self.removed += other.removed;
        let room = LINES_MAX.saturating_sub(self.lines.len());
        self.left_out += other.left_out + other.lines.len().saturating_sub(room) as u64;
        self.lines.extend(other.lines.into_iter().take(room));
        self
    }

    fn push(&mut self, mark: char, line: &str) {
        match mark {
            '+' => self.added += 1,
            '-' => self.removed += 1,
            _ => {}
        }
        if self.lines.len() == LINES_MAX {
            self.left_out += 1;
            return;
        }
        let cut = &line[..cut_length(line, LINE_BYTES_MAX)];
        let more = if cut.len() < line.len() { "…" } else { "" };
        self.lines.push(format!("{mark}{cut}{more}"));
    }

    /// Adds the lines by which two texts differ, with a gap where lines between them are the same.
    fn compare(&mut self, old: &[&str], new: &[&str]) {
        let same = if old.len().max(new.len()) > COMPARED_LINES_MAX { Vec::new() } else { common(old, new) };
        let (mut at_old, mut at_new) = (0, 0);
        for (in_old, in_new) in same.into_iter().chain([(old.len(), new.len())]) {
            let is_hunk = in_old > at_old || in_new > at_new;
            if is_hunk && (at_old > 0 || at_new > 0) {
                self.push('@', "");
            }
            old[at_old..in_old].iter().for_each(|line| self.push('-', line));
            new[at_new..in_new].iter().for_each(|line| self.push('+', line));
            (at_old, at_new) = (in_old + 1, in_new + 1);
        }
    }
}

/// Returns the places of a longest common subsequence.
fn common(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut lengths = vec![0_u16; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i * width + j] = if old[i] == new[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut places, mut i, mut j) = (Vec::new(), 0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            places.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::json;

    fn check(change: Option<Change>, expected: Expect) {
        let shown = change.map_or_else(
            || "nothing\n".to_owned(),
            |change| {
                let Change { added, removed, lines, left_out } = change;
                format!("+{added} -{removed}, {left_out} left out\n{}\n", lines.join("\n"))
            },
        );
        expected.assert_eq(&shown);
    }

    #[test]
    fn an_edit_shows_its_lines_and_one_beside_them() {
        check(
            Change::between("one\ntwo\nthree\n", "one\n2\nthree\n"),
            expect![[r#"
                +1 -1, 0 left out
                 one
                -two
                +2
                 three
            "#]],
        );
        check(Change::between("same", "same"), expect!["nothing\n"]);
        check(
            Change::of_input(&json!({ "file_path": "a", "content": "x\ny\n" })),
            expect![[r#"
                +2 -0, 0 left out
                +x
                +y
            "#]],
        );
    }

    #[test]
    fn two_places_of_one_file_have_a_gap_between_them() {
        let old = "a\nb\nc\nd\ne\nf\n";
        check(
            Change::between(old, "a\nB\nc\nd\nE\nf\n"),
            expect![[r#"
                +2 -2, 0 left out
                 a
                -b
                +B
                @
                -e
                +E
                 f
            "#]],
        );
        let edits =
            json!({ "edits": [{ "old_string": "a", "new_string": "b" }, { "oldText": "c", "newText": "" }] });
        check(
            Change::of_input(&edits),
            expect![[r#"
                +1 -2, 0 left out
                -a
                +b
                @
                -c
            "#]],
        );
    }

    #[test]
    fn what_is_long_is_counted_and_cut() {
        let long: String = (0..5000).map(|line| format!("{line}\n")).collect();
        let change = Change::between("", &long).unwrap();
        assert_eq!((change.added, change.lines.len(), change.left_out), (5000, LINES_MAX, 5000 - 16));
        let change = Change::between(&long, &long.replace('1', "x")).unwrap();
        assert_eq!(change.lines.len(), LINES_MAX);
        let wide = Change::between("", &"ä".repeat(10_000)).unwrap();
        assert!(wide.lines[0].len() < LINE_BYTES_MAX + 10);
        assert_eq!(Change::between("", &"x".repeat(TEXT_BYTES_MAX + 1)), None);
    }

    #[test]
    fn hunks_of_any_shape_do_no_harm() {
        let hunks = json!([{ "lines": [" a", "-b", "+c", "\\ No newline", "", 7] }, { "lines": 7 }, 7]);
        check(
            Change::of_hunks(hunks.as_array().unwrap()),
            expect![[r#"
                +1 -1, 0 left out
                 a
                -b
                +c
                @
                @
            "#]],
        );
    }
}
