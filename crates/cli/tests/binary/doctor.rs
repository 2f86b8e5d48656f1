//! `regatta doctor`: finds what a crash or a hand left behind, and fixes it without losing anything.

use crate::support::{Transcript, add, add_and_assign, is_alive, read_when_written, with_agents, with_shell};
use regatta_testkit::wait::until;

#[test]
fn an_orphan_worktree_and_an_orphan_branch_are_salvaged() {
    let project = with_agents("");
    let cancelled = add_and_assign(&project, "given up", "worker");
    project.json(&["task", "cancel", &cancelled]);
    project.repo.git(&["branch", "task/1", "refs/regatta/salvage/1/1"]);
    add(&project, "never begun");
    project.repo.git(&["worktree", "add", "--quiet", "-b", "task/2", ".regatta/worktrees/task-2", "main"]);
    project.repo.write(".regatta/worktrees/task-2/found.txt", "precious\n");
    project.repo.git(&["branch", "task/77"]);

    let mut transcript = Transcript::new(&project);
    transcript.run(&["doctor"]);
    transcript.run(&["--json", "doctor"]);
    transcript.run(&["doctor", "--fix"]);
    transcript.run(&["doctor"]);
    transcript.run(&["task", "salvage", "2", "--list"]);
    transcript.check("doctor");
    assert_eq!(project.repo.git(&["show", "refs/regatta/salvage/2/1:found.txt"]), "precious");
    let branches = project.repo.git(&["branch", "--list", "task/*"]);
    assert_eq!(branches.trim(), "task/77", "a branch that no task had is the user's own");
}

/// Both run at the same time: `up` with a session, and the repair of what belongs to nobody.
#[test]
fn beside_an_engine_what_it_has_no_part_in_is_fixed() {
    let script = "cat > /dev/null; echo work > work.txt; while [ ! -e \"$REGATTA_PROJECT/.regatta/go\" ]; do sleep 0.02; done";
    let project = with_shell(script, "");
    add(&project, "at work");
    add(&project, "never begun");
    let mut engine = project.start(&["up"]);
    project.json(&["task", "assign", "1", "--no-wait"]);
    until("the session runs", || crate::support::field(&project, "1", "phase") == "running");
    project.repo.git(&["worktree", "add", "--quiet", "-b", "task/2", ".regatta/worktrees/task-2", "main"]);
    project.repo.write(".regatta/worktrees/task-2/found.txt", "precious\n");
    project.repo.git(&["worktree", "add", "--quiet", "-b", "mine", ".regatta/worktrees/mine", "main"]);
    let found = project.run(&["--json", "doctor", "--fix"]);
    let found: serde_json::Value = serde_json::from_str(&found.stdout).expect("stdout is one document");
    let all: Vec<_> = found
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| (&one["what"], &one["fixed"], &one["next"]))
        .collect();
    assert_eq!(all.len(), 2, "the worktree of the session is not among them: {all:?}");
    let of = |name: &str| all.iter().find(|(what, ..)| what.as_str().is_some_and(|what| what.contains(name)));
    assert_eq!(of("task-2").expect("it is found").1, true);
    let (_, fixed, next) = of("mine").expect("it is found");
    assert!(
        **fixed == false && next.as_str().is_some_and(|next| next.contains("stop `regatta up`")),
        "{all:?}"
    );
    assert_eq!(project.repo.git(&["show", "refs/regatta/salvage/2/1:found.txt"]), "precious");
    assert!(engine.is_running());
    project.repo.write(".regatta/go", "");
    until("the session ends well", || crate::support::field(&project, "1", "column") == "waiting_approval");
    engine.kill();
}

#[test]
fn a_process_that_nobody_watches_is_ended() {
    let script = "echo $$ > \"$REGATTA_PROJECT/.regatta/pid\"; while :; do sleep 0.1; done";
    let project = with_shell(script, "[limits]\ngrace = \"200ms\"\n");
    add(&project, "a task");
    let running = project.start(&["task", "assign", "1", "--agent", "shell"]);
    let pid = read_when_written(&project.path().join(".regatta/pid"));
    let pid = pid.trim();
    until("the session is in the log", || crate::support::field(&project, "1", "phase") == "running");
    running.kill();
    assert!(is_alive(pid), "a killed engine leaves it behind");
    let findings = project.run(&["--json", "doctor"]);
    assert_eq!(findings.code, Some(1));
    assert!(findings.stdout.contains("leftover_process") && findings.stdout.contains("unfinished_effects"));
    let fixed = project.run(&["doctor", "--fix"]);
    assert!(fixed.stdout.contains("fixed"), "{fixed:?}");
    assert!(!is_alive(pid));
    let task = project.json(&["task", "cancel", "1"]);
    assert_eq!(task["column"], "backlog");
    assert_eq!(project.json(&["doctor"]), serde_json::json!([]));
}

#[test]
fn a_worktree_that_is_gone_is_told() {
    let project = with_agents("");
    let task = add_and_assign(&project, "a task", "worker");
    std::fs::remove_dir_all(project.path().join(".regatta/worktrees/task-1")).expect("it can be removed");
    let mut transcript = Transcript::new(&project);
    transcript.run(&["doctor"]);
    transcript.run(&["task", "approve", &task]);
    transcript.run(&["task", "diff", &task, "--stat"]);
    transcript.run(&["task", "cancel", &task]);
    transcript.run(&["doctor"]);
    transcript.check("doctor_missing_worktree");
    assert_eq!(project.repo.git(&["show", "refs/regatta/salvage/1/1:task-1.txt"]), "session 1");
}

/// Versions of a task file that killed processes left behind, under names of today and of before.
#[test]
fn a_left_over_version_of_a_task_file_is_taken_in() {
    let project = with_agents("");
    project.json(&["task", "add", "a task", "--criterion", "it works"]);
    let folder = project.path().join(".regatta/task-states");
    let text = std::fs::read_to_string(folder.join("task-1-state.md")).expect("the task has a file");
    let events = project.json(&["events"]);
    let mut versions =
        events.as_array().into_iter().flatten().filter(|event| event["type"] == "file:changed");
    let digest =
        versions.next_back().and_then(|event| event["digest"].as_str()).expect("it is in the log").to_owned();
    let leave = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("it can be written");
    let edited = text.replace("- [ ] it works", "- [x] it works");
    leave(&format!(".regatta-task-1-{}-Aa1111.tmp", &digest[..16]), &edited);
    leave(".regatta-task-1-new-Bb2222.tmp", &text[..20]);
    leave(".regatta-Cc3333.tmp", &text);
    leave(".regatta-Dd4444.tmp", &text[..text.len() / 2]);
    leave(".regatta-Ee5555.tmp", &text.replace("it works", "something else"));
    leave(".regatta-Ff6666.tmp", "nobody knows whose this is");

    let findings = project.run(&["--json", "doctor"]);
    assert_eq!(
        (findings.code, findings.stdout.matches("leftover_file").count()),
        (Some(1), 6),
        "{findings:?}"
    );
    let fixed = project.run(&["doctor", "--fix"]);
    assert_eq!((fixed.code, fixed.stdout.matches("fixed").count()), (Some(0), 6), "{fixed:?}");
    assert_eq!(project.json(&["doctor"]), serde_json::json!([]));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it is there");
    assert_eq!(read("task-1-state.md"), edited, "an edit whose base is known");
    assert!(read("task-1-state.md.conflict-1").contains("something else"), "an edit whose base is not");
    assert_eq!(read("left-over.md.conflict-1"), "nobody knows whose this is");
    let mut names: Vec<_> = std::fs::read_dir(&folder).expect("there is a folder").flatten().collect();
    names.retain(|entry| entry.file_name().to_string_lossy().ends_with(".tmp"));
    assert!(names.is_empty(), "{names:?}");
    assert_eq!(crate::support::field(&project, "1", "criteria")[0]["checked"], true);
}

/// What a living process has in its hands is not its business.
#[test]
fn a_left_over_that_is_being_written_to_is_not_fixed() {
    let project = with_agents("");
    add(&project, "a task");
    let path = project.path().join(".regatta/task-states/.regatta-task-1-none-Aa1111.tmp");
    let editor = std::fs::File::create(&path).expect("it can be made");
    let fixed = project.run(&["doctor", "--fix"]);
    assert!(fixed.code == Some(1) && fixed.stderr.contains("a program still has it open"), "{fixed:?}");
    drop(editor);
    assert!(path.exists());
}
