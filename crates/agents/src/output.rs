//! What a session says while it runs, in one vocabulary for all kinds of agent.

/// One piece of what a session says or does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Text of standard output, as it came; a piece may end within a line.
    Text(String),
    /// Text of standard error, as it came.
    Error(String),
    /// A file of the working folder was changed.
    Edited {
        /// The file, relative to the working folder.
        path: String,
    },
    /// A commit was made.
    Committed {
        /// Its message.
        message: String,
    },
    /// Output that was left out here because the reader was slow.
    Skipped {
        /// How much was left out.
        bytes: u64,
    },
}
