//! Orders to runs that are given twice under one id: they are carried out once, and answered the same.

use crate::run_support::{BLOCKED, input, scripted, status};
use crate::support::count_events;
use regatta_testkit::binary::TestProject;
use serde_json::Value;

fn id(number: u8) -> String {
    format!("0190aaaa-bbbb-7ccc-8ddd-0000000000{number:02}")
}

/// Gives an order twice, and returns what both were answered.
fn twice(project: &TestProject, number: u8, order: &[&str]) -> Value {
    let id = id(number);
    let order = [order, &["--command-id", &id]].concat();
    let answer = project.json(&order);
    let events = count_events(project);
    assert_eq!(project.json(&order), answer, "{order:?}");
    assert_eq!(count_events(project), events, "{order:?} changes nothing the second time");
    answer
}

/// Gives another order under an id that was used.
fn reused(project: &TestProject, number: u8, order: &[&str]) {
    let (id, events) = (id(number), count_events(project));
    let refused = project.refusal(&[order, &["--command-id", &id]].concat());
    assert_eq!(
        (&refused["code"], count_events(project)),
        (&Value::from("COMMAND_REUSED"), events),
        "{order:?}"
    );
}

#[test]
fn an_order_under_an_id_is_carried_out_once() {
    let project = scripted("auto", BLOCKED);
    let input = input();
    let begin = ["run", "speckit", "--input", &input, "--no-board", "--no-wait", "--level"];
    assert_eq!(twice(&project, 1, &[&begin[..], &["3"]].concat())["id"], 1);
    reused(&project, 1, &[&begin[..], &["1"]].concat());
    reused(&project, 1, &["run", "pause", "1"]);

    // Its step is being performed, so it pauses after it.
    assert_eq!(twice(&project, 2, &["run", "pause", "1"])["status"], "running");
    reused(&project, 2, &["run", "resume", "1", "--no-wait"]);
    // It works until its role asks a question; resumed once more under the same id, it still waits for the answer.
    twice(&project, 3, &["run", "resume", "1"]);
    reused(&project, 3, &["run", "stop", "1"]);

    // The answer is the same although the run has gone on since, and asks nothing any more.
    twice(&project, 4, &["run", "answer", "1", "blue"]);
    reused(&project, 4, &["run", "answer", "1", "green"]);
    reused(&project, 4, &["run", "answer", "1", "blue", "--no"]);

    assert_eq!(twice(&project, 5, &["run", "fork", "1", "--no-wait"])["id"], 2);
    reused(&project, 5, &["run", "fork", "1", "--at", "1", "--no-wait"]);
    assert_eq!(twice(&project, 6, &["run", "stop", "2"])["status"], "failed");
    reused(&project, 6, &["run", "stop", "2", "--reason", "no more"]);
    assert_eq!(status(&project, 2), "failed");
    assert_eq!(project.json(&["run", "list"]).as_array().map(Vec::len), Some(2));
}
