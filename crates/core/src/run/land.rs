//! What follows when a task that was put up for approval is merged, or sent back.

use super::evolve::sent_back;
use super::step::{Player, end, enter, get_node};
use super::{Event, Next, Phase, Run, Situation, failure};
use crate::TaskId;
use regatta_flow::{self as flow, Assignment, EdgeId, Expression, NodeName, Occasion, Patch, StepFault};
use serde_json::Value;

/// What is followed: the edge itself, or its route for a task that was sent back.
#[derive(Clone, Copy)]
struct Way<'w> {
    set: &'w [Assignment],
    fail: Option<&'w Expression>,
    to: &'w NodeName,
}

/// Where it leads.
struct Followed {
    fail: Option<String>,
    set: Vec<Patch>,
    next: Next,
    /// What an end says: its result, or why it failed.
    end: Option<Result<Value, Option<String>>>,
}

impl Player<'_> {
    /// Follows the edge.
    pub(super) fn landed(&mut self, step: u64) -> Vec<Event> {
        let Some((edge_id, task_id)) = self.find_landing(step) else { return Vec::new() };
        let Some(edge) = self.situation.workflow.find_edge(edge_id.as_str()) else { return Vec::new() };
        let run_id = self.run.id;
        let landed = |followed: Followed| {
            let Followed { set, next, .. } = followed;
            Event::RunLanded { run_id, step, task_id, set, next }
        };
        let way = Way { set: &edge.set, fail: None, to: &edge.to.name };
        self.go_on(Value::Null, way, landed)
    }

    /// Takes the route that the edge has for it.
    pub(super) fn sent_back(&mut self, step: u64, feedback: String) -> Vec<Event> {
        let Some((edge_id, task_id)) = self.find_landing(step) else { return Vec::new() };
        let run_id = self.run.id;
        let edge = self.situation.workflow.find_edge(edge_id.as_str());
        let Some(route) = edge.and_then(|edge| edge.rejected.as_ref()) else {
            return vec![self.fail(failure::no_way_back(self.run, &edge_id))];
        };
        let said = sent_back(&feedback, self.run.item.as_deref());
        let event = |followed: Followed| {
            let Followed { fail, set, next, .. } = followed;
            Event::RunSentBack { run_id, step, task_id, feedback, fail, set, next }
        };
        self.go_on(said, Way { set: &route.set, fail: route.fail.as_ref(), to: &route.to.name }, event)
    }

    fn find_landing(&self, step: u64) -> Option<(EdgeId, TaskId)> {
        match &self.run.phase {
            Phase::Landing { edge, task, .. } if step == self.run.step => Some((edge.clone(), *task)),
            _ => None,
        }
    }

    fn go_on(&mut self, feedback: Value, way: Way<'_>, event: impl FnOnce(Followed) -> Event) -> Vec<Event> {
        let run_id = self.run.id;
        match self.follow(feedback, way) {
            Err(fault) => vec![self.fail(failure::of_step(self.run, &fault))],
            Ok(mut followed) => {
                let ending = followed.end.take().map(|end| match end {
                    Ok(result) => Event::RunCompleted { run_id, result },
                    Err(reason) => self.fail(failure::ended(run_id, way.to, reason)),
                });
                let mut events = vec![event(followed)];
                events.extend(ending);
                events
            }
        }
    }

    fn follow(&mut self, said: Value, way: Way<'_>) -> Result<Followed, StepFault> {
        let Situation { workflow, now_millis } = self.situation;
        let Run { sheet, level, parent, phase, .. } = &*self.run;
        let output = if let Phase::Landing { output, .. } = phase { output.clone() } else { Value::Null };
        let mut occasion = Occasion { output, feedback: Some(said), now_millis };
        sheet.try_out(&mut occasion, |mut trial| {
            // Before its `set`, as on any other edge.
            let fail = way.fail.map(|fail| flow::evaluate_text(&trial.look(workflow), fail)).transpose()?;
            flow::follow(workflow, *level, way.set, &mut trial)?;
            let look = trial.look(workflow);
            let node = get_node(workflow, way.to)?;
            let end = end(&look, node, parent.is_some())?;
            let next = enter(&look, node)?;
            Ok(Followed { fail: fail.flatten(), next, end, set: trial.end() })
        })
    }
}
