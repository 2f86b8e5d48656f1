//! Plain columns of text, for lists that may have many thousands of lines.

use std::borrow::Cow;
use unicode_width::UnicodeWidthStr;

/// Written many at a time: one by one they cost more than the words.
const SPACES: &str = "                                                                ";

/// Renders lines below a header, each column as wide as its widest cell.
pub(crate) fn render<const N: usize>(header: [&'static str; N], lines: &[[Cow<'_, str>; N]]) -> String {
    let header = header.map(Cow::Borrowed);
    let mut widths = [0; N];
    for line in std::iter::once(&header).chain(lines) {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(width_of(cell));
        }
    }
    let mut text = String::with_capacity((lines.len() + 1) * (widths.iter().sum::<usize>() + 2 * N));
    for line in std::iter::once(&header).chain(lines) {
        for (cell, width) in line.iter().zip(widths) {
            text.push_str(if text.is_empty() || text.ends_with('\n') { " " } else { "  " });
            // A line break would make one line look like two.
            match cell.contains('\n') {
                true => text.push_str(&cell.replace('\n', " ")),
                false => text.push_str(cell),
            }
            let mut missing = width.saturating_sub(width_of(cell));
            while missing > 0 {
                let part = missing.min(SPACES.len());
                text.push_str(&SPACES[..part]);
                missing -= part;
            }
        }
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    text
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
        assert_eq!(render(["ID", "TITLE"], &lines), " ID  TITLE\n 1   ein Titel\n 23  表 b\n 4\n");
    }
}
