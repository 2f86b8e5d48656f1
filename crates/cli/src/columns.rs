//! What lists and shows print: plain columns of text, and a thing with its fields.
//!
//! A list may have many thousands of lines, so a cell is borrowed where it can be.

use crate::screen::{DIM, clean};
use std::borrow::Cow;
use std::fmt::{Display, Write};
use unicode_width::UnicodeWidthStr;

/// Written many at a time: one by one they cost more than the words.
const SPACES: &str = "                                                                ";

/// Renders rows below a header, each column as wide as its widest cell.
pub(crate) fn table<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let lines: Vec<_> = rows.into_iter().map(|row| row.map(Cow::Owned)).collect();
    render(header, &lines, N)
}

/// Renders lines below a header; the columns from `right_from` on are numbers, and end at the right.
pub(crate) fn render<const N: usize>(
    header: [&str; N],
    lines: &[[Cow<'_, str>; N]],
    right_from: usize,
) -> String {
    let header = header.map(Cow::Borrowed);
    let mut widths = [0; N];
    for line in std::iter::once(&header).chain(lines) {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(width_of(cell));
        }
    }
    let mut text = String::with_capacity((lines.len() + 1) * (widths.iter().sum::<usize>() + 2 * N));
    for line in std::iter::once(&header).chain(lines) {
        for (index, (cell, width)) in line.iter().zip(widths).enumerate() {
            text.push_str(if text.is_empty() || text.ends_with('\n') { " " } else { "  " });
            let missing = width.saturating_sub(width_of(cell));
            if index >= right_from {
                push_spaces(&mut text, missing);
            }
            // A line break would make one line look like two.
            match cell.contains('\n') {
                true => text.push_str(&cell.replace('\n', " ")),
                false => text.push_str(cell),
            }
            if index < right_from {
                push_spaces(&mut text, missing);
            }
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    text
}

fn push_spaces(text: &mut String, mut missing: usize) {
    while missing > 0 {
        let part = missing.min(SPACES.len());
        text.push_str(&SPACES[..part]);
        missing -= part;
    }
}

/// A heading, with a field per line below it.
pub(crate) struct Fields {
    pub(crate) text: String,
}

impl Fields {
    /// Begins with a heading, which ends its line.
    pub(crate) fn below(heading: String) -> Fields {
        Fields { text: heading }
    }

    /// Adds a field; what has several lines is indented.
    pub(crate) fn add(&mut self, name: &str, value: impl Display) {
        let value = clean(&value.to_string()).replace('\n', "\n             ");
        let _ = writeln!(self.text, "  {DIM}{name:<10}{DIM:#} {value}");
    }

    /// Adds a field of the same name for each value.
    pub(crate) fn each<T: Display>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        for value in values {
            self.add(name, value);
        }
    }
}

/// Returns how many columns of a terminal a text takes.
fn width_of(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let lines = [["1", "ein Titel"], ["23", "表\nb"], ["4", ""]].map(|line| line.map(Cow::Borrowed));
        assert_eq!(render(["ID", "TITLE"], &lines, 2), " ID  TITLE\n 1   ein Titel\n 23  表 b\n 4\n");
    }

    #[test]
    fn numbers_end_at_the_right() {
        let lines = [["day", "7"], ["total", "1200"]].map(|line| line.map(Cow::Borrowed));
        assert_eq!(render(["BY", "N"], &lines, 1), " BY        N\n day       7\n total  1200\n");
    }

    #[test]
    fn a_field_of_several_lines_is_indented() {
        let mut fields = Fields::below("task\n".to_owned());
        fields.each("details", ["one\ntwo", "three"]);
        let text = anstream::adapter::strip_str(&fields.text).to_string();
        assert_eq!(text, "task\n  details    one\n             two\n  details    three\n");
    }
}
