//! Archives sessions: old ones move from the file to the archive, and a [summary](crate::archived_summary)
//! stays in their place.
//!
//! The caller appends [`Archived::archived`] to the archive before it writes the file, so that a crash
//! between the two leaves the sessions twice rather than never.

use std::ops::Range;

use crate::archived_summary::{bounds, summarize};
use crate::line;
use crate::session::SessionEntry;
use crate::task_file::TaskFile;

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
    fn a_summary_reads_as_the_format_has_it() {
        let sample = include_str!("../tests/corpus/archived-summary.md");
        let (head, rest) = sample.split_at(sample.find("### Archived").unwrap());
        let kept = &rest[rest.find("### Session 6").unwrap()..];
        let session =
            |number: u32, did| format!("### Session {number} - 2024-11-26 {}:00\n{did}\n\n", 9 + number);
        let did = "**Did:** Set up project, core implementation done";
        let sessions = [did, "", "", "", ""].into_iter().zip(1..).map(|(did, number)| session(number, did));
        let file = TaskFile::parse(format!("{head}{}{kept}", sessions.collect::<String>()));
        let request = ArchiveRequest {
            keep: 2,
            link: ".specflux/archives/task-101-archive.md".into(),
            commits: ["abc123", "def456", "ghi789"].map(str::to_owned).into(),
        };
        assert_eq!(file.archive(&request).unwrap().file.text(), sample);
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
}
