//! Where the files of a run are: fixed when it is created, so that one run owns a path at a time.
//!
//! The paths are part of the first event of the run. Whether another run has one of them is found in the log by who stores
//! that event; nothing here reads or writes a file.

use super::Event;
use super::known::first_fact;
use crate::{FieldFault, Refusal, RunId};
use jiff::Timestamp;
use regatta_flow::{FactName, Occasion, Sheet, Variables, Workflow};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Finds the paths of the files of a run that is created at that time, by the names of the files.
pub fn find_paths(
    workflow: &Workflow,
    folder: &str,
    (run, at): (RunId, Timestamp),
    input: &Value,
) -> Result<BTreeMap<String, String>, Refusal> {
    if workflow.files.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut variables = Variables::default();
    variables.set(FactName::Run, Arc::new(first_fact(workflow, FactName::Run, Some(run), at)));
    let sheet = Sheet::new(workflow.schema.initial(), input.clone(), Value::Null);
    let now_millis = at.as_millisecond();
    let mut occasion = Occasion { variables, now_millis, ..Occasion::default() };
    let mut paths = BTreeMap::new();
    let mut faults = Vec::new();
    sheet.try_out(&mut occasion, |trial| {
        let look = trial.look(workflow);
        for file in &workflow.files {
            match file.path.resolve(&look) {
                Ok(path) if paths.values().any(|other: &String| *other == format!("{folder}/{path}")) => {
                    faults.push(format!("two files of the workflow would be `{path}`"));
                }
                Ok(path) => drop(paths.insert(file.name.clone(), format!("{folder}/{path}"))),
                Err(fault) => faults.push(format!("file `{}` has no place: {fault}", file.name)),
            }
        }
    });
    match faults.is_empty() {
        true => Ok(paths),
        false => {
            let fault = |problem| FieldFault { field: "input", problem };
            Err(Refusal::Invalid { faults: faults.into_iter().map(fault).collect() })
        }
    }
}

/// Puts the paths of its files into the event that creates a run.
pub fn place_files(
    workflow: &Workflow,
    folder: &str,
    at: Timestamp,
    events: &mut [Event],
) -> Result<(), Refusal> {
    for event in events {
        if let Event::RunCreated { run_id, plan } = event {
            let created_at = plan.imported.as_ref().and_then(|import| import.created_at).unwrap_or(at);
            plan.files = find_paths(workflow, folder, (*run_id, created_at), &plan.input)?;
        }
    }
    Ok(())
}

/// Returns the folder of the files of a workflow and its children: its own, or one called like the workflow.
pub fn folder_of(root: &Workflow) -> &str {
    root.files_folder.as_ref().map_or(&root.name, |folder| &folder.name)
}
