//! Odd but real files: each comes out as it went in, each edit of it is local, and what is found in it is known.

use std::fmt::Write;
use std::path::Path;

use expect_test::expect_file;
use regatta_files::{NewCriterion, NewEpic, NewTaskFile, TaskFile, merge, render_new};

use crate::edits::Edit;
use crate::random::Random;

/// The contract asks for so many.
const FILES_MIN: usize = 60;

/// Each file is edited with this many choices of texts.
const ROUNDS: u64 = 10;

fn files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let entries = std::fs::read_dir(folder).expect("the corpus is there");
    let mut files: Vec<(String, String)> = entries
        .map(|entry| entry.expect("a file of the corpus").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let text = std::fs::read(&path).map(String::from_utf8).expect("the file can be read");
            (name.unwrap_or_default(), text.expect("the corpus is UTF-8"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn every_file_comes_out_as_it_went_in() {
    let files = files();
    assert!(files.len() >= FILES_MIN, "only {} files", files.len());
    for (name, text) in &files {
        let file = TaskFile::parse_bytes(text.as_bytes()).unwrap();
        assert_eq!(file.text(), text, "{name}");
        assert_eq!(file.into_text(), *text, "{name}");
    }
}

#[test]
fn every_edit_of_every_file_is_local() {
    let mut made = 0;
    for (name, text) in files() {
        let file = TaskFile::parse(text);
        for round in 0..ROUNDS {
            for edit in Edit::all(&mut Random::of(round)) {
                let checked = std::panic::catch_unwind(|| edit.check(&file));
                made += usize::from(checked.unwrap_or_else(|_| panic!("{edit:?} of {name}")));
            }
        }
    }
    assert!(made > 5000, "{made}");
}

#[test]
fn merging_an_edit_with_itself_or_with_nothing_changes_nothing() {
    let files = files();
    for ((name, base), (_, other)) in files.iter().zip(files.iter().skip(1)) {
        for (ours, theirs, expected) in [(other, base, other), (base, other, other), (other, other, other)] {
            let merged = merge(base, ours, theirs);
            assert_eq!((&merged.text, merged.conflicts.len()), (expected, 0), "{name}");
        }
    }
}

#[test]
fn what_is_found_in_each_file_is_known() {
    let mut out = String::new();
    for (name, text) in files() {
        describe(&mut out, &name, &TaskFile::parse(text));
    }
    expect_file!["../corpus.txt"].assert_eq(&out);
}

fn describe(out: &mut String, name: &str, file: &TaskFile) {
    let _ = writeln!(out, "{name}");
    if let Some(title) = file.title() {
        let _ = writeln!(out, "  title {:?} {:?}", title.id, title.text);
    }
    let titles: Vec<String> = file.sections().iter().map(|span| span.title.clone()).collect();
    let _ = writeln!(out, "  sections {}", titles.join(" | "));
    if let Ok(metadata) = file.metadata() {
        let _ = writeln!(out, "  metadata {}", metadata.keys().cloned().collect::<Vec<_>>().join(", "));
    }
    for found in file.criteria() {
        let _ = writeln!(out, "  criterion {} {:?} {:?}", found.checked, found.text, found.check);
    }
    for found in file.chain_inputs() {
        let stale = if found.stale { " stale" } else { "" };
        let _ = writeln!(out, "  input {:?} {:?} {:?}{stale}", found.task, found.title, found.summary);
    }
    if let Some(found) = file.archived() {
        let _ =
            writeln!(out, "  archived {}-{} {:?} {:?}", found.first, found.last, found.commits, found.link);
    }
    for found in file.sessions() {
        let _ = writeln!(out, "  session {} {:?} did {:?}", found.number, found.at, found.did);
        let _ = writeln!(out, "    issues {:?} next {:?}", found.issues, found.next);
    }
    if let Some(summary) = file.summary_of_output() {
        let _ = writeln!(out, "  output {:?}", summary.chars().take(80).collect::<String>());
    }
    for unknown in file.unknown() {
        let _ = writeln!(out, "  unknown {:?} on line {}: {:?}", unknown.what, unknown.line, unknown.text);
    }
    for fault in file.faults() {
        let _ = writeln!(out, "  fault {fault}");
    }
}

#[test]
fn a_new_file_is_the_first_example() {
    let (_, example) = files().into_iter().find(|(name, _)| name == "example-a").unwrap();
    let new = NewTaskFile {
        id: 201,
        title: "Add dark mode toggle".into(),
        status: "in_progress".into(),
        epic: Some(NewEpic { id: 15, title: "UI Polish".into(), link: None }),
        repository: Some("frontend".into()),
        requirements: "Add a dark mode toggle to the settings page. Use existing theme context.\n\
                       Follow the ui-patterns skill for styling."
            .into(),
        criteria: vec![
            NewCriterion::of("Toggle switch in Settings > General"),
            NewCriterion::of("Persists preference to localStorage"),
            NewCriterion::of("Applies theme immediately without reload"),
        ],
        ..NewTaskFile::default()
    };
    assert_eq!(render_new(&new).text(), example);
}
