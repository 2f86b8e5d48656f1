//! A task file: its text, and what was found in it.
//!
//! The text is never rebuilt from the parts: `TaskFile::parse(text).text() == text`, whatever the text is. Edits
//! are in `edit`, archiving is in `archive`.

use serde_json::{Map, Value};

use crate::archived_summary::ArchivedSummary;
use crate::chain_input::ChainInput;
use crate::criterion::Criterion;
use crate::error::InvalidUtf8;
use crate::fault::{Fault, Unknown};
use crate::parse::{self, Parts};
use crate::section::SectionSpan;
use crate::session::SessionEntry;

/// A task file: the text, and the parts found in it.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskFile {
    pub(crate) text: String,
    pub(crate) parts: Parts,
}

/// The first heading of a task file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// The number in `# Task #12: …`.
    pub id: Option<u32>,
    /// What follows the number.
    pub text: String,
}

impl Title {
    /// Returns the text without the backslash that keeps a heading from losing marks at its end.
    pub fn plain(&self) -> String {
        let open = self.text.trim_end_matches('#');
        match open.strip_suffix('\\') {
            Some(before) if open.len() < self.text.len() => format!("{before}{}", &self.text[open.len()..]),
            _ => self.text.clone(),
        }
    }
}

impl TaskFile {
    /// Finds the parts of a text. Never fails: what is not understood is listed, and kept word for word.
    pub fn parse(text: impl Into<String>) -> Self {
        let text = text.into();
        let parts = parse::parse(&text);
        TaskFile { text, parts }
    }

    /// Finds the parts of a text that comes as bytes.
    pub fn parse_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self, InvalidUtf8> {
        let text = String::from_utf8(bytes.into());
        text.map(TaskFile::parse).map_err(|error| InvalidUtf8 { at: error.utf8_error().valid_up_to() })
    }

    /// Returns the text, byte for byte.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text, byte for byte.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Returns the title, if the file begins with one.
    pub fn title(&self) -> Option<&Title> {
        self.parts.title.as_ref()
    }

    /// Returns the metadata, or why they cannot be read.
    pub fn metadata(&self) -> Result<&Map<String, Value>, &Fault> {
        self.parts.metadata.as_ref().map(|metadata| &metadata.map)
    }

    /// Returns the text under `### Requirements`, without blank lines around it.
    pub fn requirements(&self) -> Option<&str> {
        self.parts.requirements.clone().map(|range| &self.text[range])
    }

    /// Returns the acceptance criteria.
    pub fn criteria(&self) -> &[Criterion] {
        &self.parts.criteria
    }

    /// Returns the chain inputs.
    pub fn chain_inputs(&self) -> &[ChainInput] {
        &self.parts.chain_inputs
    }

    /// Returns the sessions of the progress log that stand in full.
    pub fn sessions(&self) -> &[SessionEntry] {
        &self.parts.sessions
    }

    /// Returns the summary of sessions that were archived.
    pub fn archived(&self) -> Option<&ArchivedSummary> {
        self.parts.archived.as_ref()
    }

    /// Returns the chain output; nothing while it is blank or a placeholder, which is one line in parentheses.
    pub fn chain_output(&self) -> Option<&str> {
        self.parts.chain_output.clone().map(|range| &self.text[range])
    }

    /// Returns what the chain output says under `### Summary`, or its first paragraph.
    pub fn summary_of_output(&self) -> Option<&str> {
        self.parts.summary.clone().map(|range| &self.text[range])
    }

    /// Returns the sections, known or not, in the order of the file.
    pub fn sections(&self) -> &[SectionSpan] {
        &self.parts.sections
    }

    /// Returns what the format does not know.
    pub fn unknown(&self) -> &[Unknown] {
        &self.parts.unknown
    }

    /// Returns what is wrong.
    pub fn faults(&self) -> &[Fault] {
        &self.parts.faults
    }
}
