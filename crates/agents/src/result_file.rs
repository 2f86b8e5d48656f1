//! The file in which an agent may leave its result.
//!
//! Its path is in [`RESULT_FILE`] of the agent's environment. The agent is not trusted with it: a link is not followed,
//! a pipe is not waited for, and a file beyond the bound is not read.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde_json::Value;

use crate::json;

/// The environment variable with the path of the result file.
pub const RESULT_FILE: &str = "REGATTA_RESULT_FILE";

/// Why there is a result file but no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResultFileError {
    #[error("the result file {} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the result file {} is not a plain file", path.display())]
    NotPlain { path: PathBuf },
    #[error("the result file {} has more than {bytes_max} bytes", path.display())]
    TooLarge { path: PathBuf, bytes_max: usize },
    #[error("the result file {} is not JSON: {source}", path.display())]
    NotJson { path: PathBuf, source: serde_json::Error },
}

/// Returns the place of the result file in a session's private folder.
pub(crate) fn place(private: &Path) -> PathBuf {
    private.join("result.json")
}

/// Removes what an earlier try of the session left there, so that it is not taken for a result of this one.
pub(crate) fn clear(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Reads the result, if a file is there.
pub(crate) fn load(path: &Path, bytes_max: usize) -> Result<Option<Value>, ResultFileError> {
    let place = || path.to_owned();
    // Without NONBLOCK, opening a pipe would wait until somebody writes to it.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ResultFileError::Unreadable { path: place(), source }),
    };
    let unreadable = |source| ResultFileError::Unreadable { path: place(), source };
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(ResultFileError::NotPlain { path: place() });
    }
    let mut bytes = Vec::new();
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > bytes_max {
        return Err(ResultFileError::TooLarge { path: place(), bytes_max });
    }
    let parsed = json::parse(&bytes);
    parsed.map(Some).map_err(|source| ResultFileError::NotJson { path: place(), source })
}

#[cfg(test)]
mod tests {
    use rustix::fs::{CWD, Mode};

    use super::*;

    #[test]
    fn only_a_plain_and_bounded_file_of_json_is_a_result() {
        let folder = tempfile::tempdir().unwrap();
        let path = place(folder.path());
        assert!(load(&path, 100).unwrap().is_none());
        std::fs::write(&path, " {\"a\": 1}\n").unwrap();
        assert_eq!(load(&path, 100).unwrap(), Some(serde_json::json!({ "a": 1 })));
        assert!(matches!(load(&path, 9), Err(ResultFileError::TooLarge { .. })));
        std::fs::write(&path, "{").unwrap();
        assert!(matches!(load(&path, 100), Err(ResultFileError::NotJson { .. })));
        clear(&path).unwrap();
        clear(&path).unwrap();

        std::fs::write(folder.path().join("other"), "{}").unwrap();
        std::os::unix::fs::symlink("other", &path).unwrap();
        assert!(matches!(load(&path, 100), Err(ResultFileError::Unreadable { .. })));
        clear(&path).unwrap();
        assert!(folder.path().join("other").exists());

        rustix::fs::mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
        assert!(matches!(load(&path, 100), Err(ResultFileError::NotPlain { .. })));
        clear(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(load(&path, 100).is_err());
    }
}
