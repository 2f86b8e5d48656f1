//! What can be wrong with a script, each with its place in the text.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::template::TemplateFault;

/// Why a script cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("the script {} cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is too large to be a script.
    #[error("the script {} has more than {bytes_max} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most it may have.
        bytes_max: u64,
    },
    /// The text is not a script.
    #[error("{}", render_faults(path.as_ref(), faults))]
    Faulty {
        /// The file, if the text came from one.
        path: Option<PathBuf>,
        /// Everything that is wrong, in the order of the text.
        faults: Vec<Fault>,
    },
}

/// One fault of a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {kind}")]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What is wrong there.
    pub kind: FaultKind,
}

/// What is wrong at one place of a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// The text is not TOML.
    #[error("{message}")]
    Syntax {
        /// What the TOML parser says.
        message: String,
    },
    /// A key that means nothing here.
    #[error("unknown key `{key}`{}", Hint { nearest: *nearest, known })]
    UnknownKey {
        /// The key.
        key: String,
        /// The known key it looks like.
        nearest: Option<&'static str>,
        /// All keys known here.
        known: &'static [&'static str],
    },
    /// A key that must be there.
    #[error("the key `{key}` is missing")]
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// A value of the wrong type.
    #[error("`{key}` must be {expected}, and is {found}")]
    WrongType {
        /// The key.
        key: String,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A value that is not allowed.
    #[error("`{key}` must be {expected}, and is `{found}`")]
    NotAllowed {
        /// The key.
        key: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A fault that cannot be played.
    #[error("unknown fault `{name}`{}", Hint { nearest: *nearest, known })]
    UnknownMishap {
        /// The name given.
        name: String,
        /// The known one it looks like.
        nearest: Option<&'static str>,
        /// All known ones.
        known: &'static [&'static str],
    },
    /// A text whose `${…}` cannot be read.
    #[error("`{key}`: {fault}")]
    Template {
        /// The key.
        key: String,
        /// What is wrong with it.
        fault: TemplateFault,
    },
    /// A script that plays nothing.
    #[error("a script needs at least one [[session]]")]
    NoSession,
    /// A step that does nothing.
    #[error("a step needs one of: {}", known.join(", "))]
    NoAction {
        /// What it could do.
        known: &'static [&'static str],
    },
    /// A step that does several things, whose order would be unclear.
    #[error("a step does one thing, but this one has: {}", actions.join(", "))]
    SeveralActions {
        /// What it has.
        actions: Vec<&'static str>,
    },
    /// A size for something other than a flood.
    #[error("`bytes` belongs to `fault = \"flood\"`")]
    BytesWithoutFlood,
    /// A time for something other than a rate limit.
    #[error("`reset` belongs to `fault = \"rate_limit\"`")]
    ResetWithoutLimit,
}

struct Hint<'a> {
    nearest: Option<&'static str>,
    known: &'a &'static [&'static str],
}

impl fmt::Display for Hint<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nearest {
            Some(nearest) => write!(formatter, "; did you mean `{nearest}`?"),
            None => write!(formatter, "; known are: {}", self.known.join(", ")),
        }
    }
}

fn render_faults(path: Option<&PathBuf>, faults: &[Fault]) -> String {
    let place = path.map(|path| format!("{}: ", path.display())).unwrap_or_default();
    let lines: Vec<String> = faults.iter().map(|fault| format!("{place}{fault}")).collect();
    lines.join("\n")
}
