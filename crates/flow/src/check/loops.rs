//! The rule about loops: each comes to an end, and the check can see why.
//!
//! A way is bounded if its edge has a cap, if a person is asked on it, or if its condition bounds a field that it
//! steps towards the bound ([`bounds`](super::bounds)). Bounded ways are taken out, and what is left is looked at
//! again, since a field that a bounded way sets back can still bound the loop inside it. A loop that remains may run
//! for ever.

use super::bounds::is_bounded_by_steps;
use super::report::Report;
use super::subject::Subject;
use crate::fault::Fault;
use crate::graph::{Course, Graph, Way};
use crate::workflow::NodeKind;

/// Checks the loops of every level.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    for view in &subject.levels {
        for circle in find_endless(&view.graph, view.live_ways()) {
            let (told, by) = tell(&view.graph, &circle);
            let Some(at) = circle.iter().map(|way| &way.edge.at).max_by_key(|at| at.bytes.start) else {
                continue;
            };
            let message = format!("the loop {told} has no cap (by {by})");
            let is_route = |way: &Way<'_>| matches!(way.course, Course::Exhausted(_));
            let hint = if circle.iter().all(is_route) {
                "lead the route elsewhere, or let it step a field towards a bound in its `when`"
            } else {
                "add `maxIterations` and an `exhausted` route to one of its edges"
            };
            report.add_at(
                view.level,
                told + &by,
                Fault::error("loop-without-cap", at, message).with_hint(hint),
            );
        }
    }
}

/// Returns one circle of each part of the graph in which a run may go round for ever.
fn find_endless<'w>(graph: &Graph<'w>, mut ways: Vec<Way<'w>>) -> Vec<Vec<Way<'w>>> {
    ways.retain(|way| !is_capped(graph, way));
    loop {
        let parts = find_parts(graph.workflow.nodes.len(), &ways);
        ways.retain(|way| parts[way.from] == parts[way.to]);
        let within = ways.clone();
        ways.retain(|way| {
            let part: Vec<Way<'w>> =
                within.iter().filter(|other| parts[other.from] == parts[way.from]).copied().collect();
            !is_bounded_by_steps(graph, way, &part)
        });
        if ways.len() == within.len() {
            break;
        }
    }
    let mut circles: Vec<Vec<Way<'w>>> = Vec::new();
    let parts = find_parts(graph.workflow.nodes.len(), &ways);
    let mut told = Vec::new();
    for way in &ways {
        if parts[way.from] == parts[way.to] && !told.contains(&parts[way.from]) {
            told.push(parts[way.from]);
            circles.push(find_circle(&ways, *way));
        }
    }
    circles
}

fn is_capped(graph: &Graph<'_>, way: &Way<'_>) -> bool {
    match way.course {
        // A person sent the work back.
        Course::Rejected(_) => true,
        Course::Edge if way.edge.max_iterations.is_some() => true,
        Course::Edge | Course::Exhausted(_) => matches!(graph.node(way.from).kind, NodeKind::Approval { .. }),
    }
}

/// Numbers the parts of a graph: nodes of one part can be reached from each other.
pub(super) fn find_parts(nodes: usize, ways: &[Way<'_>]) -> Vec<usize> {
    let ahead: Vec<Vec<usize>> = neighbours(nodes, ways.iter().map(|way| (way.from, way.to)));
    let behind: Vec<Vec<usize>> = neighbours(nodes, ways.iter().map(|way| (way.to, way.from)));
    let mut order = Vec::with_capacity(nodes);
    let mut is_seen = vec![false; nodes];
    for root in 0..nodes {
        let mut pending = vec![(root, false)];
        while let Some((node, is_left)) = pending.pop() {
            if is_left {
                order.push(node);
            } else if !std::mem::replace(&mut is_seen[node], true) {
                pending.push((node, true));
                pending.extend(ahead[node].iter().map(|next| (*next, false)));
            }
        }
    }
    let mut part_of = vec![usize::MAX; nodes];
    for root in order.into_iter().rev() {
        let mut pending = vec![root];
        while let Some(node) = pending.pop() {
            if part_of[node] == usize::MAX {
                part_of[node] = root;
                pending.extend(&behind[node]);
            }
        }
    }
    part_of
}

fn neighbours(nodes: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); nodes];
    pairs.for_each(|(from, to)| neighbours[from].push(to));
    neighbours
}

/// Returns a shortest circle that begins with a way; there is one, because both of its nodes are of one part.
fn find_circle<'w>(ways: &[Way<'w>], first: Way<'w>) -> Vec<Way<'w>> {
    let mut trails = vec![vec![first]];
    let mut is_seen = vec![first.to];
    let mut next = 0;
    while let Some(trail) = trails.get(next).cloned() {
        let at = trail.last().map_or(first.to, |way| way.to);
        if at == first.from {
            return trail;
        }
        for way in ways.iter().filter(|way| way.from == at) {
            if way.to == first.from || !is_seen.contains(&way.to) {
                is_seen.push(way.to);
                trails.push(trail.iter().copied().chain([*way]).collect());
            }
        }
        next += 1;
    }
    vec![first]
}

/// Tells a circle by its nodes, and by its ways.
pub(super) fn tell(graph: &Graph<'_>, circle: &[Way<'_>]) -> (String, String) {
    let name = |number: usize| graph.node(number).name.to_string();
    let nodes = circle.first().map(|way| way.from).into_iter().chain(circle.iter().map(|way| way.to));
    let ways: Vec<String> = circle.iter().map(|way| format!("`{}`", way.name())).collect();
    (nodes.map(name).collect::<Vec<_>>().join(" → "), ways.join(", "))
}

/// Returns a shortest circle through a way at its level, if there is one.
pub(super) fn find_circle_through<'w>(graph: &Graph<'w>, way: Way<'w>) -> Option<Vec<Way<'w>>> {
    let circle = find_circle(&graph.ways, way);
    circle.last().is_some_and(|last| last.to == way.from).then_some(circle)
}
