//! What each reader makes of the examples, and of anything else.

use super::*;
use crate::takeover::found::{Counts, Found};
use crate::takeover::gather::{Files, gather};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use regatta_flow::Workflow;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

/// The folders of other tools, as they write them.
fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/examples")
}

static CYCLE: LazyLock<run_parts::Definition> = LazyLock::new(|| {
    let listed = crate::runs::definitions::find_workflow(None, cycle::WORKFLOW).unwrap();
    let workflow = Arc::new(Workflow::load(&listed.folder).unwrap());
    run_parts::Definition { listed, workflow }
});

fn read_as(kind: Kind, files: Files) -> Found {
    let mut found = match kind {
        Kind::SpecFlux => specflux::read(&files),
        Kind::Cycle => cycle::read(&CYCLE, &files),
        Kind::Coordination => coordination::read(&files),
        Kind::SpecKit => spec_kit::read(&files),
        Kind::Csv => table::read(&files),
        Kind::JsonLines => json_lines::read(&files),
    };
    found.settle(files);
    found
}

fn example(name: &str) -> Found {
    let (kind, root) = kind::recognize(&examples().join(name), None).unwrap();
    read_as(kind, gather(&root, kind).unwrap())
}

fn show(found: &Found) -> String {
    let mut text = format!("{}\n", found.kind);
    let Counts { tasks, done, sessions, outputs, messages, files, .. } = found.counts;
    let _ = writeln!(
        text,
        "{tasks} tasks, {done} done, {sessions} sessions, {outputs} outputs, {messages} messages, {files} files"
    );
    for prd in &found.prds {
        let _ = writeln!(text, "PRD {}: {} ({} bytes)", prd.slug, prd.title, prd.text.len());
    }
    for epic in &found.epics {
        let _ = writeln!(text, "epic {}: {} {}", epic.item, epic.title, epic.prd.as_deref().unwrap_or("-"));
    }
    for task in &found.tasks {
        let criteria: String = task.criteria.iter().map(|one| if one.checked { 'x' } else { '.' }).collect();
        let on = task.depends_on.join(",");
        let status = task.status.as_deref().unwrap_or("-");
        let done = if task.done { " DONE" } else { "" };
        let _ = writeln!(
            text,
            "task {} [{status}]{done}: {} on({on}) criteria({criteria})",
            task.item, task.title
        );
    }
    for run in &found.runs {
        let status = run.status.as_deref().unwrap_or("-");
        let _ = writeln!(
            text,
            "run {} of {} [{status}]: {}; {} iterations, {} messages, lacks {:?}",
            run.item, run.workflow, run.title, run.sessions, run.messages, run.missing
        );
    }
    for oddity in &found.oddities {
        let line = oddity.line.map_or_else(String::new, |line| format!(":{line}"));
        let _ = writeln!(text, "odd {}{line}: {}", oddity.file, oddity.what);
    }
    text
}

fn check(name: &str, expected: Expect) {
    expected.assert_eq(&show(&example(name)));
}

#[test]
fn task_files() {
    check(
        "specflux",
        expect![[r#"
        specflux
        5 tasks, 1 done, 14 sessions, 1 outputs, 0 messages, 8 files
        PRD user-auth: User authentication (63 bytes)
        epic 10: User Authentication -
        epic 15: UI Polish -
        task 101 [complete] DONE: JWT Service on() criteria(xxxx)
        task 102 [in_progress]: Auth API endpoints on(101) criteria(x....)
        task 103 [in_progress]: Session storage on(101) criteria(x.)
        task 201 [in_progress]: Add dark mode toggle on() criteria(...)
        task 305 [in_progress]: Fix login button disabled state on() criteria(..)
        odd task-states/task-102-state.md: 102 depends on 100, which does not exist; the dependency was dropped
        odd notes.txt: not a file of this kind; only a copy is kept
    "#]],
    );
}

#[test]
fn cycles() {
    check(
        "cycle",
        expect![[r#"
        cycle
        0 tasks, 0 done, 1 sessions, 5 outputs, 1 messages, 6 files
        run cycle-v1-20260122T100000-abc123 of cycle [running]: Implement OAuth authentication; 1 iterations, 1 messages, lacks []
        odd cycle-v1-20260122T100000-abc123.progress/ra/requirements.md: no front matter; only the text was imported
    "#]],
    );
}

#[test]
fn a_team() {
    let found = example("coordination");
    expect![[r#"
        coordination
        3 tasks, 2 done, 7 sessions, 2 outputs, 0 messages, 6 files
        PRD v4-20250106-100000: Implement JWT authentication, user registration, and password reset functionality (81 bytes)
        task A [complete] DONE: JWT Authentication System on() criteria(xx)
        task B [complete] DONE: User Registration on() criteria(x)
        task C [in_progress]: Password Reset on(A) criteria(.)
        odd orchestrator_state.json: the team was running (phase tech_review); its groups become tasks in the backlog, and nothing starts by itself
        odd orchestrator_state.json: agents were running, and their sessions are lost: tech_lead on C
    "#]].assert_eq(&show(&found));
    expect![[r#"
        Group C of a team, taken over from its files.
        - Files: password_reset.py, test_reset.py
        - Branch there: feature/group-C-pwd-reset
        - Complexity: medium
        - Estimate: 12 minutes"#]]
    .assert_eq(&found.tasks[2].description);
}

#[test]
fn features() {
    check(
        "spec-kit",
        expect![[r#"
        spec-kit
        7 tasks, 2 done, 0 sessions, 0 outputs, 0 messages, 3 files
        PRD 001-photo-albums: Feature Specification: Photo Albums (139 bytes)
        epic 001-photo-albums: Photo Albums 001-photo-albums
        task 001-photo-albums/T001 [checked] DONE: Create project structure per implementation plan on() criteria()
        task 001-photo-albums/T002 [checked] DONE: Configure linting in .eslintrc on(001-photo-albums/T001) criteria()
        task 001-photo-albums/T003 [-]: Add a test runner in package.json on(001-photo-albums/T001) criteria()
        task 001-photo-albums/T010 [-]: Contract test in tests/contract/albums.test.ts on(001-photo-albums/T002,001-photo-albums/T003) criteria()
        task 001-photo-albums/T011 [-]: Integration test in tests/integration/albums.test.ts on(001-photo-albums/T002,001-photo-albums/T003) criteria()
        task 001-photo-albums/T012 [-]: Create the Album model in src/models/album.ts on(001-photo-albums/T010,001-photo-albums/T011) criteria()
        task 001-photo-albums/line 28 [-]: Write the page on(001-photo-albums/T012) criteria()
        odd 001-photo-albums/tasks.md:28: no ID such as T001; it is called `line 28`
    "#]],
    );
}

#[test]
fn a_table() {
    check(
        "tasks.csv",
        expect![[r#"
        csv
        3 tasks, 1 done, 0 sessions, 0 outputs, 0 messages, 1 files
        task A [done] DONE: Design the schema on() criteria(xx)
        task B [open]: Write the API on(A) criteria(..)
        task C [todo]: Write the page, with "sign in" on(A,B) criteria()
        odd tasks.csv:1: the column `estimate` is not a field of a task; its values are kept in the descriptions
    "#]],
    );
}

#[test]
fn lines_of_json() {
    check(
        "tasks.jsonl",
        expect![[r#"
        jsonl
        2 tasks, 1 done, 0 sessions, 0 outputs, 0 messages, 1 files
        task A [done] DONE: Design the schema on() criteria(x)
        task B [-]: Write the API on(A) criteria(.)
        odd tasks.jsonl:3: column 62: EOF while parsing an object; not imported
        odd tasks.jsonl:4: column 2: expected ident; not imported
    "#]],
    );
}

#[test]
fn odd_files_are_named_and_none_is_lost() {
    let show_of = |kind, files: Vec<(&str, Vec<u8>)>| show(&read_as(kind, Files::of(files)));
    let text = [
        show_of(
            Kind::SpecFlux,
            vec![
                ("task-states/task-1-state.md", b"# Task #2: Other\n".to_vec()),
                ("task-states/task-3-state.md", b"\xff\xfe# Task".to_vec()),
                ("task-states/task-4-state.md", Vec::new()),
                ("task-states/task-5-state.md", b"# Task #5: Cut\n\n## 0. Metadata\n```json\n{ \"task_id\": 5, \"dep".to_vec()),
                ("task-states/.task-6-state.md.tmp", b"half".to_vec()),
            ],
        ),
        show_of(
            Kind::Coordination,
            vec![
                ("pm_state.json", b"{\"task_groups\": [{\"id\": \"A\", \"depends_on\": [\"A\", \"Q\"]}, {\"id\": \"A\"}, 7]".to_vec()),
                ("group_status.json", b"{\"A\": {\"status\": \"dev_working\"}, \"B\": 3, \"C\": null}".to_vec()),
                ("messages/x.json", b"{\"messages\": [1, {\"group_id\": \"Z\"}, {\"group_id\": \"A\", \"subject\": \"S\"}]}".to_vec()),
            ],
        ),
        show_of(
            Kind::Cycle,
            vec![
                ("c1.json", b"{\"cycle_id\": \"c1\", \"title\": ".to_vec()),
                ("c1.progress/ep/plan.json", b"{\"version\": 1}".to_vec()),
                ("c1.progress/cd/changes.log", b"{\"file\": \"a\"}\nnot json\n{\"cut".to_vec()),
                ("package.json", b"{\"name\": \"x\"}".to_vec()),
            ],
        ),
        show_of(Kind::SpecKit, vec![("tasks.md", b"- [ ] T001 A\n- [ ] T001 B\n- [y] T002 C\n".to_vec())]),
        show_of(Kind::Csv, vec![("t.csv", b"id;title;status\n1;\x1b[31mred\x07;closed\n1;again;\n;;\n2;a;b;c\n".to_vec())]),
        show_of(Kind::Csv, vec![("t.csv", b"name of it,x\n1,2\n".to_vec())]),
        show_of(Kind::Csv, vec![("t.csv", b"title\n\xe9t\xe9\n".to_vec())]),
        show_of(Kind::JsonLines, vec![("t.jsonl", vec![b'['; 100_000])]),
    ];
    expect![[r#"
        specflux
        2 tasks, 0 done, 0 sessions, 0 outputs, 0 messages, 5 files
        task 1 [-]: Other on() criteria()
        task 5 [-]: Cut on() criteria()
        odd task-states/task-1-state.md:2: the section `## 0. Metadata` is missing
        odd task-states/task-1-state.md:2: the section `## 1. Context` is missing
        odd task-states/task-1-state.md:2: the section `## 3. Progress Log` is missing
        odd task-states/task-1-state.md:2: the section `## 4. Chain Output` is missing
        odd task-states/task-1-state.md:1: the title says task #2; the number in the file name counts
        odd task-states/task-3-state.md: not UTF-8 text (the file is not valid UTF-8: the first wrong byte is at offset 0); only a copy is kept
        odd task-states/task-4-state.md: empty; not imported
        odd task-states/task-5-state.md:4: this fence or comment is never closed, so everything after it belongs to it
        odd task-states/task-5-state.md:5: the metadata are not valid JSON: EOF while parsing a string
        odd task-states/task-5-state.md:5: the section `## 1. Context` is missing
        odd task-states/task-5-state.md:5: the section `## 3. Progress Log` is missing
        odd task-states/task-5-state.md:5: the section `## 4. Chain Output` is missing
        odd task-states/.task-6-state.md.tmp: not a file of this kind; only a copy is kept

        coordination
        3 tasks, 0 done, 0 sessions, 0 outputs, 1 messages, 3 files
        task A [dev_working]: Group A on() criteria()
        task B [-]: Group B on() criteria()
        task C [-]: Group C on() criteria()
        odd pm_state.json:1: not valid JSON (EOF while parsing an object); only a copy is kept
        odd messages/x.json: message 1 names no group
        odd messages: 1 messages are about group Z, which does not exist

        cycle
        0 tasks, 0 done, 0 sessions, 0 outputs, 0 messages, 4 files
        odd c1.json: 1:28: EOF while parsing a value
        odd c1.progress/cd/changes.log: 2:2: expected ident
        odd c1.progress/cd/changes.log: 3:5: EOF while parsing a string
        odd c1.progress/ep/plan.json: plan: "tasks" is a required property; plan.version: 1 is not of type "string"; left out
        odd c1.progress/cd/changes.log: changes, item 1: changes[0]: "timestamp" is a required property; changes[0]: "action" is a required property; changes[0]: "iteration" is a required property; changes[0]: "agent" is a required property; changes[0]: "description" is a required property; left out
        odd c1.json: nothing in it belongs to a run; only a copy is kept
        odd package.json: nothing in it belongs to a run; only a copy is kept

        spec-kit
        2 tasks, 0 done, 0 sessions, 0 outputs, 0 messages, 1 files
        epic feature: feature -
        task feature/T001 [-]: A on() criteria()
        task feature/T001~2 [-]: B on(feature/T001) criteria()
        odd spec.md: missing
        odd plan.md: missing
        odd tasks.md:2: T001 appears twice
        odd tasks.md: feature/T001 appears twice; this one is called feature/T001~2, and dependencies refer to the first

        csv
        3 tasks, 1 done, 0 sessions, 0 outputs, 0 messages, 1 files
        task 1 [closed] DONE: red on() criteria()
        task 1~2 [-]: again on() criteria()
        task 2 [b]: a on() criteria()
        odd t.csv:5: 1 fields more than the first line has; they are kept in the description
        odd t.csv: 1 appears twice; this one is called 1~2, and dependencies refer to the first

        csv
        0 tasks, 0 done, 0 sessions, 0 outputs, 0 messages, 1 files
        odd t.csv:1: no column is called `title`, so there are no tasks (columns: name of it, x)

        csv
        0 tasks, 0 done, 0 sessions, 0 outputs, 0 messages, 1 files
        odd t.csv: not UTF-8 text (byte 6); convert it first

        jsonl
        0 tasks, 0 done, 0 sessions, 0 outputs, 0 messages, 1 files
        odd t.jsonl:1: column 121: nested more than 120 levels deep; the line is cut off; not imported
    "#]]
    .assert_eq(&text.join("\n"));
}

#[test]
fn a_hundred_thousand_lines_are_read() {
    let mut text = String::from("id,title,depends_on\n");
    for number in 0..100_000 {
        let _ = writeln!(text, "{number},Task {number},{}", number + 1);
    }
    let found = read_as(Kind::Csv, Files::of([("t.csv", text)]));
    assert_eq!((found.counts.tasks, found.oddities.len()), (100_000, 1));
    assert_eq!(found.tasks[0].item, "99999", "what others depend on comes first");
}

/// What is in the files of a kind, cut and joined at random.
fn pieces(kind: Kind) -> Vec<Vec<u8>> {
    let name = match kind {
        Kind::SpecFlux => "specflux",
        Kind::Cycle => "cycle",
        Kind::Coordination => "coordination",
        Kind::SpecKit => "spec-kit",
        Kind::Csv => "tasks.csv",
        Kind::JsonLines => "tasks.jsonl",
    };
    let (kind, root) = kind::recognize(&examples().join(name), None).unwrap();
    gather(&root, kind).unwrap().texts.into_values().collect()
}

fn paths(kind: Kind) -> Vec<&'static str> {
    match kind {
        Kind::SpecFlux => {
            vec![
                "task-states/task-1-state.md",
                "task-states/task-2-state.md",
                "archives/task-1-archive.md",
                "epics/3.md",
                "prds/a.md",
            ]
        }
        Kind::Cycle => {
            vec![
                "c.json",
                "c.progress/ra/requirements.md",
                "c.progress/ep/plan.json",
                "c.progress/cd/changes.log",
            ]
        }
        Kind::Coordination => {
            vec!["pm_state.json", "group_status.json", "orchestrator_state.json", "messages/a.json"]
        }
        Kind::SpecKit => vec!["001-a/tasks.md", "001-a/spec.md", "002-b/tasks.md"],
        Kind::Csv => vec!["t.csv"],
        Kind::JsonLines => vec!["t.jsonl"],
    }
}

/// A file of somebody who cut, mixed and overwrote the files of the examples.
fn any_file(kind: Kind) -> impl Strategy<Value = Vec<u8>> {
    let pieces = pieces(kind);
    let piece = (0..pieces.len(), any::<prop::sample::Index>(), any::<prop::sample::Index>());
    let noise = prop_oneof![
        3 => Just(Vec::new()),
        1 => prop::collection::vec(any::<u8>(), 0..12),
        1 => Just(b"\n- [ ] T001 [P] x\n## 3. Progress Log\n".to_vec()),
        1 => Just(b"\"\",,\"{}[]\x00\xff".to_vec()),
    ];
    prop::collection::vec((piece, noise), 0..4).prop_map(move |parts| {
        let mut bytes = Vec::new();
        for ((at, from, to), noise) in parts {
            let text = &pieces[at];
            let (from, to) = (from.index(text.len() + 1), to.index(text.len() + 1));
            bytes.extend_from_slice(&text[from.min(to)..from.max(to)]);
            bytes.extend_from_slice(&noise);
        }
        bytes
    })
}

fn any_files(kind: Kind) -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
    let paths = paths(kind);
    prop::collection::vec(any_file(kind), paths.len())
        .prop_map(move |files| paths.iter().copied().zip(files).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever the files hold: no panic, every file is there, every task can be made, and a second look sees the same.
    #[test]
    fn any_files_are_read(
        (kind, files) in prop::sample::select(Kind::ALL.to_vec()).prop_flat_map(|kind| (Just(kind), any_files(kind)))
    ) {
        let found = read_as(kind, Files::of(files.clone()));
        prop_assert_eq!(found.files.len(), files.len());
        for file in found.files.iter().filter(|file| !file.understood) {
            prop_assert!(found.oddities.iter().any(|oddity| oddity.file == file.path), "{} is not told of", file.path);
        }
        let mut before: Vec<&str> = Vec::new();
        for task in &found.tasks {
            let criteria = task.criteria.iter().map(|one| one.text.clone()).collect();
            let made = crate::core::Create::new(
                task.title.clone(), task.description.clone(), criteria, Default::default(), Default::default(),
            );
            prop_assert!(made.is_ok(), "{:?}", made);
            prop_assert!(task.depends_on.iter().all(|on| before.contains(&on.as_str())));
            prop_assert!(!before.contains(&task.item.as_str()), "{} is there twice", task.item);
            before.push(&task.item);
        }
        for epic in &found.epics {
            prop_assert!(crate::core::document::AddEpic::new(&epic.title, epic.description.clone(), None).is_ok());
        }
        for prd in &found.prds {
            prop_assert!(crate::core::document::AddPrd::new(&prd.slug, &prd.title, prd.text.clone()).is_ok());
        }
        prop_assert_eq!(show(&found), show(&read_as(kind, Files::of(files))));
    }
}
