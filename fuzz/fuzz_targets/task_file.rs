//! Arbitrary bytes as a task file: nothing is lost, no edit touches another part, no merge loses a side.
//!
//! Run it from the root with a nightly toolchain:
//! `cargo fuzz run task_file fuzz/corpus/task_file crates/files/tests/corpus` (the first folder collects inputs, the
//! second only gives some). A stable one needs `RUSTC_BOOTSTRAP=1` and `--sanitizer none`. What it finds goes to
//! `crates/files/tests/corpus`, where the ordinary tests replay it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use regatta_files::{
    ArchiveRequest, EditError, NewChainInput, NewCriterion, NewSession, Section, TaskFile, changes, merge,
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = TaskFile::parse_bytes(bytes) else { return };
    assert_eq!(file.text().as_bytes(), bytes);
    check_edits(&file);
    check_archive(&file);
    check_merge(&file);
});

fn check_edits(file: &TaskFile) {
    let session = NewSession { number: 7, did: "- a\n- b".into(), ..NewSession::default() };
    let input =
        NewChainInput { task: 7, title: "U".into(), summary: "a\n## b".into(), ..NewChainInput::default() };
    check(file, file.with_session(&session), Some(Section::ProgressLog));
    check(file, file.with_chain_output("# done\n```"), Some(Section::ChainOutput));
    check(file, file.with_requirements("- a\n\n    b"), Some(Section::Context));
    check(file, file.append_criterion(&NewCriterion::of("c")), Some(Section::Context));
    check(file, file.with_metadata("status", &"x".into()), Some(Section::Metadata));
    let inputs: Vec<NewChainInput> = file
        .chain_inputs()
        .iter()
        .filter_map(|entry| Some(NewChainInput { task: entry.task?, ..input.clone() }))
        .chain([input.clone()])
        .collect();
    check(file, file.with_chain_inputs(&inputs), Some(Section::ChainInputs));
    for (index, criterion) in file.criteria().iter().enumerate() {
        let ticked = file.with_criterion(index, !criterion.checked).expect("the criterion is there");
        let differing =
            file.text().bytes().zip(ticked.text().bytes()).filter(|(old, new)| old != new).count();
        assert_eq!((differing, ticked.text().len()), (1, file.text().len()));
        assert_eq!(changes(file, &ticked).len(), 1);
    }
}

/// What stands outside the section is the same as before.
fn check(old: &TaskFile, new: Result<TaskFile, EditError>, section: Option<Section>) {
    let Ok(new) = new else { return };
    let Some(span) = old.sections().iter().find(|span| span.section == section) else { return };
    let (before, after) = (&old.text()[..span.range.start], &old.text()[span.range.end..]);
    assert!(new.text().starts_with(before) && new.text().ends_with(after), "{:?}", new.text());
    assert!(new.text().len() >= before.len() + after.len());
}

fn check_archive(file: &TaskFile) {
    let request = ArchiveRequest { keep: 1, link: "archive.md".into(), commits: Vec::new() };
    let Some(result) = file.archive(&request) else { return };
    let taken = &file.sessions()[..file.sessions().len() - 1];
    let text: String = taken.iter().map(|session| session.text.as_str()).collect();
    assert!(result.archived.ends_with(&text));
    assert_eq!(
        result.file.sessions().last().map(|last| &last.text),
        file.sessions().last().map(|last| &last.text)
    );
}

fn check_merge(file: &TaskFile) {
    let text = file.text();
    let half = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (left, right) = text.split_at(half);
    assert_eq!(merge(left, text, left).text, text);
    assert_eq!(merge(left, left, text).text, text);
    let merged = merge(text, left, right);
    for conflict in &merged.conflicts {
        assert!(merged.text.contains(&conflict.theirs));
    }
}
