//! The queue: tasks for a busy agent, several at once, and what does not hold up those behind it.

use crate::support::{
    PROGRAM, Transcript, add, add_all, count_events, field, kinds_from, until_in, with_agents,
};
use regatta_testkit::binary::TestProject;
use regatta_testkit::wait::until;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// As many tasks as there are for an agent with [`INSTANCES`]; 100 take longer and show nothing more.
const TASKS: usize = 40;
const INSTANCES: usize = 16;

/// Works on a task once it is let go.
const GATED: &str = "touch \"$REGATTA_PROJECT/.regatta/began-$REGATTA_TASK_ID\"; \
    until test -e \"$REGATTA_PROJECT/.regatta/go\"; do sleep 0.02; done; echo done > \"work-$REGATTA_TASK_ID.txt\"";

fn read_config(project: &TestProject) -> String {
    std::fs::read_to_string(project.path().join(".regatta/config.toml")).expect("the config can be read")
}

fn columns(answer: &Value) -> Vec<String> {
    let tasks = answer.as_array().expect("several tasks are an array");
    tasks.iter().map(|task| task["column"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_busy_agent_or_a_full_project_queues_the_task() {
    let project = with_agents("[project]\nmax_concurrent_agents = 2");
    add_all(&project, &["one", "two", "three", "four"]);
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "assign", "1", "--agent", "worker", "--no-wait"]);
    transcript.run(&["task", "assign", "2", "--agent", "worker", "--no-wait"]);
    let before = count_events(&project);
    transcript.run(&["task", "assign", "3", "--agent", "worker", "--no-wait", "--no-queue"]);
    transcript.run(&["--json", "task", "assign", "3", "--agent", "worker", "--no-queue"]);
    assert_eq!(count_events(&project), before, "a refusal changes nothing");
    transcript.run(&["task", "assign", "3", "--agent", "helper", "--no-wait"]);
    transcript.run(&["task", "assign", "4", "--agent", "breaker", "--no-wait", "--no-queue"]);
    transcript.run(&["task", "assign", "4", "--agent", "any", "--no-wait", "--priority", "high"]);
    transcript.run(&["task", "list"]);
    transcript.run(&["task", "show", "2"]);
    transcript.run(&["task", "dequeue", "2"]);
    transcript.run(&["task", "dequeue", "2"]);
    transcript.check("queue");
    let queued = project.json(&["task", "assign", "2", "--agent", "worker", "--no-wait"]);
    assert_eq!(queued["column"], "backlog");
    assert_eq!(queued["queuePosition"], 2, "priority goes before age");
    assert_eq!(queued["queued"], json!({"code": "AGENT_ALREADY_RUNNING", "agentId": "worker"}));
    let first = project.json(&["task", "show", "4"]);
    assert_eq!(first["queued"], json!({"code": "CONCURRENCY_LIMIT_EXCEEDED", "agentId": "any"}));

    let engine = project.start(&["up"]);
    for task in ["1", "2", "3"] {
        until_in(&project, task, "waiting_approval");
    }
    assert!(field(&project, "2", "queued").is_null() && field(&project, "2", "queuePosition").is_null());
    engine.kill();
}

#[test]
fn six_tasks_and_three_agents_need_nobody_to_wait() {
    let project = with_agents("");
    let config = read_config(&project).replace("breaker.toml", "worker.toml");
    project.repo.write(".regatta/config.toml", &config);
    add_all(&project, &["1", "2", "3", "4", "5", "6"]);
    let answer = project.json(&["task", "assign", "1", "2", "3", "4", "5", "6", "--agent", "any"]);
    assert_eq!(columns(&answer), ["waiting_approval"; 6]);
    let agents: BTreeSet<&str> =
        answer.as_array().into_iter().flatten().filter_map(|task| task["agentId"].as_str()).collect();
    assert_eq!(agents.len(), 3, "three places, and so three agents: {agents:?}");
    assert_eq!(project.run(&["doctor"]).code, Some(0));
}

#[test]
fn all_tasks_of_an_agent_with_many_instances_are_done() {
    let config = format!(
        "[project]\nmax_concurrent_agents = {INSTANCES}\n[agents.many]\nkind = \"scripted\"\n\
         script = \".regatta/many.toml\"\ninstances = {INSTANCES}\n"
    );
    let project = TestProject::new(PROGRAM, &config);
    let script = "[[session]]\nstep = [{ write = { path = \"t-${task}.txt\", text = \"done\" } }]\n";
    project.repo.write(".regatta/many.toml", script);
    let tasks: Vec<String> = (0..TASKS).map(|number| add(&project, &format!("task {number}"))).collect();
    let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
    // Without `--agent`: there is only one.
    let answer = project.json(&[&["task", "assign"], &tasks[..]].concat());
    assert_eq!(columns(&answer), vec!["waiting_approval"; TASKS]);
    let queued = kinds_from(&project, 1).iter().filter(|kind| *kind == "task:queued").count();
    assert_eq!(queued, TASKS - INSTANCES);
}

#[test]
fn one_refused_task_does_not_stop_the_others() {
    let project = with_agents("");
    add_all(&project, &["one", "two", "three"]);
    project.json(&["task", "depends", "2", "3"]);
    let outcome = project.run(&["--json", "task", "assign", "1", "9", "2", "1", "--agent", "worker"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(1), ""), "{outcome:?}");
    let answer: Value = serde_json::from_str(&outcome.stdout).expect("an array");
    assert_eq!(columns(&answer), ["waiting_approval", "", "backlog"]);
    assert_eq!((&answer[1]["id"], &answer[1]["error"]["code"]), (&json!(9), &json!("TASK_NOT_FOUND")));
    assert_eq!(answer[2]["error"]["code"], "TASK_BLOCKED");
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "assign", "3", "9", "--agent", "worker"]);
    transcript.check("assign_several");
}

#[test]
fn the_agent_may_be_left_out() {
    let project = with_agents("");
    add_all(&project, &["one", "two"]);
    let error = project.refusal(&["task", "assign", "1"]);
    assert_eq!(error["code"], "VALIDATION_ERROR");
    assert_eq!(error["details"]["fields"][0]["field"], "agentId");
    for name in ["breaker", "helper", "worker", "any"] {
        assert!(error["message"].as_str().is_some_and(|message| message.contains(name)), "{error}");
    }
    let config = read_config(&project);
    project.repo.write(".regatta/config.toml", &format!("[project]\nagent = \"helper\"\n{config}"));
    assert_eq!(project.json(&["task", "assign", "1"])["agentId"], "helper");
    project.repo.write(".regatta/config.toml", &format!("[project]\nagent = \"nobody\"\n{config}"));
    assert_eq!(project.refusal(&["task", "list"])["code"], "CONFIG_INVALID");
}

#[test]
fn what_cannot_be_assigned_says_so_and_holds_up_nobody() {
    let config = format!(
        "[project]\ndefault_branch = \"work\"\n[agents.shell]\nkind = \"command\"\ncommand = ['sh', '-c', '''{GATED}''']\n"
    );
    let project = TestProject::new(PROGRAM, &config);
    project.repo.git(&["branch", "work"]);
    add_all(&project, &["one", "two", "three", "four"]);
    let engine = project.start(&["up"]);
    project.json(&["task", "assign", "1", "--no-wait"]);
    until("the first is at work", || project.path().join(".regatta/began-1").exists());
    project.json(&["task", "assign", "2", "--priority", "high", "--no-wait"]);
    project.json(&["task", "assign", "3", "--no-wait"]);
    project.json(&["task", "depends", "2", "4"]);
    project.repo.write(".regatta/go", "");
    until_in(&project, "3", "waiting_approval");
    until("it says that it is blocked", || field(&project, "2", "error")["code"] == "TASK_BLOCKED");
    assert_eq!(field(&project, "2", "queuePosition"), 1);
    assert_eq!(project.json(&["task", "dequeue", "2"])["error"], Value::Null);
    project.json(&["task", "depends", "2", "--remove", "4"]);

    std::fs::remove_file(project.path().join(".regatta/go")).expect("the gate can be shut");
    project.json(&["task", "reject", "1", "--reason", "again", "--no-wait"]);
    until("the first is at work again", || field(&project, "1", "phase") == "running");
    project.json(&["task", "assign", "2", "--no-wait"]);
    project.repo.git(&["branch", "-D", "work"]);
    project.repo.write(".regatta/go", "");
    until("it says that the branch is gone", || field(&project, "2", "error")["code"] == "NOT_A_REPOSITORY");
    let follower = project.run(&["task", "assign", "2"]);
    assert_eq!(follower.code, Some(1), "{follower:?}");
    project.repo.git(&["branch", "work", "main"]);
    until_in(&project, "2", "waiting_approval");
    let tried = kinds_from(&project, 1).iter().filter(|kind| *kind == "task:assign:failed").count();
    assert!(tried <= 3, "it is said once, not at every look: {tried}");
    engine.kill();
}
