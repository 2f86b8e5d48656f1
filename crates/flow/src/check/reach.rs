//! The rules about reachability: every node can be reached and left, and leads to an end.

use super::report::Report;
use super::subject::{LevelView, Subject};
use crate::fault::Fault;
use crate::graph::Graph;
use crate::workflow::{NodeKind, Workflow};

/// Checks the links of every level.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    check_ends_left(subject.workflow, report);
    // An edge or a signal that cannot be read may lead anywhere.
    if subject.workflow.gaps.has_lost_edges || subject.workflow.gaps.has_lost_signals {
        return;
    }
    check_unreachable(subject, report);
    for view in &subject.levels {
        // An edge from an unknown node may be meant for any node.
        if view.graph.entered_astray.is_empty() {
            check_dead_ends(&view.graph, &view.is_reached, report);
            check_paths_to_an_end(&view.graph, &view.is_reached, report);
        }
    }
}

/// A node may be out of reach at some levels, but not at all of them.
fn check_unreachable(subject: &Subject<'_>, report: &mut Report) {
    // Without a start nothing can be reached, and the start is what has to be fixed.
    let started: Vec<&LevelView<'_>> =
        subject.levels.iter().filter(|view| view.graph.start.is_some()).collect();
    for (number, node) in subject.workflow.nodes.iter().enumerate() {
        if !started.is_empty() && !started.iter().any(|view| view.is_reached[number]) {
            let message = format!("`{}` cannot be reached from the start", node.name);
            let hint = "add an edge to it, or remove it";
            report.add(Fault::error("unreachable-node", &node.at, message).with_hint(hint));
        }
    }
}

fn check_ends_left(workflow: &Workflow, report: &mut Report) {
    for edge in &workflow.edges {
        for from in &edge.from {
            let node = workflow.find_node(from.name.as_str());
            if node.is_some_and(|node| matches!(node.kind, NodeKind::End { .. })) {
                let message = format!("`{}` leaves `{}`, where a run ends", edge.id, from.name);
                report.add(Fault::error("edge-leaves-end", &from.at, message).with_hint("remove the edge"));
            }
        }
    }
}

fn is_end(graph: &Graph<'_>, number: usize) -> bool {
    matches!(graph.node(number).kind, NodeKind::End { .. })
}

/// Whether a node may be an end, or lead to one, for all that could be read of it.
fn is_unknown(graph: &Graph<'_>, number: usize) -> bool {
    graph.workflow.gaps.kinds.contains(graph.node(number).name.as_str())
        || graph.left_astray.contains(&number)
}

/// Whether a node is performed by a `parallel` node, which leads on.
fn is_member(graph: &Graph<'_>, number: usize) -> bool {
    graph.workflow.find_group(graph.node(number).name.as_str()).is_some()
}

fn is_dead_end(graph: &Graph<'_>, number: usize) -> bool {
    !is_end(graph, number)
        && !is_unknown(graph, number)
        && !is_member(graph, number)
        && !graph.links.iter().any(|link| link.from == number)
}

fn check_dead_ends(graph: &Graph<'_>, is_reached: &[bool], report: &mut Report) {
    for number in (0..is_reached.len()).filter(|number| is_reached[*number] && is_dead_end(graph, *number)) {
        let node = graph.node(number);
        let message = format!("`{}` cannot be left: it has no outgoing edge and is not an end", node.name);
        let hint = "add an edge from it, or make its kind `end`";
        report.add_at(
            graph.level,
            node.name.to_string(),
            Fault::error("dead-end", &node.at, message).with_hint(hint),
        );
    }
}

/// Nodes that only lead to a dead end are not reported again.
fn check_paths_to_an_end(graph: &Graph<'_>, is_reached: &[bool], report: &mut Report) {
    let mut leads: Vec<bool> = (0..is_reached.len())
        .map(|number| {
            is_end(graph, number)
                || is_unknown(graph, number)
                || is_member(graph, number)
                || is_dead_end(graph, number)
        })
        .collect();
    let mut pending: Vec<usize> = (0..leads.len()).filter(|number| leads[*number]).collect();
    while let Some(number) = pending.pop() {
        for link in graph.links.iter().filter(|link| link.to == number) {
            if !std::mem::replace(&mut leads[link.from], true) {
                pending.push(link.from);
            }
        }
    }
    let lost: Vec<usize> = (0..leads.len()).filter(|number| is_reached[*number] && !leads[*number]).collect();
    let Some(first) = lost.first() else { return };
    let names: Vec<String> = lost.iter().map(|number| format!("`{}`", graph.node(*number).name)).collect();
    let names = names.join(", ");
    let fault = Fault::error(
        "no-way-to-end",
        &graph.node(*first).at,
        format!("no path leads from {names} to an end"),
    );
    report.add_at(graph.level, names, fault.with_hint("add a node of kind `end` and an edge to it"));
}
