//! Installs schemathesis, which a test runs against the server's own description of its API.
//!
//! It gets a Python environment of its own below `target`, with an exact version. An environment is not moved once it is
//! made, so a mark that is written last says that it is whole. The test finds it by its place.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::program::Program;
use crate::stage::Verdict;

/// Tells the test that it is there, so that not finding it is a failure.
pub(crate) const REQUIRED: &str = "REGATTA_SCHEMATHESIS_REQUIRED";

/// What is installed.
const PACKAGE: &str = "schemathesis==4.32.5";

/// The folder, from the root.
const PLACE: &str = "target/schemathesis";

/// Says in the environment which package it has, whole.
const MARK: &str = "installed";

/// Makes the environment in the folder that the shell calls `$0`, and installs what it calls `$1`.
const SCRIPT: &str = "rm -rf \"$0\" && python3 -m venv \"$0\" && \"$0/bin/python\" -m pip install --quiet \
                      --disable-pip-version-check --no-input --retries 1 \"$1\"";

/// Installs it for the tests, or says why they must do without.
pub(crate) fn ensure(root: &Path) -> Result<Verdict, Error> {
    if is_installed(root) {
        return Ok(Verdict::Passed);
    }
    let place = place(root);
    let script = Program::new("sh", &["-c", SCRIPT, &place.to_string_lossy(), PACKAGE]);
    if let Err(error) = script.run(root) {
        eprintln!("{}", error.render());
        return Ok(Verdict::Skipped("see above; the test with schemathesis skips itself"));
    }
    let mark = place.join(MARK);
    std::fs::write(&mark, PACKAGE).map_err(|source| Error::File { action: "write", path: mark, source })?;
    Ok(Verdict::Passed)
}

/// Tells whether it is there.
pub(crate) fn is_installed(root: &Path) -> bool {
    std::fs::read_to_string(place(root).join(MARK)).is_ok_and(|text| text == PACKAGE)
}

fn place(root: &Path) -> PathBuf {
    root.join(PLACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_counts_only_when_it_is_whole() {
        let root = tempfile::tempdir().unwrap();
        assert!(!is_installed(root.path()));
        std::fs::create_dir_all(place(root.path())).unwrap();
        std::fs::write(place(root.path()).join(MARK), "schemathesis==0.1").unwrap();
        assert!(!is_installed(root.path()), "another version");
        std::fs::write(place(root.path()).join(MARK), PACKAGE).unwrap();
        assert_eq!(ensure(root.path()).unwrap(), Verdict::Passed);
    }
}
