//! `regatta state export` and `regatta state import`: a project on another clone, and files that are none.

use crate::support::{PROGRAM, add, add_and_assign, with_agents};
use regatta_testkit::binary::{Outcome, TestProject};
use regatta_testkit::repo::{git_in, sealed_git};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Stdio;

const BLOCK: usize = 512;

/// A project with a task that is merged, one that waits for approval, one that was cancelled, and one in the backlog.
fn worked() -> TestProject {
    let project = with_agents("");
    add_and_assign(&project, "merged", "worker");
    project.json(&["task", "approve", "1"]);
    add_and_assign(&project, "waiting", "worker");
    add_and_assign(&project, "cancelled", "helper");
    project.json(&["task", "cancel", "3"]);
    add(&project, "later");
    project.json(&["task", "progress", "4", "--did", "a step", "--issues", "none", "--next", "more"]);
    project
}

/// Clones the repository as another machine would have it.
fn clone(project: &TestProject, name: &str) -> PathBuf {
    git_in(project.repo.outside(), &["clone", "--quiet", "project", name]);
    project.repo.outside().join(name)
}

fn export(project: &TestProject) -> PathBuf {
    let file = project.repo.outside().join("state.tar");
    let _ = std::fs::remove_file(&file);
    project.json(&["state", "export", file.to_str().expect("a path")]);
    file
}

fn import(project: &TestProject, clone: &Path, file: &Path) -> Outcome {
    let at = [clone, file].map(|path| path.to_str().expect("a path").to_owned());
    project.run(&["--json", "-C", &at[0], "state", "import", &at[1]])
}

fn code_of(outcome: &Outcome) -> String {
    let error: Value = serde_json::from_str(&outcome.stderr).unwrap_or_default();
    error["error"]["code"].as_str().unwrap_or(&outcome.stderr).to_owned()
}

/// Returns all that there is of a project's state, but for what says where and when.
fn picture(project: &TestProject, at: &Path) -> Value {
    let at = at.to_str().expect("a path");
    let refs = git_in(Path::new(at), &["for-each-ref", "--format=%(refname) %(objectname)", "refs/regatta"]);
    let file =
        |task: u32| std::fs::read_to_string(format!("{at}/.regatta/task-states/task-{task}-state.md")).ok();
    let transcript =
        |name: &str| std::fs::read_to_string(format!("{at}/.git/regatta/sessions/{name}.jsonl")).ok();
    let transcripts = ["task-1-session-1", "task-2-session-1", "task-3-session-1"].map(transcript);
    let tasks = project.json(&["-C", at, "task", "list"]);
    let brief =
        |task: &Value| json!([task["id"], task["title"], task["column"], task["diff"], task["salvages"]]);
    json!({
        "tasks": tasks.as_array().expect("a list").iter().map(brief).collect::<Vec<_>>(),
        "events": project.json(&["-C", at, "events"]).as_array().expect("a list").len(),
        "refs": refs,
        "files": [file(1), file(2), file(3), file(4)],
        "transcripts": transcripts,
    })
}

#[test]
fn a_project_goes_on_in_another_clone() {
    let project = worked();
    // What the other machine has is behind: the merge was never pushed there.
    let there = clone(&project, "there");
    std::fs::write(project.path().join(".regatta/worktrees/task-2/uncommitted.txt"), "x").expect("a file");
    let before = picture(&project, project.path());
    let file = project.repo.outside().join("state.tar");
    let exported = project.json(&["state", "export", file.to_str().expect("a path")]);
    assert_eq!(exported["uncommitted"], json!([2]), "{exported}");
    let listed = std::process::Command::new("tar").arg("tf").arg(&file).output().expect("tar runs");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.starts_with("log.db\n") && listed.contains("refs.bundle\n"), "{listed}");
    let imported = import(&project, &there, &file);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let said: Value = serde_json::from_str(&imported.stdout).expect("JSON");
    assert_eq!(said["inWork"], json!([{ "taskId": 2, "branch": "task/2", "hasWorktree": true }]), "{said}");
    assert_eq!(picture(&project, &there), before);
    // Once more changes nothing, and the work continues there.
    assert_eq!(import(&project, &there, &file).code, Some(0));
    let at = there.to_str().expect("a path");
    project.json(&["-C", at, "task", "approve", "2"]);
    assert_eq!(git_in(&there, &["show", "main:task-2.txt"]), "session 1");
    project.json(&["-C", at, "task", "salvage", "3"]);
    assert_eq!(git_in(&there, &["show", "salvage/task-3-1:task-3.txt"]), "session 1");
    assert_eq!(project.run(&["-C", at, "doctor"]).code, Some(0));
}

#[test]
fn a_log_that_has_events_is_not_replaced() {
    let project = worked();
    let there = clone(&project, "there");
    let file = export(&project);
    assert_eq!(project.run(&["-C", there.to_str().expect("a path"), "trust", "--yes"]).code, Some(0));
    project.json(&["-C", there.to_str().expect("a path"), "task", "add", "of its own"]);
    let refused = import(&project, &there, &file);
    assert_eq!((refused.code, code_of(&refused).as_str()), (Some(1), "STATE_EXISTS"), "{refused:?}");
    assert_eq!(
        project.json(&["-C", there.to_str().expect("a path"), "task", "list"])[0]["title"],
        "of its own"
    );
    assert_eq!(git_in(&there, &["for-each-ref", "refs/regatta/salvage"]), "");
}

#[test]
fn an_export_is_whole_while_an_engine_is_at_work() {
    let project = with_agents("[project]\nmax_concurrent_agents = 4\n");
    let up = project.start(&["up"]);
    let file = project.repo.outside().join("state.tar");
    for round in 1..=5 {
        let task = add(&project, "a task");
        project.run(&["task", "assign", &task, "--agent", "worker", "--no-wait"]);
        let _ = std::fs::remove_file(&file);
        project.json(&["state", "export", file.to_str().expect("a path")]);
        let there = clone(&project, &format!("there-{round}"));
        let imported = import(&project, &there, &file);
        assert_eq!(imported.code, Some(0), "{imported:?}");
        let listed = project.json(&["-C", there.to_str().expect("a path"), "task", "list"]);
        assert_eq!(listed.as_array().expect("a list").len(), round);
        crate::support::until_in(&project, &task, "waiting_approval");
    }
    drop(up);
}

#[test]
fn an_import_that_is_killed_is_run_again() {
    let project = worked();
    let file = export(&project);
    let before = picture(&project, project.path());
    for point in ["import.objects", "import.refs", "import.files", "import.log"] {
        let there = clone(&project, point);
        let at = [there.to_str().expect("a path"), file.to_str().expect("a path")];
        let crashed = project.run_with("REGATTA_CRASH_AT", point, &["-C", at[0], "state", "import", at[1]]);
        assert_eq!(crashed.signal, Some(9), "{point}: {crashed:?}");
        let again = import(&project, &there, &file);
        assert_eq!(again.code, Some(0), "{point}: {again:?}");
        assert_eq!(picture(&project, &there), before, "{point}");
        let left = there.join(".git/regatta").read_dir().expect("a folder");
        let left: Vec<_> = left.map(|entry| entry.expect("an entry").file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("importing-")), "{left:?}");
    }
}

#[test]
fn by_pipe_from_one_clone_to_the_other() {
    let project = worked();
    let there = clone(&project, "there");
    let mut from = project.command(&["state", "export", "-"]);
    let exported = from.output().expect("it runs");
    assert!(exported.status.success(), "{exported:?}");
    let mut to = project.command(&["-C", there.to_str().expect("a path"), "state", "import", "-"]);
    let mut to = to.stdin(Stdio::piped()).spawn().expect("it runs");
    std::io::Write::write_all(&mut to.stdin.take().expect("stdin"), &exported.stdout).expect("it reads");
    assert!(to.wait_with_output().expect("it ends").status.success());
    assert_eq!(picture(&project, &there), picture(&project, project.path()));
}

/// Returns where the header of a file in the container begins.
fn find_entry(bytes: &[u8], name: &str) -> usize {
    let mut at = 0;
    loop {
        let end = bytes[at..at + 100].iter().position(|byte| *byte == 0).expect("a name ends");
        if &bytes[at..at + end] == name.as_bytes() {
            return at;
        }
        assert!(end > 0, "{name} is not in it");
        at += BLOCK + size_at(bytes, at).div_ceil(BLOCK) * BLOCK;
    }
}

fn size_at(bytes: &[u8], at: usize) -> usize {
    let digits = std::str::from_utf8(&bytes[at + 124..at + 135]).expect("digits");
    usize::from_str_radix(digits, 8).expect("octal digits")
}

/// Makes a header right again after a change.
fn sum(bytes: &mut [u8], at: usize) {
    bytes[at + 148..at + 156].copy_from_slice(b"        ");
    let sum: u32 = bytes[at..at + BLOCK].iter().map(|byte| u32::from(*byte)).sum();
    bytes[at + 148..at + 156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

fn rename(bytes: &mut [u8], name: &str, to: &str) {
    let at = find_entry(bytes, name);
    bytes[at..at + 100].fill(0);
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    sum(bytes, at);
}

#[test]
fn a_damaged_or_hostile_file_changes_nothing() {
    let project = worked();
    let whole = std::fs::read(export(&project)).expect("an export");
    let session = "sessions/task-1-session-1.jsonl";
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        bytes
    };
    let flip = |name: &'static str| {
        changed(&move |bytes: &mut Vec<u8>| {
            let at = find_entry(bytes, name) + BLOCK + size_at(bytes, find_entry(bytes, name)) / 2;
            bytes[at] ^= 1;
        })
    };
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("no container", b"PK\x03\x04 and so on".repeat(100)),
        ("cut off", whole[..whole.len() / 2].to_vec()),
        ("cut off at the end", whole[..find_entry(&whole, "manifest.sha256")].to_vec()),
        ("log damaged", flip("log.db")),
        ("transcript damaged", flip("sessions/task-1-session-1.jsonl")),
        ("bundle damaged", flip("refs.bundle")),
        ("manifest damaged", flip("manifest.json")),
        ("path traversal", changed(&|bytes| rename(bytes, session, "../../../planted"))),
        ("absolute path", changed(&|bytes| rename(bytes, session, "/tmp/regatta-planted"))),
        ("hidden name", changed(&|bytes| rename(bytes, session, "sessions/.planted"))),
        ("a hook", changed(&|bytes| rename(bytes, session, "hooks/post-merge"))),
        ("named twice", changed(&|bytes| rename(bytes, session, "log.db"))),
        (
            "a link",
            changed(&|bytes| {
                let at = find_entry(bytes, session);
                bytes[at + 156] = b'2';
                sum(bytes, at);
            }),
        ),
        (
            "a size beyond its end",
            changed(&|bytes| {
                let at = find_entry(bytes, session);
                bytes[at + 124..at + 135].copy_from_slice(b"77777777777");
                sum(bytes, at);
            }),
        ),
    ];
    let there = clone(&project, "there");
    let shown = |folder: &Path| git_in(folder, &["for-each-ref"]);
    let before = shown(&there);
    let file = project.repo.outside().join("hostile.tar");
    for (case, bytes) in cases {
        std::fs::write(&file, bytes).expect("a file");
        let refused = import(&project, &there, &file);
        assert_eq!(
            (refused.code, code_of(&refused).as_str()),
            (Some(1), "EXPORT_INVALID"),
            "{case}: {refused:?}"
        );
        let home = there.join(".git/regatta");
        assert!(!home.join("log.db").exists() && !home.join("sessions").exists(), "{case}");
        assert!(!there.join(".regatta/task-states").exists(), "{case}");
        assert_eq!(shown(&there), before, "{case}");
    }
    assert!(!project.repo.outside().join("planted").exists() && !Path::new("/tmp/regatta-planted").exists());
    let folder = project.run(&["--json", "-C", there.to_str().expect("a path"), "state", "import", "."]);
    assert_eq!((folder.code, code_of(&folder).as_str()), (Some(1), "PROJECT_NOT_TRUSTED"));
}

#[test]
fn an_export_of_another_repository_is_refused() {
    let project = worked();
    // A remote that has all of it, so that the export leaves it out.
    git_in(project.repo.outside(), &["clone", "--quiet", "--bare", "project", "remote.git"]);
    project.repo.git(&["remote", "add", "origin", "../remote.git"]);
    project.repo.git(&["fetch", "--quiet", "origin"]);
    let file = export(&project);
    let other = TestProject::new(PROGRAM, "");
    let refused = import(&other, other.path(), &file);
    assert_eq!((refused.code, code_of(&refused).as_str()), (Some(1), "EXPORT_FOREIGN"), "{refused:?}");
    assert_eq!(other.json(&["task", "list"]), json!([]));
    let mut fsck = sealed_git(other.path());
    assert!(fsck.args(["fsck", "--strict"]).output().expect("git runs").status.success());
}
