//! Finds every folder inside a worktree that git would treat as a git folder, and every `.git` file.

use std::fs::{Permissions, ReadDir};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::location::Location;

/// More than the largest worktrees have, with all their dependencies.
const ENTRIES_MAX: usize = 10_000_000;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Git folders.
    pub(super) folders: Vec<PathBuf>,
    /// What is called `.git` and is no folder.
    pub(super) links: Vec<PathBuf>,
}

/// Returns the places where an agent can make git folders that belong to the worktree.
pub(super) fn places(location: &Location) -> [PathBuf; 2] {
    [location.path.clone(), location.git_dir.join("modules")]
}

/// Looks through a worktree and the submodules of its git folder; symlinks are not followed.
pub(super) fn find(location: &Location) -> Result<Found, Error> {
    let mut found = Found::default();
    let mut folders: Vec<PathBuf> = places(location).into();
    folders.retain(|folder| folder.symlink_metadata().is_ok_and(|found| found.is_dir()));
    let (own, mut count) = (location.path.join(".git"), 0);
    while let Some(folder) = folders.pop() {
        let is_git_folder = is_git_folder(&folder) && folder != location.path;
        if is_git_folder {
            found.folders.push(folder.clone());
        }
        for entry in list(&folder)?.into_iter().flatten() {
            // A listing that breaks off would hide what comes after.
            let entry = entry.map_err(Error::io("list", &folder))?;
            count += 1;
            if count > ENTRIES_MAX {
                return Err(Error::io("list", &location.path)(ErrorKind::QuotaExceeded.into()));
            }
            let (path, name) = (entry.path(), entry.file_name());
            let is_folder = entry.file_type().map_err(Error::io("inspect", &path))?.is_dir();
            match is_folder {
                // Nothing in there is obeyed, and it is large.
                true if is_git_folder && name == "objects" => {}
                true => folders.push(path),
                false if name == ".git" && path != own => found.links.push(path),
                false => {}
            }
        }
    }
    found.folders.sort();
    found.links.sort();
    Ok(found)
}

/// Tells what git would: it looks for objects and refs elsewhere if a file says where.
fn is_git_folder(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    folder.ends_with(".git") || (has("HEAD") && (has("commondir") || (has("objects") && has("refs"))))
}

/// Lists a folder, also one that may not be listed: git opens what is in it by name.
fn list(folder: &Path) -> Result<Option<ReadDir>, Error> {
    let opened = std::fs::read_dir(folder).or_else(|error| match error.kind() {
        ErrorKind::PermissionDenied => {
            std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
            std::fs::read_dir(folder)
        }
        _ => Err(error),
    });
    match opened {
        Ok(entries) => Ok(Some(entries)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        // Also where a path is too long for us: from inside of the worktree, git uses a shorter one.
        Err(error) => Err(Error::io("list", folder)(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::programs::Overrides;

    #[test]
    fn every_kind_of_git_folder_is_found() {
        let disk = tempfile::tempdir().unwrap();
        let at = |path: &str| disk.path().join(path);
        for folder in [
            "w/plain/src",
            "w/cloned/.git/objects/aa",
            "w/bare.git/objects",
            "w/bare.git/refs",
            "w/shared",
            "w/closed/deep/.git",
            "git/modules/sub/refs",
            "git/modules/sub/objects",
            "git/modules/sub/modules/inner/refs",
            "git/modules/sub/modules/inner/objects",
            "elsewhere/.git",
        ] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        for file in [
            "w/.git",
            "w/sub.git",
            "w/bare.git/HEAD",
            "w/shared/HEAD",
            "w/shared/commondir",
            "git/modules/sub/HEAD",
            "git/modules/sub/modules/inner/HEAD",
            "w/plain/.git",
        ] {
            std::fs::write(at(file), "").unwrap();
        }
        symlink(at("elsewhere"), at("w/linked")).unwrap();
        symlink(at("elsewhere/.git"), at("w/plain/src/.git")).unwrap();
        std::fs::set_permissions(at("w/closed"), Permissions::from_mode(0o300)).unwrap();
        let location = Location { git_dir: at("git"), path: at("w"), overrides: Overrides::default() };
        let found = find(&location).unwrap();
        let expected = [
            "git/modules/sub",
            "git/modules/sub/modules/inner",
            "w/bare.git",
            "w/cloned/.git",
            "w/closed/deep/.git",
            "w/shared",
        ];
        assert_eq!(found.folders, expected.map(at));
        assert_eq!(found.links, ["w/plain/.git", "w/plain/src/.git"].map(at));
    }
}
