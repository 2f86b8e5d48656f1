//! Evaluations a second over states of several sizes: the cost of an edge must not grow with the state.
//!
//! `edge` reads two fields and counts an array; `lookup` finds one of many counters; `scan` looks at every task, and so grows with their number; `explain`
//! is `edge` with an account of the comparisons; `compile` is what is saved by doing it once.

use divan::{Bencher, black_box};
use regatta_expr::{Expression, Limits};
use serde_json::{Value, json};

const EDGE: &str = "reviewerOutput.approved = true and currentTaskIndex < $count(tasks) - 1";
const LOOKUP: &str = "$lookup(attempts, \"task-1\") < 3";
const SCAN: &str = "$count(tasks[status = \"done\"])";

/// Sizes of states, in kB.
const SIZES: &[usize] = &[3, 300, 3_000];

fn main() {
    divan::main();
}

/// Returns a state of about this many kB, in tasks of 1 kB.
fn state_of(kilobytes: usize) -> Value {
    let task = |n: usize| json!({ "id": n, "status": "done", "description": "x".repeat(940) });
    let tasks: Vec<Value> = (0..kilobytes).map(task).collect();
    let attempts: Value = (0..kilobytes).map(|n| (format!("task-{n}"), Value::from(n))).collect();
    json!({ "reviewerOutput": { "approved": true }, "currentTaskIndex": 0, "tasks": tasks, "attempts": attempts })
}

#[divan::bench(args = SIZES)]
fn edge(bencher: Bencher<'_, '_>, kilobytes: usize) {
    evaluate(bencher, EDGE, kilobytes);
}

#[divan::bench(args = SIZES)]
fn lookup(bencher: Bencher<'_, '_>, kilobytes: usize) {
    evaluate(bencher, LOOKUP, kilobytes);
}

#[divan::bench(args = SIZES)]
fn scan(bencher: Bencher<'_, '_>, kilobytes: usize) {
    evaluate(bencher, SCAN, kilobytes);
}

#[divan::bench(args = SIZES)]
fn explain(bencher: Bencher<'_, '_>, kilobytes: usize) {
    let (state, limits) = (state_of(kilobytes), Limits::at(0));
    let expression = Expression::compile(EDGE).expect("an expression");
    bencher.bench(|| expression.explain(black_box(&state), &[], &limits));
}

#[divan::bench]
fn compile() -> Expression {
    Expression::compile(black_box(EDGE)).expect("an expression")
}

fn evaluate(bencher: Bencher<'_, '_>, text: &str, kilobytes: usize) {
    let (state, limits) = (state_of(kilobytes), Limits::at(0));
    let expression = Expression::compile(text).expect("an expression");
    bencher.bench(|| expression.evaluate(black_box(&state), &[], &limits));
}
