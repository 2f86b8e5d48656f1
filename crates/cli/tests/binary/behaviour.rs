//! What a command does to the world: worktrees, prompts, merges, processes, salvages.

use crate::support::{
    Transcript, add, add_all, add_and_assign, count_events, field, is_alive, read_when_written, until_in,
    with_agents, with_shell,
};
use regatta_testkit::wait::until;

const ID: &str = "0190aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee";

#[test]
fn a_command_given_twice_is_carried_out_once() {
    let project = with_agents("");
    let twice = |arguments: &[&str]| {
        let first = project.run(&[&["--json"], arguments].concat());
        let events = count_events(&project);
        let second = project.run(&[&["--json"], arguments].concat());
        assert_eq!((first.code, &first), (Some(0), &second));
        assert_eq!(count_events(&project), events, "{arguments:?} was carried out twice");
    };
    let id = |number: u32| format!("{}{number}", &ID[..ID.len() - 1]);
    twice(&["task", "add", "one", "--command-id", &id(1)]);
    twice(&["task", "assign", "1", "--agent", "worker", "--command-id", &id(2)]);
    twice(&["task", "reject", "1", "--reason", "again", "--command-id", &id(3)]);
    twice(&["task", "approve", "1", "--command-id", &id(4)]);
    twice(&["task", "add", "two", "--command-id", &id(5)]);
    twice(&["task", "depends", "2", "1", "--command-id", &id(6)]);
    project.run(&["task", "assign", "2", "--agent", "breaker"]);
    twice(&["task", "complete", "2", "--command-id", &id(7)]);
    twice(&["task", "cancel", "2", "--command-id", &id(8)]);
    assert_eq!(project.json(&["task", "list"]).as_array().map(Vec::len), Some(2));
}

#[test]
fn another_folder() {
    let project = with_agents("");
    add(&project, "a task");
    project.repo.write("deep/down/file", "");
    let outside = project.repo.outside().to_str().expect("the folder's name is text").to_owned();
    for folder in ["project", "project/deep/down"] {
        let mut command = project.command(&["--json", "-C", folder, "task", "show", "1"]);
        let output = command.current_dir(&outside).output().expect("the binary can be started");
        let shown: serde_json::Value = serde_json::from_slice(&output.stdout).expect("stdout is JSON");
        assert_eq!(shown["title"], "a task");
    }
}

#[test]
fn a_worktree_belongs_to_the_project_that_made_it() {
    let project = with_agents("");
    let task = add_and_assign(&project, "a task", "worker");
    let shown = project.json(&["-C", ".regatta/worktrees/task-1", "task", "show", &task]);
    assert_eq!(shown["column"], "waiting_approval");
    assert!(!project.path().join(".regatta/worktrees/task-1/.regatta/regatta.db").exists());
}

#[test]
fn a_log_begins_anew_where_there_was_another() {
    let project = with_shell("echo more >> lines.txt", "");
    add_and_assign(&project, "a task", "shell");
    project.json(&["task", "approve", "1"]);
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(project.path().join(format!(".git/regatta/log.db{end}")));
    }
    let task = add_and_assign(&project, "another task", "shell");
    let shown = project.json(&["task", "show", &task]);
    assert_eq!((task.as_str(), &shown["column"]), ("1", &"waiting_approval".into()), "{shown}");
    let pins = project.repo.git(&["for-each-ref", "--format=%(refname)", "refs/regatta/review"]);
    assert_eq!(pins.lines().count(), 2, "{pins}");
}

#[test]
fn a_rejection_reaches_the_agent() {
    let project = with_shell("cat > prompt-$REGATTA_SESSION_NUMBER.txt", "");
    project.json(&["task", "add", "Paint it", "--description", "All of it.", "--criterion", "it is green"]);
    project.json(&["task", "assign", "1", "--agent", "shell"]);
    let reject = ["task", "reject", "1", "--reason", "it is blue", "--feedback", "take\nthe other tin"];
    assert_eq!(project.json(&reject)["rejectionCount"], 1);
    let worktree = project.path().join(".regatta/worktrees/task-1");
    let prompt =
        |number| std::fs::read_to_string(worktree.join(format!("prompt-{number}.txt"))).expect("it is there");
    let text = format!("{}\n=== second session ===\n\n{}", prompt(1), prompt(2));
    crate::support::check(&project, "prompt", &text);
}

#[test]
fn comments_reach_the_agent_with_the_lines_they_are_about() {
    let project = with_shell(
        "cat > ../../../prompt-$REGATTA_SESSION_NUMBER.txt; printf 'one\\ntwo\\nthree\\n' > a.txt; date +%N > b.txt",
        "",
    );
    add_and_assign(&project, "Count", "shell");
    let reject =
        ["task", "reject", "1", "--comment", "a.txt:2-3: Write numbers.", "--comment", "plan: Up to ten."];
    let shown = project.json(&reject);
    assert_eq!(shown["rejectionCount"], 1, "{shown}");
    let prompt = std::fs::read_to_string(project.path().join("prompt-2.txt")).expect("it is there");
    let begin = prompt.find("Reason: See the 2 comments.\n\n## Comments of the reviewer\n").expect(&prompt);
    let expected =
        "\n\n1. a.txt:2-3\n\n   > two\n   > three\n\n   Write numbers.\n\n2. the plan\n\n   Up to ten.\n";
    assert!(prompt[begin..].contains(expected), "{prompt}");
}

#[test]
fn the_environment_of_an_agent_is_an_allow_list() {
    let mut project =
        with_shell("env | cut -d= -f1 | sort > names.txt; echo $WANTED >> names.txt", "env = [\"WANTED\"]");
    project.set("WANTED", "one");
    project.set("SECRET", "two");
    add_and_assign(&project, "a task", "shell");
    let names = read_when_written(&project.path().join(".regatta/worktrees/task-1/names.txt"));
    assert!(names.lines().any(|name| name == "WANTED") && names.ends_with("one\n"), "{names}");
    assert!(!names.contains("SECRET") && !names.lines().any(|name| name == "USER"), "{names}");
}

#[test]
fn copied_files_are_there_and_never_committed() {
    let project = with_shell(
        "test -f set-up.txt && cat .env > seen.txt && echo changed >> .env",
        "[worktree]\ncopy = [\".env\"]\nsetup = \"cat .env > set-up.txt\"\n",
    );
    project.repo.write(".env", "KEY=secret\n");
    let task = add_and_assign(&project, "a task", "shell");
    let worktree = project.path().join(".regatta/worktrees/task-1");
    assert_eq!(std::fs::read_to_string(worktree.join("seen.txt")).expect("the agent saw it"), "KEY=secret\n");
    assert_eq!(std::fs::read_to_string(worktree.join("set-up.txt")).expect("the set-up ran"), "KEY=secret\n");
    assert_eq!(project.repo.git(&["ls-tree", "--name-only", "task/1", ".env"]), "");
    project.json(&["task", "approve", &task]);
    assert_eq!(project.repo.git(&["log", "--all", "--format=%h", "--", ".env"]), "");
    assert_eq!(std::fs::read_to_string(project.path().join(".env")).expect("it is mine"), "KEY=secret\n");
    assert_eq!(project.repo.git(&["for-each-ref", "refs/regatta/salvage"]), "");
}

#[test]
fn a_policy_approves() {
    let project = with_agents("[project]\napproval = \"auto\"");
    add(&project, "a task");
    let task = project.json(&["task", "assign", "1", "--agent", "worker"]);
    assert_eq!((&task["column"], &task["approver"]), (&"verified".into(), &"policy auto".into()));
    assert!(project.path().join("task-1.txt").exists());
}

#[test]
fn a_chain_of_dependencies() {
    let project = with_agents("");
    add_all(&project, &["one", "two", "three"]);
    project.json(&["task", "depends", "2", "1"]);
    project.json(&["task", "depends", "3", "2"]);
    for task in ["1", "2", "3"] {
        project.json(&["task", "assign", task, "--agent", "worker"]);
        project.json(&["task", "approve", task]);
        let next = (task.parse::<u32>().expect("it is a number") + 1).to_string();
        if next != "4" {
            assert_eq!(field(&project, &next, "column"), "backlog");
        }
    }
    assert_eq!(project.repo.git(&["rev-list", "--count", "--merges", "main"]), "3");
}

#[test]
fn a_cancelled_session_ends_with_all_its_processes_and_is_salvaged() {
    // Work in three states: committed, staged and untracked. One process ignores SIGTERM, another leaves its group.
    let script = "echo committed > a.txt; git add a.txt; git -c user.name=x -c user.email=x@y commit -qm a; \
        echo staged > b.txt; git add b.txt; echo untracked > c.txt; pids=$REGATTA_PROJECT/.regatta/pids; \
        (trap '' TERM; sleep 1000 & echo $! >> $pids; wait) & echo $! >> $pids; \
        (setsid sleep 1000 & echo $! >> $pids); echo $$ >> $pids; wait";
    let project = with_shell(script, "[agents.shell.limits]\ngrace = \"300ms\"\n");
    add(&project, "a task");
    let assigned = project.start(&["task", "assign", "1", "--agent", "shell"]);
    let pids_file = project.path().join(".regatta/pids");
    let mut pids = Vec::new();
    until("the agent wrote the ids of its processes", || {
        let text = std::fs::read_to_string(&pids_file).unwrap_or_default();
        pids = text.lines().map(str::to_owned).collect();
        pids.len() == 4
    });
    assert!(pids.iter().all(|pid| is_alive(pid)), "{pids:?}");

    let task = project.json(&["task", "cancel", "1", "--reason", "enough"]);
    assert_eq!((&task["column"], &task["worktree"]), (&"backlog".into(), &serde_json::Value::Null));
    assert!(!pids.iter().any(|pid| is_alive(pid)), "all of {pids:?} are dead when the answer comes");
    assert_eq!(task["salvages"].as_array().map(Vec::len), Some(1));
    let outcome = assigned.wait();
    assert_eq!(outcome.code, Some(0), "the one who waited sees the state of the task: {outcome:?}");
    assert!(!project.path().join(".regatta/worktrees/task-1").exists());
    assert_eq!(project.repo.git(&["branch", "--list", "task/*"]), "");

    let brought = project.json(&["task", "salvage", "1"]);
    let branch = brought["branch"].as_str().expect("it is text");
    for (file, text) in [("a.txt", "committed"), ("b.txt", "staged"), ("c.txt", "untracked")] {
        assert_eq!(project.repo.git(&["show", &format!("{branch}:{file}")]), text);
    }
    let error = project.run(&["task", "salvage", "1"]);
    assert_eq!(error.code, Some(1), "the branch is there already: {error:?}");
}

#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    let script = "printf 'x' > \"$(printf 'a\\033]0;t\\007\\nb.txt')\"; \
        if [ $REGATTA_SESSION_NUMBER = 2 ]; then printf 'gone \\033[2J\\n' >&2; exit 1; fi; \
        printf '{\"summary\": \"red \\\\u001b[31m \\\\u202e over\"}\\n'";
    let project = with_shell(script, "");
    project.json(&["task", "add", "bidi \u{202e} title", "--description", "a\u{1b}[31mb\rc\n\u{9b}d"]);
    let mut transcript = Transcript::new(&project);
    let verbs: &[&[&str]] = &[
        &["task", "assign", "1", "--agent", "shell"],
        &["task", "diff", "1"],
        &["task", "reject", "1", "--reason", "bell \u{7}\n#9   verified"],
        &["task", "show", "1"],
        &["task", "list"],
        &["agent", "list"],
        &["events"],
        &["task", "cancel", "1", "--reason", "esc \u{1b} here"],
    ];
    for arguments in verbs {
        let outcome = transcript.run(arguments);
        for text in [&outcome.stdout, &outcome.stderr] {
            let bad = |letter: char| (letter.is_control() && letter != '\n') || letter == '\u{202e}';
            assert!(!text.contains(bad), "{arguments:?} prints a control character: {text:?}");
        }
    }
    transcript.check("hostile");
}

#[test]
fn no_wait_leaves_the_work_to_an_engine() {
    let project = with_agents("");
    add(&project, "a task");
    let given = project.json(&["task", "assign", "1", "--agent", "worker", "--no-wait"]);
    assert_eq!((&given["column"], &given["phase"]), (&"in_progress".into(), &"unattended".into()));
    assert!(!project.path().join(".regatta/worktrees/task-1").exists());
    let engine = project.start(&["up"]);
    until_in(&project, "1", "waiting_approval");
    engine.kill();
}

#[test]
fn a_demo() {
    let project = regatta_testkit::binary::TestProject::without_init(crate::support::PROGRAM);
    let folder = project.repo.outside().join("demo");
    let place = folder.to_str().expect("the folder's name is text");
    let text = project.run(&["demo", "--yes", "--dir", place]);
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(text.stderr.contains("scripted"), "{text:?}");
    assert!(text.stdout.contains("3 tasks merged"), "{text:?}");
    assert_demo(&project, &folder, "the demo's log");
    let again = project.run(&["demo", "--yes", "--dir", place]);
    assert_eq!(again.code, Some(1), "a folder that is not empty is not used: {again:?}");

    let other = project.repo.outside().join("other");
    let outside = project.repo.outside().to_str().expect("the folder's name is text");
    let shown = project.json(&["-C", outside, "demo", "--yes", "--dir", "other"]);
    assert_eq!(shown["scripted"], true);
    assert_eq!(shown["tasks"].as_array().map(Vec::len), Some(3));
    assert_demo(&project, &other, "the second demo's log");
    let made = project.json(&["-C", outside, "demo", "--no-run", "--dir", "made"]);
    assert_eq!(made["next"], "regatta task assign 1 --agent builder");
    let tasks = project.json(&["-C", &format!("{outside}/made"), "task", "list"]);
    assert!(
        tasks.as_array().is_some_and(|tasks| tasks.iter().all(|task| task["column"] == "backlog")),
        "{tasks}"
    );
    let file = project.run(&["-C", place, "demo", "--yes", "--dir", "README.md"]);
    assert!(file.stderr.contains("[IO_FAILED]"), "a file is no folder: {file:?}");
}

fn assert_demo(project: &regatta_testkit::binary::TestProject, folder: &std::path::Path, what: &str) {
    let place = folder.to_str().expect("the folder's name is text");
    let tasks = project.json(&["-C", place, "task", "list"]);
    let tasks = tasks.as_array().expect("tasks are a list");
    assert!(tasks.iter().all(|task| task["column"] == "verified"), "{what}: {tasks:?}");
    let rejections: Vec<u64> = tasks.iter().filter_map(|task| task["rejectionCount"].as_u64()).collect();
    assert_eq!(rejections, [0, 0, 1]);
    let git = |arguments: &[&str]| regatta_testkit::repo::git_in(folder, arguments);
    assert_eq!(git(&["rev-list", "--count", "--merges", "main"]), "3");
    assert_eq!(git(&["status", "--porcelain"]), "");
    assert_eq!(git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(project.json(&["-C", place, "doctor"]), serde_json::json!([]));
}
