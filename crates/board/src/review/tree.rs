//! The list of files, by folder.

use super::file::{counts, shown};
use crate::diff::{Patch, Seen, SeenHunk};
use crate::markup::Markup;
use crate::words;

/// The files of a diff with what the reader has viewed of them.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// The folders, in the order of the patch.
    pub folders: Vec<Folder>,
    /// How many hunks there are.
    pub all: usize,
    /// How many of them were viewed.
    pub viewed: usize,
    /// How many changed since.
    pub changed: usize,
}

/// A folder with its files.
#[derive(Debug, Clone)]
pub struct Folder {
    /// Its path, without the last slash; nothing for the root.
    pub name: Markup,
    /// Its files.
    pub files: Vec<Entry>,
}

/// A file.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its place in the patch.
    pub number: usize,
    /// Its path.
    pub path: String,
    /// Its name in the folder.
    pub name: Markup,
    /// How many lines come and go.
    pub counts: Markup,
    /// The least viewed of its hunks.
    pub seen: Seen,
}

impl Tree {
    /// Lists the files of a patch.
    pub fn of(patch: &Patch, seen: &[Vec<SeenHunk>]) -> Self {
        let mut tree = Tree::default();
        let mut before = None;
        for (number, (file, seen)) in patch.files.iter().zip(seen).enumerate() {
            tree.all += seen.len();
            tree.viewed += seen.iter().filter(|hunk| hunk.seen == Seen::Viewed).count();
            tree.changed += seen.iter().filter(|hunk| hunk.seen == Seen::Changed).count();
            let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
            if before != Some(folder) {
                tree.folders.push(Folder { name: Markup::new(shown(folder)), files: Vec::new() });
                before = Some(folder);
            }
            let entry = Entry {
                number,
                path: file.path.clone(),
                name: Markup::new(shown(name)),
                counts: Markup::new(counts(file)),
                seen: seen.iter().map(|hunk| hunk.seen).min().unwrap_or(Seen::New),
            };
            if let Some(folder) = tree.folders.last_mut() {
                folder.files.push(entry);
            }
        }
        tree
    }

    pub(crate) fn file_count(&self) -> String {
        let count: usize = self.folders.iter().map(|folder| folder.files.len()).sum();
        words::count(count as u64, "file")
    }

    pub(crate) fn left(&self) -> usize {
        self.all - self.viewed
    }
}

impl Entry {
    pub(crate) fn class(&self) -> &'static str {
        match self.seen {
            Seen::New => "new",
            Seen::Changed => "half",
            Seen::Viewed => "yes",
        }
    }

    pub(crate) fn words(&self) -> &'static str {
        match self.seen {
            Seen::New => "new",
            Seen::Changed => "changed since you viewed it",
            Seen::Viewed => "viewed",
        }
    }

    pub(crate) fn is_viewed(&self) -> bool {
        self.seen == Seen::Viewed
    }
}
