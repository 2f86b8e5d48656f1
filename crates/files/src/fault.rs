//! What is wrong in a task file, and what is merely unknown in it.
//!
//! Neither stops anything: the text is kept word for word, and the reader learns where to look.

use crate::section::Section;

/// Something in a task file that keeps a part of it from being understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
    /// What is wrong.
    pub what: FaultKind,
    /// The offending text; the line, unless something smaller is meant.
    pub text: String,
}

/// What can be wrong in a task file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// There is no `# Task #12: …` before the sections.
    #[error("the file has no title such as `# Task #12: Title`")]
    MissingTitle,
    /// A section that every task file has is not there.
    #[error("the section `## {0}` is missing")]
    MissingSection(Section),
    /// A section is there twice; the first counts.
    #[error("the section `## {0}` is there twice; the first one counts")]
    DuplicateSection(Section),
    /// A section has the number of another.
    #[error("the section has another number than in `## {0}`")]
    WrongNumber(Section),
    /// A sub-section is there twice; the first counts.
    #[error("the sub-section is there twice; the first one counts")]
    DuplicateSubsection,
    /// Section 0 has no fence with JSON in it.
    #[error("the metadata have no JSON fence")]
    MissingMetadata,
    /// The JSON of section 0 cannot be read.
    #[error("the metadata are not valid JSON: {0}")]
    BadJson(String),
    /// The JSON of section 0 is something else than an object.
    #[error("the metadata are not a JSON object")]
    NotAnObject,
    /// A metadata key is there twice; the last counts.
    #[error("the metadata key is there twice; the last one counts")]
    DuplicateKey,
    /// A session whose heading has no number.
    #[error("the session has no number, as in `### Session 3 - 2024-11-26 14:00`")]
    SessionWithoutNumber,
    /// Two sessions have the same number; both are kept.
    #[error("there is another session {0}")]
    DuplicateSession(u32),
    /// A chain input whose heading names no task.
    #[error("the chain input names no task, as in `### From Task #100: Title`")]
    ChainInputWithoutTask,
    /// An archived summary that does not say which sessions it stands for.
    #[error("the archived summary names no sessions, as in `### Archived Summary (Sessions 1-5)`")]
    ArchivedSummaryWithoutSessions,
    /// A fence or an HTML comment that nothing closes: the rest of the file is hidden in it.
    #[error("this fence or comment is never closed, so everything after it belongs to it")]
    Unclosed,
    /// An earlier merge left versions that somebody must choose from.
    #[error("a merge left conflicts here; choose, then delete this section")]
    UnresolvedConflicts,
}

/// Something in a task file that the format does not know. It is kept as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// What it is.
    pub what: UnknownKind,
    /// The line, from 1.
    pub line: usize,
    /// Its heading, key or first line.
    pub text: String,
}

/// The kinds of things that the format does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownKind {
    /// A section with another title, or one that was there before.
    Section,
    /// A heading where the format has none.
    Heading,
    /// A heading that is underlined; it structures nothing.
    UnderlinedHeading,
    /// A metadata key.
    MetadataKey,
    /// An item under the acceptance criteria that has no box.
    ItemWithoutBox,
}
