//! One file of a workflow, with positions for ranges of its bytes.

use std::ops::Range;
use std::sync::Arc;

use crate::fault::Position;

/// The longest excerpt, in characters: about what fits a line of a terminal.
const EXCERPT_CHARACTERS_MAX: usize = 80;

/// What some editors put before a text; it takes up no column.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// The text of a file with its name.
#[derive(Debug, Clone)]
pub(crate) struct Source<'t> {
    pub(crate) file: Arc<str>,
    pub(crate) text: &'t str,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl<'t> Source<'t> {
    pub(crate) fn new(file: impl Into<Arc<str>>, text: &'t str) -> Source<'t> {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let first = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        Source { file: file.into(), text, lines: std::iter::once(first).chain(after).collect() }
    }

    /// Returns the position of a stretch of bytes. What lies outside the text is drawn to its end.
    pub(crate) fn position(&self, bytes: Range<usize>) -> Position {
        let start = floor(self.text, bytes.start.max(self.lines[0]));
        let end = floor(self.text, bytes.end.max(start));
        let line = self.lines.partition_point(|line| *line <= start);
        let line_start = self.lines[line - 1];
        let first_line = self.text[start..end].lines().next().unwrap_or_default();
        Position {
            file: Arc::clone(&self.file),
            line,
            column: self.text[line_start..start].chars().count() + 1,
            bytes: start..end,
            excerpt: first_line.chars().take(EXCERPT_CHARACTERS_MAX).collect::<String>().into(),
        }
    }

    /// Returns the position of the whole line that holds a byte.
    pub(crate) fn line_at(&self, byte: usize) -> Position {
        let line = self.lines.partition_point(|line| *line <= byte.max(self.lines[0]));
        let end = self.lines.get(line).copied().unwrap_or(self.text.len());
        self.position(self.lines[line - 1]..end)
    }

    /// Returns the position of a stretch of a TOML string, whose literal stands at `literal` and means `value`.
    ///
    /// Where the literal has escapes its text is not its meaning; then the position is that of the whole literal.
    pub(crate) fn position_in_string(
        &self,
        literal: Range<usize>,
        value: &str,
        within: Range<usize>,
    ) -> Position {
        let raw = self.text.get(literal.clone()).unwrap_or_default();
        match inner_offset(raw, value) {
            Some(offset) => {
                let start = literal.start + offset;
                self.position(start + within.start.min(value.len())..start + within.end.min(value.len()))
            }
            None => self.position(literal),
        }
    }
}

/// Returns where the contents of a TOML string literal begin, if it holds them unchanged.
fn inner_offset(raw: &str, value: &str) -> Option<usize> {
    let delimiter =
        ["\"\"\"", "'''", "\"", "'", ""].into_iter().find(|delimiter| raw.starts_with(delimiter))?;
    let inner = raw.strip_prefix(delimiter)?.strip_suffix(delimiter)?;
    let skipped = match delimiter.len() {
        3 if inner.starts_with("\r\n") => 2,
        3 if inner.starts_with('\n') => 1,
        _ => 0,
    };
    (&inner[skipped..] == value).then_some(delimiter.len() + skipped)
}

fn floor(text: &str, byte: usize) -> usize {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let source = Source::new("a", "x = 1\nü = öl\n");
        let position = source.position(11..14);
        assert_eq!((position.line, position.column, &*position.excerpt), (2, 5, "öl"));
        assert_eq!(source.position(99..120).line, 3);
        assert_eq!(&*source.line_at(8).excerpt, "ü = öl");
    }

    #[test]
    fn a_byte_order_mark_takes_up_no_column() {
        let source = Source::new("a", "\u{feff}x = 1\ny = 2\n");
        let position = source.position(7..8);
        assert_eq!((position.line, position.column, &*position.excerpt), (1, 5, "1"));
        let first = source.line_at(0);
        assert_eq!((first.line, first.column, &*first.excerpt), (1, 1, "x = 1"));
        assert_eq!(source.position(0..0).column, 1);
    }

    #[test]
    fn a_place_in_a_string_is_exact_unless_it_has_escapes() {
        let at = |text: &str, value: &str| {
            let position = Source::new("a", text).position_in_string(4..text.len(), value, 1..2);
            (position.line, position.column)
        };
        assert_eq!(at("k = \"abc\"", "abc"), (1, 7));
        assert_eq!(at("k = 'abc'", "abc"), (1, 7));
        assert_eq!(at("k = \"\"\"\nabc\"\"\"", "abc"), (2, 2));
        assert_eq!(at("k = \"a\\\"c\"", "a\"c"), (1, 5));
    }
}
