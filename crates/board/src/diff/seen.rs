//! What a person has viewed of a diff: new, viewed, or changed since.
//!
//! A mark keeps the identity of a hunk and a short hash of each of its lines. A hunk that has its mark is viewed. One without is
//! compared with the marks of the same file that fit no hunk any more: where they overlap, it has changed since.

use super::identity::{HunkId, line_mark};
use super::patch::{File, Hunk, LineKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// More marks of one person on one task are not kept; the oldest are dropped.
pub const MARKS_MAX: usize = 4_000;
/// Lines of a hunk beyond this count as new on the second look.
const LINES_MAX: usize = 4_000;

/// That a hunk was viewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mark {
    /// The file.
    pub path: String,
    /// The hunk.
    pub hunk: HunkId,
    /// The first line of the base that it replaces.
    pub start: u32,
    /// How many lines of the base it replaces.
    pub count: u32,
    /// Short hashes of the lines that come and go.
    pub lines: Vec<u32>,
}

/// Whether a hunk was viewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Seen {
    New,
    Changed,
    Viewed,
}

/// A hunk with what a person has viewed of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenHunk {
    /// Its identity.
    pub id: HunkId,
    /// Whether it was viewed.
    pub seen: Seen,
    /// For one that changed: which of its lines were viewed before.
    pub is_known: Vec<bool>,
}

impl Seen {
    /// Returns its name in pages and in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Seen::New => "new",
            Seen::Changed => "changed",
            Seen::Viewed => "viewed",
        }
    }
}

impl Mark {
    /// Makes the mark of a hunk; nothing if the file has no such hunk.
    pub fn of(file: &File, id: &HunkId) -> Option<Self> {
        let place = HunkId::of_file(file).iter().position(|known| known == id)?;
        let hunk = file.hunks.get(place);
        Some(Mark {
            path: file.path.clone(),
            hunk: id.clone(),
            start: hunk.map_or(0, |hunk| hunk.old_start),
            count: hunk.map_or(0, |hunk| hunk.old_count),
            lines: hunk.map_or_else(Vec::new, |hunk| changed_lines(hunk).take(LINES_MAX).collect()),
        })
    }

    fn overlaps(&self, hunk: &Hunk, lines: &BTreeSet<u32>) -> bool {
        // A hunk that only adds has a place, too: a new file that is written again has changed.
        let (from, to) = (self.start, self.start.saturating_add(self.count.max(1)));
        let end = hunk.old_start.saturating_add(hunk.old_count.max(1));
        (from < end && hunk.old_start < to) || self.lines.iter().any(|line| lines.contains(line))
    }
}

/// Says what was viewed of a file; a file without hunks has one place to mark all the same.
pub fn judge(file: &File, marks: &[Mark]) -> Vec<SeenHunk> {
    let ids = HunkId::of_file(file);
    let own: Vec<&Mark> = marks.iter().filter(|mark| mark.path == file.path).collect();
    let is_marked = |id: &HunkId| own.iter().any(|mark| mark.hunk == *id);
    let stale: Vec<&Mark> = own.iter().copied().filter(|mark| !ids.contains(&mark.hunk)).collect();
    let viewed: BTreeSet<u32> = own.iter().flat_map(|mark| mark.lines.iter().copied()).collect();
    let all: BTreeSet<u32> = file.hunks.iter().flat_map(changed_lines).collect();
    let judge = |(place, id): (usize, HunkId)| {
        let Some(hunk) = file.hunks.get(place) else {
            let seen = match (is_marked(&id), stale.is_empty()) {
                (true, _) => Seen::Viewed,
                (false, false) => Seen::Changed,
                (false, true) => Seen::New,
            };
            return SeenHunk { id, seen, is_known: Vec::new() };
        };
        let lines: BTreeSet<u32> = changed_lines(hunk).collect();
        let before: Vec<&Mark> = stale.iter().copied().filter(|mark| mark.overlaps(hunk, &lines)).collect();
        // Two hunks that grew together, or one that fell apart, show nothing that was not viewed.
        let has_new = lines.iter().any(|line| !viewed.contains(line));
        let has_lost = before.iter().flat_map(|mark| &mark.lines).any(|line| !all.contains(line));
        let seen = match (is_marked(&id), before.is_empty()) {
            (true, _) => Seen::Viewed,
            (false, true) => Seen::New,
            (false, false) if !has_new && !has_lost => Seen::Viewed,
            (false, false) => Seen::Changed,
        };
        let is_known = match seen {
            Seen::Changed => hunk.lines.iter().map(|line| viewed.contains(&line_mark(line))).collect(),
            Seen::New | Seen::Viewed => Vec::new(),
        };
        SeenHunk { id, seen, is_known }
    };
    ids.into_iter().enumerate().map(judge).collect()
}

fn changed_lines(hunk: &Hunk) -> impl Iterator<Item = u32> + '_ {
    hunk.lines.iter().filter(|line| line.kind != LineKind::Context).map(line_mark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Patch;

    fn file(hunks: &str) -> File {
        Patch::parse(&format!("diff --git a/x b/x\n--- a/x\n+++ b/x\n{hunks}")).files.remove(0)
    }

    fn view_all(file: &File) -> Vec<Mark> {
        HunkId::of_file(file).iter().filter_map(|id| Mark::of(file, id)).collect()
    }

    fn seen(file: &File, marks: &[Mark]) -> Vec<&'static str> {
        judge(file, marks).iter().map(|hunk| hunk.seen.as_str()).collect()
    }

    const FIRST: &str = "@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n";

    #[test]
    fn a_hunk_is_new_then_viewed_then_changed() {
        let first = file(&format!("{FIRST}@@ -50,2 +50,3 @@\n x\n+y\n z\n"));
        assert_eq!(seen(&first, &[]), ["new", "new"]);
        let marks = view_all(&first);
        assert_eq!(seen(&first, &marks), ["viewed", "viewed"]);
        assert_eq!(seen(&first, &marks[..1]), ["viewed", "new"]);
        let second = file(&format!("{FIRST}@@ -50,2 +50,4 @@\n x\n+y\n+more\n z\n@@ -90 +91,2 @@\n q\n+r\n"));
        assert_eq!(seen(&second, &marks), ["viewed", "changed", "new"]);
        assert_eq!(
            judge(&second, &marks)[1].is_known,
            [false, true, false, false],
            "y was seen, more was not"
        );
    }

    #[test]
    fn a_new_file_that_is_written_again_has_changed() {
        let marks = view_all(&file("@@ -0,0 +1 @@\n+one\n"));
        assert_eq!(seen(&file("@@ -0,0 +1 @@\n+two\n"), &marks), ["changed"]);
    }

    #[test]
    fn a_hunk_that_moves_stays_viewed() {
        let marks = view_all(&file(FIRST));
        assert_eq!(seen(&file("@@ -80,3 +91,3 @@ fn other\n e\n-b\n+c\n f\n"), &marks), ["viewed"]);
    }

    #[test]
    fn hunks_that_grow_together_or_fall_apart_stay_viewed_unless_something_is_lost() {
        let apart = file("@@ -1,2 +1,3 @@\n a\n+b\n c\n@@ -9,2 +10,3 @@\n d\n+e\n f\n");
        let together = file("@@ -1,6 +1,8 @@\n a\n+b\n c\n m\n n\n d\n+e\n f\n");
        assert_eq!(seen(&together, &view_all(&apart)), ["viewed"]);
        assert_eq!(seen(&apart, &view_all(&together)), ["viewed", "viewed"]);
        let less = file("@@ -1,6 +1,7 @@\n a\n+b\n c\n m\n n\n d\n f\n");
        assert_eq!(seen(&less, &view_all(&together)), ["changed"]);
    }

    #[test]
    fn marks_of_other_files_say_nothing() {
        let mut marks = view_all(&file(FIRST));
        marks[0].path = "y".to_owned();
        assert_eq!(seen(&file(FIRST), &marks), ["new"]);
        assert_eq!(Mark::of(&file(FIRST), &marks[0].hunk).map(|mark| mark.path), Some("x".to_owned()));
        assert_eq!(Mark::of(&file("@@ -1 +1 @@\n-a\n+b\n"), &marks[0].hunk), None);
    }

    #[test]
    fn a_binary_file_is_marked_as_a_whole() {
        let binary = |id: &str| {
            let text = format!("diff --git a/x b/x\nindex 1..{id} 100644\nBinary files a/x and b/x differ\n");
            Patch::parse(&text).files.remove(0)
        };
        let marks = view_all(&binary("2"));
        assert_eq!(seen(&binary("2"), &marks), ["viewed"]);
        assert_eq!(seen(&binary("3"), &marks), ["changed"]);
    }
}
