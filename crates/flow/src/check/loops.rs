//! The rule about loops: each one ends, and the check can see why.
//!
//! A link is bounded if its edge has a cap, if a person is asked on it, or if its condition bounds a field that it
//! steps towards the bound ([`bounds`](super::bounds)). A cap with a `scope` counts only if the scope has few values
//! in the loop ([`scopes`](super::scopes)). Bounded links are removed and the rest is checked again, since a field
//! that a bounded link sets can still bound the loop inside it. A loop that remains may run forever.

use super::bounds::is_bounded_by_steps;
use super::ground::Ground;
use super::report::Report;
use super::scopes::find_unsettled;
use super::subject::Subject;
use crate::fault::Fault;
use crate::graph::{Graph, Link, LinkKind};
use crate::outcome::OutcomeKind;
use crate::workflow::NodeKind;

/// A loop in which a run may go round for ever.
enum Endless<'w> {
    /// None of its links is bounded.
    Uncapped(Vec<Link<'w>>),
    /// The first link has a cap, and a scope that may be another each time by what is named.
    Unsettled(Vec<Link<'w>>, String),
}

/// Checks the loops of every level.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let ground = Ground::new(subject.workflow);
    for view in &subject.levels {
        check_passes(&view.graph, view.live_links(), view.level, report);
        for endless in find_endless(&ground, &view.graph, view.live_links()) {
            let told = match endless {
                Endless::Uncapped(circle) => tell_uncapped(&view.graph, &circle),
                Endless::Unsettled(circle, reads) => tell_unsettled(&view.graph, &circle, &reads),
            };
            told.into_iter().for_each(|(key, fault)| report.add_at(view.level, key, fault));
        }
    }
}

/// Nodes that perform nothing lead to one that does, whatever caps the way back to them has.
fn check_passes(graph: &Graph<'_>, live: Vec<Link<'_>>, level: u32, report: &mut Report) {
    let is_pass = |number: usize| matches!(graph.node(number).kind, NodeKind::Pass);
    let links: Vec<Link<'_>> =
        live.into_iter().filter(|link| is_pass(link.from) && is_pass(link.to)).collect();
    let parts = find_parts(graph.workflow.nodes.len(), &links);
    let mut told = Vec::new();
    for link in links.iter().filter(|link| parts[link.from] == parts[link.to]) {
        if told.contains(&parts[link.from]) {
            continue;
        }
        told.push(parts[link.from]);
        let within: Vec<Link<'_>> =
            links.iter().filter(|other| parts[other.from] == parts[link.from]).copied().collect();
        let (nodes, by) = tell(graph, &find_circle(&within, *link));
        let message = format!("the loop {nodes} performs nothing: all of its nodes are `pass` (by {by})");
        let fault = Fault::error("pass-loop", &link.edge.at, message);
        report.add_at(level, nodes, fault.with_hint("lead it through a node of another kind"));
    }
}

fn tell_uncapped(graph: &Graph<'_>, circle: &[Link<'_>]) -> Option<(String, Fault)> {
    let (told, by) = tell(graph, circle);
    let at = circle.iter().map(|link| &link.edge.at).max_by_key(|at| at.bytes.start)?;
    let message = format!("the loop {told} has no cap (by {by})");
    let is_route = |link: &Link<'_>| matches!(link.kind, LinkKind::Exhausted(_));
    let hint = if circle.iter().all(is_route) {
        "point the route elsewhere, or make it step a field towards a bound in its `when`"
    } else {
        "add `maxIterations` and an `exhausted` route to one of its edges"
    };
    Some((told + &by, Fault::error("loop-without-cap", at, message).with_hint(hint)))
}

fn tell_unsettled(graph: &Graph<'_>, circle: &[Link<'_>], reads: &str) -> Option<(String, Fault)> {
    let edge = circle.first()?.edge;
    let told = tell(graph, circle).0;
    let message = format!(
        "the cap of `{}` does not end the loop {told}: it counts each value of `scope` separately, \
         and {reads} may change every time",
        edge.id
    );
    let hint = "remove `scope` to count for the whole run, or use a value that the loop does not change";
    let fault = Fault::error("scope-without-bound", edge.scope.as_ref()?.at(), message);
    Some((edge.id.to_string(), fault.with_hint(hint)))
}

/// Returns one loop of each part of the graph in which a run may go round for ever.
fn find_endless<'w>(ground: &Ground<'w>, graph: &Graph<'w>, mut links: Vec<Link<'w>>) -> Vec<Endless<'w>> {
    links.retain(|link| !is_capped(graph, link));
    loop {
        let parts = find_parts(graph.workflow.nodes.len(), &links);
        links.retain(|link| parts[link.from] == parts[link.to]);
        let within = links.clone();
        links.retain(|link| {
            let part = links_within(&within, &parts, parts[link.from]);
            let is_settled = has_cap(link) && find_unsettled(ground, graph, link, &part).is_none();
            !is_settled && !is_bounded_by_steps(graph, link, &part)
        });
        if links.len() == within.len() {
            break;
        }
    }
    let parts = find_parts(graph.workflow.nodes.len(), &links);
    let mut numbers: Vec<usize> = links.iter().map(|link| parts[link.from]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
        .into_iter()
        .flat_map(|number| tell_part(ground, graph, &links_within(&links, &parts, number)))
        .collect()
}

fn links_within<'w>(links: &[Link<'w>], parts: &[usize], number: usize) -> Vec<Link<'w>> {
    let is_within = |link: &&Link<'w>| parts[link.from] == number && parts[link.to] == number;
    links.iter().filter(is_within).copied().collect()
}

/// Tells the loops of a part. As long as one of them has no cap at all, what it sets says nothing of a scope.
fn tell_part<'w>(ground: &Ground<'w>, graph: &Graph<'w>, links: &[Link<'w>]) -> Vec<Endless<'w>> {
    let uncapped: Vec<Link<'w>> = links.iter().filter(|link| !has_cap(link)).copied().collect();
    let parts = find_parts(graph.workflow.nodes.len(), &uncapped);
    let mut told = Vec::new();
    let mut circles = Vec::new();
    for link in uncapped.iter().filter(|link| parts[link.from] == parts[link.to]) {
        if !told.contains(&parts[link.from]) {
            told.push(parts[link.from]);
            circles.push(Endless::Uncapped(find_circle(&uncapped, *link)));
        }
    }
    if circles.is_empty() {
        let unsettled = |link: &Link<'w>| {
            let reads = find_unsettled(ground, graph, link, links)?;
            Some(Endless::Unsettled(find_circle(links, *link), reads))
        };
        circles.extend(links.iter().filter(|link| has_cap(link)).filter_map(unsettled));
    }
    circles
}

/// Whether a link is counted. Whether that bounds it depends on its scope.
fn has_cap(link: &Link<'_>) -> bool {
    matches!(link.kind, LinkKind::Edge) && link.edge.max_iterations.is_some()
}

fn is_capped(graph: &Graph<'_>, link: &Link<'_>) -> bool {
    // What cannot be read may bound it.
    if graph.workflow.gaps.edges.contains(link.edge.id.as_str())
        || link.conditions().any(|condition| !condition.is_known())
    {
        return true;
    }
    match link.kind {
        // A person sent the work back, or cancelled it.
        LinkKind::Rejected(_) => true,
        LinkKind::Edge if link.edge.outcome().is_some_and(OutcomeKind::is_by_person) => true,
        LinkKind::Edge if has_cap(link) && link.edge.scope.is_none() => true,
        LinkKind::Edge | LinkKind::Exhausted(_) => {
            matches!(graph.node(link.from).kind, NodeKind::Approval { .. })
        }
    }
}

/// Numbers the parts of a graph: nodes of one part can be reached from each other.
fn find_parts(nodes: usize, links: &[Link<'_>]) -> Vec<usize> {
    let ahead: Vec<Vec<usize>> = neighbours(nodes, links.iter().map(|link| (link.from, link.to)));
    let behind: Vec<Vec<usize>> = neighbours(nodes, links.iter().map(|link| (link.to, link.from)));
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

/// Returns a shortest circle that begins with a link; there is one, because both of its nodes are of one part.
fn find_circle<'w>(links: &[Link<'w>], first: Link<'w>) -> Vec<Link<'w>> {
    let mut trails = vec![vec![first]];
    let mut is_seen = vec![first.to];
    let mut next = 0;
    while let Some(trail) = trails.get(next).cloned() {
        let at = trail.last().map_or(first.to, |link| link.to);
        if at == first.from {
            return trail;
        }
        for link in links.iter().filter(|link| link.from == at) {
            if link.to == first.from || !is_seen.contains(&link.to) {
                is_seen.push(link.to);
                trails.push(trail.iter().copied().chain([*link]).collect());
            }
        }
        next += 1;
    }
    vec![first]
}

/// Tells a circle by its nodes, and by its links.
fn tell(graph: &Graph<'_>, circle: &[Link<'_>]) -> (String, String) {
    let name = |number: usize| graph.node(number).name.to_string();
    let nodes = circle.first().map(|link| link.from).into_iter().chain(circle.iter().map(|link| link.to));
    let links: Vec<String> = circle.iter().map(|link| format!("`{}`", link.name())).collect();
    (nodes.map(name).collect::<Vec<_>>().join(" → "), links.join(", "))
}
