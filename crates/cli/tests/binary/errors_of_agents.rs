//! What the user sees when a worktree cannot be created, or a session does not start or fails.

use crate::support::{
    AGENTS, PROGRAM, Transcript, add, add_and_assign, count_events, field, with_agents, with_shell,
};
use regatta_testkit::binary::TestProject;

/// Shows that an assignment that failed left nothing behind.
fn assert_nothing_left(project: &TestProject, task: &str) {
    assert_eq!(field(project, task, "column"), "backlog");
    assert!(!project.path().join(format!(".regatta/worktrees/task-{task}")).is_dir(), "the worktree is gone");
    assert_eq!(project.repo.git(&["branch", "--list", "task/*"]), "");
    assert_eq!(project.repo.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_file_in_the_way_of_the_worktree() {
    let project = with_agents("");
    let task = add(&project, "a task");
    project.repo.write(".regatta/worktrees/task-1", "mine\n");
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "assign", &task, "--agent", "worker"]);
    transcript.run(&["task", "show", &task]);
    transcript.check("errors_worktree_in_the_way");
    let file = project.path().join(".regatta/worktrees/task-1");
    assert_eq!(std::fs::read_to_string(&file).expect("it is kept"), "mine\n");
    assert_nothing_left(&project, &task);
    std::fs::remove_file(file).expect("it can be removed");
    let answer = project.json(&["task", "assign", &task, "--agent", "worker"]);
    assert_eq!((&answer["column"], &answer["error"]), (&"waiting_approval".into(), &serde_json::Value::Null));
}

#[test]
fn a_set_up_that_fails() {
    let project = with_agents("[worktree]\nsetup = \"echo half > half.txt; echo no network >&2; exit 4\"");
    let task = add(&project, "a task");
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "assign", &task, "--agent", "worker"]);
    transcript.run(&["--json", "task", "assign", &task, "--agent", "worker"]);
    transcript.check("errors_set_up");
    assert_nothing_left(&project, &task);
}

#[test]
fn an_agent_that_does_not_start() {
    let config = "[agents.gone]\nkind = \"command\"\ncommand = \"./no-such-program\"\n\
        [agents.unwritten]\nkind = \"scripted\"\nscript = \"no-such-script.toml\"\n\
        [agents.faulty]\nkind = \"scripted\"\nscript = \".regatta/faulty.toml\"\n";
    let project = TestProject::new(PROGRAM, config);
    project.repo.write(".regatta/faulty.toml", "[[session]]\nturns = 0\n[[session.step]]\nsya = \"hello\"\n");
    let mut transcript = Transcript::new(&project);
    let task = add(&project, "a task");
    for agent in ["gone", "unwritten", "faulty"] {
        transcript.run(&["task", "assign", &task, "--agent", agent]);
        assert_nothing_left(&project, &task);
    }
    transcript.run(&["--json", "task", "assign", &task, "--agent", "gone"]);
    transcript.check("errors_agent_start");
}

#[test]
fn a_session_of_a_program_that_ends_badly() {
    let script = "if [ $REGATTA_TASK_TITLE = signal ]; then kill -9 $$; fi; \
        seq 7 >&2; printf 'boom \\033[2J\\n' >&2; exit 3";
    let stuck = "kind = \"command\"\ncommand = ['sh', '-c', 'sleep 1000']\n";
    let more = format!(
        "[agents.slow]\n{stuck}limits = {{ wall = \"500ms\", grace = \"100ms\" }}\n\
         [agents.silent]\n{stuck}limits = {{ silence = \"500ms\", grace = \"100ms\" }}\n"
    );
    let project = with_shell(script, &more);
    let mut transcript = Transcript::new(&project);
    for (title, agent, class) in [
        ("crash", "shell", "crash"),
        ("signal", "shell", "crash"),
        ("too long", "slow", "timeout"),
        ("no word", "silent", "silence"),
    ] {
        let task = add(&project, title);
        transcript.run(&["task", "assign", &task, "--agent", agent]);
        let shown = project.json(&["task", "show", &task]);
        assert_eq!(shown["column"], "in_progress");
        assert_eq!(shown["error"]["code"], "AGENT_SESSION_FAILED");
        assert_eq!(shown["error"]["details"]["class"], class);
    }
    transcript.check("errors_session");
}

#[test]
fn each_fault_of_a_script_has_its_class() {
    let project = TestProject::new(PROGRAM, AGENTS);
    for (fault, code) in [
        ("crash", "AGENT_SESSION_FAILED"),
        ("rate_limit", "RATE_LIMITED"),
        ("network", "AGENT_SESSION_FAILED"),
        ("refused", "AGENT_SESSION_FAILED"),
        ("invalid_output", "AGENT_SESSION_FAILED"),
    ] {
        let script = format!("[[session]]\nstep = [{{ fault = \"{fault}\" }}]\n");
        project.repo.write(".regatta/scripts/worker.toml", &script);
        let task = add_and_assign(&project, fault, "worker");
        let error = field(&project, &task, "error");
        assert_eq!((&error["code"], &error["details"]["class"]), (&code.into(), &fault.into()));
    }
}

#[test]
fn a_session_that_changes_nothing() {
    let project = with_shell("true", "");
    let task = add(&project, "a task");
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "assign", &task, "--agent", "shell"]);
    assert_eq!(field(&project, &task, "column"), "in_progress");
    let before = count_events(&project);
    transcript.run(&["task", "complete", &task]);
    transcript.run(&["--json", "task", "complete", &task]);
    assert_eq!(count_events(&project), before, "a refusal adds nothing");
    project.repo.write(".regatta/worktrees/task-1/now.txt", "a change\n");
    transcript.run(&["task", "complete", &task]);
    transcript.check("errors_no_diff");
}
