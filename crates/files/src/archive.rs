//! Archiving: old sessions leave the file for the archive, and a summary stays in their place.
//!
//! ```text
//! ### Archived Summary (Sessions 1-5)
//! **Duration:** 2024-11-26 10:00 - 14:00
//! **Accomplishments:** Set up project; Core implementation done
//! **Commits:** abc123, def456
//! [Full details: .regatta/archives/task-101-archive.md]
//! ```
//!
//! The caller appends [`Archived::archived`] to the archive before it writes the file, so that a crash between
//! the two leaves the sessions twice rather than never.

use std::ops::Range;

use crate::label;
use crate::line;
use crate::outline::Outline;
use crate::session::SessionEntry;
use crate::task_file::TaskFile;

/// The labels of a summary's fields.
const LABELS: &[&str] = &["Duration", "Accomplishments", "Commits"];

/// One session contributes this much to the accomplishments: about a line.
const ACCOMPLISHMENT_BYTES_MAX: usize = 100;

/// All accomplishments together; a summary that grows for ever would be no summary.
const ACCOMPLISHMENTS_BYTES_MAX: usize = 2000;

/// Between two accomplishments.
const SEPARATOR: &str = "; ";

/// What is left out because of a bound.
const ELLIPSIS: char = '…';

/// The summary of archived sessions, as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedSummary {
    /// The first session it stands for.
    pub first: u32,
    /// The last session it stands for.
    pub last: u32,
    /// From when to when.
    pub duration: String,
    /// What was done.
    pub accomplishments: String,
    /// The commits that came of it.
    pub commits: Vec<String>,
    /// Where the sessions are in full.
    pub link: Option<String>,
    /// All of it, from its heading to the next, as written.
    pub text: String,
    /// Where it stands.
    pub range: Range<usize>,
}

/// How to archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveRequest {
    /// How many of the last sessions stay in full.
    pub keep: usize,
    /// Where the archive is.
    pub link: String,
    /// The commits of the sessions that are taken out.
    pub commits: Vec<String>,
}

/// A file after archiving.
#[derive(Debug, Clone, PartialEq)]
pub struct Archived {
    /// The file with the summary in place of the sessions.
    pub file: TaskFile,
    /// Every byte of the sessions that were taken out, in order; before them an earlier summary, if somebody had
    /// edited it.
    pub archived: String,
    /// The lowest number among them.
    pub first: u32,
    /// The highest number among them.
    pub last: u32,
}

impl ArchivedSummary {
    pub(crate) fn parse(
        text: &str,
        outline: &Outline,
        range: Range<usize>,
        body: Range<usize>,
        (first, last): (u32, u32),
    ) -> Self {
        let mut found = label::find(text, body.clone(), outline, LABELS);
        let link =
            line::lines(text, body).find_map(|range| Some((range.start, parse_link(text[range].trim())?)));
        if let (Some((at, _)), Some(last)) = (link, found.last_mut()) {
            last.value.end = at.max(last.value.start);
        }
        let value = |label| label::value_of(text, &found, label);
        let commits = value("Commits");
        let commits = commits
            .lines()
            .next()
            .unwrap_or_default()
            .split([',', ' '])
            .filter(|name| !name.is_empty() && *name != "None");
        ArchivedSummary {
            first,
            last,
            duration: value("Duration"),
            accomplishments: value("Accomplishments"),
            commits: commits.map(str::to_owned).collect(),
            link: link.map(|(_, link)| link.to_owned()),
            text: text[range.clone()].to_owned(),
            range,
        }
    }

    fn render(&self) -> String {
        let commits = if self.commits.is_empty() { "None".to_owned() } else { self.commits.join(", ") };
        let link = self.link.as_ref().map_or(String::new(), |link| format!("\n[Full details: {link}]"));
        format!(
            "### Archived Summary (Sessions {}-{})\n**Duration:** {}\n**Accomplishments:** {}\n**Commits:** {commits}{link}",
            self.first, self.last, self.duration, self.accomplishments
        )
    }

    fn is_as_rendered(&self) -> bool {
        line::with_endings(self.text.trim_end(), "\n") == self.render()
    }
}

impl TaskFile {
    /// Takes all but the last sessions out; returns nothing when there are none to take out.
    pub fn archive(&self, request: &ArchiveRequest) -> Option<Archived> {
        let count = self.sessions().len().checked_sub(request.keep).filter(|count| *count > 0)?;
        let taken = &self.sessions()[..count];
        let summary = summarize(self.archived(), taken, request);
        let (first, last) = bounds(taken);
        let mut archived = String::new();
        let edited = self.archived().filter(|old| !old.is_as_rendered());
        for text in edited.map(|old| &old.text).into_iter().chain(taken.iter().map(|session| &session.text)) {
            archived.push_str(text);
        }
        let file =
            TaskFile::parse(self.without(taken, &line::with_endings(&summary.render(), self.ending())));
        Some(Archived { file, archived, first, last })
    }

    /// Returns the text without some sessions, and with a summary in place of the old one or of the first.
    fn without(&self, taken: &[SessionEntry], summary: &str) -> String {
        let ending = self.ending();
        let mut cuts: Vec<(Range<usize>, String)> =
            taken.iter().map(|session| (session.range.clone(), String::new())).collect();
        match self.archived() {
            Some(old) => {
                let end = old.range.start + old.text.trim_end().len();
                cuts.push((old.range.start..end, summary.to_owned()));
            }
            None => cuts[0].1 = format!("{summary}{ending}{ending}"),
        }
        cuts.sort_by_key(|(range, _)| range.start);
        let mut text = String::with_capacity(self.text.len());
        let mut at = 0;
        for (range, with) in cuts {
            text.push_str(&self.text[at..range.start]);
            text.push_str(&with);
            at = range.end;
        }
        text.push_str(&self.text[at..]);
        text
    }
}

fn summarize(
    old: Option<&ArchivedSummary>,
    taken: &[SessionEntry],
    request: &ArchiveRequest,
) -> ArchivedSummary {
    let (first, last) = bounds(taken);
    let mut commits: Vec<String> = old.map_or_else(Vec::new, |old| old.commits.clone());
    for commit in &request.commits {
        if !commits.contains(commit) {
            commits.push(commit.clone());
        }
    }
    ArchivedSummary {
        first: old.map_or(first, |old| old.first.min(first)),
        last: old.map_or(last, |old| old.last.max(last)),
        duration: duration(old, taken),
        accomplishments: accomplishments(old, taken),
        commits,
        link: Some(line::on_one_line(&request.link)),
        text: String::new(),
        range: 0..0,
    }
}

fn bounds(taken: &[SessionEntry]) -> (u32, u32) {
    let numbers = || taken.iter().map(|session| session.number);
    (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0))
}

/// Writes from when to when; the date is not repeated when it is the same.
fn duration(old: Option<&ArchivedSummary>, taken: &[SessionEntry]) -> String {
    let old_start = old.and_then(|old| old.duration.split(" - ").next()).filter(|start| !start.is_empty());
    let start = old_start.or(taken.first().map(|session| session.at.as_str())).unwrap_or_default();
    let end = taken.last().map(|session| session.at.as_str()).unwrap_or_default();
    match (start.split_once(' '), end.split_once(' ')) {
        (Some((date, _)), Some((same, time))) if date == same => format!("{start} - {time}"),
        _ => line::on_one_line(&format!("{start} - {end}")),
    }
}

fn accomplishments(old: Option<&ArchivedSummary>, taken: &[SessionEntry]) -> String {
    let mut out = old.map_or_else(String::new, |old| line::on_one_line(&old.accomplishments));
    for session in taken {
        let done = accomplishment(&session.did);
        if done.is_empty() || out.ends_with(ELLIPSIS) && out.len() + done.len() > ACCOMPLISHMENTS_BYTES_MAX {
            continue;
        }
        if out.len() + SEPARATOR.len() + done.len() > ACCOMPLISHMENTS_BYTES_MAX {
            out.push_str(SEPARATOR);
            out.push(ELLIPSIS);
            break;
        }
        if !out.is_empty() {
            out.push_str(SEPARATOR);
        }
        out.push_str(&done);
    }
    if out.is_empty() { "None".to_owned() } else { out }
}

/// Returns the first line of what a session did, without its bullet.
fn accomplishment(did: &str) -> String {
    let lines =
        did.lines().map(|line| line.trim_start_matches(['-', '*', '+', '#', '>', '`', '~', ' ', '\t']));
    let first = line::on_one_line(lines.map(str::trim).find(|line| !line.is_empty()).unwrap_or_default());
    if first.len() <= ACCOMPLISHMENT_BYTES_MAX {
        return first;
    }
    let mut end = ACCOMPLISHMENT_BYTES_MAX;
    while !first.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{ELLIPSIS}", first[..end].trim_end())
}

/// Reads `[Full details: PATH]` or `[Full details](PATH)`.
fn parse_link(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("[Full details")?;
    let plain = rest.strip_prefix(':').and_then(|rest| rest.strip_suffix(']'));
    plain.or_else(|| rest.strip_prefix("](")?.strip_suffix(')')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(first: u32, last: u32) -> String {
        let sessions = (first..=last).map(|number| {
            format!("### Session {number} - 2024-11-26 1{number}:00\n**Did:**\n- Step {number}\n- more\n\n")
        });
        format!("## 3. Progress Log\n\n{}## 4. Chain Output\n", sessions.collect::<String>())
    }

    fn request(keep: usize) -> ArchiveRequest {
        ArchiveRequest { keep, link: "archives/task-1.md".into(), commits: vec!["abc123".into()] }
    }

    #[test]
    fn old_sessions_become_a_summary() {
        let result = TaskFile::parse(log(1, 4)).archive(&request(2)).unwrap();
        expect_test::expect![[r#"
            ## 3. Progress Log

            ### Archived Summary (Sessions 1-2)
            **Duration:** 2024-11-26 11:00 - 12:00
            **Accomplishments:** Step 1; Step 2
            **Commits:** abc123
            [Full details: archives/task-1.md]

            ### Session 3 - 2024-11-26 13:00
            **Did:**
            - Step 3
            - more

            ### Session 4 - 2024-11-26 14:00
            **Did:**
            - Step 4
            - more

            ## 4. Chain Output
        "#]]
        .assert_eq(result.file.text());
        assert_eq!((result.first, result.last), (1, 2));
        assert!(
            result.archived.starts_with("### Session 1") && result.archived.ends_with("- Step 2\n- more\n\n")
        );
    }

    #[test]
    fn a_second_archiving_extends_the_summary() {
        let once = TaskFile::parse(log(1, 4)).archive(&request(2)).unwrap().file;
        let mut more = request(1);
        more.commits.push("def456".into());
        let twice = once.archive(&more).unwrap();
        let summary = twice.file.archived().unwrap();
        assert_eq!((summary.first, summary.last), (1, 3));
        assert_eq!(summary.duration, "2024-11-26 11:00 - 13:00");
        assert_eq!(summary.accomplishments, "Step 1; Step 2; Step 3");
        assert_eq!(summary.commits, ["abc123", "def456"]);
        assert!(twice.archived.starts_with("### Session 3"));
    }

    #[test]
    fn a_summary_that_somebody_edited_goes_to_the_archive() {
        let once = TaskFile::parse(log(1, 4)).archive(&request(2)).unwrap().file;
        let edited = TaskFile::parse(once.text().replace("[Full", "my own words\n[Full"));
        let twice = edited.archive(&request(1)).unwrap();
        assert!(twice.archived.contains("my own words"));
    }

    #[test]
    fn with_few_sessions_nothing_happens() {
        assert_eq!(TaskFile::parse(log(1, 5)).archive(&request(5)), None);
        assert_eq!(TaskFile::parse("").archive(&request(0)), None);
    }

    #[test]
    fn accomplishments_are_bounded() {
        let session = |number| format!("### Session {number} - x\n**Did:** {}\n\n", "word ".repeat(100));
        let text = format!("## 3. Progress Log\n\n{}", (1..=60).map(session).collect::<String>());
        let file = TaskFile::parse(text).archive(&request(5)).unwrap().file;
        let summary = &file.archived().unwrap().accomplishments;
        assert!(
            summary.len() <= ACCOMPLISHMENTS_BYTES_MAX + 8 && summary.ends_with(ELLIPSIS),
            "{}",
            summary.len()
        );
    }
}
