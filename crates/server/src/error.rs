//! Why the server could not start, or has no keys.

use regatta_engine::core::{Code, Problem};
use std::path::PathBuf;

/// A failure outside of any request.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file beside the log could not be read or written.
    #[error("could not {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The secret is not one that we wrote.
    #[error("{} does not hold a secret", path.display())]
    SecretInvalid {
        /// The file.
        path: PathBuf,
    },
    /// The port that was asked for is taken.
    #[error("port {port} is taken")]
    PortTaken {
        /// The port.
        port: u16,
        /// Why it failed.
        source: std::io::Error,
    },
    /// None of the ports is free.
    #[error("no port from {first} to {last} is free")]
    NoPort {
        /// The first that was tried.
        first: u16,
        /// The last that was tried.
        last: u16,
        /// Why the last one failed.
        source: std::io::Error,
    },
    /// The operating system gave no random bytes.
    #[error("could not get random bytes")]
    Random(#[source] getrandom::Error),
    /// A program that speaks MCP broke off.
    #[error(transparent)]
    Mcp(Box<regatta_mcp::Broken>),
    /// The engine could not be asked.
    #[error(transparent)]
    Engine(#[from] regatta_engine::Error),
}

impl Error {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { action, path, source }
    }

    /// Returns what, why and what next.
    pub fn explain(&self) -> Problem {
        let cause = std::error::Error::source(self).map(ToString::to_string);
        let problem = |why: String, next: &str| Problem::new(Code::IoFailed, self.to_string(), why, next);
        match self {
            Error::Engine(error) => error.explain(),
            Error::Io { .. } => {
                problem(cause.unwrap_or_default(), "check the permissions and the free space of the disk")
            }
            Error::SecretInvalid { .. } => problem(
                "its content is not what Regatta wrote".to_owned(),
                "delete the file; the next `regatta up` writes a new one, and browsers have to be opened again",
            ),
            Error::PortTaken { .. } | Error::NoPort { .. } => problem(
                cause.unwrap_or_default(),
                "choose another with `--port N`, or leave it to `regatta up` without `--port`",
            ),
            Error::Mcp(_) => problem(
                cause.unwrap_or_default(),
                "start it from a client of MCP; it speaks over stdin and stdout",
            ),
            Error::Random(_) => problem(
                cause.unwrap_or_default(),
                "try again; if it fails again, check the system's random device",
            ),
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        error.explain()
    }
}
