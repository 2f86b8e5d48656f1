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
    let mut columns = Columns::below(header, right_from);
    for line in lines {
        columns.measure(line);
    }
    let mut text = columns.begin(lines.len());
    for line in lines {
        columns.push(&mut text, line);
    }
    text
}

/// Columns of a table of many lines: all are measured, and then made again and written, so that none of them is kept.
pub(crate) struct Columns<'h, const N: usize> {
    header: [Cow<'h, str>; N],
    widths: [usize; N],
    right_from: usize,
}

impl<'h, const N: usize> Columns<'h, N> {
    /// Begins with the header.
    pub(crate) fn below(header: [&'h str; N], right_from: usize) -> Self {
        let mut columns = Columns { header: header.map(Cow::Borrowed), widths: [0; N], right_from };
        let header = columns.header.clone();
        columns.measure(&header);
        columns
    }

    /// Makes each column as wide as the line needs it.
    pub(crate) fn measure(&mut self, line: &[Cow<'_, str>; N]) {
        for (width, cell) in self.widths.iter_mut().zip(line) {
            *width = (*width).max(width_of(cell));
        }
    }

    /// Writes the header, and makes room for so many lines.
    pub(crate) fn begin(&self, lines: usize) -> String {
        let mut text = String::with_capacity((lines + 1) * (self.widths.iter().sum::<usize>() + 2 * N));
        self.push(&mut text, &self.header);
        text
    }

    /// Writes a line.
    pub(crate) fn push(&self, text: &mut String, line: &[Cow<'_, str>; N]) {
        for (index, (cell, width)) in line.iter().zip(self.widths).enumerate() {
            text.push_str(if index == 0 { " " } else { "  " });
            let missing = width.saturating_sub(width_of(cell));
            if index >= self.right_from {
                push_spaces(text, missing);
            }
            // A line break would make one line look like two.
            match cell.as_bytes().contains(&b'\n') {
                true => text.push_str(&cell.replace('\n', " ")),
                false => text.push_str(cell),
            }
            if index < self.right_from {
                push_spaces(text, missing);
            }
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
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
