//! Finds the program of a command, as the system would.
//!
//! A program that is started directly is found by the system itself. One that a sandbox starts is looked for before, so that
//! a wrong name is reported as such, and not as a sandbox that failed.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::start::StartError;

/// Where programs are looked for when no PATH is given.
const PATH_DEFAULT: &str = "/usr/local/bin:/usr/bin:/bin";

/// Returns the file that a name means: a path from the folder, or a name on PATH.
pub(super) fn find(
    program: &str,
    folder: &Path,
    environment: &[(OsString, OsString)],
) -> Result<PathBuf, StartError> {
    let candidates: Vec<PathBuf> = if program.contains('/') {
        vec![folder.join(program)]
    } else {
        // The last of several entries is the one that the program gets.
        let path = environment.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let path = path.unwrap_or_else(|| PATH_DEFAULT.into());
        std::env::split_paths(&path).map(|place| folder.join(place).join(program)).collect()
    };
    let mut is_there = false;
    for candidate in candidates {
        match candidate.metadata() {
            Ok(found) if found.is_file() && found.permissions().mode() & 0o111 != 0 => return Ok(candidate),
            Ok(_) => is_there = true,
            Err(_) => {}
        }
    }
    let program = program.to_owned();
    Err(match is_there {
        true => StartError::ProgramNotExecutable { program },
        false => StartError::ProgramNotFound { program },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_in(folder: &Path, program: &str) -> Result<PathBuf, StartError> {
        let path = [("PATH".into(), OsString::from(format!("/no/such/folder:{}", folder.display())))];
        find(program, Path::new("/"), &path)
    }

    #[test]
    fn names_are_found_on_the_path_that_the_program_gets() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("agent");
        assert!(matches!(find_in(folder.path(), "agent"), Err(StartError::ProgramNotFound { .. })));
        std::fs::write(&place, "").unwrap();
        assert!(matches!(find_in(folder.path(), "agent"), Err(StartError::ProgramNotExecutable { .. })));
        std::fs::set_permissions(&place, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(find_in(folder.path(), "agent").unwrap(), place);
    }

    #[test]
    fn a_path_is_taken_from_the_folder() {
        assert_eq!(find("bin/sh", Path::new("/"), &[]).unwrap(), Path::new("/bin/sh"));
        assert_eq!(find("sh", Path::new("/nowhere"), &[]).unwrap().file_name().unwrap(), "sh");
        assert!(matches!(find("./sh", Path::new("/nowhere"), &[]), Err(StartError::ProgramNotFound { .. })));
    }
}
