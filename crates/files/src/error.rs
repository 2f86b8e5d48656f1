//! Why an edit could not be made, or a text could not be read.

use crate::fault::Fault;

/// The bytes of a file are not UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the file is not valid UTF-8: the first wrong byte is at offset {at}")]
pub struct InvalidUtf8 {
    /// The offset of the first byte that does not belong.
    pub at: usize,
}

/// An edit that cannot be made without harm to the rest of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The metadata cannot be read, so no key of them can be changed.
    #[error("the metadata cannot be edited")]
    Metadata(#[source] Fault),
    /// There is no such criterion.
    #[error("there is no criterion {index}: the file has {count}, counted from 0")]
    NoSuchCriterion {
        /// The one that was asked for, from 0.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// What was to be written would disappear in a fence or comment that nothing closes.
    #[error("the fence or comment of line {line} is never closed and would swallow what is written after it")]
    Unclosed {
        /// Where it begins, from 1.
        line: usize,
    },
    /// What was written does not read back as what was meant, for a reason of the text around it.
    #[error("what was written around line {line} would not be understood as {part}")]
    Misread {
        /// Where it would stand, from 1.
        line: usize,
        /// What it was meant to be.
        part: &'static str,
    },
}
