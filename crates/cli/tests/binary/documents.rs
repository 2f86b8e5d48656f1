//! Epics and PRDs: what the verbs print, what they refuse, and what tasks and agents learn of them.

use crate::support::{PROGRAM, Transcript, count_events, with_agents, with_shell};
use regatta_testkit::binary::TestProject;
use std::collections::BTreeSet;
use std::fs::File;

const PRD: &str = "# User auth\n\nTokens expire after *15* minutes.\n";

/// A walk past every verb of documents, with tasks that belong to them.
const WALK: &[&[&str]] = &[
    &["prd", "list"],
    &["epic", "list"],
    &["prd", "add", "docs/user-auth.md"],
    &["prd", "add", "docs/User Auth (2).md", "--title", "Second thoughts"],
    &["prd", "edit", "user-auth-2", "--title", "Third thoughts", "--text", "docs/user-auth.md"],
    &["prd", "edit", "user-auth-2", "--title", "Third thoughts"],
    &["prd", "list"],
    &["prd", "show", "user-auth"],
    &["epic", "add", "Login", "--description", "two\nlines", "--prd", "user-auth"],
    &["epic", "add", "Logout"],
    &["epic", "edit", "2", "--title", "The way out", "--prd", "user-auth-2"],
    &["epic", "edit", "2", "--no-prd", "--description", "short"],
    &["task", "add", "First", "--epic", "1"],
    &["task", "add", "Second", "--epic", "1", "--prd", "user-auth-2"],
    &["task", "add", "Third"],
    &["task", "assign", "1", "--agent", "worker"],
    &["task", "approve", "1"],
    &["task", "show", "2"],
    &["epic", "show", "1"],
    &["epic", "list"],
    &["doctor"],
];

fn with_prds() -> TestProject {
    let project = with_agents("");
    project.repo.write("docs/user-auth.md", PRD);
    project.repo.write("docs/User Auth (2).md", "No heading.\n");
    project
}

fn walk<'a>(project: &'a TestProject, before: &[&str]) -> Transcript<'a> {
    let mut transcript = Transcript::new(project);
    for arguments in WALK {
        transcript.run(&[before, *arguments].concat());
    }
    transcript
}

#[test]
fn as_json() {
    walk(&with_prds(), &["--json"]).check("documents_json");
}

#[test]
fn as_text() {
    let project = with_prds();
    let mut transcript = walk(&project, &[]);
    transcript.note("events of documents:");
    let printed = project.run(&["events"]).stdout;
    for line in printed.lines().filter(|line| line.contains(" epic ") || line.contains(" PRD ")) {
        transcript.note(line);
    }
    transcript.check("documents_text");
}

#[test]
fn what_is_refused() {
    let project = with_prds();
    project.json(&["prd", "add", "docs/user-auth.md"]);
    project.json(&["epic", "add", "Login"]);
    let before = count_events(&project);
    let mut transcript = Transcript::new(&project);
    let refused: &[&[&str]] = &[
        &["prd", "add", "docs/user-auth.md"],
        &["prd", "show", "user-aut"],
        &["prd", "edit", "billing", "--title", "Billing"],
        &["prd", "edit", "user-auth"],
        &["prd", "show", "User Auth"],
        &["prd", "add", "docs/lost.md"],
        &["prd", "add", "docs"],
        &["prd", "add", "-"],
        &["epic", "show", "2"],
        &["epic", "show", "zero"],
        &["epic", "edit", "2", "--title", "Two"],
        &["epic", "edit", "1"],
        &["epic", "edit", "1", "--prd", "user-aut"],
        &["epic", "add", "Lost", "--prd", "user-aut"],
        &["task", "add", "Lost", "--epic", "7"],
        &["task", "add", "Lost", "--epic", "1", "--prd", "user-aut"],
    ];
    for arguments in refused {
        transcript.run(arguments);
    }
    transcript.run(&["--json", "prd", "show", "user-aut"]);
    assert_eq!(count_events(&project), before, "a refusal adds nothing");
    transcript.check("documents_refused");
}

#[test]
fn hostile_documents() {
    let project = TestProject::new(PROGRAM, "");
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(project.path().join(name), bytes).expect("the file can be written");
    };
    write("latin.md", b"# Caf\xe9\n");
    write("empty.md", b"");
    write("huge.md", &vec![b'x'; 1024 * 1024 + 1]);
    write("escapes.md", b"# \x1b[31mRed\n");
    write("nothing.md", b"\0\x1b[2J\r\nno heading");
    let mut transcript = Transcript::new(&project);
    for arguments in [
        &["prd", "add", "latin.md"][..],
        &["prd", "add", "empty.md"],
        &["prd", "add", "huge.md"],
        &["prd", "add", "/dev/zero", "--slug", "zero"],
        &["prd", "add", "escapes.md"],
        &["prd", "add", "escapes.md", "--slug", "../../etc", "--title", "a\nb"],
        &["epic", "add", "\u{1b}[31mRed"],
        &["epic", "add", " "],
    ] {
        transcript.run(arguments);
    }
    transcript.check("documents_hostile");
    assert_eq!(count_events(&project), 0);
    project.json(&["prd", "add", "nothing.md"]);
    let shown = project.run(&["prd", "show", "nothing"]);
    assert_eq!(shown.stdout, "\0\u{1b}[2J\r\nno heading", "the text is printed as it is");
}

#[test]
fn a_prd_may_come_from_standard_input() {
    let project = with_prds();
    let pipe = |arguments: &[&str]| {
        let file = File::open(project.path().join("docs/user-auth.md")).expect("the file is there");
        project.command(arguments).stdin(file).output().expect("the binary can be run")
    };
    assert!(pipe(&["prd", "add", "-"]).status.success());
    assert_eq!(project.json(&["prd", "show", "user-auth"])["text"], PRD, "its slug is made of its heading");
    assert!(pipe(&["prd", "add", "-", "--slug", "other", "--title", "Other"]).status.success());
    assert!(pipe(&["prd", "edit", "other", "--text", "-"]).status.success());
    assert_eq!(project.json(&["prd", "show", "other"])["title"], "Other");
}

#[test]
fn the_file_of_a_task_links_its_epic_and_its_prd_and_its_agent_is_told() {
    let project = with_shell("cat > prompt.txt", "");
    project.repo.write("user-auth.md", PRD);
    project.json(&["prd", "add", "user-auth.md"]);
    project.json(&["epic", "add", "Login", "--prd", "user-auth"]);
    project.json(&["task", "add", "A task", "--epic", "1", "--criterion", "it works"]);
    let path = project.path().join(".regatta/task-states/task-1-state.md");
    let file = std::fs::read_to_string(&path).expect("the task has a file");
    let lines = "**Epic:** Login (#1) [details](/api/epics/1)\n**PRD:** [User auth](/api/prds/user-auth)\n";
    assert!(file.contains(lines) && file.contains("\"epic_id\": 1,"), "{file}");
    project.json(&["epic", "edit", "1", "--title", "Another"]);
    assert_eq!(project.json(&["task", "criteria", "1"])[0]["text"], "it works");
    assert_eq!(std::fs::read_to_string(&path).expect("the task has a file"), file, "lines are left alone");
    let task = project.json(&["task", "assign", "1", "--agent", "shell"]);
    let worktree = task["worktree"].as_str().expect("it has a worktree");
    let prompt = std::fs::read_to_string(format!("{worktree}/prompt.txt")).expect("the agent wrote it");
    assert!(prompt.contains("`regatta prd show user-auth`"), "{prompt}");
    assert!(prompt.contains("`regatta epic show 1`"), "{prompt}");
}

#[test]
fn a_command_with_an_id_is_carried_out_once() {
    let project = with_prds();
    let id = "0192f0c4-7a10-7000-8000-000000000001";
    let other = "0192f0c4-7a10-7000-8000-000000000002";
    for _ in 0..2 {
        let epic = project.json(&["epic", "add", "Login", "--command-id", id]);
        assert_eq!(epic["id"], 1);
        let prd = project.json(&["prd", "add", "docs/user-auth.md", "--command-id", other]);
        assert_eq!(prd["slug"], "user-auth");
    }
    assert_eq!(count_events(&project), 2);
    assert_eq!(project.refusal(&["epic", "add", "Logout", "--command-id", id])["code"], "COMMAND_REUSED");
}

#[test]
fn many_at_once_get_a_number_each() {
    const WRITERS: usize = 5;
    let project = with_prds();
    let writers: Vec<_> =
        (0..WRITERS).map(|number| project.start(&["epic", "add", &format!("Epic {number}")])).collect();
    for writer in writers {
        let outcome = writer.wait();
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
    }
    let epics = project.json(&["epic", "list"]);
    let numbers: Vec<u64> =
        epics.as_array().into_iter().flatten().filter_map(|epic| epic["id"].as_u64()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    let titles: BTreeSet<String> =
        epics.as_array().into_iter().flatten().map(|epic| epic["title"].to_string()).collect();
    assert_eq!(titles.len(), WRITERS);
}
