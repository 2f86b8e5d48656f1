//! Lines of a text: where they begin and end, and which line ending a file uses.
//!
//! A line ends with LF, CRLF or a lone CR, as in Markdown.

use std::ops::Range;

use memchr::{memchr2, memchr2_iter, memrchr2};

/// The beginnings of all lines, to turn offsets into lines and columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for at in memchr2_iter(b'\n', b'\r', bytes) {
            if bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n') {
                starts.push(at + 1);
            }
        }
        LineIndex { starts }
    }

    /// Returns the line of an offset, from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// Returns the column of an offset, in bytes from 1.
    pub(crate) fn column(&self, at: usize) -> usize {
        at - self.starts[self.line(at) - 1] + 1
    }

    /// Returns the offset at which a line begins; lines count from 1.
    pub(crate) fn start(&self, line: usize) -> usize {
        self.starts[line - 1]
    }
}

/// Returns where the line that holds `at` begins.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    memrchr2(b'\n', b'\r', &text.as_bytes()[..at]).map_or(0, |found| found + 1)
}

/// Returns where the line that holds `at` ends, its line ending included.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let Some(length) = memchr2(b'\n', b'\r', &bytes[at..]) else { return bytes.len() };
    let found = at + length;
    if bytes[found] == b'\r' && bytes.get(found + 1) == Some(&b'\n') { found + 2 } else { found + 1 }
}

/// Returns the lines within a range, each with its line ending.
pub(crate) fn lines(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = range.start;
    std::iter::from_fn(move || {
        (at < range.end).then(|| {
            let line = at..line_end(text, at).min(range.end);
            at = line.end;
            line
        })
    })
}

/// Returns the range without blank lines at its beginning and white space at its end.
///
/// The indentation of the first line that is not blank stays: it may mean something.
pub(crate) fn trim_blank_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let mut start = range.start;
    for line in lines(text, range.clone()) {
        if !is_blank(&text[line.clone()]) {
            break;
        }
        start = line.end;
    }
    let length = text[start..range.end].trim_end_matches([' ', '\t', '\r', '\n']).len();
    start..start + length
}

/// Tells whether a text is only spaces, tabs and line endings.
pub(crate) fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Returns the line ending that a file uses: that of its first line, or LF.
pub(crate) fn ending_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        None if text.contains('\r') => "\r",
        _ => "\n",
    }
}

/// Gives all lines of a text the same ending.
pub(crate) fn with_endings(text: &str, ending: &str) -> String {
    let plain = text.replace("\r\n", "\n").replace('\r', "\n");
    if ending == "\n" { plain } else { plain.replace('\n', ending) }
}

/// Returns the text as one line: every run of white space becomes one space.
pub(crate) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_any_of_the_three_endings() {
        let text = "a\r\nb\rc\nd";
        let found: Vec<&str> = lines(text, 0..text.len()).map(|line| &text[line]).collect();
        assert_eq!(found, ["a\r\n", "b\r", "c\n", "d"]);
        let index = LineIndex::of(text);
        assert_eq!([0, 3, 5, 7].map(|at| index.line(at)), [1, 2, 3, 4]);
        assert_eq!((index.line(1), index.column(1)), (1, 2));
    }

    #[test]
    fn blank_lines_are_trimmed_and_indentation_is_kept() {
        let text = "\n \t\r\n  a\n\n b \n\n";
        assert_eq!(&text[trim_blank_lines(text, 0..text.len())], "  a\n\n b");
        assert_eq!(trim_blank_lines(" \n", 0..2), 2..2);
    }

    #[test]
    fn the_first_line_decides_the_ending() {
        assert_eq!(ending_of("a\r\nb\n"), "\r\n");
        assert_eq!(ending_of("a\nb\r\n"), "\n");
        assert_eq!([ending_of("a"), ending_of("a\rb")], ["\n", "\r"]);
        assert_eq!(with_endings("a\nb\r\nc\r", "\r\n"), "a\r\nb\r\nc\r\n");
    }
}
