//! Finds the repository that holds a folder by reading its files, without starting git.
//!
//! Every verb needs to know where the project is before it does anything else, and the cheapest of them
//! (`task list`) should not pay for a process. The rules are git's own: `.git` is a folder, or a file that
//! names one; a linked worktree's git folder names the common one; the main worktree is the folder that holds
//! `.git` unless the config says otherwise. Environment variables such as `GIT_DIR` are ignored, as
//! everywhere in this crate.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// No `.git` file, `commondir` or config of a repository is larger; what is larger is none of these.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Where a repository is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered {
    /// The git folder that all worktrees share.
    pub common_dir: PathBuf,
    /// The top folder of the worktree that was found; nothing inside of a git folder.
    pub worktree: Option<PathBuf>,
    /// Whether the repository is bare.
    pub is_bare: bool,
    /// The main worktree; nothing in a bare repository, or where a linked worktree does not tell.
    pub main_worktree: Option<PathBuf>,
}

/// Finds the repository that holds a folder, looking upward.
pub fn discover(dir: &Path) -> Option<Discovered> {
    dir.ancestors().find_map(look_at)
}

fn look_at(folder: &Path) -> Option<Discovered> {
    let dot_git = folder.join(".git");
    if let Some(git_dir) = find_git_dir(&dot_git) {
        return Some(describe(&git_dir, Some(folder)));
    }
    // Inside of a git folder, that of a bare repository above all.
    is_git_dir(folder).then(|| describe(folder, None))
}

/// Returns the git folder that `.git` is or names.
fn find_git_dir(dot_git: &Path) -> Option<PathBuf> {
    let git_dir = if dot_git.is_dir() {
        dot_git.to_owned()
    } else {
        let content = read(dot_git)?;
        let named = content.strip_prefix(b"gitdir:")?.trim_ascii();
        dot_git.parent()?.join(OsStr::from_bytes(named))
    };
    git_dir.canonicalize().ok().filter(|git_dir| is_git_dir(git_dir))
}

/// A linked worktree's git folder has no objects of its own.
fn is_git_dir(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}

fn describe(git_dir: &Path, worktree: Option<&Path>) -> Discovered {
    let named = read(&git_dir.join("commondir"));
    let named = named.map(|content| git_dir.join(OsStr::from_bytes(content.trim_ascii())));
    let common_dir = named.and_then(|path| path.canonicalize().ok());
    let is_linked = common_dir.is_some();
    let common_dir = common_dir.unwrap_or_else(|| git_dir.to_owned());
    let core = Core::read(&common_dir);
    let worktree = worktree.map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
    let is_bare = core.is_bare;
    let main_worktree = match (is_bare, core.worktree, is_linked) {
        (true, _, _) => None,
        (false, Some(named), _) => common_dir.join(named).canonicalize().ok(),
        (false, None, false) => worktree.clone().or_else(|| holder_of(&common_dir)),
        (false, None, true) => holder_of(&common_dir),
    };
    Discovered { common_dir, worktree, is_bare, main_worktree }
}

/// Returns the folder whose `.git` the common folder is.
fn holder_of(common_dir: &Path) -> Option<PathBuf> {
    let is_dot_git = common_dir.file_name() == Some(OsStr::new(".git"));
    common_dir.parent().filter(|_| is_dot_git).map(Path::to_owned)
}

/// What the config of a repository says about its worktree.
#[derive(Debug, Default, PartialEq, Eq)]
struct Core {
    is_bare: bool,
    worktree: Option<PathBuf>,
}

impl Core {
    fn read(common_dir: &Path) -> Self {
        let mut core = Core::default();
        for name in ["config", "config.worktree"] {
            core.parse(&read(&common_dir.join(name)).unwrap_or_default());
        }
        core
    }

    fn parse(&mut self, content: &[u8]) {
        let mut is_core = false;
        for line in content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
            if line.first() == Some(&b'[') {
                is_core = line.to_ascii_lowercase().starts_with(b"[core]");
            }
            let line = if is_core { line.strip_prefix(b"[core]").unwrap_or(line) } else { continue };
            let (key, value) = match line.iter().position(|byte| *byte == b'=') {
                Some(at) => (line[..at].trim_ascii(), value_of(&line[at + 1..])),
                None => (line.trim_ascii(), b"true".to_vec()),
            };
            match key.to_ascii_lowercase().as_slice() {
                b"bare" => {
                    let value = value.to_ascii_lowercase();
                    self.is_bare = [&b"true"[..], b"yes", b"on", b"1"].contains(&value.as_slice());
                }
                b"worktree" => self.worktree = Some(PathBuf::from(OsStr::from_bytes(&value))),
                _ => {}
            }
        }
    }
}

/// Reads a value without its quotes and the comment behind it.
fn value_of(text: &[u8]) -> Vec<u8> {
    let mut value = Vec::new();
    let (mut is_quoted, mut is_escaped) = (false, false);
    for byte in text.trim_ascii() {
        match byte {
            _ if is_escaped => {
                value.push(*byte);
                is_escaped = false;
            }
            b'\\' => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'#' | b';' if !is_quoted => break,
            _ => value.push(*byte),
        }
    }
    if is_quoted { value } else { value.trim_ascii_end().to_vec() }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let is_small_file = path.metadata().is_ok_and(|found| found.is_file() && found.len() <= FILE_BYTES_MAX);
    is_small_file.then(|| std::fs::read(path).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use regatta_testkit::repo::{TestRepo, git_in};

    fn core(text: &str) -> Core {
        let mut core = Core::default();
        core.parse(text.as_bytes());
        core
    }

    #[test]
    fn the_config_is_read_as_git_does() {
        assert_eq!(core("[user]\n bare = true\n"), Core::default());
        assert_eq!(core("[CORE]\n\tBare = yes # really\n"), Core { is_bare: true, worktree: None });
        assert!(core("[core] bare\n").is_bare && !core("[core]\nbare = true\nbare = false\n").is_bare);
        let named = core("[core]\n\tworktree = \"../a # b\" ; c\n[x]\nworktree = y\n");
        assert_eq!(named.worktree.as_deref(), Some(Path::new("../a # b")));
        assert_eq!(core("[core \"x\"]\nbare = true\n"), Core::default());
    }

    #[test]
    fn every_folder_of_a_repository_leads_to_it() {
        let repo = TestRepo::new();
        let root = repo.path().to_owned();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        let linked = repo.outside().join("linked");
        repo.git(&["worktree", "add", "--quiet", linked.to_str().unwrap(), "-b", "other"]);
        let found = discover(&root.join("a/b")).unwrap();
        assert_eq!(found.common_dir, root.join(".git"));
        assert_eq!((found.worktree, found.main_worktree), (Some(root.clone()), Some(root.clone())));
        let found = discover(&linked).unwrap();
        assert_eq!(found.common_dir, root.join(".git"));
        assert_eq!((found.worktree, found.main_worktree), (Some(linked), Some(root.clone())));
        assert_eq!(discover(&root.join(".git/refs")).unwrap().common_dir, root.join(".git"));
        let outside = tempfile::tempdir().unwrap();
        assert_eq!(discover(outside.path()), None);
    }

    #[test]
    fn a_bare_repository_and_a_separate_git_folder_have_no_main_worktree_to_see() {
        let repo = TestRepo::new();
        let (bare, linked) = (repo.outside().join("bare.git"), repo.outside().join("linked"));
        git_in(repo.outside(), &["clone", "--quiet", "--bare", "project", "bare.git"]);
        git_in(&bare, &["worktree", "add", "--quiet", linked.to_str().unwrap(), "main"]);
        for folder in [&bare, &linked] {
            let found = discover(folder).unwrap();
            assert_eq!((found.common_dir, found.main_worktree), (bare.clone(), None));
        }
        let (apart, other) = (repo.outside().join("apart"), repo.outside().join("other"));
        git_in(repo.outside(), &["init", "--quiet", "--separate-git-dir", "apart.g", "apart"]);
        git_in(&apart, &["commit", "--quiet", "--allow-empty", "-m", "x"]);
        git_in(&apart, &["worktree", "add", "--quiet", other.to_str().unwrap(), "-b", "o"]);
        let found = discover(&apart).unwrap();
        assert_eq!(found.main_worktree, Some(apart));
        let found = discover(&other).unwrap();
        assert_eq!((found.common_dir, found.main_worktree), (repo.outside().join("apart.g"), None));
    }
}
