//! Every order of fail and pass, reject and approve, until the run ends, compared with the rules read plainly.
//!
//! The model below knows no expressions and no edges: a task has three retries and two rejections, then it fails.

use super::play::Play;
use super::script::{coder_output, played, review_output};
use super::workflows::speckit;
use crate::Code;
use crate::run::{Command, Situation};
use serde_json::{Value, json};

const RETRIES_MAX: u32 = 3;
const REJECTIONS_MAX: u32 = 2;
const KEYS: [&str; 2] = ["T001", "T002"];

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Well,
    UsedUp(&'static str),
}

/// Where a run must stand.
#[derive(Debug, Clone)]
struct Model {
    goes_on: bool,
    node: &'static str,
    task: usize,
    statuses: Vec<&'static str>,
    attempts_of: Vec<u32>,
    retries: u32,
    rejections: u32,
    attempts_now: u32,
    completed: u32,
    failed: u32,
    attempts: u32,
    reviews: u32,
    end: Option<End>,
}

impl Model {
    fn new(tasks: usize, goes_on: bool) -> Self {
        Model {
            goes_on,
            node: "coder",
            task: 0,
            statuses: (0..tasks).map(|task| if task == 0 { "in_progress" } else { "pending" }).collect(),
            attempts_of: vec![0; tasks],
            retries: 0,
            rejections: 0,
            attempts_now: 0,
            completed: 0,
            failed: 0,
            attempts: 0,
            reviews: 0,
            end: None,
        }
    }

    /// The coder or the reviewer is content, or not.
    fn go(&mut self, content: bool) {
        if self.node == "coder" {
            self.attempts += 1;
            self.attempts_now += 1;
            self.attempts_of[self.task] += 1;
            self.statuses[self.task] = if content { "review" } else { "in_progress" };
            if content {
                self.node = "reviewer";
            } else if self.retries < RETRIES_MAX {
                self.retries += 1;
            } else {
                self.give_up("coder-retry");
            }
            return;
        }
        self.reviews += 1;
        self.statuses[self.task] = if content { "complete" } else { "in_progress" };
        if content {
            self.completed += 1;
            if self.is_last() { self.finish(End::Well) } else { self.turn_to_next() }
        } else if self.rejections < REJECTIONS_MAX {
            self.rejections += 1;
            self.node = "coder";
        } else {
            self.give_up("reviewer-reject");
        }
    }

    fn give_up(&mut self, edge: &'static str) {
        self.failed += 1;
        self.statuses[self.task] = "failed";
        if self.goes_on && !self.is_last() { self.turn_to_next() } else { self.finish(End::UsedUp(edge)) }
    }

    fn turn_to_next(&mut self) {
        self.task += 1;
        self.statuses[self.task] = "in_progress";
        (self.retries, self.rejections, self.attempts_now) = (0, 0, 0);
        self.node = "coder";
    }

    fn finish(&mut self, end: End) {
        self.node = if end == End::Well { "done" } else { "failed" };
        self.end = Some(end);
    }

    fn is_last(&self) -> bool {
        self.task + 1 == self.statuses.len()
    }
}

/// Returns what can be compared of a run, in the words of the model.
fn seen(play: &Play) -> Value {
    let run = &play.run;
    let state = &*run.sheet.state();
    let statuses: Vec<&Value> =
        state["tasks"].as_array().unwrap().iter().map(|task| &task["status"]).collect();
    let end = match &run.situation {
        Situation::Completed { .. } => json!("well"),
        Situation::Failed { error } => {
            assert_eq!(error.code, Code::MaxIterationsExceeded);
            error.details["edge"].clone()
        }
        _ => Value::Null,
    };
    json!([
        run.node,
        statuses,
        state["currentTaskIndex"],
        state["currentAttempts"],
        state["taskAttempts"],
        state["metrics"],
        end
    ])
}

fn expected(model: &Model) -> Value {
    let worked = KEYS.iter().zip(&model.attempts_of).filter(|(_, count)| **count > 0);
    let attempts: serde_json::Map<String, Value> =
        worked.map(|(key, count)| ((*key).to_owned(), json!(count))).collect();
    let metrics = json!({
        "tasksCompleted": model.completed, "tasksFailed": model.failed,
        "totalAttempts": model.attempts, "totalReviews": model.reviews,
    });
    let end = match model.end {
        None => Value::Null,
        Some(End::Well) => json!("well"),
        Some(End::UsedUp(edge)) => json!(edge),
    };
    json!([model.node, model.statuses, model.task, model.attempts_now, attempts, metrics, end])
}

/// Plays every order, and returns how many there are.
fn play_all(tasks: usize, goes_on: bool) -> usize {
    let mode = if goes_on { "continue" } else { "end" };
    let given = format!("begin onTaskFailed={mode}; spec {}", KEYS[..tasks].join(","));
    let mut ends = 0;
    let mut open = vec![(played(&speckit(), &given), Model::new(tasks, goes_on), String::new())];
    while let Some((play, model, order)) = open.pop() {
        if model.end.is_some() {
            ends += 1;
            continue;
        }
        for content in [true, false] {
            let (mut play, mut model) = (play.clone(), model.clone());
            let order = format!("{order}{}", if content { '+' } else { '-' });
            let output = match model.node {
                "coder" => coder_output(KEYS[model.task], if content { "pass" } else { "fail" }),
                _ => review_output(KEYS[model.task], if content { "yes" } else { "no" }),
            };
            play.tell(Command::Performed { step: play.run.step, asks: 0, output, head: None, edits: 0 })
                .unwrap();
            model.go(content);
            assert_eq!(seen(&play), expected(&model), "{order}");
            open.push((play, model, order));
        }
    }
    ends
}

/// How many orders a task that ends well has: up to two rejections, and up to three failures spread before the passes.
const WELL: usize = 4 + 10 + 20;
/// A fourth failure after none, one or two rejections, or a third rejection.
const BADLY: usize = 1 + 4 + 10 + 20;

#[test]
fn one_task() {
    assert_eq!(play_all(1, false), WELL + BADLY);
    assert_eq!(play_all(1, true), WELL + BADLY);
}

#[test]
fn two_tasks_where_a_failed_one_ends_the_run() {
    assert_eq!(play_all(2, false), WELL * (WELL + BADLY) + BADLY);
}

#[test]
fn two_tasks_where_a_failed_one_is_left_behind() {
    assert_eq!(play_all(2, true), (WELL + BADLY) * (WELL + BADLY));
}
