//! What can go wrong while measuring.

use std::path::PathBuf;

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The call was not understood.
    #[error("usage: {usage}")]
    Usage { usage: &'static str },
    /// A count was not one.
    #[error("`{text}` is not a number from 1 to {max}")]
    Count { text: String, max: usize },
    /// A file or folder could not be used.
    #[error("cannot {action} {}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    /// Git could not make a repository.
    #[error("git cannot make a repository in {}: {said}", path.display())]
    Git { path: PathBuf, said: String },
    /// The threads that carry the engine could not be started.
    #[error("the runtime cannot be started")]
    Runtime(#[source] std::io::Error),
    /// The engine failed.
    #[error("the engine failed")]
    Engine(#[from] regatta_engine::Error),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] regatta_store::Error),
    /// The machine refused a command that it must take.
    #[error("the machine refused a command: {}", why.join("; "))]
    Refused { why: Vec<String> },
    /// The workload did not end as it must, so its time means nothing.
    #[error("the workload ended wrong: {what} is {found}, not {wanted}")]
    Wrong { what: &'static str, found: String, wanted: String },
    /// The workload did not end.
    #[error("nothing has moved for {seconds} s; {what}")]
    Stuck { seconds: u64, what: String },
}

impl Error {
    /// Makes an error of a failed file operation.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { action, path, source }
    }

    /// Refuses a workload unless what was found is what must be.
    pub(crate) fn unless_equal<T>(what: &'static str, found: T, wanted: T) -> Result<(), Error>
    where
        T: PartialEq + std::fmt::Debug,
    {
        if found == wanted {
            return Ok(());
        }
        Err(Error::Wrong { what, found: format!("{found:?}"), wanted: format!("{wanted:?}") })
    }
}
