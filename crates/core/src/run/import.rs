//! A run that is made of files: of its own, whose log is lost, or of those that another program kept.
//!
//! The files are evidence and no log: what they say becomes the input and the state of a new run in one event, which also
//! records what could not be taken over. A run that was under way starts paused, because an import is no reason to start
//! agents; one that had ended ends again the way it did, so that a signal can continue it.

use super::begin::{First, cannot_begin, check_depth, check_input, check_level, enter_first, plan_of};
use super::{Event, Inputs, Next, Order, Status};
use crate::{Code, Failure, Refusal, RunId};
use jiff::Timestamp;
use regatta_flow::{EndStatus, ImportFault, Imported, NodeKind, NodeName, RunField, Sheet, Workflow};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

/// As many messages are taken over, the newest; a run knows no more.
const MESSAGES_MAX: usize = 1_000;

/// What is taken over of a message.
const MESSAGE_TEXTS: [&str; 5] = ["from", "to", "kind", "subject", "body"];

/// What a run was made of.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Import {
    /// The files, and what was left out.
    #[serde(flatten)]
    pub note: ImportNote,
    /// When the run was created that the files are of.
    pub created_at: Option<Timestamp>,
    /// When that run ended, if it had.
    pub ended_at: Option<Timestamp>,
    /// The messages that it had sent, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Value>,
}

/// The files that a run was made of, and what was left out of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportNote {
    /// The folder that they were in.
    pub folder: String,
    /// The files.
    pub files: Vec<ImportedFile>,
    /// What could not be taken over, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// One of these files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportedFile {
    /// Where it was, below the folder.
    pub path: String,
    /// The SHA-256 of its bytes.
    pub digest: String,
}

/// Makes a run of what was found in files. The input of the order is not used: that of the files is, with what a person
/// gave on top.
pub fn import(
    inputs: Inputs<'_>,
    id: RunId,
    order: Order,
    (found, note): (Imported, ImportNote),
) -> Result<Vec<Event>, Refusal> {
    let workflow = inputs.workflow;
    let level = order.level.unwrap_or_else(|| workflow.default_level());
    let Imported { input, state, run, messages, found: _, faults } = found;
    let mut input = Value::Object(input);
    check_level(inputs, level)?;
    check_input(inputs, &mut input)?;
    let mut left_out: Vec<String> = faults.iter().map(tell).collect();
    let mut time = |field: RunField| {
        let text = run.get(&field)?;
        let time = text.parse::<Timestamp>();
        if time.is_err() {
            left_out.push(format!("`{text}` is no time"));
        }
        time.ok()
    };
    let (created_at, ended_at) = (time(RunField::CreatedAt), time(RunField::EndedAt));
    let sheet = Sheet::new(state, input, Value::Null);
    let first = enter_first(inputs, level, false, &sheet).map_err(|fault| cannot_begin(&fault))?;
    let end = run.get(&RunField::Status).and_then(|status| find_end(workflow, status, &mut left_out));
    let First { next, passes, .. } = first;
    let next = end.as_ref().map_or(next, |(node, _)| Next::End { node: node.clone() });
    let messages = keep_messages(messages, &mut left_out);
    let note = ImportNote { left_out: note.left_out.into_iter().chain(left_out).collect(), ..note };
    let import = Import { note, created_at, ended_at, messages };
    let mut plan = plan_of(workflow, order, (level, sheet), next);
    plan.passes = passes && end.is_none();
    plan.imported = Some(Box::new(import));
    let mut events = vec![Event::RunCreated { run_id: id, plan: Box::new(plan) }];
    events.extend(end.map(|(_, status)| match status {
        EndStatus::Completed => Event::RunCompleted { run_id: id, result: Value::Null },
        EndStatus::Failed => {
            let error = failure(id, run.get(&RunField::Error));
            Event::RunFailed { run_id: id, error, output: None, outcome: None, seen: None }
        }
    }));
    check_depth(events)
}

fn tell(fault: &ImportFault) -> String {
    match fault.target.is_empty() {
        true => format!("{}: {}", fault.file, fault.why),
        false => format!("{}: {}: {}", fault.file, fault.target, fault.why),
    }
}

/// Finds the end at which a run stands that had ended.
fn find_end(workflow: &Workflow, status: &str, left_out: &mut Vec<String>) -> Option<(NodeName, EndStatus)> {
    let known = [Status::Created, Status::Running, Status::Paused, Status::Completed, Status::Failed];
    let wanted = match known.into_iter().find(|known| known.to_string() == status) {
        Some(Status::Completed) => EndStatus::Completed,
        Some(Status::Failed) => EndStatus::Failed,
        Some(_) => return None,
        None => {
            left_out.push(format!("`{status}` is no status of a run: it starts paused"));
            return None;
        }
    };
    let is_it = |kind: &NodeKind| matches!(kind, NodeKind::End { status, .. } if *status == wanted);
    let node = workflow.nodes.iter().find(|node| is_it(&node.kind));
    if node.is_none() {
        left_out.push(format!("the workflow has no end that is {status}: the run starts paused"));
    }
    node.map(|node| (node.name.clone(), wanted))
}

fn failure(run: RunId, message: Option<&String>) -> Failure {
    let message = message.map_or_else(|| format!("run {run} had failed when it was imported"), String::clone);
    let hint = format!("see `regatta run show {run}`; a signal may continue it");
    Failure { code: Code::RunFailed, message, hint, details: Map::new() }
}

/// Keeps what a run knows of a message; one that was sent once is not sent again.
fn keep_messages(messages: Vec<Map<String, Value>>, left_out: &mut Vec<String>) -> Vec<Value> {
    let skipped = messages.len().saturating_sub(MESSAGES_MAX);
    let mut kept = Vec::new();
    for (number, fields) in messages.into_iter().enumerate().skip(skipped) {
        match keep_message(&fields) {
            Ok(message) => kept.push(message),
            Err(what) => left_out.push(format!("message {}: it has no {what}", number + 1)),
        }
    }
    kept
}

fn keep_message(fields: &Map<String, Value>) -> Result<Value, &'static str> {
    let mut kept = Map::new();
    for name in MESSAGE_TEXTS {
        let text = fields.get(name).filter(|text| text.is_string());
        kept.extend(text.map(|text| (name.to_owned(), text.clone())));
    }
    if let Some(missing) = ["from", "to"].into_iter().find(|name| !kept.contains_key(*name)) {
        return Err(missing);
    }
    for (name, default) in [("kind", "note"), ("body", "")] {
        kept.entry(name).or_insert_with(|| default.into());
    }
    let data = fields.get("data").filter(|data| data.is_object());
    kept.extend(data.map(|data| ("data".to_owned(), data.clone())));
    let at = fields.get("at").and_then(Value::as_str).and_then(|at| at.parse::<Timestamp>().ok());
    kept.insert("at".to_owned(), super::known::time(at.ok_or("time")?).into());
    kept.insert("read".to_owned(), true.into());
    Ok(kept.into())
}
