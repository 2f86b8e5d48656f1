//! Opening a file of a project in the editor of the person who uses it.
//!
//! The config names the program, and it runs with the person's own rights: outside of the sandbox, for a person's request
//! alone, without a shell. The path is an argument of its own, absolute, and inside of the folder that was asked for.

use crate::commands::orders;
use crate::core::FieldFault;
use crate::error::Error;
use crate::project::Project;
use crate::project::config::PATH_MARK;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Opens a folder, or a file in it; the file is named from the folder, and links out of it are not followed.
pub fn open_in_editor(project: &Project, folder: &Path, file: Option<&str>) -> Result<PathBuf, Error> {
    let Some(words) = &project.config().editor else {
        return Err(invalid(
            "editor",
            "is not set: add `editor = [\"code\", \"{path}\"]` to `[board]` of the config",
        ));
    };
    let path = find_within(folder, file)?;
    let shown = path.display().to_string();
    let words: Vec<&str> =
        words.iter().map(|word| if word == PATH_MARK { shown.as_str() } else { word }).collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(Error::io("start the editor", words[0]))?;
    // An editor stays open for hours; somebody has to see its end.
    std::thread::spawn(move || drop(child.wait()));
    Ok(path)
}

fn find_within(folder: &Path, file: Option<&str>) -> Result<PathBuf, Error> {
    let folder = folder.canonicalize().map_err(Error::io("open", folder))?;
    let Some(file) = file else { return Ok(folder) };
    let path = folder.join(file);
    let path = path.canonicalize().map_err(Error::io("open", path))?;
    if !path.starts_with(&folder) {
        return Err(invalid("path", "must be a file in the worktree"));
    }
    Ok(path)
}

fn invalid(field: &'static str, problem: &str) -> Error {
    orders::invalid(vec![FieldFault { field, problem: problem.to_owned() }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_within_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("tree");
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(inside.join("-rf"), "").unwrap();
        std::fs::write(folder.path().join("secret"), "").unwrap();
        std::os::unix::fs::symlink("../secret", inside.join("link")).unwrap();
        let found = find_within(&inside, Some("-rf")).unwrap();
        assert!(found.is_absolute() && found.ends_with("tree/-rf"));
        assert!(find_within(&inside, None).unwrap().ends_with("tree"));
        for outside in ["../secret", "link", "/etc/passwd", "nothing"] {
            assert!(find_within(&inside, Some(outside)).is_err(), "{outside}");
        }
    }
}
