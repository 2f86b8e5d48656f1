//! Archiving loses nothing: what leaves the file is in the archive, byte for byte.

use regatta_files::size::{ARCHIVE_BYTES, SESSIONS_KEPT, SizeClass, class, count_sessions};
use regatta_files::{ArchiveRequest, NewSession, TaskFile};

use crate::random::{Random, structured};

fn request() -> ArchiveRequest {
    ArchiveRequest {
        keep: SESSIONS_KEPT,
        link: "archives/task-1-archive.md".into(),
        commits: vec!["abc".into()],
    }
}

/// A file with some more sessions than its document had.
fn file(random: &mut Random) -> TaskFile {
    let mut file = TaskFile::parse(structured(random));
    for number in 10..10 + random.below(9) as u32 {
        let did =
            random.pick(&["one thing", "- a\n- b", "```\n### Session 3 - fenced\n```", "🎉"]).to_owned();
        let session =
            NewSession { number, at: format!("2024-11-26 {number}:00"), did, ..NewSession::default() };
        file = file.with_session(&session).unwrap_or(file);
    }
    file
}

#[test]
fn archive_and_file_together_hold_every_session() {
    let mut archived_some = 0;
    for seed in 0..3000 {
        let old = file(&mut Random::of(seed));
        let count = old.sessions().len();
        let Some(result) = old.archive(&request()) else {
            assert!(count <= SESSIONS_KEPT, "seed {seed}");
            continue;
        };
        archived_some += 1;
        let (taken, kept) = old.sessions().split_at(count - SESSIONS_KEPT);
        let expected: String = taken.iter().map(|session| session.text.as_str()).collect();
        assert_eq!(result.archived, expected, "seed {seed}");
        let texts = |file: &TaskFile| file.sessions().iter().map(|one| one.text.clone()).collect::<Vec<_>>();
        let kept: Vec<String> = kept.iter().map(|session| session.text.clone()).collect();
        assert_eq!(texts(&result.file), kept, "seed {seed}");
        let summary = result.file.archived().expect("a summary");
        assert_eq!((summary.first, summary.last), (result.first, result.last), "seed {seed}");
        let log = old.sections().iter().find(|span| span.title == "Progress Log").unwrap();
        assert!(result.file.text().starts_with(&old.text()[..log.range.start]), "seed {seed}");
        assert!(result.file.text().ends_with(&old.text()[log.range.end..]), "seed {seed}");
        assert_eq!(result.file.archive(&request()), None, "seed {seed}");
    }
    assert!(archived_some > 500, "{archived_some}");
}

#[test]
fn a_file_that_is_too_large_is_small_again_afterwards() {
    let mut file = TaskFile::parse("# Task #1: A\n\n## 3. Progress Log\n\n(No sessions yet)\n");
    for number in 1..=40 {
        let did = "- a line of about forty bytes, more or less\n".repeat(45);
        file = file
            .with_session(&NewSession { number, at: "now".into(), did, ..NewSession::default() })
            .unwrap();
    }
    assert_eq!(class(file.text().len()), SizeClass::Archive);
    let result = file.archive(&request()).unwrap();
    assert_eq!(class(result.file.text().len()), SizeClass::Ok);
    assert!(result.archived.len() + result.file.text().len() > ARCHIVE_BYTES);
    assert_eq!(count_sessions(&result.file), 40);
}
