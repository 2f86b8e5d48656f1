//! Every expression of a workflow, with what it can see.

use crate::expression::Expression;
use crate::import::ImportRule;
use crate::place::{Place, Segment};
use crate::shown::Content;
use crate::workflow::{Assignment, Edge, Limit, Node, NodeKind, Route, Send, Workflow};

/// An expression, and what it sees beside the state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage<'w> {
    pub(crate) expression: &'w Expression,
    pub(crate) sees: Sees<'w>,
}

/// What an expression sees.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sees<'w> {
    /// The state, and the output of the node of that number.
    OutputOf(usize),
    /// The state, and the output of whichever node came before.
    AnyOutput,
    /// An item of that list, to find its key.
    Key(&'w Expression),
    /// An item of that list.
    Item(&'w Expression),
    /// The state, and what comes with the signal of that number.
    Signal(usize),
    /// The file of that number, as it was found.
    File(usize),
}

/// Lists all expressions.
pub(crate) fn all_expressions(workflow: &Workflow) -> Vec<Usage<'_>> {
    let mut found = step_expressions(workflow);
    found.extend(shown_expressions(workflow));
    found.extend(import_expressions(workflow));
    found
}

/// Lists the expressions of imports, which are evaluated before there is a run.
pub(super) fn import_expressions(workflow: &Workflow) -> impl Iterator<Item = Usage<'_>> {
    let files = workflow.files.iter().enumerate();
    files.flat_map(|(number, file)| {
        file.import
            .iter()
            .map(move |ImportRule { value, .. }| Usage { expression: value, sees: Sees::File(number) })
    })
}

/// Lists the expressions of views and files, which are evaluated apart from the steps.
pub(super) fn shown_expressions(workflow: &Workflow) -> impl Iterator<Item = Usage<'_>> {
    let views = workflow.views.iter().map(|view| &view.value);
    let files = workflow.files.iter().filter_map(|file| match &file.content {
        Content::Value { value, .. } => Some(value),
        Content::Place { .. } | Content::Append { .. } => None,
    });
    views.chain(files).map(|expression| Usage { expression, sees: Sees::AnyOutput })
}

/// Lists the expressions that are evaluated in a step.
pub(crate) fn step_expressions<'w>(workflow: &'w Workflow) -> Vec<Usage<'w>> {
    let mut found = Vec::new();
    let mut add = |sees: Sees<'w>, expressions: Vec<&'w Expression>| {
        found.extend(expressions.into_iter().map(|expression| Usage { expression, sees }));
    };
    for bind in &workflow.bind {
        add(Sees::AnyOutput, of_place(&bind.place));
    }
    if let Some(board) = &workflow.board {
        add(Sees::AnyOutput, vec![&board.items]);
        let optional = [
            &board.title,
            &board.description,
            &board.criteria,
            &board.priority,
            &board.depends,
            &board.branch,
            &board.base,
        ];
        add(Sees::Key(&board.items), vec![&board.key]);
        add(Sees::Item(&board.items), optional.into_iter().flatten().collect());
    }
    for (number, node) in workflow.nodes.iter().enumerate() {
        add(Sees::AnyOutput, of_kind(node));
        if let NodeKind::Map { items, key, depends, .. } = &node.kind {
            add(Sees::Key(items), vec![key]);
            add(Sees::Item(items), depends.iter().collect());
        }
        if let NodeKind::Agent { findings, .. } = &node.kind {
            add(Sees::OutputOf(number), findings.iter().collect());
        }
        add(Sees::OutputOf(number), of_set(&node.set));
    }
    for edge in &workflow.edges {
        for from in &edge.from {
            let from = workflow.nodes.iter().position(|node| node.name == from.name);
            add(from.map_or(Sees::AnyOutput, Sees::OutputOf), of_edge(edge));
        }
    }
    for (number, signal) in workflow.signals.iter().enumerate() {
        let own = signal.when.iter().chain(of_set(&signal.set)).chain(of_sends(&signal.send));
        add(Sees::Signal(number), own.collect());
    }
    found
}

/// Lists the expressions in the brackets of a place.
pub(crate) fn of_place(place: &Place) -> Vec<&Expression> {
    let segments = place.segments().iter();
    let within = segments.filter_map(|segment| match segment {
        Segment::At(expression) => Some(expression),
        Segment::Name(_) => None,
    });
    within.collect()
}

fn of_set(set: &[Assignment]) -> Vec<&Expression> {
    set.iter()
        .flat_map(|assignment| of_place(&assignment.place).into_iter().chain([&assignment.value]))
        .collect()
}

fn of_kind(node: &Node) -> Vec<&Expression> {
    match &node.kind {
        NodeKind::Agent { input, task, .. } => input.iter().map(|(_, value)| value).chain(task).collect(),
        NodeKind::Map { items, max_parallel, .. } => match max_parallel {
            Some(Limit::Of(limit)) => vec![items, limit],
            Some(Limit::Count(_)) | None => vec![items],
        },
        NodeKind::Parallel { .. } | NodeKind::Pass => Vec::new(),
        NodeKind::Approval { question } => vec![question],
        NodeKind::Check { task, .. } => task.iter().collect(),
        NodeKind::End { reason, result, .. } => reason.iter().chain(result).collect(),
    }
}

fn of_edge(edge: &Edge) -> Vec<&Expression> {
    let own = [&edge.when, &edge.scope, &edge.submit, &edge.fail, &edge.drop].into_iter().flatten();
    let of_routes = edge.exhausted.iter().chain(&edge.rejected).flat_map(of_route);
    own.chain(of_set(&edge.set)).chain(of_sends(&edge.send)).chain(of_routes).collect()
}

fn of_route(route: &Route) -> Vec<&Expression> {
    let own = [&route.when, &route.fail, &route.drop].into_iter().flatten();
    own.chain(of_set(&route.set)).chain(of_sends(&route.send)).collect()
}

fn of_sends(sends: &[Send]) -> Vec<&Expression> {
    sends
        .iter()
        .flat_map(|send| [&send.when, &send.subject, &send.body, &send.data].into_iter().flatten())
        .collect()
}
