//! The files of the repository as texts in memory, so that rules need no disk.
//!
//! A file counts when git tracks it, or would after `git add --all`: a fault is then found before the commit.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::Error;
use crate::program::Program;

/// Larger files are data, not something that a person wrote; no rule needs their text.
const TEXT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The files by their path from the root, with `/` between folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// Loads the files of a checkout; returns nothing when the folder is not in one.
    pub(crate) fn load(root: &Path) -> Result<Option<Self>, Error> {
        if !git(&["rev-parse", "--is-inside-work-tree"]).succeeds(root) {
            return Ok(None);
        }
        let listed = git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).read(root)?;
        let mut tree = Tree::default();
        for name in listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let name = String::from_utf8_lossy(name).into_owned();
            let path = root.join(&name);
            // A file that is deleted but not yet committed as such is still listed.
            if path.is_file() {
                tree.files.insert(name, load_text(&path)?);
            }
        }
        Ok(Some(tree))
    }

    /// Returns the texts, each with its path.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// Returns the texts whose path ends so.
    pub(crate) fn texts_ending(&self, suffix: &str) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(move |(path, _)| path.ends_with(suffix))
    }

    /// Returns the paths of all files, texts or not.
    #[cfg(test)]
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns the text of one file.
    pub(crate) fn find(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Tells whether there is such a file, or a folder with files in it.
    pub(crate) fn contains(&self, path: &str) -> bool {
        if path.is_empty() || self.files.contains_key(path) {
            return true;
        }
        let folder = format!("{path}/");
        self.files.range(folder.clone()..).next().is_some_and(|(next, _)| next.starts_with(&folder))
    }

    /// Makes a tree of texts.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let entry = |(path, text): &(&str, &str)| ((*path).to_owned(), Some((*text).to_owned()));
        Tree { files: files.iter().map(entry).collect() }
    }
}

/// Runs git without the user's settings: what they ignore globally is not ignored here.
fn git(arguments: &[&str]) -> Program {
    // A checkout may belong to another user, as in a container; listing its files runs nothing of it.
    let sealed = [&["-c", "safe.directory=*", "-c", "core.fsmonitor=false"], arguments].concat();
    Program::new("git", &sealed).with("GIT_CONFIG_NOSYSTEM", "1").with("GIT_CONFIG_GLOBAL", "/dev/null")
}

fn load_text(path: &Path) -> Result<Option<String>, Error> {
    let failed = |source| Error::File { action: "read", path: path.to_path_buf(), source };
    if std::fs::metadata(path).map_err(failed)?.len() > TEXT_BYTES_MAX {
        return Ok(None);
    }
    Ok(String::from_utf8(std::fs::read(path).map_err(failed)?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_would_commit_is_loaded_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(Tree::load(root).unwrap(), None);
        git(&["init", "--quiet"]).run(root).unwrap();
        std::fs::create_dir(root.join("a")).unwrap();
        std::fs::write(root.join("a/new.rs"), "text").unwrap();
        std::fs::write(root.join("picture"), b"\xff\xfe").unwrap();
        std::fs::write(root.join("ignored"), "x").unwrap();
        std::fs::write(root.join("gone"), "x").unwrap();
        std::fs::write(root.join(".gitignore"), "/ignored\n").unwrap();
        git(&["add", "gone"]).run(root).unwrap();
        std::fs::remove_file(root.join("gone")).unwrap();
        let tree = Tree::load(root).unwrap().unwrap();
        assert_eq!(tree.paths().collect::<Vec<_>>(), [".gitignore", "a/new.rs", "picture"]);
        assert_eq!(tree.find("a/new.rs"), Some("text"));
        assert_eq!(tree.find("picture"), None);
    }

    #[test]
    fn a_folder_is_there_when_a_file_is_in_it() {
        let tree = Tree::of(&[("docs/errors/A.md", ""), ("docs-old", "")]);
        assert!(tree.contains("docs") && tree.contains("docs/errors") && tree.contains("docs-old"));
        assert!(!tree.contains("doc") && !tree.contains("docs/err"));
    }
}
