//! What follows when a task that was put up for approval is merged, or sent back.

use super::evolve::sent_back;
use super::step::{Player, end, enter, get_node, lend};
use super::{Event, Next, Phase, Run, Situation, failure};
use crate::TaskId;
use regatta_flow::{self as flow, Assignment, EdgeId, NodeName, Patch, StepFault, Trial};
use serde_json::Value;

/// What an end says: its result, or why it failed.
type End = Option<Result<Value, Option<String>>>;

impl Player<'_> {
    /// Goes on along the edge.
    pub(super) fn landed(&mut self, step: u64) -> Vec<Event> {
        let Some((edge_id, task_id)) = self.find_landing(step) else { return Vec::new() };
        let Some(edge) = self.situation.workflow.find_edge(edge_id.as_str()) else { return Vec::new() };
        let run_id = self.run.id;
        let landed = |set, next| Event::RunLanded { run_id, step, task_id, set, next };
        self.go_on(Value::Null, &edge.set, &edge.to.name, landed)
    }

    /// Takes the route that the edge has for it.
    pub(super) fn sent_back(&mut self, step: u64, feedback: String) -> Vec<Event> {
        let Some((edge_id, task_id)) = self.find_landing(step) else { return Vec::new() };
        let run_id = self.run.id;
        let edge = self.situation.workflow.find_edge(edge_id.as_str());
        let Some(route) = edge.and_then(|edge| edge.rejected.as_ref()) else {
            return vec![self.fail(failure::no_way_back(run_id, &edge_id))];
        };
        let said = sent_back(&feedback, self.run.item.as_deref());
        let event = |set, next| Event::RunSentBack { run_id, step, task_id, feedback, set, next };
        self.go_on(said, &route.set, &route.to.name, event)
    }

    fn find_landing(&self, step: u64) -> Option<(EdgeId, TaskId)> {
        match &self.run.phase {
            Phase::Landing { edge, task, .. } if step == self.run.step => Some((edge.clone(), *task)),
            _ => None,
        }
    }

    fn go_on(
        &mut self,
        feedback: Value,
        assignments: &[Assignment],
        to: &NodeName,
        event: impl FnOnce(Vec<Patch>, Next) -> Event,
    ) -> Vec<Event> {
        let run_id = self.run.id;
        match self.follow(feedback, assignments, to) {
            Err(fault) => vec![self.fail(failure::of_step(run_id, &self.run.node, &fault))],
            Ok((set, next, end)) => {
                let ending = end.map(|end| match end {
                    Ok(result) => Event::RunCompleted { run_id, result },
                    Err(reason) => self.fail(failure::ended(run_id, to, reason)),
                });
                let mut events = vec![event(set, next)];
                events.extend(ending);
                events
            }
        }
    }

    fn follow(
        &mut self,
        said: Value,
        assignments: &[Assignment],
        to: &NodeName,
    ) -> Result<(Vec<Patch>, Next, End), StepFault> {
        let Situation { workflow, now_millis } = self.situation;
        let Run { state, input, feedback, level, parent, .. } = &mut *self.run;
        let mut given = lend(input, feedback, Value::Null);
        let before = std::mem::replace(&mut given.feedback, said);
        let followed = (|| {
            let mut trial = Trial::begin(state, &mut given, now_millis);
            let set = flow::follow(workflow, *level, assignments, &mut trial)?;
            let look = trial.look(workflow);
            let node = get_node(workflow, to)?;
            Ok((set, enter(&look, node)?, end(&look, node, parent.is_some())?))
        })();
        (*input, *feedback) = (given.input, before);
        followed
    }
}
