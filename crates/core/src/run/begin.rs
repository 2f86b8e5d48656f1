//! How a run begins: from its input, or as a fork of another run.

use super::board::find_item_faults;
use super::step::{end, enter, get_node};
use super::{Begin, Counts, Event, Fork, Inputs, Next, Parent, Phase, RecordingMode, Run, failure, nesting};
use crate::{CommitId, FieldFault, PrdSlug, Refusal, RunId, TaskId};
use regatta_flow::{Sheet, StepFault, Workflow, board_items};
use serde_json::Value;
use std::collections::BTreeMap;

/// An order to begin a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// Names the definition that is kept in the log.
    pub digest: String,
    /// The child within that definition, for a run of a `map` node.
    pub within: Vec<String>,
    /// The level; the workflow's own if none is given.
    pub level: Option<u32>,
    /// The PRD that it begins with.
    pub prd: Option<PrdSlug>,
    /// What it is given.
    pub input: Value,
    /// Whether its items, and those of its children, become tasks on the board.
    pub board: bool,
    /// The recording that it is recorded on, or played from.
    pub recording: Option<RecordingMode>,
    /// The run that waits for it.
    pub parent: Option<Parent>,
    /// Whether that run is held, so that it begins nothing yet.
    pub is_parent_paused: bool,
}

/// Begins a run with the initial state of its workflow.
pub fn begin(inputs: Inputs<'_>, id: RunId, order: Order) -> Result<Vec<Event>, Refusal> {
    let workflow = inputs.workflow;
    let level = order.level.unwrap_or_else(|| workflow.default_level());
    let mut input = order.input.clone();
    check_level(inputs, level)?;
    check_input(inputs, &mut input)?;
    let sheet = Sheet::new(workflow.schema.initial(), input, Value::Null);
    let begun = enter_first(inputs, level, order.parent.is_some(), &sheet);
    let First { next, ending, passes } = begun.map_err(|fault| cannot_begin(&fault))?;
    let board = has_board(workflow, &order);
    let works_on_item = match &next {
        Next::Perform { item, .. } => item.is_some(),
        Next::Parallel { members, .. } => members.iter().any(|member| member.item.is_some()),
        _ => false,
    };
    if works_on_item {
        check_items(inputs, board, &sheet)?;
    }
    let plan = Begin { passes, ..plan_of(workflow, order, (level, sheet), next) };
    let mut events = vec![Event::RunCreated { run_id: id, plan: Box::new(plan) }];
    events.extend(ending.map(|ending| match ending {
        Ok(result) => Event::RunCompleted { run_id: id, result },
        Err(reason) => {
            let start = &workflow.start_at(level).name;
            Event::RunFailed {
                run_id: id,
                error: failure::ended(id, start, reason),
                output: None,
                outcome: None,
                seen: None,
            }
        }
    }));
    check_depth(events)
}

/// Makes sure that what a run begins with can be read back.
pub(super) fn check_depth(events: Vec<Event>) -> Result<Vec<Event>, Refusal> {
    match events.iter().any(nesting::is_too_deep) {
        false => Ok(events),
        true => Err(invalid("input", format!("is nested deeper than {} levels", nesting::LEVELS_MAX))),
    }
}

/// Returns what a run begins with that nothing has happened to.
pub(super) fn plan_of(workflow: &Workflow, order: Order, (level, sheet): (u32, Sheet), next: Next) -> Begin {
    let board = has_board(workflow, &order);
    let (state, input, feedback) = sheet.into_parts();
    let own_task = order.parent.as_ref().filter(|_| board && workflow.board.is_none());
    let tasks = own_task.and_then(|parent| Some((parent.item.clone(), parent.task?))).into_iter().collect();
    Begin {
        workflow: workflow.name.clone(),
        digest: order.digest,
        within: order.within,
        level,
        board,
        board_below: order.board && !board,
        recording: order.recording,
        prd: order.prd,
        input,
        state,
        feedback,
        taken: Counts::new(),
        visits: Counts::new(),
        tasks,
        heads: BTreeMap::new(),
        restarted: Vec::new(),
        step: 1,
        next,
        passes: false,
        item: None,
        takes_up: false,
        parent: order.parent,
        is_parent_paused: order.is_parent_paused,
        forked: None,
        imported: None,
        files: BTreeMap::new(),
    }
}

/// Tells whether a run works on tasks: those of its own board, or the one that it was started for.
fn has_board(workflow: &Workflow, order: &Order) -> bool {
    let is_for_task = || order.parent.as_ref().is_some_and(|parent| parent.task.is_some());
    order.board && (workflow.board.is_some() || is_for_task())
}

/// What a fork takes over of the items of the other run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// Those that are merged already, with their tasks.
    pub merged: BTreeMap<String, TaskId>,
    /// What the others stood at that had been begun.
    pub heads: BTreeMap<String, CommitId>,
    /// Those of them for which that is not known.
    pub restarted: Vec<String>,
}

/// Begins a run where another stood before a step.
pub fn fork(id: RunId, from: &Run, taken: Taken) -> Event {
    let Taken { merged, heads, restarted } = taken;
    let next = find_first(from);
    // What is performed is taken up where it is performed.
    let is_performed = |item: &&String| match &next {
        Next::Perform { item: performed, .. } => performed.as_ref() == Some(*item),
        Next::Parallel { members, .. } => members.iter().any(|member| member.item.as_ref() == Some(*item)),
        _ => false,
    };
    let asked = if let Next::Ask { .. } = &next { from.item.clone() } else { None };
    let takes_up = from.board && heads.keys().chain(&restarted).any(|item| !is_performed(&item));
    let plan = Begin {
        workflow: from.workflow.clone(),
        digest: from.digest.clone(),
        within: from.within.clone(),
        level: from.level,
        board: from.board,
        board_below: from.board_below,
        recording: None,
        prd: from.prd.clone(),
        input: from.sheet.input().clone(),
        state: from.sheet.state().clone(),
        feedback: from.sheet.feedback().clone(),
        taken: from.taken.clone(),
        visits: from.visits.clone(),
        tasks: merged,
        heads,
        restarted,
        step: from.step,
        next,
        passes: false,
        item: asked,
        takes_up,
        parent: None,
        is_parent_paused: false,
        forked: Some(Fork { run_id: from.id, step: from.step }),
        imported: None,
        files: BTreeMap::new(),
    };
    Event::RunCreated { run_id: id, plan: Box::new(plan) }
}

/// Returns what a run was to do at the step that it is at, which is what a fork begins with.
pub fn find_first(from: &Run) -> Next {
    match from.phase() {
        Some(Phase::Publishing { then: Some(next), .. }) => next.clone(),
        Some(Phase::Publishing { before: Some(next), .. }) => (**next).clone(),
        Some(Phase::Parallel { members }) => Next::Parallel {
            node: from.node.clone(),
            members: members.iter().map(|state| state.member.clone()).collect(),
        },
        Some(Phase::Asking { question }) => Next::Ask { node: from.node.clone(), question: question.clone() },
        Some(Phase::Mapping(mapping)) => Next::Map {
            node: from.node.clone(),
            workflow: mapping.workflow.clone(),
            items: mapping.children().iter().map(|child| child.item.clone()).collect(),
            max_parallel: mapping.max_parallel,
            publishes: from.board,
        },
        _ => Next::Perform { node: from.node.clone(), item: from.item.clone() },
    }
}

/// What a run does first.
pub(super) struct First {
    pub(super) next: Next,
    /// What an end says: its result, or why it failed.
    pub(super) ending: Option<Result<Value, Option<String>>>,
    /// Whether the node performs nothing.
    pub(super) passes: bool,
}

pub(super) fn enter_first(
    inputs: Inputs<'_>,
    level: u32,
    is_child: bool,
    sheet: &Sheet,
) -> Result<First, StepFault> {
    let workflow = inputs.workflow;
    let node = get_node(workflow, &workflow.start_at(level).name)?;
    sheet.look(workflow, inputs.variables, inputs.now_millis, |look| {
        let (next, passes) = match enter(look, node)? {
            // No step leads to it, so it is performed by itself.
            Next::Pass { node } => (Next::Perform { node, item: None }, true),
            next => (next, false),
        };
        Ok(First { next, ending: end(look, node, is_child)?, passes })
    })
}

/// Makes sure that the items with which the run begins have keys of their own, and on the board can be tasks.
fn check_items(inputs: Inputs<'_>, board: bool, sheet: &Sheet) -> Result<(), Refusal> {
    let items = sheet.look(inputs.workflow, inputs.variables, inputs.now_millis, board_items);
    let faults = find_item_faults(&items.map_err(|fault| cannot_begin(&fault))?, board);
    match faults.is_empty() {
        true => Ok(()),
        false => Err(invalid("workflow", format!("cannot begin: {}", faults.join("; ")))),
    }
}

pub(super) fn cannot_begin(fault: &StepFault) -> Refusal {
    invalid("workflow", format!("cannot begin: {}", failure::reasons(fault).join(": ")))
}

pub(super) fn check_level(inputs: Inputs<'_>, level: u32) -> Result<(), Refusal> {
    let levels = &inputs.workflow.levels;
    if levels.contains_key(&level) {
        return Ok(());
    }
    let known: Vec<String> = levels.keys().map(u32::to_string).collect();
    Err(invalid("level", format!("{level} is none of {}", known.join(", "))))
}

pub(super) fn check_input(inputs: Inputs<'_>, input: &mut Value) -> Result<(), Refusal> {
    inputs.workflow.fit_input(input).map_err(|faults| {
        let fault =
            |fault: &regatta_flow::SchemaFault| FieldFault { field: "input", problem: fault.to_string() };
        Refusal::Invalid { faults: faults.iter().map(fault).collect() }
    })
}

fn invalid(field: &'static str, problem: String) -> Refusal {
    Refusal::Invalid { faults: vec![FieldFault { field, problem }] }
}
