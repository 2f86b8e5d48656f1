//! Why a chore could not be done, as opposed to what it found wrong.

use std::path::PathBuf;
use std::process::ExitStatus;

/// Why a chore failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A program is missing or could not be started.
    #[error("`{command}` could not be started")]
    NotStarted {
        /// The command line.
        command: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A program said no.
    #[error("`{command}` failed: {status}")]
    Failed {
        /// The command line.
        command: String,
        /// How it ended.
        status: ExitStatus,
    },
    /// A program printed what cannot be read.
    #[error("`{command}` printed something unexpected")]
    Output {
        /// The command line.
        command: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A file could not be read or written.
    #[error("could not {action} {}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The git program is missing or too old, and cannot be installed from here.
    #[error("git {needed} or newer is needed, and {found}; install it with your system's package manager")]
    Git {
        /// What is there.
        found: String,
        /// The oldest version that will do.
        needed: String,
    },
    /// npm is missing, and cannot be installed from here.
    #[error(
        "npm is needed to install agent programs, and is not on PATH; install it with your system's package manager"
    )]
    Npm,
    /// npm could not install a program.
    #[error("{program} could not be installed; is the registry of npm within reach?")]
    Install {
        /// The program, with its version.
        program: String,
        /// How npm ended.
        source: Box<Error>,
    },
    /// A package was installed, and the program is not in it.
    #[error("npm installed {package}, but {} is not there", path.display())]
    NoProgram {
        /// The package.
        package: String,
        /// Where the program should be.
        path: PathBuf,
    },
    /// The table of agent programs cannot be read.
    #[error("{} cannot be read", path.display())]
    Table {
        /// The table.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<toml::de::Error>,
    },
    /// A check found faults, which are printed already.
    #[error("{count} fault{} found", if *count == 1 { "" } else { "s" })]
    Faults {
        /// How many.
        count: usize,
    },
    /// Generated files are not what the code generates.
    #[error("not as generated: {}; run `cargo xtask docs` and commit what it writes", files.join(", "))]
    Outdated {
        /// The files, from the root.
        files: Vec<String>,
    },
}

impl Error {
    /// Renders the error with its causes, outermost first.
    pub(crate) fn render(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(inner) = cause {
            text.push_str(": ");
            text.push_str(&inner.to_string());
            cause = inner.source();
        }
        text
    }
}
