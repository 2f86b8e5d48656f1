//! What stands at paths of a commit, by mode and object id, with the paths byte for byte.
//!
//! A diff is for people and shows names as text; code that copies or compares files needs the exact names.
//! Nothing here reads file contents.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::command::Git;
use crate::error::Error;
use crate::name::CommitId;
use crate::repository::Repository;
use crate::stage::split;

/// How many paths are asked for at once: far below what a command line holds.
const PATHS_AT_ONCE: usize = 200;

/// How git writes that nothing stands at a path.
const NO_MODE: &str = "000000";

/// How git writes that a submodule stands at a path.
const LINK_MODE: &str = "160000";

/// What stands at a path: its mode and the id of its content, as git writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// The mode, such as `100644`.
    pub mode: String,
    /// The id of the file, of the link's text, or of a submodule's commit.
    pub id: String,
}

/// What became of one path from one commit to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryChange {
    /// The path, byte for byte.
    pub path: PathBuf,
    /// What stood there.
    pub before: Option<TreeEntry>,
    /// What stands there.
    pub after: Option<TreeEntry>,
}

impl TreeEntry {
    /// Tells whether it is a submodule's commit.
    pub(crate) fn is_link(&self) -> bool {
        self.mode == LINK_MODE
    }
}

impl EntryChange {
    /// Tells whether a submodule stood or stands there.
    pub(crate) fn concerns_link(&self) -> bool {
        self.before.iter().chain(&self.after).any(TreeEntry::is_link)
    }
}

impl Repository {
    /// Returns what became of each path that differs between two commits.
    pub async fn changed_entries(&self, base: &CommitId, head: &CommitId) -> Result<Vec<EntryChange>, Error> {
        list_changes(self.git(), base, head).await
    }

    /// Returns what stands at paths of a commit; where nothing does, or a folder, there is no entry.
    pub async fn find_entries(
        &self,
        commit: &CommitId,
        paths: &[PathBuf],
    ) -> Result<BTreeMap<PathBuf, TreeEntry>, Error> {
        let mut entries = BTreeMap::new();
        for some in paths.chunks(PATHS_AT_ONCE) {
            let git = self.git().args(["ls-tree", "-z", "--full-tree", commit.as_str(), "--"]).args(some);
            let listed = git.success().await?;
            for record in split(&listed.stdout) {
                let (path, entry) = parse_entry(record).ok_or_else(|| listed.unexpected(record))?;
                entries.extend(entry.map(|entry| (path, entry)));
            }
        }
        Ok(entries)
    }
}

/// Lists what became of each path, in the repository that the call is about.
pub(crate) async fn list_changes(
    git: Git,
    base: &CommitId,
    head: &CommitId,
) -> Result<Vec<EntryChange>, Error> {
    let words = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none"];
    let listed = git.args(words).args([base.as_str(), head.as_str()]).success().await?;
    let mut fields = split(&listed.stdout);
    let mut changes = Vec::new();
    while let Some(record) = fields.next() {
        let change = parse_change(record, fields.next());
        changes.push(change.ok_or_else(|| listed.unexpected(record))?);
    }
    Ok(changes)
}

/// Lists what an index holds at paths, in the repository and with the index that the call is about.
pub(crate) async fn list_index(
    git: impl Fn() -> Git,
    paths: &[PathBuf],
) -> Result<BTreeMap<PathBuf, TreeEntry>, Error> {
    let wanted: BTreeSet<&PathBuf> = paths.iter().collect();
    let mut entries = BTreeMap::new();
    for some in paths.chunks(PATHS_AT_ONCE) {
        let listed = git().args(["ls-files", "-z", "--stage", "--"]).args(some).success().await?;
        for record in split(&listed.stdout) {
            let (path, entry) = parse_staged(record).ok_or_else(|| listed.unexpected(record))?;
            // A path that is a folder by now lists what is in it.
            if wanted.contains(&path) {
                entries.insert(path, entry);
            }
        }
    }
    Ok(entries)
}

/// Reads `MODE ID STAGE<tab>PATH`.
pub(crate) fn parse_staged(record: &[u8]) -> Option<(PathBuf, TreeEntry)> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(&record[..tab]).ok()?.split(' ');
    let (mode, id) = (words.next()?.to_owned(), words.next()?.to_owned());
    Some((to_path(&record[tab + 1..]), TreeEntry { mode, id }))
}

/// Reads `:MODE MODE ID ID X`, and the path after it.
fn parse_change(record: &[u8], path: Option<&[u8]>) -> Option<EntryChange> {
    let text = std::str::from_utf8(record).ok()?.strip_prefix(':')?;
    let mut words = text.split(' ');
    let mut word = || words.next().map(str::to_owned);
    let [old, new, old_id, new_id] = [word()?, word()?, word()?, word()?];
    let entry = |mode: String, id: String| (mode != NO_MODE).then_some(TreeEntry { mode, id });
    Some(EntryChange { path: to_path(path?), before: entry(old, old_id), after: entry(new, new_id) })
}

/// Reads `MODE KIND ID<tab>PATH`; a folder is none.
fn parse_entry(record: &[u8]) -> Option<(PathBuf, Option<TreeEntry>)> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(&record[..tab]).ok()?.split(' ');
    let (mode, kind, id) = (words.next()?, words.next()?, words.next()?);
    let entry = TreeEntry { mode: mode.to_owned(), id: id.to_owned() };
    Some((to_path(&record[tab + 1..]), (kind != "tree").then_some(entry)))
}

pub(crate) fn to_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}
