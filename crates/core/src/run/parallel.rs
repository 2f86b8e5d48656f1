//! `parallel` nodes: what came of each member, and the one step that joins them.
//!
//! Each result is an event of its own when it comes, so a crash loses none. A member that failed waits for the others. Then
//! the workflow's edge for its failure is followed, or the run is held; a run that is resumed performs only that member again.

use super::decide::{ASKS_MAX, fail};
use super::outcome::step_on;
use super::state::Working;
use super::step::{find_output_faults, make_step};
use super::{Event, Hold, Inputs, Outcome, Phase, Run, Situation, failure};
use crate::{Code, CommitId, Failure};
use regatta_flow::{Look, Node, NodeKind, NodeName, StepFault, evaluate_text};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;
use std::collections::BTreeSet;

/// One node that a `parallel` node performs.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The node.
    pub node: NodeName,
    /// The item that it works on.
    pub item: Option<String>,
}

/// How far a member is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberState {
    /// The member.
    #[serde(flatten)]
    pub member: Member,
    /// What came of it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came: Option<MemberCame>,
}

/// What came of a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum MemberCame {
    /// Its result.
    Returned {
        /// What it returned.
        output: Value,
        /// What the branch of its task stood at afterwards.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<CommitId>,
    },
    /// A result that does not fit its schema; it is asked again.
    Refused {
        /// What does not fit.
        faults: Vec<String>,
        /// How often it was asked again.
        asks: u32,
    },
    /// Nothing; it failed.
    Failed {
        /// Why.
        error: Failure,
    },
}

/// A report about one member.
#[derive(Debug, Clone, PartialEq)]
pub struct MemberReport {
    /// The node.
    pub node: NodeName,
    /// How often it had been asked again.
    pub asks: u32,
    /// What it returned, with the head of its task's branch, or why it did not.
    pub came: Result<(Value, Option<CommitId>), Failure>,
}

impl MemberState {
    pub(super) fn new(member: &Member) -> Self {
        MemberState { member: member.clone(), came: None }
    }

    /// Tells whether it is still to be performed, or is being performed.
    pub fn is_open(&self) -> bool {
        matches!(self.came, None | Some(MemberCame::Refused { .. }))
    }

    /// Tells whether it has returned a result.
    pub(super) fn has_returned(&self) -> bool {
        matches!(self.came, Some(MemberCame::Returned { .. }))
    }

    /// Forgets that it failed.
    pub(super) fn begin_again(&mut self) {
        if let Some(MemberCame::Failed { .. }) = self.came {
            self.came = None;
        }
    }
}

impl Run {
    /// Returns the members of the `parallel` node that it is at, with what came of them.
    pub fn members(&self) -> &[MemberState] {
        match self.phase() {
            Some(Phase::Parallel { members }) => members,
            _ => &[],
        }
    }

    /// Returns the number of its step; for the view of a member with the member's name.
    pub fn step_name(&self) -> String {
        match &self.member {
            Some(member) => format!("{}-{}", self.step, member.node),
            None => self.step.to_string(),
        }
    }

    /// Returns the run as a member sees it: at that node, for that item.
    pub fn as_member(&self, node: &NodeName) -> Option<Run> {
        let found = self.members().iter().find(|state| state.member.node == *node)?;
        let (asks, faults) = match &found.came {
            Some(MemberCame::Refused { faults, asks }) => (*asks, faults.clone()),
            _ => (0, Vec::new()),
        };
        let working = self.working()?;
        let working = Working { phase: Phase::Performing { asks, faults }, ..working.clone() };
        Some(Run {
            node: node.clone(),
            item: found.member.item.clone(),
            member: Some(found.member.clone()),
            situation: Situation::Working(working),
            ..self.clone()
        })
    }
}

/// Evaluates what each member works on.
pub(super) fn find_members(look: &Look<'_>, node: &Node) -> Result<Vec<Member>, StepFault> {
    let mut taken = BTreeSet::new();
    let mut members = Vec::new();
    for target in node.kind.members() {
        let missing = || StepFault::Missing { kind: "node", name: target.name.to_string() };
        let kind = &look.workflow().find_node(target.name.as_str()).ok_or_else(missing)?.kind;
        let item = kind.task().map(|task| evaluate_text(look, task)).transpose()?.flatten();
        let is_reader = matches!(kind, NodeKind::Agent { writes: false, .. });
        if let (Some(task), Some(item), false) = (kind.task(), &item, is_reader)
            && !taken.insert(item.clone())
        {
            let (part, expression) = (task.part().clone(), task.text().to_owned());
            let wanted = "a task whose worktree no other member uses";
            return Err(StepFault::Unusable { part, expression, wanted, found: item.as_str().into() });
        }
        members.push(Member { node: target.name.clone(), item });
    }
    Ok(members)
}

/// Records what came of a member, and makes the step if it was the last.
pub(super) fn member_ended(
    inputs: Inputs<'_>,
    (run, working): (&Run, &Working),
    step: u64,
    report: &MemberReport,
) -> Vec<Event> {
    let is_due = step == run.step && working.is_asked && !working.is_stopping();
    let Some(asks) = find_asks(run, &report.node).filter(|asks| is_due && *asks == report.asks) else {
        return Vec::new();
    };
    let came = judge(inputs, run, report, asks);
    let event = Event::RunMemberEnded { run_id: run.id, step, node: report.node.clone(), came };
    let mut after = run.clone();
    after.take_in_member(&event);
    let mut events = vec![event];
    if !after.members().iter().any(MemberState::is_open) {
        events.extend(join(inputs, &after));
    }
    events
}

/// Returns how often a member that is open was asked again.
fn find_asks(run: &Run, node: &NodeName) -> Option<u32> {
    let found = run.members().iter().find(|state| state.member.node == *node)?;
    match &found.came {
        None => Some(0),
        Some(MemberCame::Refused { asks, .. }) => Some(*asks),
        Some(_) => None,
    }
}

fn judge(inputs: Inputs<'_>, run: &Run, report: &MemberReport, asks: u32) -> MemberCame {
    let (output, head) = match &report.came {
        Ok((output, head)) => (output.clone(), head.clone()),
        Err(error) => return MemberCame::Failed { error: error.clone() },
    };
    let faults = find_output_faults(inputs.workflow, &report.node, &output);
    match faults.is_empty() {
        true => MemberCame::Returned { output, head },
        false if asks < ASKS_MAX => MemberCame::Refused { faults, asks: asks + 1 },
        false => MemberCame::Failed { error: failure::output_invalid(run.id, &report.node, &faults) },
    }
}

/// Makes the step that follows all members, or says what follows if one failed.
fn join(inputs: Inputs<'_>, run: &Run) -> Vec<Event> {
    let failed: Vec<(&Member, &Failure)> = run
        .members()
        .iter()
        .filter_map(|state| match &state.came {
            Some(MemberCame::Failed { error }) => Some((&state.member, error)),
            _ => None,
        })
        .collect();
    // What a person has to look at comes first.
    let of = |(member, error): &(&Member, &Failure)| Outcome::of_failure(run, member.node.as_str(), error);
    let worst = failed.iter().find(|failed| of(failed).is_none()).or(failed.first());
    let Some((member, error)) = worst else { return make_step(inputs, run, gather(run), None) };
    // Nothing but another definition would help.
    if error.code == Code::EdgeEvaluationFailed {
        return vec![fail(run, (*error).clone())];
    }
    let outcome = of(&(*member, *error)).map(|outcome| Outcome { item: member.item.clone(), ..outcome });
    let followed = outcome.and_then(|outcome| step_on(inputs, run, &outcome));
    let held = || vec![Event::RunHeld { run_id: run.id, step: run.step, error: (*error).clone() }];
    followed.unwrap_or_else(held)
}

/// Returns what all of them returned, a field for each.
fn gather(run: &Run) -> Value {
    let returned = run.members().iter().filter_map(|state| match &state.came {
        Some(MemberCame::Returned { output, .. }) => Some((state.member.node.to_string(), output.clone())),
        _ => None,
    });
    Value::Object(returned.collect::<Map<String, Value>>())
}

impl Run {
    /// Takes in what came of a member; tells whether there is such a member, and it was open.
    pub(super) fn take_in_member(&mut self, event: &Event) -> bool {
        let Event::RunMemberEnded { node, came, .. } = event else { return false };
        let Situation::Working(Working { phase: Phase::Parallel { members }, .. }) = &mut self.situation
        else {
            return false;
        };
        let Some(state) = members.iter_mut().find(|state| state.member.node == *node) else { return false };
        let was_open = state.is_open();
        state.came = Some(came.clone());
        let item = state.member.item.clone();
        if let (MemberCame::Returned { head: Some(head), .. }, Some(item)) = (came, item) {
            self.heads.insert(item, head.clone());
        }
        was_open
    }

    /// Counts the visits of the members, once the step is made.
    pub(super) fn count_members(&mut self) {
        let members: Vec<Member> = self.members().iter().map(|state| state.member.clone()).collect();
        for Member { node, item } in members {
            let visits = self.visits.entry(node.to_string()).or_default();
            *visits.entry(item.clone().unwrap_or_default()).or_default() += 1;
            self.withdrawn.retain(|withdrawn| Some(withdrawn) != item.as_ref());
        }
    }
}

impl Working {
    /// Those that failed are performed again.
    pub(super) fn begin_members_again(&mut self) {
        let was_held_by_error = matches!(self.hold, Some(Hold::Error { .. }));
        if let (Phase::Parallel { members }, true) = (&mut self.phase, was_held_by_error) {
            members.iter_mut().for_each(MemberState::begin_again);
        }
    }
}
