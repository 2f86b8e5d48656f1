//! The verbs beside the five commands: every recovery that an error names can be followed, and daily work is possible.

use crate::support::{
    PROGRAM, Transcript, add, add_all, add_and_assign, count_events, field, kinds_from, with_agents,
};
use regatta_testkit::binary::TestProject;
use regatta_testkit::repo::{commit_in, git_in, write_below, write_program};
use regatta_testkit::wait::until;
use serde_json::{Value, json};
use std::path::PathBuf;

const COMMAND: &str = "0197f3a0-0000-7000-8000-000000000001";

fn worktree(project: &TestProject, task: &str) -> PathBuf {
    project.path().join(format!(".regatta/worktrees/task-{task}"))
}

fn task_file(project: &TestProject, task: &str) -> PathBuf {
    project.path().join(format!(".regatta/task-states/task-{task}-state.md"))
}

/// Asserts that a command is refused as not legal, and changes nothing.
fn refused(project: &TestProject, arguments: &[&str]) -> Value {
    let events = count_events(project);
    let error = project.refusal(arguments);
    assert_eq!(error["code"], "TASK_INVALID_TRANSITION", "{arguments:?}: {error}");
    assert_eq!(count_events(project), events, "a refusal adds nothing");
    error
}

#[test]
fn a_conflict_that_is_resolved_by_hand_is_submitted_and_approved() {
    for is_committed in [false, true] {
        let project = with_agents("[checks]\ntest = \"test -e task-1.txt\"");
        let task = add_and_assign(&project, "a task", "worker");
        project.repo.write("task-1.txt", "another text\n");
        project.repo.commit("meanwhile");
        let error = project.refusal(&["task", "approve", &task]);
        assert_eq!(error["code"], "WORKTREE_MERGE_CONFLICT");
        assert!(error["hint"].as_str().unwrap().contains("regatta task submit 1"), "{error}");

        let place = worktree(&project, &task);
        let merged = regatta_testkit::repo::sealed_git(&place).args(["merge", "main"]).output().unwrap();
        assert!(!merged.status.success(), "it conflicts here too");
        let error = project.refusal(&["task", "submit", &task]);
        assert_eq!(
            (&error["code"], &error["details"]["files"]),
            (&json!("WORKTREE_MERGE_CONFLICT"), &json!(["task-1.txt"]))
        );
        write_below(&place, "task-1.txt", "both texts\n");
        if is_committed {
            git_in(&place, &["add", "task-1.txt"]);
            git_in(&place, &["commit", "-m", "merge"]);
        }
        let old = field(&project, &task, "diff");
        let answer = project.json(&["task", "submit", &task]);
        assert_eq!((&answer["column"], &answer["error"]), (&json!("waiting_approval"), &Value::Null));
        assert_ne!(answer["diff"]["head"], old["head"]);
        assert_eq!(answer["checks"][0]["passed"], true, "the checks ran again: {answer}");
        let head = old["head"].as_str().unwrap();
        assert_eq!(project.refusal(&["task", "approve", &task, "--head", head])["code"], "APPROVAL_STALE");
        let head = answer["diff"]["head"].as_str().unwrap();
        assert_eq!(project.json(&["task", "approve", &task, "--head", head])["column"], "verified");
        assert_eq!(std::fs::read_to_string(project.path().join("task-1.txt")).unwrap(), "both texts\n");
    }
}

#[test]
fn a_dirty_worktree_is_submitted_and_approved() {
    let project = with_agents("");
    let task = add_and_assign(&project, "a task", "worker");
    write_below(&worktree(&project, &task), "late.txt", "late\n");
    let error = project.refusal(&["task", "approve", &task]);
    assert_eq!(error["code"], "WORKTREE_DIRTY");
    assert!(error["hint"].as_str().unwrap().contains("regatta task submit 1"), "{error}");
    let from = count_events(&project) + 1;
    let answer = project.json(&["task", "submit", &task, "--command-id", COMMAND]);
    assert_eq!(answer["diff"]["filesChanged"], 2);
    let kinds = kinds_from(&project, from);
    assert_eq!(kinds.iter().filter(|kind| *kind == "task:submitted").count(), 1, "{kinds:?}");
    let pinned = project.repo.git(&["for-each-ref", "--format=%(objectname)", "refs/regatta/review/1/2"]);
    assert_eq!(answer["diff"]["head"], pinned.trim());
    project.json(&["task", "submit", &task, "--command-id", COMMAND]);
    assert_eq!(kinds_from(&project, from).iter().filter(|kind| *kind == "task:submitted").count(), 1);

    commit_in(&worktree(&project, &task), "the branch moves on");
    write_below(&worktree(&project, &task), "later.txt", "later\n");
    commit_in(&worktree(&project, &task), "and on");
    let error = project.refusal(&["task", "approve", &task]);
    assert_eq!(error["code"], "APPROVAL_STALE");
    assert!(error["hint"].as_str().unwrap().contains("regatta task submit 1"), "{error}");
    project.json(&["task", "submit", &task]);
    assert_eq!(project.json(&["task", "approve", &task])["column"], "verified");
}

#[test]
fn in_progress_submit_is_complete_by_whoever_s_hand() {
    let project = with_agents("");
    let task = add_and_assign(&project, "a task", "breaker");
    assert_eq!(field(&project, &task, "phase"), "halted");
    write_below(&worktree(&project, &task), "task-1.txt", "all of it\n");
    let answer = project.json(&["task", "submit", &task]);
    assert_eq!((&answer["column"], &answer["diff"]["filesChanged"]), (&json!("waiting_approval"), &json!(1)));
    assert!(kinds_from(&project, 1).iter().any(|kind| kind == "task:completed"));
    let other = add(&project, "another");
    refused(&project, &["task", "submit", &other]);
    project.json(&["task", "approve", &task]);
    refused(&project, &["task", "submit", &task]);
}

#[test]
fn an_agent_whose_entry_is_gone_is_replaced() {
    let project = with_agents("");
    let task = add_and_assign(&project, "a task", "worker");
    let config = project.path().join(".regatta/config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text.replace("[agents.worker]", "[agents.other]")).unwrap();
    let error = project.refusal(&["task", "reject", &task, "--reason", "not yet"]);
    assert_eq!(error["code"], "AGENT_NOT_FOUND");
    assert!(error["hint"].as_str().unwrap().contains("regatta task reject 1 --agent"), "{error}");
    let answer = project.json(&["task", "reject", &task, "--reason", "not yet", "--agent", "helper"]);
    assert_eq!(
        (&answer["agentId"], &answer["rejectionCount"], &answer["sessions"]),
        (&json!("helper"), &json!(1), &json!(2))
    );
    assert_eq!(answer["column"], "waiting_approval");
}

#[test]
fn a_rejection_that_fails_does_not_count_and_another_agent_takes_it() {
    let project = with_agents("");
    let task = add_and_assign(&project, "a task", "worker");
    let config = project.path().join(".regatta/config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let gone = "[agents.gone]\nkind = \"command\"\ncommand = [\"/nowhere/agent\"]\n";
    std::fs::write(&config, format!("{text}\n{gone}")).unwrap();
    let outcome = project.run(&["task", "reject", &task, "--reason", "no", "--agent", "gone"]);
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    let shown = project.json(&["task", "show", &task]);
    assert_eq!(
        (&shown["column"], &shown["rejectionCount"], &shown["agentId"]),
        (&json!("waiting_approval"), &json!(0), &json!("worker"))
    );
    let answer = project.json(&["task", "reject", &task, "--reason", "no", "--agent", "helper"]);
    assert_eq!((&answer["rejectionCount"], &answer["agentId"]), (&json!(1), &json!("helper")));
}

#[test]
fn a_halted_task_goes_to_another_agent() {
    let project = with_agents("");
    let task = add(&project, "a task");
    refused(&project, &["task", "reassign", &task, "--agent", "helper"]);
    project.run(&["task", "assign", &task, "--agent", "breaker"]);
    assert_eq!(project.refusal(&["task", "reassign", &task, "--agent", "nobody"])["code"], "AGENT_NOT_FOUND");
    let answer = project.json(&["task", "reassign", &task, "--agent", "helper", "--feedback", "Finish it"]);
    assert_eq!(
        (&answer["column"], &answer["agentId"], &answer["sessions"]),
        (&json!("waiting_approval"), &json!("helper"), &json!(2))
    );
    let text = std::fs::read_to_string(project.path().join("task-1.txt"));
    assert!(text.is_err(), "nothing is merged yet");
    assert_eq!(project.json(&["task", "reassign", &task, "--agent", "worker"])["agentId"], "worker");
    project.json(&["task", "approve", &task]);
    refused(&project, &["task", "reassign", &task, "--agent", "helper"]);
}

const SLOW: &str =
    "[agents.slow]\nkind = \"command\"\ncommand = ['sh', '-c', 'echo half > half.txt; exec sleep 600']\n";

#[test]
fn a_running_session_is_stopped_first_if_asked_for() {
    let project = with_agents("");
    let config = project.path().join(".regatta/config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{text}\n{SLOW}")).unwrap();
    let task = add(&project, "a task");
    let up = project.start(&["up"]);
    project.json(&["task", "assign", &task, "--agent", "slow", "--no-wait"]);
    let half = worktree(&project, &task).join("half.txt");
    until("the session works", || half.exists());
    let error = project.refusal(&["task", "reassign", &task, "--agent", "helper"]);
    assert_eq!(error["code"], "TASK_BUSY", "{error}");
    let answer = project.json(&["task", "reassign", &task, "--agent", "helper", "--stop"]);
    assert_eq!(
        (&answer["column"], &answer["agentId"], &answer["diff"]["filesChanged"]),
        (&json!("waiting_approval"), &json!("helper"), &json!(2)),
        "what the first one did is still there: {answer}"
    );
    drop(up.kill());
}

#[test]
fn a_person_does_a_task_without_an_agent() {
    let project = with_agents("[project]\nmax_concurrent_agents = 1");
    let task = add(&project, "mine");
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "assign", &task, "--me"]);
    let shown = project.json(&["task", "show", &task]);
    assert_eq!(
        (&shown["agentId"], &shown["owner"], &shown["column"], &shown["sessions"]),
        (&Value::Null, &json!("tester"), &json!("in_progress"), &json!(0))
    );
    let other = add_and_assign(&project, "another", "worker");
    assert_eq!(field(&project, &other, "column"), "waiting_approval", "the place is not taken");
    assert_eq!(project.refusal(&["task", "submit", &task])["code"], "TASK_NO_DIFF");
    write_below(&worktree(&project, &task), "mine.txt", "by hand\n");
    transcript.run(&["task", "submit", &task]);
    transcript.run(&["task", "reject", &task, "--reason", "say more"]);
    write_below(&worktree(&project, &task), "mine.txt", "by hand, and more\n");
    transcript.run(&["task", "submit", &task]);
    transcript.run(&["task", "approve", &task]);
    transcript.check("verbs_by_hand");
    let log = project.repo.git(&["log", "--format=%an", "main", "--", "mine.txt"]);
    assert!(log.lines().all(|author| author == "tester"), "{log}");

    let task = add(&project, "given up");
    project.json(&["task", "assign", &task, "--me"]);
    write_below(&worktree(&project, &task), "mine.txt", "half\n");
    let answer = project.json(&["task", "cancel", &task]);
    assert_eq!((&answer["column"], answer["salvages"].as_array().unwrap().len()), (&json!("backlog"), 1));
    project.json(&["task", "assign", &task, "--me"]);
    let answer = project.json(&["task", "reassign", &task, "--agent", "worker"]);
    assert_eq!((&answer["agentId"], &answer["column"]), (&json!("worker"), &json!("waiting_approval")));
}

#[test]
fn a_task_is_edited_in_the_log_and_in_its_file() {
    let project = with_agents("");
    let task =
        project.json(&["task", "add", "a task", "--criterion", "It works", "--criterion", "It is fast"]);
    let task = task["id"].to_string();
    project.json(&["epic", "add", "An epic"]);
    project.json(&["task", "criteria", &task, "--check", "1"]);
    let from = count_events(&project) + 1;
    let edit = [
        "task",
        "edit",
        &task,
        "--title",
        "Another title",
        "--description",
        "- a list\n- of two",
        "--criterion",
        "It works",
        "--criterion",
        "It is small (check: size)",
        "--priority",
        "high",
        "--epic",
        "1",
        "--command-id",
        COMMAND,
    ];
    let answer = project.json(&edit);
    assert_eq!(
        (&answer["title"], &answer["description"], &answer["priority"], &answer["epicId"]),
        (&json!("Another title"), &json!("- a list\n- of two"), &json!("high"), &json!(1))
    );
    assert_eq!(
        answer["criteria"],
        json!([
            { "text": "It works", "checked": true, "verified": false, "met": null, "check": null },
            { "text": "It is small", "checked": false, "verified": false, "met": null, "check": "size" },
        ])
    );
    let text = std::fs::read_to_string(task_file(&project, &task)).unwrap();
    assert!(text.starts_with("# Task #1: Another title\n"), "{text}");
    let is_filed =
        |text: &str| text.contains("(#1) [details](/api/epics/1)\n") && text.contains("\"epic_id\": 1");
    assert!(is_filed(&text), "{text}");
    assert!(
        text.contains("- [x] It works") && text.contains("It is small") && !text.contains("It is fast"),
        "{text}"
    );
    assert!(kinds_from(&project, from).iter().any(|kind| kind == "task:edited"));
    let events = count_events(&project);
    assert_eq!(project.json(&edit)["title"], "Another title");
    assert_eq!(count_events(&project), events, "given twice, it is done once");
    assert_eq!(project.json(&["task", "edit", &task, "--title", "Another title"])["title"], "Another title");
    assert_eq!(count_events(&project), events, "what changes nothing is no news");
    assert_eq!(project.refusal(&["task", "edit", &task])["code"], "VALIDATION_ERROR");
    assert_eq!(project.refusal(&["task", "edit", &task, "--title", " "])["code"], "VALIDATION_ERROR");
    assert_eq!(project.refusal(&["task", "edit", &task, "--epic", "9"])["code"], "EPIC_NOT_FOUND");
    project.json(&["task", "edit", &task, "--no-epic", "--no-criteria"]);
    let shown = project.json(&["task", "show", &task]);
    assert_eq!((&shown["epicId"], &shown["criteria"]), (&Value::Null, &json!([])));
    let text = std::fs::read_to_string(task_file(&project, &task)).unwrap();
    assert!(!text.contains("**Epic:**") && text.contains("\"epic_id\": null"), "{text}");
    project.json(&["task", "assign", &task, "--agent", "worker"]);
    project.json(&["task", "approve", &task]);
    refused(&project, &["task", "edit", &task, "--title", "Too late"]);
}

#[test]
fn a_deleted_task_is_gone_with_its_file_and_its_number() {
    let project = with_agents("");
    add_all(&project, &["one", "two", "three"]);
    project.json(&["task", "depends", "3", "2"]);
    let error = refused(&project, &["task", "delete", "2"]);
    assert!(error["message"].as_str().unwrap().contains("#3"), "{error}");
    project.json(&["task", "depends", "3", "--remove", "2"]);
    let deleted = project.json(&["task", "delete", "3", "--command-id", COMMAND]);
    assert_eq!(deleted, json!({ "id": 3, "deleted": true }));
    assert_eq!(project.json(&["task", "delete", "3", "--command-id", COMMAND]), deleted);
    assert!(!task_file(&project, "3").exists());
    assert_eq!(project.refusal(&["task", "show", "3"])["code"], "TASK_NOT_FOUND");
    assert_eq!(project.refusal(&["task", "delete", "3"])["code"], "TASK_NOT_FOUND");
    assert_eq!(add(&project, "four"), "4");
    let listed = project.json(&["task", "list"]);
    let ids: Vec<&Value> = listed.as_array().unwrap().iter().map(|task| &task["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(2), &json!(4)]);
    project.run(&["task", "assign", "1", "--agent", "worker"]);
    refused(&project, &["task", "delete", "1"]);
    project.json(&["task", "cancel", "1"]);
    refused(&project, &["task", "delete", "1"]);
    let outcome = project.run(&["doctor"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stdout);
}

#[test]
fn an_edit_in_the_file_of_a_deleted_task_is_kept() {
    let project = with_agents("");
    add(&project, "one");
    let path = task_file(&project, "1");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}\nsomething of mine\n")).unwrap();
    project.json(&["task", "delete", "1"]);
    assert!(!path.exists());
    let kept = std::fs::read_to_string(path.with_file_name("task-1-state.md.deleted-1")).unwrap();
    assert!(kept.contains("something of mine"));
}

#[test]
fn hidden_tasks_and_the_filters_of_the_list() {
    let project = with_agents("");
    project.json(&["epic", "add", "An epic"]);
    add_and_assign(&project, "first", "worker");
    project.json(&["task", "approve", "1"]);
    project.json(&["task", "add", "second", "--epic", "1", "--description", "Some Words"]);
    add_and_assign(&project, "third", "helper");
    let ids = |arguments: &[&str]| -> Vec<u64> {
        let listed = project.json(&[&["task", "list"], arguments].concat());
        listed.as_array().unwrap().iter().map(|task| task["id"].as_u64().unwrap()).collect()
    };
    refused(&project, &["task", "hide", "2"]);
    let hidden = project.json(&["task", "hide", "1"]);
    assert_eq!((&hidden[0]["hidden"], &hidden[0]["column"]), (&json!(true), &json!("verified")));
    assert_eq!(ids(&[]), [2, 3]);
    assert_eq!(ids(&["--all"]), [1, 2, 3]);
    assert_eq!(ids(&["--column", "waiting_approval"]), [3]);
    assert_eq!(ids(&["--agent", "worker"]), [0_u64; 0]);
    assert_eq!(ids(&["--agent", "worker", "--all"]), [1]);
    assert_eq!(ids(&["--epic", "1"]), [2]);
    assert_eq!(ids(&["--text", "some words"]), [2]);
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "list", "--column", "backlog"]);
    transcript.run(&["task", "list", "--text", "nothing has this"]);
    transcript.run(&["task", "list", "--column", "done"]);
    transcript.run(&["task", "hide", "1", "--undo"]);
    transcript.run(&["task", "hide", "1"]);
    transcript.run(&["task", "hide", "2"]);
    transcript.check("verbs_list");
}

#[test]
fn the_log_is_filtered_by_task_and_type() {
    let project = with_agents("");
    add_all(&project, &["one", "two"]);
    let kinds = |arguments: &[&str]| -> Vec<String> {
        let events = project.json(&[&["events"], arguments].concat());
        events.as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&["--task", "2", "--type", "task:created"]), ["task:created"]);
    assert_eq!(kinds(&["--type", "task:"]), ["task:created", "task:created"]);
    assert!(kinds(&["--task", "1"]).iter().any(|kind| kind == "file:written"));
    let error = project.refusal(&["events", "--type", "task:create"]);
    assert_eq!(error["code"], "VALIDATION_ERROR");
    assert!(error["message"].as_str().unwrap().contains("task:created"), "{error}");
}

#[test]
fn the_worktree_opens_in_the_editor_or_in_a_shell() {
    let mut project = with_agents("");
    let task = add(&project, "a task");
    refused(&project, &["task", "open", &task]);
    project.json(&["task", "assign", &task, "--me"]);
    let place = worktree(&project, &task);
    let editor = project.repo.outside().join("editor");
    write_program(&editor, "#!/bin/sh\necho \"$#\" \"$1\" > opened.txt\n");
    project.set("EDITOR", editor.to_str().unwrap());
    let outcome = project.run(&["task", "open", &task]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains(place.to_str().unwrap()), "{}", outcome.stderr);
    let opened = std::fs::read_to_string(place.join("opened.txt")).unwrap();
    assert_eq!(opened, format!("1 {}\n", place.display()));
    project.set("VISUAL", "false");
    let error = project.run(&["task", "open", &task]);
    assert!(error.code == Some(1) && error.stderr.contains("IO_FAILED"), "{}", error.stderr);
    project.set("VISUAL", "");
    project.set("EDITOR", "");
    let shell = project.repo.outside().join("shell");
    write_program(&shell, "#!/bin/sh\npwd > shell.txt\n");
    project.set("SHELL", shell.to_str().unwrap());
    assert_eq!(project.run(&["task", "open", &task]).code, Some(0));
    assert_eq!(std::fs::read_to_string(place.join("shell.txt")).unwrap(), format!("{}\n", place.display()));
    assert_eq!(project.json(&["task", "open", &task])["worktree"], place.to_str().unwrap());
}

#[test]
fn show_looks_at_the_file_first() {
    let project = TestProject::new(PROGRAM, "");
    let task = project.json(&["task", "add", "a task", "--criterion", "It works"])["id"].to_string();
    let path = task_file(&project, &task);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("- [ ] It works", "- [x] It works")).unwrap();
    assert_eq!(field(&project, &task, "criteria")[0]["checked"], true);
    let events = count_events(&project);
    project.json(&["task", "show", &task]);
    assert_eq!(count_events(&project), events, "a file that is known adds nothing");
}

#[test]
fn what_was_done_may_begin_with_a_dash() {
    let project = TestProject::new(PROGRAM, "");
    let task = add(&project, "a task");
    project.json(&["task", "progress", &task, "--did", "- step one\n- step two", "--next", "- more"]);
    let text = std::fs::read_to_string(task_file(&project, &task)).unwrap();
    assert!(text.contains("step one") && text.contains("step two"), "{text}");
}
