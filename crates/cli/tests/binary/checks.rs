//! The project's checks: run by the engine after the agent, kept as evidence beside the claims.

use crate::support::{Transcript, add, field, is_alive, read_when_written, with_agents};
use regatta_testkit::wait::until;

const CHECKS: &str =
    "[checks]\nstyle = \"echo 'line 3 is too long'; exit 4\"\nwritten = [\"test\", \"-f\", \"task-1.txt\"]\n";

#[test]
fn evidence_stands_beside_the_claims() {
    let project = with_agents(CHECKS);
    let mut transcript = Transcript::new(&project);
    let title = ["task", "add", "a task", "--criterion", "It is written (check: written)"];
    transcript.run(
        &[&title[..], &["--criterion", "It is tidy (check: style)", "--criterion", "It is nice"]].concat(),
    );
    transcript.run(&["task", "assign", "1", "--agent", "worker"]);
    let task = project.json(&["task", "show", "1"]);
    assert!(task["checks"][0]["milliseconds"].is_u64());
    let criteria = task["criteria"].as_array().expect("criteria are a list");
    let verified: Vec<bool> = criteria.iter().map(|criterion| criterion["verified"] == true).collect();
    assert_eq!(verified, [true, false, false]);
    let claimed = criteria.iter().any(|criterion| criterion["checked"] == true);
    assert!(!claimed, "a check verifies, but it claims nothing");
    transcript.run(&["task", "approve", "1"]);
    transcript.check("checks");
}

#[test]
fn a_policy_does_not_approve_what_the_checks_refuse() {
    let project = with_agents(&format!("[project]\napproval = \"auto\"\n{CHECKS}"));
    add(&project, "a task");
    let error = project.refusal(&["task", "assign", "1", "--agent", "worker"]);
    assert_eq!(error["code"], "CHECKS_FAILED");
    assert_eq!(field(&project, "1", "column"), "waiting_approval");
    assert_eq!(project.refusal(&["task", "approve", "1"])["code"], "CHECKS_FAILED");
    let approved = project.json(&["task", "approve", "1", "--anyway"]);
    assert_eq!(approved["column"], "verified", "a person may");
}

#[test]
fn a_policy_approves_what_the_checks_pass() {
    let project = with_agents("[project]\napproval = \"auto\"\n[checks]\nwritten = \"test -f task-1.txt\"\n");
    add(&project, "a task");
    assert_eq!(project.json(&["task", "assign", "1", "--agent", "worker"])["column"], "verified");
}

#[test]
fn a_cancel_does_not_wait_for_a_check() {
    let project = with_agents("[checks]\nendless = 'echo $$ > ../../checking; exec sleep 1000'\n");
    add(&project, "a task");
    let assign = project.start(&["task", "assign", "1", "--agent", "worker"]);
    let pid = read_when_written(&project.path().join(".regatta/checking"));
    until("the checks are in the log", || field(&project, "1", "phase") == "checking");
    assert_eq!(project.json(&["task", "cancel", "1"])["column"], "backlog");
    assert!(!is_alive(pid.trim()), "the check is ended");
    assert_eq!(assign.wait().code, Some(0));
    assert_eq!(project.run(&["doctor"]).code, Some(0));
}

#[test]
fn a_check_that_takes_too_long_has_failed() {
    let project = with_agents("[limits]\ncheck_wall = \"200ms\"\n[checks]\nendless = \"sleep 1000\"\n");
    add(&project, "a task");
    let task = project.json(&["task", "assign", "1", "--agent", "worker"]);
    assert_eq!(task["column"], "waiting_approval");
    assert_eq!(
        (&task["checks"][0]["passed"], &task["checks"][0]["name"]),
        (&false.into(), &"endless".into())
    );
}
