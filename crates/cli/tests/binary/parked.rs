//! Sessions that break off: what is tried again, what waits, what is left to a person, and what it all cost.

use crate::run_support::{self, CODER, status};
use crate::support::{PROGRAM, add, add_and_assign, field, kinds_from};
use regatta_testkit::binary::TestProject;
use regatta_testkit::wait::until;

/// An agent whose sessions are the given ones, tried again at once.
fn scripted(script: &str, settings: &str) -> TestProject {
    let config = format!(
        "[limits]\nretries = 2\nretry_pause = \"1ms\"\n{settings}\n\
         [agents.worker]\nkind = \"scripted\"\nscript = \".regatta/worker.toml\"\n"
    );
    let project = TestProject::new(PROGRAM, &config);
    project.repo.write(".regatta/worker.toml", script);
    project
}

const WRITES: &str = "{ write = { path = \"done-${session}.txt\", text = \"done\\n\" } }";

fn count(kinds: &[String], kind: &str) -> usize {
    kinds.iter().filter(|found| *found == kind).count()
}

#[test]
fn a_lost_connection_is_tried_again_in_the_same_worktree() {
    let script = format!(
        "[[session]]\nstep = [{WRITES}, {{ fault = \"network\" }}]\n\
         [[session]]\nstep = [{{ fault = \"crash\" }}]\n[[session]]\nstep = [{WRITES}]\n"
    );
    let project = scripted(&script, "");
    let task = add_and_assign(&project, "a task", "worker");
    let shown = project.json(&["task", "show", &task]);
    assert_eq!((&shown["column"], &shown["error"]), (&"waiting_approval".into(), &serde_json::Value::Null));
    assert_eq!((&shown["sessions"], &shown["diff"]["filesChanged"]), (&3.into(), &2.into()));
    let kinds = kinds_from(&project, 1);
    assert_eq!((count(&kinds, "agent:parked"), count(&kinds, "agent:woken")), (2, 2));
    assert_eq!((count(&kinds, "session:opened"), count(&kinds, "session:closed")), (3, 3));
}

#[test]
fn a_result_that_cannot_be_used_is_asked_for_again_with_its_faults() {
    let faulty =
        format!("[[session]]\nstep = [{WRITES}, {{ result = {{ summary = \"x\", turns = \"two\" }} }}]\n");
    let fixed = "[[session]]\nstep = [{ result = { summary = \"fixed\", turns = 2 } }]\n";
    let project = scripted(&format!("{faulty}{fixed}"), "");
    let task = add_and_assign(&project, "a task", "worker");
    let shown = project.json(&["task", "show", &task]);
    assert_eq!(
        (&shown["column"], &shown["summary"]),
        (&"waiting_approval".into(), &"fixed".into()),
        "{shown}"
    );
    assert_eq!((&shown["sessions"], &shown["diff"]["filesChanged"]), (&2.into(), &1.into()));
    let transcript = project.path().join(".git/regatta/sessions/task-1-session-2.jsonl");
    let transcript = std::fs::read_to_string(transcript).expect("a transcript");
    assert!(
        transcript.contains("`turns` must be a whole number from 1 on"),
        "the agent was told: {transcript}"
    );

    let hopeless = scripted(&faulty, "");
    let task = add_and_assign(&hopeless, "a task", "worker");
    let shown = hopeless.json(&["task", "show", &task]);
    assert_eq!((&shown["phase"], &shown["sessions"]), (&"halted".into(), &3.into()), "{shown}");
    assert_eq!(shown["error"]["details"]["class"], "invalid_output", "{shown}");
}

#[test]
fn what_breaks_off_too_often_is_left_to_a_person_who_goes_on() {
    let broken = "[[session]]\nstep = [{ fault = \"crash\" }]\n".repeat(3);
    let project = scripted(&format!("{broken}[[session]]\nstep = [{WRITES}]\n"), "");
    let task = add_and_assign(&project, "a task", "worker");
    let shown = project.json(&["task", "show", &task]);
    assert_eq!((&shown["phase"], &shown["owner"]), (&"halted".into(), &"you".into()));
    assert_eq!((&shown["error"]["code"], &shown["sessions"]), (&"AGENT_SESSION_FAILED".into(), &3.into()));
    let resumed = project.json(&["task", "resume", &task, "--feedback", "mind the wind"]);
    assert_eq!((&resumed["column"], &resumed["sessions"]), (&"waiting_approval".into(), &4.into()));
    let transcript = project.path().join(format!(".git/regatta/sessions/task-{task}-session-4.jsonl"));
    let told = std::fs::read_to_string(transcript).expect("the session has a transcript");
    assert!(told.contains("The last session broke off") && told.contains("mind the wind"), "{told}");
}

#[test]
fn a_rate_limit_parks_the_task_and_says_until_when() {
    let script =
        format!("[[session]]\nstep = [{{ fault = \"rate_limit\" }}]\n[[session]]\nstep = [{WRITES}]\n");
    let project = scripted(&script, "");
    let task = add(&project, "a task");
    let outcome = project.run(&["--json", "task", "assign", &task, "--agent", "worker"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("\"RATE_LIMITED\""), "{}", outcome.stderr);
    let shown = project.json(&["task", "show", &task]);
    assert_eq!((&shown["phase"], &shown["agentState"]), (&"unattended".into(), &"paused".into()));
    assert_eq!((&shown["parked"]["class"], &shown["parked"]["attempt"]), (&"rate_limit".into(), &1.into()));
    let text = |field: &serde_json::Value| field.as_str().expect("a time").to_owned();
    assert!(text(&shown["parked"]["until"]) > text(&shown["updatedAt"]), "{shown}");
    assert_eq!(project.json(&["task", "resume", &task])["column"], "waiting_approval");
}

#[test]
fn a_parked_task_that_is_cancelled_or_found_by_another_engine_is_not_woken_twice() {
    let script =
        format!("[[session]]\nstep = [{{ fault = \"rate_limit\" }}]\n[[session]]\nstep = [{WRITES}]\n");
    let project = scripted(&script, "");
    let task = add_and_assign(&project, "a task", "worker");
    let running = project.start(&["up"]);
    until("the engine waits for the parked task", || field(&project, &task, "owner") == "engine");
    project.json(&["task", "cancel", &task]);
    assert_eq!(field(&project, &task, "column"), "backlog");
    drop(running);
    assert_eq!(project.json(&["task", "assign", &task, "--agent", "worker"])["column"], "waiting_approval");
    assert_eq!(count(&kinds_from(&project, 1), "agent:woken"), 0);
}

#[test]
fn a_role_without_a_task_stays_parked_though_its_engine_is_killed_and_a_person_need_not_wait() {
    let project = run_support::scripted("auto", CODER);
    let read = |name: &str| std::fs::read_to_string(project.path().join(name)).expect("it is there");
    let config = read(".regatta/config.toml").replace("retries = 0\n", "retries = 1\nretry_pause = \"1h\"\n");
    let hand = "[agents.hand]\nkind = \"scripted\"\nscript = \".regatta/hand.toml\"\n";
    project.repo.write(".regatta/config.toml", &format!("{config}{hand}"));
    project.repo.write(".regatta/hand.toml", &format!("[[session]]\nstep = [{WRITES}]\n"));
    let spec = read(".regatta/scripts/spec.toml");
    project.repo.write(".regatta/scripts/spec.toml", "[[session]]\nstep = [{ fault = \"network\" }]\n");

    let running = project.start(&["run", "speckit", "--prd", "plan.md"]);
    until("the role is parked", || count(&kinds_from(&project, 1), "session:parked") == 1);
    running.kill();
    let shown = project.json(&["run", "show", "1"]);
    assert_eq!((&shown["parked"]["class"], &shown["parked"]["attempt"]), (&"network".into(), &1.into()));
    let until_when = shown["parked"]["until"].as_str().expect("a time");
    assert_eq!(shown["next"], "nobody works on it: regatta run --resume 1, or regatta up");

    let engine = project.start(&["up"]);
    // An engine takes up all that is open at once, so when this task is done it has the run in hand as well.
    add_and_assign(&project, "a task", "hand");
    assert_eq!(count(&kinds_from(&project, 1), "session:opened"), 2, "the run's, and the task's");
    let next = project.json(&["run", "show", "1"])["next"].clone();
    assert_eq!(next, format!("`spec` is tried again at {until_when}"));
    project.repo.write(".regatta/scripts/spec.toml", &spec);
    project.json(&["run", "pause", "1"]);
    project.json(&["run", "resume", "1"]);
    until("the run is done", || status(&project, 1) == "completed");
    assert_eq!(project.json(&["run", "show", "1"])["parked"], serde_json::Value::Null);
    drop(engine);
}

/// Breaks off once there is `.regatta/open`, and does its work from then on.
const BREAKS_OFF: &str = r#"
cat > /dev/null
state="$REGATTA_PROJECT/.regatta"
echo >> "$state/begun"
if [ "$(wc -l < "$state/begun")" = 1 ]; then
    while [ ! -e "$state/open" ]; do sleep 0.05; done
    exit 1
fi
echo work > work.txt
echo '{"code":"work","taskId":"PRD","status":"complete","selfValidation":{"passed":true,"issues":[]}}'
"#;

/// Makes a project whose coder breaks off at first.
fn breaking_off(retry_pause: &str) -> TestProject {
    let project = run_support::scripted("auto", CODER);
    let config = std::fs::read_to_string(project.path().join(".regatta/config.toml")).expect("it is there");
    let retries = format!("retries = 1\nretry_pause = \"{retry_pause}\"\n");
    let config =
        config.replace("retries = 0\n", &retries).replace("coder = \"worker\"", "coder = \"breaker\"");
    let breaker =
        format!("[agents.breaker]\nkind = \"command\"\ncommand = ['sh', '-c', '''{BREAKS_OFF}''']\n");
    project.repo.write(".regatta/config.toml", &format!("{config}{breaker}"));
    project
}

#[test]
fn a_role_that_is_parked_on_its_task_says_until_when_and_a_person_need_not_wait() {
    let project = breaking_off("1h");
    project.repo.write(".regatta/open", "");
    let engine = project.start(&["up"]);
    project.json(&["run", "speckit", "--prd", "plan.md", "--level", "1", "--no-wait"]);
    until("the role is parked", || count(&kinds_from(&project, 1), "agent:parked") == 1);
    let shown = project.json(&["run", "show", "1"]);
    let until_when = shown["parked"]["until"].as_str().expect("a time");
    assert_eq!(shown["next"], format!("`coder` is tried again at {until_when}"));
    project.json(&["run", "pause", "1"]);
    project.json(&["run", "resume", "1"]);
    until("the run is done", || status(&project, 1) == "completed");
    drop(engine);
}

#[test]
fn a_role_that_is_parked_on_its_task_begins_nothing_while_its_run_is_paused() {
    let project = breaking_off("1ms");
    let engine = project.start(&["up"]);
    project.json(&["run", "speckit", "--prd", "plan.md", "--level", "1", "--no-wait"]);
    run_support::until_begun(&project, 1);
    project.json(&["run", "pause", "1"]);
    project.repo.write(".regatta/open", "");
    until("the run is paused", || status(&project, 1) == "paused");
    let kinds = kinds_from(&project, 1);
    assert_eq!((count(&kinds, "agent:parked"), count(&kinds, "session:opened")), (1, 1), "{kinds:?}");
    project.json(&["run", "resume", "1"]);
    until("the run is done", || status(&project, 1) == "completed");
    drop(engine);
}

#[test]
fn a_budget_ends_a_session_and_keeps_the_next_from_starting() {
    let script = format!("[[session]]\nstep = [{{ delay = \"60s\" }}]\n[[session]]\nstep = [{WRITES}]\n");
    let project = scripted(&script, "[budget.task]\nwall = \"200ms\"\n");
    let task = add(&project, "a task");
    let ended = project.refusal(&["task", "assign", &task, "--agent", "worker"]);
    assert_eq!((&ended["code"], &ended["details"]["class"]), (&"BUDGET_EXCEEDED".into(), &"budget".into()));
    let refused = project.refusal(&["task", "resume", &task]);
    assert_eq!(refused["code"], "BUDGET_EXCEEDED", "{refused}");
    let details = &refused["details"];
    assert_eq!((&details["scope"], &details["measure"]), (&"task".into(), &"wall".into()));
    assert_eq!(field(&project, &task, "phase"), "halted");
    let config = project.path().join(".regatta/config.toml");
    let text = std::fs::read_to_string(&config).expect("it is there").replace("200ms", "1h");
    std::fs::write(config, text).expect("it can be written");
    assert_eq!(project.json(&["task", "resume", &task])["column"], "waiting_approval");
}

#[test]
fn what_sessions_used_is_counted_by_day_task_agent_and_session() {
    let project = scripted(&format!("[[session]]\nstep = [{WRITES}]\n"), "");
    add_and_assign(&project, "a task", "worker");
    add_and_assign(&project, "another", "worker");
    for (by, lines) in [("day", 1), ("task", 2), ("run", 0), ("agent", 1), ("session", 2)] {
        let cost = project.json(&["cost", "--by", by]);
        assert_eq!(cost["lines"].as_array().expect("lines").len(), lines, "{cost}");
        assert_eq!((&cost["by"], &cost["total"]["sessions"]), (&by.into(), &2.into()));
    }
    let one = project.json(&["cost", "--task", "2", "--by", "session"]);
    assert_eq!(
        (&one["lines"][0]["name"], &one["total"]["sessions"]),
        (&"task 2, session 1, worker".into(), &1.into())
    );
    assert!(project.run(&["cost"]).stdout.contains("SESSIONS"));
}
