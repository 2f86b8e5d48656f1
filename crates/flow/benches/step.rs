//! What a step costs with a hundred tasks and with ten thousand: the two must be alike.

use divan::{Bencher, black_box};
use regatta_flow::{Folder, Given, Occasion, Sheet, Trial, Workflow, step};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

/// Names a file of `speckit` with its text.
macro_rules! file {
    ($name:literal) => {
        ($name.to_owned(), include_str!(concat!("../../../workflows/speckit/", $name)).to_owned())
    };
}

fn speckit() -> Workflow {
    let files = [
        file!("workflow.toml"),
        file!("state.schema.json"),
        file!("input.schema.json"),
        file!("roles/spec.md"),
        file!("roles/spec.output.json"),
        file!("roles/coder.md"),
        file!("roles/coder.output.json"),
        file!("roles/reviewer.md"),
        file!("roles/reviewer.output.json"),
    ];
    Workflow::load(&Folder::from_iter(files)).expect("speckit loads")
}

fn state_with(workflow: &Workflow, count: usize) -> Value {
    let task = |number: usize| {
        json!({
            "id": format!("T{number:05}"), "title": "One of many", "description": "x".repeat(200), "priority": 1,
            "complexity": "simple", "acceptanceCriteria": ["a", "b"], "status": "pending"
        })
    };
    let mut state = workflow.schema.initial();
    state["tasks"] = (0..count).map(task).collect();
    state
}

fn coder_output() -> Value {
    json!({ "code": "x", "taskId": "T00000", "status": "complete", "selfValidation": { "passed": true, "issues": [] } })
}

fn reviewer_output() -> Value {
    json!({ "taskId": "T00000", "approved": true, "issues": [], "criteriaResults": [] })
}

fn bench_node(bencher: Bencher<'_, '_>, count: usize, node: &str, output: Value) {
    let workflow = speckit();
    let sheet = Sheet::new(state_with(&workflow, count), json!({ "onTaskFailed": "end" }), Value::Null);
    let mut occasion = Occasion { output, ..Occasion::default() };
    bencher.bench_local(|| {
        let tried = |mut trial: Trial<'_>| step(&workflow, 7, node, &mut trial, &|_, _| 0);
        black_box(sheet.try_out(&mut occasion, tried).expect("the step is made"))
    });
}

#[divan::bench(args = [10, 100, 10_000])]
fn coder(bencher: Bencher<'_, '_>, count: usize) {
    bench_node(bencher, count, "coder", coder_output());
}

#[divan::bench(args = [10, 100, 10_000])]
fn reviewer(bencher: Bencher<'_, '_>, count: usize) {
    bench_node(bencher, count, "reviewer", reviewer_output());
}

/// The condition that counts the tasks, by itself.
#[divan::bench(args = [10, 100, 10_000])]
fn count_tasks(bencher: Bencher<'_, '_>, count: usize) {
    let workflow = speckit();
    let mut state = state_with(&workflow, count);
    let mut given = Given::default();
    let trial = Trial::begin(&mut state, &mut given, 0);
    let expression =
        regatta_expr::Expression::compile("currentTaskIndex < $count(tasks) - 1").expect("it compiles");
    let limits = regatta_expr::Limits::at(0);
    bencher.bench_local(|| expression.evaluate(trial.look(&workflow).root(), &[], &limits));
}
