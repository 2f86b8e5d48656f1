//! The steps of a run as people and programs see them.

use crate::core::run::{Event, Next, Phase, Run};
use crate::core::{Fact, TaskId};
use jiff::Timestamp;
use regatta_flow::{OutcomeKind, Seen, Tried};
use serde::Serialize;
use serde_json::{Map, Value};

/// One step as it is shown.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepView {
    /// The step.
    pub step: u64,
    /// When it was made.
    pub at: Timestamp,
    /// The node.
    pub node: String,
    /// The item that the node worked on.
    pub item: Option<String>,
    /// The edge that was taken.
    pub edge: String,
    /// The scope of that edge's counter.
    pub scope: String,
    /// Whether the edge was used up.
    pub exhausted: bool,
    /// The node that it led to; while a task is up for approval, the node that it comes from.
    pub to: String,
    /// The task that was put up for approval in this step.
    pub task_id: Option<TaskId>,
    /// Whether a person sent it back.
    pub sent_back: bool,
    /// What came of the node or of the task, if not a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeKind>,
    /// What each edge that was evaluated saw.
    pub tried: Vec<TriedView>,
}

/// An edge that was evaluated, as it is shown; in the log it is a list without names.
#[derive(Debug, Clone, Serialize)]
pub struct TriedView {
    /// The edge.
    pub edge: String,
    /// Whether it held.
    pub held: bool,
    /// What it saw.
    pub saw: Map<String, Value>,
}

/// Returns the steps in the events of a run.
pub(crate) fn find_steps(facts: &[Fact<Event>]) -> Vec<StepView> {
    let mut run: Option<Run> = None;
    let mut steps: Vec<StepView> = Vec::new();
    for fact in facts {
        match (&fact.event, steps.last_mut()) {
            // What came of a task belongs to the step that put it up.
            (Event::RunStepped { outcome: Some(outcome), next, .. }, Some(last))
                if matches!(run.as_ref().and_then(Run::phase), Some(Phase::Landing { .. })) =>
            {
                last.to = next.node().to_string();
                last.sent_back = outcome.on == OutcomeKind::Rejected;
                last.outcome = Some(outcome.on);
            }
            (Event::RunStepped { .. }, _) => steps.extend(view_of(fact, run.as_ref())),
            (Event::RunLanded { next, .. }, Some(last)) => last.to = next.node().to_string(),
            (Event::RunSentBack { next, .. }, Some(last)) => {
                last.to = next.node().to_string();
                last.sent_back = true;
            }
            _ => {}
        }
        run = Run::evolve(run, fact);
    }
    steps
}

fn view_of(fact: &Fact<Event>, before: Option<&Run>) -> Option<StepView> {
    let Event::RunStepped { step, node, choice, next, outcome, .. } = &fact.event else { return None };
    let task_id = match next {
        Next::Land { task_id, .. } => Some(*task_id),
        Next::Perform { .. }
        | Next::Parallel { .. }
        | Next::Pass { .. }
        | Next::Ask { .. }
        | Next::Map { .. }
        | Next::End { .. } => None,
    };
    Some(StepView {
        step: *step,
        at: fact.at,
        node: node.to_string(),
        item: before.and_then(|run| run.item.clone()),
        edge: choice.edge.to_string(),
        scope: choice.scope.clone(),
        exhausted: choice.exhausted.is_some(),
        to: next.node().to_string(),
        task_id,
        sent_back: false,
        outcome: outcome.as_ref().map(|outcome| outcome.on),
        tried: choice.tried.iter().map(shown).collect(),
    })
}

fn shown(tried: &Tried) -> TriedView {
    let saw = tried.saw.iter().map(|Seen(path, value)| (path.clone(), value.clone())).collect();
    TriedView { edge: tried.edge.to_string(), held: tried.held, saw }
}
