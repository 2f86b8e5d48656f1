//! By what a hunk is recognized: by its content, so that it stays the same wherever it moves to in its file.

use super::patch::{File, Hunk, Line, LineKind};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;

/// The identity of a hunk: the hash of its file's name and of the lines that come and go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HunkId(String);

impl HunkId {
    /// Returns the identities of the hunks of a file. Of equal ones, the second and those after it have a number.
    pub fn of_file(file: &File) -> Vec<Self> {
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        let id = |hunk: &Hunk| {
            let digest = digest(&file.path, hunk);
            let count = counts.entry(digest.clone()).or_default();
            *count += 1;
            HunkId(if *count == 1 { digest } else { format!("{digest}-{count}") })
        };
        if file.hunks.is_empty() {
            // A rename, a mode or a binary file can be viewed too.
            return vec![HunkId(digest_of_notes(file))];
        }
        file.hunks.iter().map(id).collect()
    }

    /// Returns it as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for HunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns a short hash of a line that comes or goes.
pub fn line_mark(line: &Line) -> u32 {
    let mut hasher = Sha256::new();
    hash_line(&mut hasher, line);
    let digest = hasher.finalize();
    u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
}

fn digest(path: &str, hunk: &Hunk) -> String {
    let mut hasher = Sha256::new();
    hasher.update(path.as_bytes());
    hasher.update([0]);
    for line in hunk.lines.iter().filter(|line| line.kind != LineKind::Context) {
        hash_line(&mut hasher, line);
    }
    hex(&hasher.finalize())
}

fn digest_of_notes(file: &File) -> String {
    let mut hasher = Sha256::new();
    for word in [&file.path, &file.old_path] {
        hasher.update(word.as_bytes());
        hasher.update([0]);
    }
    // The object's id is part of it, since that is all there is of a binary file's content.
    for word in file.notes().iter().chain([&file.index]) {
        hasher.update(word.as_bytes());
        hasher.update([0]);
    }
    hex(&hasher.finalize())
}

fn hash_line(hasher: &mut Sha256, line: &Line) {
    let sign: &[u8] = match line.kind {
        LineKind::Context => b" ",
        LineKind::Added => b"+",
        LineKind::Removed => b"-",
    };
    hasher.update(sign);
    hasher.update(line.text.as_bytes());
    hasher.update([u8::from(line.has_return), u8::from(line.is_unended), b'\n']);
}

/// 64 bits are enough to tell the hunks of one task apart.
fn hex(digest: &[u8]) -> String {
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Patch;

    fn ids(hunks: &str) -> Vec<HunkId> {
        let text = format!("diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n{hunks}");
        HunkId::of_file(&Patch::parse(&text).files[0])
    }

    #[test]
    fn a_hunk_that_moves_stays_itself() {
        let here = ids("@@ -1,2 +1,2 @@ fn a\n one\n-two\n+zwei\n");
        let there = ids("@@ -91,2 +99,2 @@ fn b\n uno\n-two\n+zwei\n");
        let other = ids("@@ -1,2 +1,2 @@\n one\n-two\n+drei\n");
        assert_eq!(here, there);
        assert_ne!(here, other);
        assert_ne!(here, ids("@@ -1,2 +1,2 @@\n one\n-two\n+zwei\r\n"));
    }

    #[test]
    fn equal_hunks_are_told_apart_by_number() {
        let both = ids("@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-a\n+b\n");
        assert_eq!(both[1].as_str(), format!("{}-2", both[0]));
    }

    #[test]
    fn what_has_no_lines_has_an_identity_too() {
        let id = |text: &str| HunkId::of_file(&Patch::parse(text).files[0]);
        let first = id("diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n");
        let second = id("diff --git a/x b/x\nindex 1..3 100644\nBinary files a/x and b/x differ\n");
        assert_eq!(first.len(), 1);
        assert_ne!(first, second);
    }
}
