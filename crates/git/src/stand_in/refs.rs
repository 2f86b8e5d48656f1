//! Reads refs of a stand-in without git: its config may say anything by now.
//!
//! Only ids are trusted, and no symlink at the end of a path is followed. What cannot be read counts as
//! missing.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::name::{CommitId, RefName};

/// Refs that name refs that name refs: git itself follows five.
const STEPS_MAX: usize = 5;

/// Larger than the list of refs of the largest repositories; what is beyond is not read.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What a HEAD says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Head {
    /// It stands on a ref.
    On(RefName),
    /// It stands on a commit.
    Detached(CommitId),
}

/// Reads a HEAD.
pub(super) fn read_head(git_dir: &Path) -> Option<Head> {
    let content = read_plain(&git_dir.join("HEAD"))?;
    let text = std::str::from_utf8(&content).ok()?.trim_end();
    match text.strip_prefix("ref:") {
        Some(name) => RefName::parse(name.trim()).ok().map(Head::On),
        None => CommitId::parse(text).ok().map(Head::Detached),
    }
}

/// Returns what a ref points to.
pub(super) fn find(git_folder: &Path, name: &str) -> Option<CommitId> {
    let mut name = RefName::parse(name).ok()?;
    for _ in 0..STEPS_MAX {
        let Some(content) = read_plain(&git_folder.join(name.as_str())) else {
            return find_packed(git_folder, &name);
        };
        let text = std::str::from_utf8(&content).ok()?.trim_end();
        match text.strip_prefix("ref:") {
            Some(next) => name = RefName::parse(next.trim()).ok()?,
            None => return CommitId::parse(text).ok(),
        }
    }
    None
}

fn find_packed(git_folder: &Path, name: &RefName) -> Option<CommitId> {
    let content = read_plain(&git_folder.join("packed-refs"))?;
    let lines = content.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let mut entries = lines.filter_map(|line| line.split_once(' '));
    entries.find(|(_, found)| *found == name.as_str()).and_then(|(id, _)| CommitId::parse(id).ok())
}

/// Reads a regular file, up to a bound; a pipe would otherwise be waited for.
pub(crate) fn read_plain(path: &Path) -> Option<Vec<u8>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(i32::try_from(flags).ok()?).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut content = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut content).ok()?;
    Some(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use regatta_testkit::repo::write_below;

    fn id(digit: char) -> String {
        digit.to_string().repeat(40)
    }

    #[test]
    fn a_loose_ref_counts_before_a_packed_one_and_may_name_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        write_below(
            root,
            "packed-refs",
            &format!("# pack-refs\n{} refs/heads/a\n{} refs/heads/b\n", id('1'), id('2')),
        );
        write_below(root, "refs/heads/b", &format!("{}\n", id('3')));
        write_below(root, "refs/heads/c", "ref: refs/heads/b\n");
        write_below(root, "refs/heads/loop", "ref: refs/heads/loop\n");
        let found = |name: &str| find(root, name).map(|id| id.as_str()[..1].to_owned());
        assert_eq!(found("refs/heads/a").as_deref(), Some("1"));
        assert_eq!(found("refs/heads/b").as_deref(), Some("3"));
        assert_eq!(found("refs/heads/c").as_deref(), Some("3"));
        assert_eq!((found("refs/heads/loop"), found("refs/heads/d")), (None, None));
    }

    #[test]
    fn neither_symlinks_nor_names_lead_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("git");
        write_below(folder.path(), "secret", &id('4'));
        write_below(&root, "refs/heads/a", "ref: refs/heads/../../../secret\n");
        std::os::unix::fs::symlink("../../../secret", root.join("refs/heads/b")).expect("a symlink");
        assert_eq!(find(&root, "refs/heads/a"), None);
        assert_eq!(find(&root, "refs/heads/b"), None);
        write_below(&root, "HEAD", "ref: refs/heads/../../x\n");
        assert_eq!(read_head(&root), None);
    }
}
