//! What a run of `speckit` shows on the board: columns, what the reviewer found, and where the tasks come from.

use crate::run_support::{CODER, gated, open, scripted, until_begun};
use regatta_testkit::binary::TestProject;
use regatta_testkit::wait::until;
use serde_json::{Value, json};

/// Begins a run that fails because a role returned the same bad answer each time.
fn assert_refused(project: &TestProject, options: &[&str], fault: &str) {
    let command = [&["--json", "run", "speckit", "--prd", "plan.md", "--level", "5"], options].concat();
    let outcome = project.run(&command);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let run: Value = serde_json::from_str(&outcome.stdout).expect("a run");
    assert_eq!(
        (&run["status"], &run["error"]["code"]),
        (&json!("failed"), &json!("AGENT_OUTPUT_INVALID")),
        "{run}"
    );
    assert_eq!(run["error"]["details"]["faults"], json!([fault]), "{run}");
}

#[test]
fn a_task_is_in_progress_while_the_coders_first_session_works() {
    let project = gated();
    let run = project.start(&["run", "speckit", "--prd", "plan.md", "--level", "5"]);
    until_begun(&project, 1);
    let task = project.json(&["task", "show", "1"]);
    assert_eq!((&task["column"], &task["waitsFor"]), (&json!("in_progress"), &json!("agent")), "{task}");
    assert_eq!(project.json(&["task", "show", "2"])["column"], "backlog");
    let shown = project.json(&["run", "show", "1"]);
    let statuses: Vec<&Value> =
        shown["state"]["tasks"].as_array().expect("a list").iter().map(|task| &task["status"]).collect();
    assert_eq!(statuses, ["in_progress", "pending"]);
    (1..=20).for_each(|step| open(&project, step));
    assert_eq!(run.wait().code, Some(0));
}

#[test]
fn what_the_reviewer_found_is_beside_each_criterion() {
    let project = scripted("person", CODER);
    project.run(&["run", "speckit", "--prd", "plan.md", "--level", "5"]);
    let task = project.json(&["task", "show", "1"]);
    assert_eq!(task["column"], "waiting_approval", "{task}");
    assert_eq!(task["criteria"][0]["text"], "T001.txt is there");
    assert_eq!(task["criteria"][0]["met"], true, "{task}");
    let shown = project.run(&["task", "show", "1"]).stdout;
    let line = shown.lines().find(|line| line.contains("T001.txt is there")).expect("a line");
    assert!(line.contains("met"), "{line}");
}

#[test]
fn a_review_that_judges_no_criterion_is_no_review() {
    let project = scripted("person", CODER);
    let review = r#"
[[session]]
step = [{ result = { taskId = "${item}", approved = true, issues = [] } }]
"#;
    project.repo.write(".regatta/scripts/reviewer.toml", review);
    assert_refused(&project, &[], "\"criteriaResults\" is a required property");
    assert_eq!(project.json(&["task", "show", "1"])["column"], "in_progress");
}

#[test]
fn the_tasks_of_a_run_link_to_its_prd() {
    let project = scripted("person", CODER);
    let slug = project.json(&["prd", "add", "plan.md"])["slug"].clone();
    let slug = slug.as_str().expect("a slug").to_owned();
    project.run(&["run", "speckit", "--prd", &slug, "--level", "5"]);
    for task in ["1", "2"] {
        assert_eq!(project.json(&["task", "show", task])["prd"], slug.as_str());
        let path = project.path().join(format!(".regatta/task-states/task-{task}-state.md"));
        until("the file is written", || path.exists());
        let text = std::fs::read_to_string(path).expect("a file");
        assert!(text.contains(&format!("**PRD:** [The plan](/api/prds/{slug})")), "{text}");
    }
}

#[test]
fn two_items_with_one_id_are_refused_with_and_without_a_board() {
    for options in [&[][..], &["--no-board"]] {
        let project = scripted("person", CODER);
        let path = project.path().join(".regatta/scripts/spec.toml");
        let spec =
            std::fs::read_to_string(&path).expect("a script").replace("id = \"T002\"", "id = \"T001\"");
        std::fs::write(&path, spec).expect("it can be written");
        assert_refused(&project, options, "two items have the key `T001`");
        assert_eq!(project.json(&["task", "list"]), json!([]), "{options:?}");
    }
}
