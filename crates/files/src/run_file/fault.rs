//! Why a value has no text, and where a text is none of the format.

use super::TEXT_BYTES_MAX;

/// What editors on some systems put in front of a text.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Why a value cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// It could not be read back.
    #[error("the value is nested more than {} levels deep", super::LEVELS_MAX)]
    TooDeep,
    /// It is larger than any file that is read.
    #[error("the text has more than {TEXT_BYTES_MAX} bytes")]
    TooLarge,
    /// Only the fields of an object can be front matter.
    #[error("a Markdown file is made of an object, and this is none")]
    NoObject,
    /// The field that is the text of a Markdown file is something else.
    #[error("`{0}` is the text of the Markdown file and has to be a string")]
    NoText(String),
}

/// Where a text is none of the format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct TextFault {
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
    /// What is wrong there.
    pub what: String,
}

impl TextFault {
    /// Makes the fault for a byte of a text.
    pub(super) fn at(text: &[u8], offset: usize, what: impl Into<String>) -> TextFault {
        let before = &text[..offset.min(text.len())];
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
        TextFault { line, column: before.len() - start + 1, what: what.into() }
    }

    /// Moves a fault of a line to where that line is.
    pub(super) fn moved(self, line: usize, column: usize) -> TextFault {
        TextFault { line: self.line + line, column: self.column + column, what: self.what }
    }
}

/// Takes bytes as text, if they are.
pub(super) fn read_text(bytes: &[u8]) -> Result<&str, TextFault> {
    if bytes.len() > TEXT_BYTES_MAX {
        return Err(TextFault { line: 1, column: 1, what: RenderError::TooLarge.to_string() });
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)),
        Err(error) => Err(TextFault::at(bytes, error.valid_up_to(), "this is not UTF-8")),
    }
}
