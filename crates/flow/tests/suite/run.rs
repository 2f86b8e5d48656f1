//! A run of `speckit`, played by hand: it keeps the state, the counters and the node.

use std::collections::BTreeMap;

use regatta_flow::{Choice, EdgeId, Given, Trial, Workflow, apply, follow, step};
use serde_json::{Value, json};

use crate::folders::speckit;

/// A run that tests drive.
pub(crate) struct Run {
    pub(crate) workflow: Workflow,
    pub(crate) level: u32,
    pub(crate) state: Value,
    pub(crate) node: String,
    given: Given,
    used: BTreeMap<(String, String), u32>,
}

impl Run {
    /// Begins a run at a level.
    pub(crate) fn begin(level: u32, on_task_failed: &str) -> Run {
        let workflow = speckit();
        let input = json!({ "prd": "All of it.", "title": "Accounts", "onTaskFailed": on_task_failed });
        Run {
            state: workflow.schema.initial(),
            node: workflow.start_at(level).name.to_string(),
            given: Given { input, ..Given::default() },
            used: BTreeMap::new(),
            level,
            workflow,
        }
    }

    /// Takes the output of the current node, makes the step, and tells which edge was taken.
    pub(crate) fn perform(&mut self, output: Value) -> String {
        self.given.output = output;
        let Run { workflow, state, given, used, .. } = self;
        let count = |edge: &EdgeId, scope: &str| {
            used.get(&(edge.to_string(), scope.to_owned())).copied().unwrap_or_default()
        };
        let mut trial = Trial::begin(state, given, 0);
        let choice = step(workflow, self.level, &self.node, &mut trial, &count).expect("the step is made");
        let set = trial.end();
        apply(&mut self.state, &set, &self.given.output).unwrap();
        self.take(&choice)
    }

    fn take(&mut self, choice: &Choice) -> String {
        let mut told = match choice {
            Choice::Taken { edge, scope, to, submit, fail, .. } => {
                *self.used.entry((edge.to_string(), scope.clone())).or_default() += 1;
                self.node = to.to_string();
                let submit = submit.as_ref().map(|key| format!(", submits {key}")).unwrap_or_default();
                let fail = fail.as_ref().map(|key| format!(", fails {key}")).unwrap_or_default();
                format!("{edge} to {to}{submit}{fail}")
            }
            Choice::Exhausted { edge, scope, to, fail, .. } => {
                self.node = to.to_string();
                let fail = fail.as_ref().map(|key| format!(", fails {key}")).unwrap_or_default();
                format!("{edge} is used up for `{scope}`, to {to}{fail}")
            }
            Choice::ExhaustedWithoutRoute { edge, .. } => format!("{edge} is used up"),
            Choice::Stalled { .. } => "stalled".to_owned(),
            Choice::End => "the end".to_owned(),
        };
        if self.workflow.schema.check_whole(&self.state).is_err() {
            told.push_str(", and the state does not fit");
        }
        told
    }

    /// Follows an edge whose task was merged.
    pub(crate) fn merged(&mut self, edge: &str) {
        let edge = self.workflow.find_edge(edge).unwrap();
        let set = edge.set.clone();
        self.follow(&set);
    }

    /// Follows the route of an edge whose task was sent back.
    pub(crate) fn rejected(&mut self, edge: &str) {
        let route = self.workflow.find_edge(edge).unwrap().rejected.clone().unwrap();
        self.node = route.to.name.to_string();
        self.follow(&route.set);
    }

    fn follow(&mut self, set: &[regatta_flow::Assignment]) {
        let mut trial = Trial::begin(&mut self.state, &mut self.given, 0);
        follow(&self.workflow, self.level, set, &mut trial).unwrap();
        let patches = trial.end();
        apply(&mut self.state, &patches, &self.given.output).unwrap();
        assert_eq!(self.workflow.schema.check_whole(&self.state), Ok(()));
    }
}

/// A task as the spec agent returns it.
pub(crate) fn task(id: &str, title: &str) -> Value {
    json!({
        "id": id, "title": title, "description": "", "priority": 1, "complexity": "simple",
        "acceptanceCriteria": [], "status": "pending"
    })
}

/// What the spec agent returns in the seed.
pub(crate) fn spec_output() -> Value {
    let tasks =
        [task("T001", "Validate email"), task("T002", "Hash password"), task("T003", "Create session")];
    json!({ "tasks": tasks, "summary": { "totalTasks": 3, "byPriority": { "1": 3 }, "estimatedComplexity": "hours" } })
}

/// What the coder returns.
pub(crate) fn coder_output(id: &str, passed: bool) -> Value {
    let (code, status) =
        if passed { ("// fixed...", "complete") } else { ("// attempt...", "needs_revision") };
    let issues: &[&str] = if passed { &[] } else { &["Missing input validation", "No error handling"] };
    json!({ "code": code, "taskId": id, "status": status, "selfValidation": { "passed": passed, "issues": issues } })
}

/// What the reviewer returns.
pub(crate) fn reviewer_output(id: &str, approved: bool) -> Value {
    let issues =
        if approved { json!([]) } else { json!([{ "severity": "major", "description": "Not yet" }]) };
    json!({ "taskId": id, "approved": approved, "issues": issues, "criteriaResults": [] })
}
