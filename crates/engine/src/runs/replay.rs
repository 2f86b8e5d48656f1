//! Replays a run from the log without agents: the same outputs and answers, judged by a definition.
//!
//! Every decision of the workflow is made again: steps, what followed an approval or a rejection, and the
//! decision by which the run failed. The decisions of its children come before the step that they belong to.
//! An output that a role had to give again is not in the log, and is not judged.

use crate::commands::run_orders::get_run;
use crate::core::run::{self, Event, Inputs, Mail, Next, Phase, Run};
use crate::core::{Fact, Failure, RunId};
use crate::error::Error;
use crate::log::{self, NO_SNAPSHOT};
use crate::project::Project;
use crate::runs::definitions::Listed;
use crate::runs::facts::{self, Facts, Family};
use crate::runs::path::{Stage, stage_of};
use regatta_flow::Workflow;
use regatta_store::Seq;
use serde::Serialize;
use std::sync::Arc;

/// What one step of a run would do today.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    /// The path to the child that made it; empty if the run itself did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub way: Vec<Stage>,
    /// The step.
    pub step: u64,
    /// The node.
    pub node: String,
    /// The edge that was taken; empty if the run failed there.
    pub edge: String,
    /// Where it led.
    pub to: String,
    /// What the given definition would do instead, if something else.
    pub differs: Option<String>,
}

/// Replays a run by a definition, today's or its own, and its children by those within it.
pub async fn replay(
    project: &Project,
    run: RunId,
    workflow: Option<&Listed>,
) -> Result<Vec<Replayed>, Error> {
    let found = get_run(project, run).await?;
    let definition = match workflow {
        Some(listed) => project.definitions().compile(&listed.address(), &listed.folder)?,
        None => project.definitions().get(project, &found.digest).await?,
    };
    let mut steps = Vec::new();
    play(project, run, &definition, &[], &mut steps).await?;
    Ok(steps)
}

async fn play(
    project: &Project,
    run: RunId,
    definition: &Arc<Workflow>,
    way: &[Stage],
    steps: &mut Vec<Replayed>,
) -> Result<(), Error> {
    let rows = project.store().load(&log::run_stream(run), NO_SNAPSHOT).await?.tail;
    let facts: Vec<Fact<Event>> = rows.iter().map(log::fact_of).collect::<Result<_, _>>()?;
    let mut known = Replaying::begin(project, run, definition).await?;
    let mut state: Option<Run> = None;
    let mut own: Vec<Replayed> = Vec::new();
    for (index, fact) in facts.iter().enumerate() {
        if let Some(before) = &state {
            if let Event::RunChildrenStarted { step, children, .. } = &fact.event {
                hand_over(&mut own, way, steps);
                for (item, child) in children {
                    let stage = stage_of(before, *step, item.clone());
                    let way: Vec<Stage> = way.iter().cloned().chain([stage]).collect();
                    Box::pin(play(project, *child, definition, &way, steps)).await?;
                }
            }
            let gathered = known.gather(project, before, &fact.event, rows[index].seq).await?;
            judge(&mut own, before, &facts[index..], (definition, &gathered));
        }
        state = Run::evolve(state, fact);
    }
    hand_over(&mut own, way, steps);
    Ok(())
}

/// The facts as a run saw them, step by step.
struct Replaying {
    family: Option<Family>,
    run: RunId,
}

impl Replaying {
    /// Nothing is gathered for a definition that reads no fact.
    async fn begin(project: &Project, run: RunId, definition: &Arc<Workflow>) -> Result<Self, Error> {
        let family = match definition.reads_facts_in_steps() {
            true => {
                let root = facts::find_root(project, run).await?;
                Some(Family::begin(project, root, definition).await?)
            }
            false => None,
        };
        Ok(Replaying { family, run })
    }

    /// Gathers what a decision read: as of the event that it recorded, or else of the one before it.
    async fn gather(
        &mut self,
        project: &Project,
        before: &Run,
        event: &Event,
        seq: Seq,
    ) -> Result<Facts, Error> {
        let is_decision = matches!(
            event,
            Event::RunStepped { .. }
                | Event::RunLanded { .. }
                | Event::RunSentBack { .. }
                | Event::RunSignalled { .. }
                | Event::RunFailed { .. }
        );
        let Some(family) = self.family.as_mut().filter(|_| is_decision) else { return Ok(Facts::default()) };
        let seen = event.seen().unwrap_or(seq.0.saturating_sub(1));
        family.advance(project, Some(Seq(seen))).await?;
        debug_assert_eq!(before.id, self.run, "a replay is of one run");
        Ok(Facts { variables: family.known.facts_of_steps(self.run), seen })
    }
}

fn is_landing(run: &Run) -> bool {
    matches!(run.phase(), Some(Phase::Landing { .. }))
}

/// Adds the steps of one run to those of all.
fn hand_over(own: &mut Vec<Replayed>, way: &[Stage], steps: &mut Vec<Replayed>) {
    own.iter_mut().for_each(|step| step.way = way.to_vec());
    steps.append(own);
}

/// Decides again what the first fact tells, and adds what would be different.
fn judge(
    steps: &mut Vec<Replayed>,
    before: &Run,
    facts: &[Fact<Event>],
    (workflow, known): (&Workflow, &Facts),
) {
    let [fact, rest @ ..] = facts else { return };
    let Some(within) = before.within.iter().try_fold(workflow, |workflow, name| workflow.children.get(name))
    else {
        steps.extend(lost(before, &fact.event));
        return;
    };
    let Facts { variables, seen } = known;
    let inputs = Inputs { variables, seen: *seen, ..Inputs::new(within, fact.at.as_millisecond()) };
    let (step, node) = (before.step, before.node.to_string());
    let Some(now) = run::decide_again(inputs, before, &fact.event) else { return };
    let differs = compare(&fact.event, now.first()).or_else(|| {
        // An end is recorded by the event after it.
        let (then, now) = (&rest.first()?.event, now.get(1)?);
        compare(then, Some(now))
    });
    match &fact.event {
        // What came of a task belongs to the step that put it up.
        Event::RunStepped { outcome: Some(_), .. } if is_landing(before) => {
            if let Some(last) = steps.last_mut() {
                last.differs = last.differs.take().or(differs);
            }
        }
        Event::RunStepped { choice, next, .. } => {
            let landing = match next {
                Next::Land { edge, .. } => within.find_edge(edge.as_str()).map(|edge| &edge.to.name),
                Next::Perform { .. }
                | Next::Parallel { .. }
                | Next::Pass { .. }
                | Next::Ask { .. }
                | Next::Map { .. }
                | Next::End { .. } => None,
            };
            let to = landing.unwrap_or_else(|| next.node()).to_string();
            steps.push(Replayed { way: Vec::new(), step, node, edge: choice.edge.to_string(), to, differs });
        }
        Event::RunSignalled { signal, next, .. } => {
            let to = next.as_ref().map_or(&before.node, Next::node).to_string();
            let edge = format!("signal {signal}");
            steps.push(Replayed { way: Vec::new(), step, node, edge, to, differs });
        }
        Event::RunFailed { error, .. } => {
            steps.push(Replayed {
                way: Vec::new(),
                step,
                node,
                edge: String::new(),
                to: error.code.to_string(),
                differs,
            });
        }
        // The outcome of an approval belongs to the step that was put up for it.
        _ => {
            if let Some(last) = steps.last_mut() {
                last.differs = last.differs.take().or(differs);
            }
        }
    }
}

/// Reports that the definition has nothing to decide a step of a child by.
fn lost(before: &Run, event: &Event) -> Option<Replayed> {
    let Event::RunStepped { step, node, choice, next, .. } = event else { return None };
    let name = before.within.last()?;
    Some(Replayed {
        way: Vec::new(),
        step: *step,
        node: node.to_string(),
        edge: choice.edge.to_string(),
        to: next.node().to_string(),
        differs: Some(format!("there would be no child workflow `{name}`")),
    })
}

/// Tells whether a run fails as it did. A message that only adds a cause at its end counts as the same.
fn is_same_failure(then: &Failure, now: &Failure) -> bool {
    let more = now.message.strip_prefix(then.message.as_str());
    then.code == now.code && more.is_some_and(|more| more.is_empty() || more.starts_with(": "))
}

/// Says what would happen instead of what is recorded.
fn compare(recorded: &Event, now: Option<&Event>) -> Option<String> {
    let (next, set) = parts(recorded);
    let (now_next, now_set) = now.map(parts).unwrap_or_default();
    match (recorded, now) {
        (Event::RunSignalled { signal, .. }, None) => Some(format!("signal `{signal}` would be refused")),
        (_, None) => Some("it would not be a step".to_owned()),
        (Event::RunFailed { error: then, .. }, Some(Event::RunFailed { error, .. })) => {
            (!is_same_failure(then, error)).then(|| format!("it would fail: {}", error.message))
        }
        (_, Some(Event::RunFailed { error, .. })) => Some(format!("it would fail: {}", error.message)),
        (Event::RunCompleted { result: then, .. }, Some(Event::RunCompleted { result, .. })) => {
            (then != result).then(|| "it would leave another result".to_owned())
        }
        (Event::RunStepped { choice: then, .. }, Some(Event::RunStepped { choice, .. }))
            if then.edge != choice.edge =>
        {
            Some(format!("edge `{}` would be taken", choice.edge))
        }
        (Event::RunFailed { .. }, Some(Event::RunStepped { choice, .. })) => {
            Some(format!("edge `{}` would be taken", choice.edge))
        }
        _ if next != now_next => now_next.map(|next| format!("it would {}", word(next))),
        _ if set != now_set => Some("it would leave another state".to_owned()),
        _ if count_mail(recorded) != now.map_or(0, count_mail) => {
            Some("it would send other messages".to_owned())
        }
        _ => None,
    }
}

type Parts<'e> = (Option<&'e Next>, &'e [regatta_flow::Patch]);

/// Returns where an event leads, and what it changes.
fn parts(event: &Event) -> Parts<'_> {
    match event {
        Event::RunStepped { next, set, .. }
        | Event::RunLanded { next, set, .. }
        | Event::RunSentBack { next, set, .. } => (Some(next), set),
        Event::RunSignalled { next, set, .. } => (next.as_ref(), set),
        _ => (None, &[]),
    }
}

fn count_mail(event: &Event) -> usize {
    event.mail().map_or(0, Mail::count)
}

fn word(next: &Next) -> String {
    match next {
        Next::Perform { node, item: Some(item) } => format!("perform `{node}` for {item}"),
        Next::Perform { node, item: None } => format!("perform `{node}`"),
        Next::Parallel { node, .. } => format!("perform `{node}`"),
        Next::Pass { node } => format!("pass through `{node}`"),
        Next::Ask { question, .. } => format!("ask: {question}"),
        Next::Map { node, items, .. } if items.len() == 1 => format!("run 1 child at `{node}`"),
        Next::Map { node, items, .. } => format!("run {} children at `{node}`", items.len()),
        Next::Land { item, .. } => format!("submit {item} for approval"),
        Next::End { node } => format!("end at `{node}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Code, Problem};

    /// Runs from before the log kept the reason of an end still replay without a difference.
    #[test]
    fn a_cause_more_is_no_other_failure() {
        let failure = |code, why: &str| Failure::from(Problem::new(code, "run 1 gave up", why, ""));
        let then = failure(Code::MaxIterationsExceeded, "edge `again` was used up");
        for (code, why, is_same) in [
            (Code::MaxIterationsExceeded, "edge `again` was used up", true),
            (Code::MaxIterationsExceeded, "edge `again` was used up: it is not good", true),
            (Code::MaxIterationsExceeded, "edge `again` was used up for T1", false),
            (Code::MaxIterationsExceeded, "edge `more` was used up", false),
            (Code::RunFailed, "edge `again` was used up", false),
        ] {
            assert_eq!(is_same_failure(&then, &failure(code, why)), is_same, "{code} {why}");
        }
    }
}
