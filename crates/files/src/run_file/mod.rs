//! The texts of a run's files: values to JSON documents, Markdown with front matter and lines of JSON, and back.
//!
//! What is rendered reads back as the same value, and what a person or another program wrote is read or refused at a line
//! and a column. Texts come from anybody: their size, their depth and the number of their values are bounded, and the
//! parser has no shortcut that a key could turn on. Only [`extend()`] opens a file. This knows nothing of runs.

mod extend;
mod fault;
mod front_matter;
mod json;
mod lines;

use serde_json::Value;

pub use extend::{Extension, extend};
pub use fault::{RenderError, TextFault};
pub use json::LEVELS_MAX;
pub use lines::{Line, count_whole, lines, render_line};

/// The largest text that is read or rendered, in bytes: as much as a file has that is read.
pub const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout<'f> {
    /// JSON with two spaces for each level.
    Json,
    /// Markdown: one field of an object is the text, the others are its front matter.
    FrontMatter {
        /// The field that is the text.
        body: &'f str,
    },
}

/// Writes a document; its last line is ended.
pub fn render(value: &Value, layout: Layout<'_>) -> Result<String, RenderError> {
    let text = match layout {
        Layout::Json => json::render_document(value)?,
        Layout::FrontMatter { body } => front_matter::render(value, body)?,
    };
    if text.len() > TEXT_BYTES_MAX { Err(RenderError::TooLarge) } else { Ok(text) }
}

/// Reads a document.
pub fn parse(bytes: &[u8], layout: Layout<'_>) -> Result<Value, TextFault> {
    let text = fault::read_text(bytes)?;
    match layout {
        Layout::Json => json::parse(text),
        Layout::FrontMatter { body } => front_matter::parse(text, body),
    }
}
