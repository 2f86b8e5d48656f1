//! The workflows that the tests play: `speckit` as it is shipped, and small ones for what it does not have.

use regatta_flow::{Folder, Workflow};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// A workflow and what its runs are given.
#[derive(Debug, Clone)]
pub(super) struct Example {
    pub(super) workflow: Arc<Workflow>,
    pub(super) input: Value,
}

macro_rules! shipped {
    ($folder:literal: $($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../../workflows/", $folder, "/", $name)))),*]
            .into_iter()
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .collect()
    };
}

/// The files of `speckit`.
pub(super) fn speckit_files() -> BTreeMap<String, String> {
    shipped!("speckit":
        "workflow.toml",
        "state.schema.json",
        "input.schema.json",
        "roles/spec.md",
        "roles/spec.output.json",
        "roles/coder.md",
        "roles/coder.output.json",
        "roles/reviewer.md",
        "roles/reviewer.output.json",
    )
}

/// The files of `cycle`.
pub(super) fn cycle_files() -> BTreeMap<String, String> {
    shipped!("cycle":
        "workflow.toml",
        "state.schema.json",
        "input.schema.json",
        "files/cycle.schema.json",
        "files/timeline.md",
        "roles/cd.md",
        "roles/cd.output.json",
        "roles/ep-explore.md",
        "roles/ep-explore.output.json",
        "roles/ep-plan.md",
        "roles/ep-plan.output.json",
        "roles/ra.md",
        "roles/ra.output.json",
        "roles/vas.md",
        "roles/vas.output.json",
        "signals/decide.json",
        "signals/extend.json",
        "signals/raise.json",
    )
}

/// The files of `team`.
pub(super) fn team_files() -> BTreeMap<String, String> {
    shipped!("team":
        "workflow.toml",
        "state.schema.json",
        "input.schema.json",
        "files/dev_to_qa.schema.json",
        "files/group_status.schema.json",
        "files/orchestrator_state.schema.json",
        "files/pm_state.schema.json",
        "files/qa_to_techlead.schema.json",
        "files/techlead_to_dev.schema.json",
        "roles/pm-check.md",
        "roles/pm-check.output.json",
        "roles/pm-plan.md",
        "roles/pm-plan.output.json",
        "children/group/workflow.toml",
        "children/group/state.schema.json",
        "children/group/input.schema.json",
        "children/group/roles/advise.md",
        "children/group/roles/advise.output.json",
        "children/group/roles/developer.md",
        "children/group/roles/developer.output.json",
        "children/group/roles/pm-simplify.md",
        "children/group/roles/pm-simplify.output.json",
        "children/group/roles/qa_expert.md",
        "children/group/roles/qa_expert.output.json",
        "children/group/roles/review.md",
        "children/group/roles/review.output.json",
    )
}

/// Returns `speckit`.
pub(super) fn speckit() -> Example {
    static SPECKIT: LazyLock<Arc<Workflow>> = LazyLock::new(|| load(speckit_files()));
    Example { workflow: Arc::clone(&SPECKIT), input: json!({ "prd": "Log in.", "title": "Login" }) }
}

/// Returns a workflow with one role, `worker`, which may return anything; `folder` adds files or replaces them.
pub(super) fn small(toml: &str, state: &Value, folder: &[(&str, &str)]) -> Example {
    let state = state.to_string();
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let own = [
        ("workflow.toml", toml),
        ("state.schema.json", state.as_str()),
        ("roles/worker.md", "Work.\n"),
        ("roles/worker.output.json", "{}"),
    ];
    for (name, text) in own.iter().chain(folder) {
        files.insert((*name).to_owned(), (*text).to_owned());
    }
    Example { workflow: load(files), input: json!({}) }
}

pub(super) fn load(files: BTreeMap<String, String>) -> Arc<Workflow> {
    let tell = |faults: Vec<regatta_flow::Fault>| {
        let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
        panic!("the workflow of the test does not load:\n{}", lines.join("\n"))
    };
    Arc::new(Workflow::load(&Folder::new(files)).unwrap_or_else(tell))
}

/// A state with a number, a text and a list.
pub(super) fn plain_state() -> Value {
    json!({
        "type": "object",
        "properties": {
            "count": { "type": "integer", "maximum": 3, "default": 0 },
            "note": { "type": "string", "default": "" },
            "list": { "type": "array", "default": [] },
        },
    })
}
