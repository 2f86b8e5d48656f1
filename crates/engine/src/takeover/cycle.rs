//! Reads a folder of cycles: `{cycleId}.json` and `{cycleId}.progress/…`, each a run of the workflow `cycle`.
//!
//! The workflow itself says what belongs where. Here are only the things that another tool writes differently.

use crate::core::run::Status;
use crate::takeover::found::{Found, RunFound};
use crate::takeover::gather::Files;
use crate::takeover::kind::Kind;
use crate::takeover::run_parts::{Definition, RunParts, find_missing, find_runs};
use regatta_flow::{Imported, RunField, Workflow};
use serde_json::{Map, Value};

/// The workflow whose files these are.
pub(crate) const WORKFLOW: &str = "cycle";

/// Reads the files.
pub(crate) fn read(definition: &Definition, files: &Files) -> Found {
    let mut found = Found::new(Kind::Cycle);
    let runs = find_runs(&definition.workflow, files);
    for parts in runs {
        add(&mut found, &definition.workflow, WORKFLOW, parts);
    }
    found
}

/// Adds the run of some files, unless nothing can be made of them.
pub(crate) fn add(found: &mut Found, workflow: &Workflow, name: &str, parts: RunParts) {
    let imported = parts.import(workflow, Map::new());
    let Some(first) = parts.sources.first().map(|source| source.path.clone()) else { return };
    for what in &parts.left_out {
        found.odd(what.split(':').next().unwrap_or(&first), None, after_path(what));
    }
    for fault in &imported.faults {
        let path = file_of(workflow, &parts, &fault.file).unwrap_or(&first).to_owned();
        let is_said = fault.target.is_empty() || fault.why.starts_with(&fault.target);
        let target = if is_said { String::new() } else { format!("{}: ", fault.target) };
        let end = if fault.is_set { "" } else { "; left out" };
        found.odd(&path, None, format!("{target}{}{end}", fault.why));
    }
    let is_new = imported.state == workflow.schema.initial()
        && imported.messages.is_empty()
        && imported.input.keys().all(|key| parts.views.contains_key(key));
    if is_new {
        found.odd(&first, None, "nothing in it belongs to a run; only a copy is kept");
        return;
    }
    found.runs.push(describe(workflow, name, parts, &imported));
}

fn describe(workflow: &Workflow, name: &str, parts: RunParts, imported: &Imported) -> RunFound {
    let status = imported.run.get(&RunField::Status).cloned();
    let count = |field: &str| imported.state[field].as_array().map_or(0, Vec::len);
    let named = parts.name();
    // Where the paths tell nothing, a folder holds one run.
    let item = if named.is_empty() { name.to_owned() } else { named };
    RunFound {
        title: imported.input.get("title").and_then(Value::as_str).unwrap_or(&item).to_owned(),
        item,
        workflow: name.to_owned(),
        status,
        sessions: count("iterations"),
        outputs: parts.files.len(),
        messages: imported.messages.len(),
        missing: find_missing(workflow, &imported.input),
        parts,
    }
}

/// Returns the path of a file that the workflow calls by a name.
fn file_of<'p>(workflow: &Workflow, parts: &'p RunParts, name: &str) -> Option<&'p String> {
    let file = workflow.files.iter().find(|file| file.name == name)?;
    parts.paths().find(|path| file.path.find_views(path).is_some())
}

fn after_path(what: &str) -> String {
    what.split_once(':').map_or(what, |(_, rest)| rest).trim().to_owned()
}

/// Tells what becomes of a run with this status.
pub fn become_of(status: Option<&str>) -> Status {
    match status {
        Some("completed") => Status::Completed,
        Some("failed") => Status::Failed,
        _ => Status::Paused,
    }
}
