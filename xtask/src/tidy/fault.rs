//! What a rule found, and where.

use std::fmt;

/// One breach of one rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    /// The file, from the root.
    pub(crate) path: String,
    /// The line, from 1.
    pub(crate) line: usize,
    /// What is wrong, and what to do about it.
    pub(crate) what: String,
}

impl Fault {
    /// Returns a fault at a line.
    pub(crate) fn at(path: &str, line: usize, what: impl Into<String>) -> Self {
        Fault { path: path.to_owned(), line, what: what.into() }
    }

    /// Returns a fault of a file as a whole.
    pub(crate) fn of(path: &str, what: impl Into<String>) -> Self {
        Fault::at(path, 1, what)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Returns the line, from 1, of a byte of a text.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Renders faults as a test compares them, one per line.
#[cfg(test)]
pub(crate) fn render(faults: &[Fault]) -> Vec<String> {
    faults.iter().map(Fault::to_string).collect()
}
