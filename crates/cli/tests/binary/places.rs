//! Where the log is: in the git folder, where every linked worktree finds it and no `git clean` reaches it.

use crate::support::{AGENTS, PROGRAM, Transcript, add, add_and_assign, count_events, field, with_agents};
use regatta_testkit::binary::TestProject;
use regatta_testkit::repo::git_in;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Puts log and transcripts where an earlier version kept them.
pub(crate) fn make_old(project: &TestProject) {
    let old = project.path().join(".regatta");
    std::fs::rename(project.home().join("sessions"), old.join("sessions")).expect("transcripts can be moved");
    std::fs::rename(project.log(), old.join("regatta.db")).expect("the log can be moved");
    for end in ["-wal", "-shm"] {
        let (from, to) = (format!("log.db{end}"), format!("regatta.db{end}"));
        let _ = std::fs::rename(project.home().join(from), old.join(to));
    }
    std::fs::create_dir_all(old.join("sessions/p0-task-9-1.abc")).expect("a private folder");
}

fn clean(folder: &Path) {
    git_in(folder, &["clean", "--quiet", "-fdx"]);
}

#[test]
fn a_linked_worktree_finds_the_same_board() {
    let project = with_agents("");
    project.repo.git(&["worktree", "add", "--quiet", "-b", "side", "../linked"]);
    let linked = ["-C", "../linked"];
    let at_linked = |words: &[&str]| project.json(&[&linked[..], words].concat());
    at_linked(&["task", "add", "a task"]);
    assert_eq!(project.json(&["task", "list"]), at_linked(&["task", "list"]));
    assert_eq!(project.json(&["task", "list"])[0]["title"], "a task");
    at_linked(&["task", "assign", "1", "--agent", "worker"]);
    assert!(project.path().join(".regatta/worktrees/task-1/task-1.txt").is_file());
    at_linked(&["task", "approve", "1"]);
    assert_eq!(project.repo.git(&["show", "main:task-1.txt"]), "session 1");
    let other = project.repo.outside().join("linked/.regatta");
    let names: Vec<_> =
        other.read_dir().expect("it was checked out").map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| name == "config.toml" || name == ".gitignore"), "{names:?}");
    let again = project.refusal(&[&linked[..], &["init"]].concat());
    assert_eq!(again["code"], "PROJECT_EXISTS");
}

#[test]
fn in_a_bare_repository_the_worktree_where_init_ran_counts() {
    let project = TestProject::without_init(PROGRAM);
    let outside = project.repo.outside().to_owned();
    git_in(&outside, &["clone", "--quiet", "--bare", "project", "bare.git"]);
    for name in ["one", "two"] {
        git_in(&outside.join("bare.git"), &["worktree", "add", "--quiet", "-b", name, &format!("../{name}")]);
    }
    let refused = project.refusal(&["-C", "../bare.git", "init"]);
    assert_eq!(refused["code"], "NOT_A_REPOSITORY", "{refused}");
    project.json(&["-C", "../two", "init"]);
    project.json(&["-C", "../two", "task", "add", "a task"]);
    for folder in ["../one", "../two", "../bare.git"] {
        assert_eq!(project.json(&["-C", folder, "task", "list"])[0]["title"], "a task", "{folder}");
    }
    assert!(outside.join("two/.regatta/task-states/task-1-state.md").is_file());
    assert!(!outside.join("one/.regatta").exists() && outside.join("bare.git/regatta/log.db").is_file());
    std::fs::remove_dir_all(outside.join("two")).expect("the worktree can be deleted");
    let refused = project.refusal(&["-C", "../one", "task", "list"]);
    assert_eq!(refused["code"], "PROJECT_NOT_FOUND", "{refused}");
    project.json(&["-C", "../one", "init"]);
    assert_eq!(project.json(&["-C", "../one", "task", "list"])[0]["title"], "a task");
}

#[test]
fn a_clean_takes_nothing_that_is_not_written_again() {
    let project = with_agents("");
    add_and_assign(&project, "a task", "worker");
    add(&project, "another");
    for step in 1..=8 {
        let did = format!("step {step}");
        project.json(&["task", "progress", "2", "--did", &did, "--issues", "none", "--next", "more"]);
    }
    project.json(&["task", "archive", "2"]);
    let files = || {
        let names =
            ["task-states/task-1-state.md", "task-states/task-2-state.md", "archives/task-2-archive.md"];
        names.map(|name| {
            std::fs::read_to_string(project.path().join(".regatta").join(name)).unwrap_or_default()
        })
    };
    let before = files();
    assert!(before[2].contains("step 1") && !before[1].contains("- step 1\n"), "{before:?}");
    clean(project.path());
    assert!(!project.path().join(".regatta/task-states").exists(), "the clean was thorough");
    project.json(&["task", "list"]);
    assert_eq!(files(), before);
    assert!(project.session_transcript(1, 1).is_file());
    // Scripts of this test's agents are not meant for git, and are gone.
    project.json(&["task", "approve", "1"]);
    assert_eq!(project.repo.git(&["show", "main:task-1.txt"]), "session 1");
    assert_eq!(project.run(&["doctor"]).code, Some(0));
}

#[test]
fn a_clean_while_an_engine_runs() {
    let project = with_agents("");
    add(&project, "a task");
    let up = project.start(&["up"]);
    project.run(&["task", "assign", "1", "--agent", "worker", "--no-wait"]);
    crate::support::until_in(&project, "1", "waiting_approval");
    let file = project.path().join(".regatta/task-states/task-1-state.md");
    regatta_testkit::wait::until("the file is written to its end", || {
        std::fs::read_to_string(&file).is_ok_and(|text| text.contains("Session 1"))
    });
    for _ in 0..3 {
        clean(project.path());
        regatta_testkit::wait::until("the file is back", || {
            std::fs::read_to_string(&file).is_ok_and(|text| text.contains("Session 1"))
        });
    }
    project.json(&["task", "approve", "1"]);
    assert_eq!(field(&project, "1", "column"), "verified");
    drop(up);
    // The engine is killed, perhaps while it writes a file once more.
    project.run(&["doctor", "--fix"]);
    let doctor = project.run(&["doctor"]);
    assert_eq!(doctor.code, Some(0), "{doctor:?}");
}

#[test]
fn a_log_without_its_config_is_found_again_by_init() {
    let project = TestProject::without_init(PROGRAM);
    project.json(&["init"]);
    add(&project, "a task");
    clean(project.path());
    assert!(!project.path().join(".regatta").exists(), "it was never committed");
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "list"]);
    transcript.run(&["--json", "task", "add", "another"]);
    transcript.run(&["init"]);
    transcript.run(&["task", "list"]);
    transcript.check("places_config_gone");
    assert!(project.path().join(".regatta/task-states/task-1-state.md").is_file());
}

#[test]
fn an_old_log_is_moved_once() {
    let project = with_agents("");
    add_and_assign(&project, "a task", "worker");
    let events = count_events(&project);
    make_old(&project);
    let old = project.path().join(".regatta");
    assert_eq!(count_events(&project), events);
    assert!(!old.join("regatta.db").exists() && !old.join("sessions").exists());
    assert!(project.log().is_file() && project.session_transcript(1, 1).is_file());
    project.json(&["task", "approve", "1"]);
    assert_eq!(field(&project, "1", "column"), "verified");
    // Another log in the old place, as an old version makes one, is left alone and reported.
    std::fs::write(old.join("regatta.db"), "").expect("it can be written");
    project.json(&["task", "list"]);
    assert!(!old.join("regatta.db").exists(), "an empty one is nothing");
    make_old(&project);
    project.json(&["task", "list"]);
    let copy = project.repo.outside().join("copy.db");
    std::fs::copy(project.log(), &copy).expect("it can be copied");
    add(&project, "a task that only the new one has");
    std::fs::copy(&copy, old.join("regatta.db")).expect("it can be copied");
    project.json(&["task", "list"]);
    assert!(!old.join("regatta.db").exists(), "one that the new log continues is a left-over");
}

#[test]
fn another_log_in_the_old_place_is_left_alone_and_reported() {
    let (project, other) = (with_agents(""), with_agents(""));
    add(&other, "of another project");
    add(&project, "a task");
    let _ = std::fs::remove_file(other.home().join("log.db-wal"));
    let old = project.path().join(".regatta/regatta.db");
    std::fs::copy(other.log(), &old).expect("it can be copied");
    assert_eq!(project.json(&["task", "list"])[0]["title"], "a task");
    assert!(old.is_file());
    let found = project.run(&["--json", "doctor"]);
    assert!(found.stdout.contains("old_log"), "{found:?}");
}

#[test]
fn a_crash_at_any_step_of_the_move_is_finished_by_the_next_verb() {
    for point in ["move_log.taken", "move_log.transcripts_moved", "move_log.moved"] {
        let project = with_agents("");
        add_and_assign(&project, "a task", "worker");
        let events = project.json(&["events"]);
        make_old(&project);
        let crashed = project.run_with("REGATTA_CRASH_AT", point, &["task", "list"]);
        assert_eq!(crashed.signal, Some(9), "{point}: {crashed:?}");
        assert_eq!(project.json(&["events"]), events, "{point}");
        assert!(project.session_transcript(1, 1).is_file(), "{point}");
        assert!(!project.path().join(".regatta/regatta.db").exists(), "{point}");
        assert_eq!(project.run(&["doctor"]).code, Some(0), "{point}");
    }
}

#[test]
fn a_setting_that_moved_says_so() {
    let project = TestProject::new(PROGRAM, &format!("{AGENTS}\n[paths]\nsessions = \"logs\"\n"));
    let refused = project.refusal(&["task", "list"]);
    assert_eq!(refused["code"], "CONFIG_INVALID");
    let message = refused["message"].as_str().expect("a message");
    assert!(message.contains("`paths.sessions` is no longer a setting"), "{message}");
    assert!(message.contains(".git/regatta/sessions") && message.contains("\"logs\""), "{message}");
}

#[test]
fn a_submodule_without_a_project_belongs_to_the_one_around_it() {
    let project = with_agents("");
    add(&project, "a task");
    let inner: PathBuf = project.path().join("vendor/inner");
    std::fs::create_dir_all(&inner).expect("a folder");
    git_in(&inner, &["init", "--quiet", "."]);
    assert_eq!(project.json(&["-C", "vendor/inner", "task", "list"])[0]["title"], json!("a task"));
}
