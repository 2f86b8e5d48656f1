//! What may come of a node, or of the task that it submitted, instead of a result, and the step along an edge with `on`.
//!
//! Only what the workflow can do something about is an outcome: an agent that gave up for good, a task that does not merge
//! or has no diff, the decision of a person. What is wrong with the project, the machine or the workflow itself holds the
//! run or fails it, whatever its edges say. An outcome for which no edge holds changes nothing: the caller does what it does
//! for a workflow without such edges.

use super::step::{Came, make_step_on};
use super::{Event, Inputs, Phase, Run};
use crate::{Code, CommitId, Failure, FailureClass};
use regatta_flow::{EdgeId, OutcomeKind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

/// What came of a node instead of a result.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Which outcome it is.
    pub on: OutcomeKind,
    /// What expressions see as `$outcome`.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
    /// What a person said who sent the task back.
    pub feedback: Option<String>,
    /// The item that it is about, if the run itself works on none.
    pub item: Option<String>,
}

/// How a submitted task does not merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The files that both sides changed.
    pub files: Vec<String>,
    /// The branch that it was to be merged into.
    pub target: String,
    /// What that branch stands at.
    pub head: Option<CommitId>,
}

impl Outcome {
    /// Returns the outcome of a task that a person or a policy sent back.
    pub(super) fn rejected(edge: &EdgeId, feedback: &str) -> Self {
        let details = json!({ "edge": edge });
        Outcome { on: OutcomeKind::Rejected, details, feedback: Some(feedback.to_owned()), item: None }
    }

    /// Returns the outcome of a task that does not merge.
    pub(super) fn conflict(conflict: &Conflict) -> Self {
        let Conflict { files, target, head } = conflict;
        let mut details = json!({ "files": files, "target": target });
        if let Some(head) = head {
            details["head"] = json!(head);
        }
        Outcome { on: OutcomeKind::Conflict, details, feedback: None, item: None }
    }

    /// Returns the outcome that a failure at a node is, if it is one.
    pub(super) fn of_failure(run: &Run, node: &str, error: &Failure) -> Option<Self> {
        let is_landing = matches!(run.phase(), Some(Phase::Landing { .. }));
        let (on, details) = match error.code {
            Code::AgentSessionFailed | Code::AgentOutputInvalid if !is_landing => {
                let class = class_of(error)?;
                let (code, message) = (error.code, &error.message);
                let details = json!({ "code": code, "class": class, "message": message, "node": node });
                (OutcomeKind::Failed, details)
            }
            Code::TaskCancelled => (OutcomeKind::Cancelled, json!({})),
            Code::TaskNoDiff if is_landing => (OutcomeKind::Unchanged, json!({})),
            _ => return None,
        };
        Some(Outcome { on, details, feedback: None, item: None })
    }

    /// Tells whether the task goes back to the run with it, which counts as sent back.
    pub(super) fn sends_back(&self) -> bool {
        matches!(self.on, OutcomeKind::Rejected | OutcomeKind::Conflict)
    }
}

/// A session that was stopped has no class: the one who stopped it decides what follows.
fn class_of(error: &Failure) -> Option<FailureClass> {
    match error.code {
        Code::AgentOutputInvalid => Some(FailureClass::InvalidOutput),
        _ => FailureClass::find(error.details.get("class")?.as_str()?),
    }
}

/// Makes the step along the first edge for an outcome that holds; nothing if none does.
pub(super) fn step_on(inputs: Inputs<'_>, run: &Run, outcome: &Outcome) -> Option<Vec<Event>> {
    // Most workflows have none, and then nothing is evaluated.
    inputs.workflow.edges_on(run.node.as_str(), run.level, Some(outcome.on)).next()?;
    let output = match run.phase() {
        Some(Phase::Landing { output, .. }) => output.clone(),
        _ => Value::Null,
    };
    make_step_on(inputs, run, Came { output, outcome: Some(outcome) })
}

/// Follows a conflict of the task that is up for approval, if the workflow has an edge for it that holds.
pub(super) fn conflicted(inputs: Inputs<'_>, run: &Run, step: u64, conflict: &Conflict) -> Vec<Event> {
    match run.phase() {
        Some(Phase::Landing { .. }) if step == run.step => {
            step_on(inputs, run, &Outcome::conflict(conflict)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}
