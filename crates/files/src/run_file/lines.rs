//! Lines of JSON, one for each item of a list that only grows.

use serde_json::Value;

use super::json::{parse, render_inline};
use super::{RenderError, TextFault, fault};

/// One line of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Line<'t> {
    /// Its bytes, without the line end.
    pub bytes: &'t [u8],
    /// Where it begins.
    pub offset: usize,
    /// Whether it is ended; the last one may still be written by somebody.
    pub is_whole: bool,
    /// What it holds; nothing if it is empty.
    pub value: Result<Option<Value>, TextFault>,
}

/// Writes an item as one line, with its end.
pub fn render_line(item: &Value) -> Result<String, RenderError> {
    let mut line = render_inline(item)?;
    line.push('\n');
    Ok(line)
}

/// Reads lines one by one.
pub fn lines(text: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut offset = 0;
    text.split_inclusive(|byte| *byte == b'\n').enumerate().map(move |(number, line)| {
        let begins = offset;
        offset += line.len();
        let (bytes, is_whole) = match line.strip_suffix(b"\n") {
            Some(bytes) => (bytes.strip_suffix(b"\r").unwrap_or(bytes), true),
            None => (line, false),
        };
        Line {
            bytes,
            offset: begins,
            is_whole,
            value: parse_line(bytes).map_err(|found| found.moved(number, 0)),
        }
    })
}

fn parse_line(bytes: &[u8]) -> Result<Option<Value>, TextFault> {
    let text = fault::read_text(bytes)?;
    if text.trim().is_empty() { Ok(None) } else { parse(text).map(Some) }
}

/// Returns how many bytes the lines take that are ended.
pub fn count_whole(text: &[u8]) -> usize {
    memchr::memrchr(b'\n', text).map_or(0, |end| end + 1)
}
