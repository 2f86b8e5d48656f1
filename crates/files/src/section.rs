//! The five sections of a task file, and where they are in one.

use std::fmt;
use std::ops::Range;

use crate::line::on_one_line;

/// One of the sections that the format knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// `## 0. Metadata`: a JSON object in a fence.
    Metadata,
    /// `## 1. Context`: requirements and acceptance criteria.
    Context,
    /// `## 2. Chain Inputs`: what the tasks before this one produced; only with dependencies.
    ChainInputs,
    /// `## 3. Progress Log`: one entry per session.
    ProgressLog,
    /// `## 4. Chain Output`: what the tasks after this one need to know.
    ChainOutput,
}

impl Section {
    /// All sections, in the order of the file.
    pub const ALL: [Section; 5] = [
        Section::Metadata,
        Section::Context,
        Section::ChainInputs,
        Section::ProgressLog,
        Section::ChainOutput,
    ];

    /// Returns the number in the heading.
    pub fn number(self) -> u8 {
        match self {
            Section::Metadata => 0,
            Section::Context => 1,
            Section::ChainInputs => 2,
            Section::ProgressLog => 3,
            Section::ChainOutput => 4,
        }
    }

    /// Returns the words of the heading.
    pub fn title(self) -> &'static str {
        match self {
            Section::Metadata => "Metadata",
            Section::Context => "Context",
            Section::ChainInputs => "Chain Inputs",
            Section::ProgressLog => "Progress Log",
            Section::ChainOutput => "Chain Output",
        }
    }

    /// Tells whether every task file has it.
    pub fn is_required(self) -> bool {
        self != Section::ChainInputs
    }

    /// Finds the section with this title, in any case: the title decides, because people renumber.
    pub(crate) fn find(title: &str) -> Option<Section> {
        let title = on_one_line(title);
        Section::ALL.into_iter().find(|section| section.title().eq_ignore_ascii_case(&title))
    }
}

impl fmt::Display for Section {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}. {}", self.number(), self.title())
    }
}

/// A section as it is in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionSpan {
    /// Which one it is; nothing for one that the format does not know, or that was there before.
    pub section: Option<Section>,
    /// The number in its heading.
    pub number: Option<u8>,
    /// Its title, without the number.
    pub title: String,
    /// Its bytes, from its heading to the next.
    pub range: Range<usize>,
    /// How many bytes it has.
    pub bytes: usize,
    /// The line of its heading, from 1.
    pub line: usize,
    /// Its bytes after the heading.
    pub(crate) body: Range<usize>,
}

/// Splits `3. Progress Log` into its number and its title.
pub(crate) fn parse_heading(text: &str) -> (Option<u8>, &str) {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text[..digits].parse().ok();
    match text[digits..].strip_prefix('.') {
        Some(title) if number.is_some() => (number, title.trim()),
        _ => (None, text.trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_a_number_and_a_title_or_just_a_title() {
        assert_eq!(parse_heading("3. Progress Log"), (Some(3), "Progress Log"));
        assert_eq!(parse_heading("Progress Log"), (None, "Progress Log"));
        assert_eq!(parse_heading("999. Far"), (None, "999. Far"));
        assert_eq!(parse_heading("3 Progress"), (None, "3 Progress"));
    }

    #[test]
    fn the_title_decides_in_any_case() {
        assert_eq!(Section::find("progress  LOG"), Some(Section::ProgressLog));
        assert_eq!(Section::find("Log"), None);
    }
}
