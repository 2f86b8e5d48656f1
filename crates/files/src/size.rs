//! How large a task file may grow, and what its parts cost to read.

use crate::task_file::TaskFile;

/// From here on a file is large: agents read it whole in every session.
pub const WARNING_BYTES: usize = 50 * 1024;

/// Above this, old sessions are archived.
pub const ARCHIVE_BYTES: usize = 75 * 1024;

/// So many of the last sessions stay in full: enough to continue from.
pub const SESSIONS_KEPT: usize = 5;

/// A task with more sessions than this should have been several.
pub const SESSIONS_MAX: usize = 20;

/// English text and code have about four bytes per token; other languages have fewer.
const BYTES_PER_TOKEN: usize = 4;

/// What the size of a file calls for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeClass {
    /// Nothing.
    Ok,
    /// A warning.
    Warning,
    /// Archiving of old sessions.
    Archive,
}

/// Returns what a size calls for.
pub fn class(bytes: usize) -> SizeClass {
    match bytes {
        ..WARNING_BYTES => SizeClass::Ok,
        WARNING_BYTES..=ARCHIVE_BYTES => SizeClass::Warning,
        _ => SizeClass::Archive,
    }
}

/// How complex a task is, judged by its number of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Complexity {
    /// Up to 3 sessions.
    Simple,
    /// 4 to 8 sessions.
    Medium,
    /// 9 to 15 sessions.
    Large,
    /// 16 sessions or more.
    VeryLarge,
}

impl Complexity {
    /// Returns its name in one word.
    pub fn name(self) -> &'static str {
        match self {
            Complexity::Simple => "simple",
            Complexity::Medium => "medium",
            Complexity::Large => "large",
            Complexity::VeryLarge => "very_large",
        }
    }

    /// Returns what to do with a task of this size.
    pub fn recommendation(self) -> &'static str {
        match self {
            Complexity::Simple => "Single task",
            Complexity::Medium => "Single task, ideal size",
            Complexity::Large => "Consider splitting",
            Complexity::VeryLarge => "Must decompose",
        }
    }
}

/// Returns how complex a task with this many sessions is.
pub fn complexity(sessions: usize) -> Complexity {
    match sessions {
        ..=3 => Complexity::Simple,
        4..=8 => Complexity::Medium,
        9..=15 => Complexity::Large,
        _ => Complexity::VeryLarge,
    }
}

/// Tells whether a task has had so many sessions that it should be decomposed.
pub fn suggests_decomposition(sessions: usize) -> bool {
    sessions > SESSIONS_MAX
}

/// Returns how many sessions a file knows of, the archived ones included.
pub fn count_sessions(file: &TaskFile) -> usize {
    let archived =
        file.archived().map_or(0, |summary| summary.last.saturating_sub(summary.first) as usize + 1);
    archived.saturating_add(file.sessions().len())
}

/// Returns about how many tokens a text has: a quarter of its bytes, rounded up.
///
/// Good enough to compare parts of a file and to warn; no bill should rest on it.
pub fn estimate_tokens(text: &str) -> usize {
    text.len().div_ceil(BYTES_PER_TOKEN)
}

/// What one section costs to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionEstimate {
    /// Its title; empty for what stands before the first section.
    pub title: String,
    /// Its size.
    pub bytes: usize,
    /// About how many tokens that is.
    pub tokens: usize,
}

/// Returns what each section costs to read, beginning with what stands before the first.
pub fn estimate_sections(file: &TaskFile) -> Vec<SectionEstimate> {
    let estimate = |title: &str, text: &str| SectionEstimate {
        title: title.to_owned(),
        bytes: text.len(),
        tokens: estimate_tokens(text),
    };
    let start = file.sections().first().map_or(file.text().len(), |span| span.range.start);
    let sections = file.sections().iter().map(|span| estimate(&span.title, &file.text()[span.range.clone()]));
    std::iter::once(estimate("", &file.text()[..start])).chain(sections).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_where_the_format_has_them() {
        let kib = 1024;
        assert_eq!(
            [0, 50 * kib - 1, 50 * kib, 75 * kib, 75 * kib + 1].map(class),
            [SizeClass::Ok, SizeClass::Ok, SizeClass::Warning, SizeClass::Warning, SizeClass::Archive]
        );
        assert!(!suggests_decomposition(20) && suggests_decomposition(21));
        let names = [1, 3, 4, 8, 9, 15, 16].map(|count| complexity(count).recommendation());
        assert_eq!((names[0], names[1], names[2]), ("Single task", "Single task", "Single task, ideal size"));
        assert_eq!(
            names[3..],
            ["Single task, ideal size", "Consider splitting", "Consider splitting", "Must decompose"]
        );
    }

    #[test]
    fn archived_sessions_count() {
        let text =
            "## 3. Progress Log\n### Archived Summary (Sessions 1-16)\n### Session 17\n### Session 18\n";
        assert_eq!(count_sessions(&TaskFile::parse(text)), 18);
        let odd = "## 3. Progress Log\n### Archived Summary (Sessions 9-4)\n";
        assert_eq!(count_sessions(&TaskFile::parse(odd)), 1);
    }

    #[test]
    fn every_byte_is_estimated_once() {
        let text = "# T\n\n## 1. Context\nabc\n## Odd\nx";
        let estimates = estimate_sections(&TaskFile::parse(text));
        assert_eq!(estimates.iter().map(|estimate| estimate.bytes).sum::<usize>(), text.len());
        assert_eq!(
            estimates.iter().map(|one| one.title.as_str()).collect::<Vec<_>>(),
            ["", "Context", "Odd"]
        );
        assert_eq!([estimate_tokens(""), estimate_tokens("abcde")], [0, 2]);
    }
}
