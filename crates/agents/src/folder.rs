//! Finds the files of the working folder: a path leads inside of it and nowhere else.
//!
//! A path is relative, has no `..`, does not touch `.git`, and no symbolic link on its way leads out. This guards
//! against mistakes; it is no wall against somebody who changes links at the same moment.

use std::io;
use std::path::{Component, Path, PathBuf};

/// The working folder of a session.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
}

/// Why a path is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PathFault {
    #[error("it is empty")]
    Empty,
    #[error("it is absolute")]
    Absolute,
    #[error("it is not text")]
    NotText,
    #[error("it holds `.` or `..`")]
    Dots,
    #[error("it is git's own")]
    Git,
    #[error("a symbolic link on its way leads out of the folder, or nowhere")]
    LinkOut,
}

impl Folder {
    /// Takes a folder that exists.
    pub(crate) fn new(root: &Path) -> io::Result<Folder> {
        Ok(Folder { root: root.canonicalize()? })
    }

    /// Returns the real path of the folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the real place of a file that is to be read or written; it need not exist.
    pub(crate) fn resolve(&self, path: &str) -> Result<PathBuf, PathFault> {
        self.follow(&split(path)?)
    }

    /// Returns the real place of a file that is named from the folder, or from the root of the machine.
    pub(crate) fn resolve_any(&self, path: &Path) -> Result<PathBuf, PathFault> {
        let inside = if path.is_absolute() { self.strip(path).ok_or(PathFault::Absolute)? } else { path };
        self.resolve(inside.to_str().ok_or(PathFault::NotText)?)
    }

    /// Tells whether a path leads into the folder, or is the folder; git's own files count as inside.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        let mut place = self.root.clone();
        for component in path.components() {
            match component {
                Component::RootDir | Component::Prefix(_) => place = PathBuf::from("/"),
                Component::CurDir => {}
                Component::ParentDir => {
                    place.pop();
                }
                Component::Normal(name) => {
                    place.push(name);
                    if place.is_symlink() {
                        match place.canonicalize() {
                            Ok(real) => place = real,
                            Err(_) => return false,
                        }
                    }
                }
            }
        }
        place.starts_with(&self.root)
    }

    /// Returns the path from the folder on; both may be named by way of a link.
    fn strip<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let is_root = |above: &Path| above.canonicalize().is_ok_and(|real| real == self.root);
        let above = path.ancestors().find(|above| is_root(above))?;
        path.strip_prefix(above).ok()
    }

    /// Returns the place of an entry that is to be removed: a link itself and not what it leads to.
    pub(crate) fn resolve_entry(&self, path: &str) -> Result<PathBuf, PathFault> {
        let names = split(path)?;
        let (last, parents) = names.split_last().ok_or(PathFault::Empty)?;
        Ok(self.follow(parents)?.join(last))
    }

    fn follow(&self, names: &[&str]) -> Result<PathBuf, PathFault> {
        let mut place = self.root.clone();
        for name in names {
            place.push(name);
            if place.is_symlink() {
                place = place.canonicalize().map_err(|_| PathFault::LinkOut)?;
                let inside = place.strip_prefix(&self.root).map_err(|_| PathFault::LinkOut)?;
                if inside.components().any(|component| is_git(component.as_os_str().as_encoded_bytes())) {
                    return Err(PathFault::Git);
                }
            }
        }
        Ok(place)
    }
}

fn split(path: &str) -> Result<Vec<&str>, PathFault> {
    if path.is_empty() {
        return Err(PathFault::Empty);
    }
    if Path::new(path).components().next() == Some(Component::RootDir) {
        return Err(PathFault::Absolute);
    }
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    if names.iter().any(|name| matches!(*name, "." | "..")) {
        return Err(PathFault::Dots);
    }
    if names.iter().any(|name| is_git(name.as_bytes())) {
        return Err(PathFault::Git);
    }
    Ok(names)
}

/// File systems that ignore case would take `.GIT` for git's folder.
fn is_git(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b".git")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn paths_stay_inside() {
        let outside = tempfile::tempdir().unwrap();
        let inside = outside.path().join("inside");
        std::fs::create_dir_all(inside.join("real")).unwrap();
        std::fs::create_dir_all(inside.join(".git")).unwrap();
        symlink("..", inside.join("up")).unwrap();
        symlink("/", inside.join("root")).unwrap();
        symlink("../new", inside.join("dangling")).unwrap();
        symlink(".git", inside.join("hidden")).unwrap();
        symlink("real", inside.join("alias")).unwrap();
        let folder = Folder::new(&inside).unwrap();
        let root = folder.root().to_owned();

        assert_eq!(folder.resolve("a/b.txt"), Ok(root.join("a/b.txt")));
        assert_eq!(folder.resolve("alias/b.txt"), Ok(root.join("real/b.txt")));
        assert_eq!(folder.resolve("a/..b"), Ok(root.join("a/..b")));
        assert_eq!(folder.resolve_entry("up"), Ok(root.join("up")));
        let refused = [
            ("", PathFault::Empty),
            ("/etc/passwd", PathFault::Absolute),
            ("../x", PathFault::Dots),
            ("a/../../x", PathFault::Dots),
            (".", PathFault::Dots),
            (".git/config", PathFault::Git),
            ("sub/.GIT", PathFault::Git),
            ("hidden/config", PathFault::Git),
            ("up/x", PathFault::LinkOut),
            ("root/etc/passwd", PathFault::LinkOut),
            ("dangling", PathFault::LinkOut),
        ];
        for (path, fault) in refused {
            assert_eq!(folder.resolve(path), Err(fault), "{path}");
        }
        assert_eq!(folder.resolve_entry("up/x"), Err(PathFault::LinkOut));
        assert_eq!(folder.resolve_entry(".git"), Err(PathFault::Git));
    }
}
