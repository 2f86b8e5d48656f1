//! The summary that stays in a file for sessions that were archived: how it is read, made and written.
//!
//! ```text
//! ### Archived Summary (Sessions 1-5)
//! **Duration:** 2024-11-26 10:00 - 14:00
//! **Accomplishments:** Set up project; Core implementation done
//! **Commits:** abc123, def456
//! [Full details: .regatta/archives/task-101-archive.md]
//! ```

use std::ops::Range;

use crate::archive::ArchiveRequest;
use crate::commit_names::is_same_commit;
use crate::label;
use crate::line;
use crate::outline::Outline;
use crate::session::SessionEntry;

/// The labels of a summary's fields.
const LABELS: &[&str] = &["Duration", "Accomplishments", "Commits"];

/// One session contributes this much to the accomplishments: about a line.
const ACCOMPLISHMENT_BYTES_MAX: usize = 100;

/// All accomplishments together; a summary that grows forever would not be a summary.
const ACCOMPLISHMENTS_BYTES_MAX: usize = 2000;

/// So many commits are listed, the newest; the archive names them all.
const COMMITS_MAX: usize = 100;

/// Between two accomplishments.
const SEPARATOR: &str = "; ";

/// What is left out because of a bound.
const ELLIPSIS: char = '…';

/// The summary of archived sessions, as it is in a file.
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
    /// The resulting commits.
    pub commits: Vec<String>,
    /// Where the sessions are in full.
    pub link: Option<String>,
    /// All of it, from its heading to the next, as written.
    pub text: String,
    /// Where it stands.
    pub range: Range<usize>,
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

    pub(crate) fn render(&self) -> String {
        let commits = if self.commits.is_empty() { "None".to_owned() } else { self.commits.join(", ") };
        let link = self.link.as_ref().map_or(String::new(), |link| format!("\n[Full details: {link}]"));
        format!(
            "### Archived Summary (Sessions {}-{})\n**Duration:** {}\n**Accomplishments:** {}\n**Commits:** {commits}{link}",
            self.first, self.last, self.duration, self.accomplishments
        )
    }

    /// Tells whether nobody has edited it since it was written.
    pub(crate) fn is_as_rendered(&self) -> bool {
        line::with_endings(self.text.trim_end(), "\n") == self.render()
    }
}

/// Sums up the sessions that are taken out, together with an earlier summary.
pub(crate) fn summarize(
    old: Option<&ArchivedSummary>,
    taken: &[SessionEntry],
    request: &ArchiveRequest,
) -> ArchivedSummary {
    let (first, last) = bounds(taken);
    ArchivedSummary {
        first: old.map_or(first, |old| old.first.min(first)),
        last: old.map_or(last, |old| old.last.max(last)),
        duration: duration(old, taken),
        accomplishments: accomplishments(old, taken),
        commits: commits(old, request),
        link: Some(line::on_one_line(&request.link)),
        text: String::new(),
        range: 0..0,
    }
}

/// Returns the lowest and the highest number.
pub(crate) fn bounds(taken: &[SessionEntry]) -> (u32, u32) {
    let numbers = || taken.iter().map(|session| session.number);
    (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0))
}

/// Lists the commits of the old summary and the new ones, each once.
fn commits(old: Option<&ArchivedSummary>, request: &ArchiveRequest) -> Vec<String> {
    let mut commits: Vec<String> = Vec::new();
    for commit in old.map_or(&[][..], |old| &old.commits).iter().chain(&request.commits) {
        if !commits.iter().any(|known| is_same_commit(known, commit)) {
            commits.push(commit.clone());
        }
    }
    let surplus = commits.len().saturating_sub(COMMITS_MAX);
    commits.split_off(surplus)
}

/// Writes from when to when; the date is not repeated when it is the same.
fn duration(old: Option<&ArchivedSummary>, taken: &[SessionEntry]) -> String {
    let old = old.map(|old| old.duration.as_str()).filter(|duration| !duration.is_empty());
    let mut times = taken.iter().map(|session| to_minute(&session.at)).filter(|at| !at.is_empty());
    let first = times.next();
    let last = times.next_back().or_else(|| first.clone());
    let start = old.and_then(|old| old.split(" - ").next()).map(str::to_owned).or(first);
    match (start, last) {
        (Some(start), Some(end)) => match (start.split_once(' '), end.split_once(' ')) {
            (Some((date, _)), Some((same, time))) if date == same => format!("{start} - {time}"),
            _ => format!("{start} - {end}"),
        },
        _ => old.unwrap_or("unknown").to_owned(),
    }
}

/// Writes a time as the format does, `2024-11-26 10:00`; one that is written otherwise, or has another offset than
/// UTC, stays as it is.
fn to_minute(at: &str) -> String {
    let is_like = |text: &str, pattern: &str| {
        text.len() == pattern.len()
            && text.bytes().zip(pattern.bytes()).all(|(byte, like)| match like {
                b'0' => byte.is_ascii_digit(),
                other => byte == other,
            })
    };
    let parts = || Some((at.get(..10)?, at.get(10..11)?, at.get(11..16)?, at.get(16..)?));
    match parts() {
        Some((date, "T" | " ", time, rest))
            if is_like(date, "0000-00-00")
                && is_like(time, "00:00")
                && rest.bytes().all(|byte| matches!(byte, b':' | b'.' | b'Z' | b'0'..=b'9')) =>
        {
            format!("{date} {time}")
        }
        _ => line::on_one_line(at),
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
    use crate::task_file::TaskFile;

    fn log(first: u32, last: u32) -> String {
        let sessions = (first..=last).map(|number| {
            format!("### Session {number} - 2024-11-26 1{number}:00\n**Did:**\n- Step {number}\n- more\n\n")
        });
        format!("## 3. Progress Log\n\n{}## 4. Chain Output\n", sessions.collect::<String>())
    }

    fn request(keep: usize) -> ArchiveRequest {
        ArchiveRequest { keep, link: "archives/task-1.md".into(), commits: vec!["abc123".into()] }
    }

    fn duration_of(times: &[&str]) -> String {
        let session = |(at, number): (&&str, u32)| format!("### Session {number} - {at}\n**Did:** a\n\n");
        let sessions = times.iter().zip(1..).map(session).collect::<String>();
        let file = TaskFile::parse(format!("## 3. Progress Log\n\n{sessions}"));
        file.archive(&request(0)).unwrap().file.archived().unwrap().duration.clone()
    }

    #[test]
    fn a_duration_is_written_to_the_minute_and_one_date_only_once() {
        for (times, expected) in [
            (&["2024-11-26 10:00", "2024-11-26 14:00"][..], "2024-11-26 10:00 - 14:00"),
            (&["2024-11-26T10:00:31Z", "2024-11-26T14:00:01Z"], "2024-11-26 10:00 - 14:00"),
            (&["2024-11-26 10:00", "x", "2024-11-27T08:30Z"], "2024-11-26 10:00 - 2024-11-27 08:30"),
            (&["2024-11-26 10:00", "", ""], "2024-11-26 10:00 - 10:00"),
            (&["2024-11-26T10:00:00+02:00", "noon"], "2024-11-26T10:00:00+02:00 - noon"),
            (&["é€é€é€é€", "2024-11-26\u{a0}10:00"], "é€é€é€é€ - 2024-11-26 10:00"),
            (&["", ""], "unknown"),
        ] {
            assert_eq!(duration_of(times), expected, "{times:?}");
        }
    }

    #[test]
    fn a_commit_is_listed_once_and_the_list_is_bounded() {
        let mut many = request(2);
        many.commits = vec!["abc1234".into(), "abc1234567".into(), "def5678".into()];
        let once = TaskFile::parse(log(1, 4)).archive(&many).unwrap().file;
        assert_eq!(once.archived().unwrap().commits, ["abc1234", "def5678"]);
        many.keep = 1;
        many.commits = (0..200).map(|number| format!("{number:07}")).collect();
        let twice = once.archive(&many).unwrap().file;
        let commits = &twice.archived().unwrap().commits;
        assert_eq!((commits.len(), commits[0].as_str(), commits[99].as_str()), (100, "0000100", "0000199"));
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
