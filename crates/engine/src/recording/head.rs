//! What a recording says about its run as a whole: its inputs, and what it and its children did.
//!
//! It is read from the log, so that it can be written at any time, and again.

use crate::commands::run_orders::{get_run, load_facts};
use crate::core::run::{Hold, Run, Situation};
use crate::core::{CommitId, RunId};
use crate::error::Error;
use crate::project::Project;
use crate::recording::edits::{RecordedEdit, find_edits};
use crate::recording::people::{RecordedAnswer, RecordedDecision, find_answers, find_decisions};
use crate::recording::signals::{RecordedSignal, find_signals};
use crate::runs::path::{Stage, find_children, find_path, is_same_path};
use crate::view::steps::{StepView, find_steps};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most runs of one family; far more than a machine can work on.
const RUNS_MAX: usize = 100_000;

/// What a recording says about its run as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordingHead {
    /// The run's number where it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The workflow.
    pub workflow: String,
    /// Names its definition.
    pub digest: String,
    /// The level.
    pub level: u32,
    /// Whether its items were tasks on the board, or those of its children.
    #[serde(default = "yes")]
    pub board: bool,
    /// The input of the run.
    pub input: Value,
    /// The commit that its work began from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<CommitId>,
    /// What it did.
    #[serde(flatten)]
    pub root: RecordedRun,
    /// What the runs below it did, at any depth.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<RecordedRun>,
}

/// What one run of a recorded family did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedRun {
    /// The path to it; empty for the run that a person started.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub way: Vec<Stage>,
    /// How it ended.
    pub status: String,
    /// The code of what it failed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The steps that it made.
    pub steps: Vec<RecordedStep>,
    /// What people answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<RecordedAnswer>,
    /// The signals that it got.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<RecordedSignal>,
    /// The edits of its files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<RecordedEdit>,
    /// What was decided about its tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<RecordedDecision>,
    /// What keeps it from continuing.
    #[serde(skip)]
    pub(crate) trouble: Option<Trouble>,
}

/// A step that a recorded run made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedStep {
    /// The node.
    pub node: String,
    /// The edge that was taken.
    pub edge: String,
    /// Where it led.
    pub to: String,
}

/// Why a run does not continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) step: u64,
    pub(crate) text: String,
    /// Whether it could be tried again.
    pub(crate) is_held: bool,
}

impl RecordingHead {
    /// Tells whether the recorded run was not finished when this was written: it was working, or waited for a
    /// person.
    pub(crate) fn is_unfinished(&self) -> bool {
        !matches!(self.root.status.as_str(), "completed" | "failed")
    }

    /// Tells whether a person stopped the recorded run, or one below it.
    pub(crate) fn was_stopped(&self) -> bool {
        [&self.root].into_iter().chain(&self.children).any(RecordedRun::is_stopped)
    }

    /// Finds what was decided about the task that a run has put up.
    pub(crate) async fn find_decision(
        &self,
        project: &Project,
        run: &Run,
    ) -> Result<Option<RecordedDecision>, Error> {
        let found = self.find_run(&find_path(project, run).await?);
        let is_here = |decision: &&RecordedDecision| decision.step == run.step;
        Ok(found.and_then(|found| found.decisions.iter().find(is_here)).cloned())
    }

    pub(crate) fn find_run(&self, way: &[Stage]) -> Option<&RecordedRun> {
        [&self.root].into_iter().chain(&self.children).find(|run| is_same_path(&run.way, way))
    }
}

/// Reads from the log what a run and its children have done so far.
pub(crate) async fn head_of(project: &Project, run: RunId) -> Result<RecordingHead, Error> {
    let found = get_run(project, run).await?;
    let mut children = Vec::new();
    let mut open = vec![(Vec::new(), run)];
    while let Some((way, parent)) = open.pop() {
        for (stage, child) in find_children(project, parent).await? {
            let way: Vec<Stage> = way.iter().cloned().chain([stage]).collect();
            children.push(load_run(project, child, way.clone()).await?);
            open.push((way, child));
        }
        if children.len() > RUNS_MAX {
            break;
        }
    }
    children.sort_by(|one, other| one.way.cmp(&other.way));
    let input = found.sheet.input().clone();
    Ok(RecordingHead {
        run_id: Some(run),
        board: found.wants_board(),
        workflow: found.workflow,
        digest: found.digest,
        level: found.level,
        input,
        base: None,
        root: load_run(project, run, Vec::new()).await?,
        children,
    })
}

async fn load_run(project: &Project, run: RunId, way: Vec<Stage>) -> Result<RecordedRun, Error> {
    let found = get_run(project, run).await?;
    let facts = load_facts(project, run).await?;
    let error = match &found.situation {
        Situation::Failed { error } => Some(error.code),
        _ => None,
    };
    let steps = find_steps(&facts);
    let step = |step: StepView| RecordedStep { node: step.node, edge: step.edge, to: step.to };
    Ok(RecordedRun {
        way,
        status: found.status().to_string(),
        error: error.map(|code| code.to_string()),
        steps: steps.into_iter().map(step).collect(),
        answers: find_answers(&facts),
        signals: find_signals(&facts),
        edits: find_edits(&facts),
        decisions: find_decisions(project, &facts).await?,
        trouble: find_trouble(&found),
    })
}

fn find_trouble(run: &Run) -> Option<Trouble> {
    let (error, is_held) = match (&run.situation, run.hold()) {
        (Situation::Failed { error }, _) => (error, false),
        (_, Some(Hold::Error { error })) => (error, true),
        _ => return None,
    };
    Some(Trouble { step: run.step, text: format!("{}: {}", error.code, error.message), is_held })
}

fn yes() -> bool {
    true
}
