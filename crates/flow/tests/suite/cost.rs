//! A step costs the same in a long list as in a short one: counted, not timed.

use regatta_expr::Limits;
use regatta_flow::{Given, Trial, Workflow, step};
use serde_json::{Value, json};

use crate::folders::speckit;
use crate::run::{coder_output, reviewer_output, task};

/// A state of `speckit` with many tasks, in the midst of one.
fn state_with(workflow: &Workflow, count: usize) -> Value {
    let mut state = workflow.schema.initial();
    state["tasks"] = (0..count).map(|number| task(&format!("T{number:05}"), "One of many")).collect();
    state["currentTaskIndex"] = json!(5);
    state["coderOutput"] = coder_output("T00005", true);
    state["reviewerOutput"] = reviewer_output("T00005", true);
    state
}

/// Counts the evaluation steps of everything that a reviewer's step evaluates.
fn count_steps(count: usize) -> Vec<(String, u64)> {
    let workflow = speckit();
    let mut state = state_with(&workflow, count);
    let mut root = std::mem::take(&mut state);
    root["output"] = reviewer_output("T00005", true);
    root["input"] = json!({ "onTaskFailed": "end" });
    let bound = root["tasks"][5].clone();
    let node = workflow.find_node("reviewer").unwrap();
    let of_node = node.set.iter().map(|assignment| &assignment.value);
    let of_edges = workflow.edges.iter().flat_map(|edge| {
        edge.when
            .iter()
            .chain(&edge.scope)
            .chain(&edge.submit)
            .chain(edge.set.iter().map(|assignment| &assignment.value))
    });
    of_node
        .chain(of_edges)
        .map(|expression| {
            let explained = expression.compiled().explain(&root, &[("task", &bound)], &Limits::at(0));
            explained.result.unwrap();
            (expression.text().to_owned(), explained.explanation.steps)
        })
        .collect()
}

#[test]
fn evaluation_takes_the_same_steps_with_ten_tasks_and_with_ten_thousand() {
    let few = count_steps(10);
    assert!(few.iter().all(|(_, steps)| *steps > 0));
    assert_eq!(few, count_steps(10_000));
}

#[test]
fn a_step_is_as_long_in_the_log_with_ten_tasks_as_with_ten_thousand() {
    let workflow = speckit();
    let recorded = |count: usize| {
        let mut state = state_with(&workflow, count);
        let mut given = Given { output: reviewer_output("T00005", false), ..Given::default() };
        let mut trial = Trial::begin(&mut state, &mut given, 0);
        let choice = step(&workflow, 7, "reviewer", &mut trial, &|_, _| 0).unwrap();
        serde_json::to_string(&(trial.end(), choice)).unwrap()
    };
    let few = recorded(10);
    assert_eq!(recorded(10_000), few.replace("{\"items\":10}", "{\"items\":10000}"));
    assert!(few.len() < 1_000, "{few}");
}

#[test]
fn ten_thousand_tasks_can_be_planned_and_published() {
    let workflow = speckit();
    let mut state = workflow.schema.initial();
    let tasks: Vec<Value> =
        (0..10_000).map(|number| task(&format!("T{number:05}"), &"Long title ".repeat(20))).collect();
    let mut given = Given { output: json!({ "tasks": tasks, "summary": {} }), ..Given::default() };
    let mut trial = Trial::begin(&mut state, &mut given, 0);
    step(&workflow, 7, "spec", &mut trial, &|_, _| 0).unwrap();
    let items = regatta_flow::board_items(&trial.look(&workflow)).unwrap();
    assert_eq!(items.len(), 10_000);
    assert_eq!((items[7].key.as_str(), items[7].priority.as_deref()), ("T00007", Some("high")));
    assert_eq!(
        serde_json::to_string(&trial.end()).unwrap(),
        r#"[[["tasks"],null,["tasks"]],[["currentTaskIndex"],0],[["tasks",0,"status"],"in_progress"]]"#
    );
}
