//! The ways from node to node at one level of a workflow: its edges, and the routes beside them.
//!
//! Drawings and the check look at a graph through this. Nodes are numbered as in the workflow. A way to or from a
//! name that no node has is none of the ways, and kept apart: it may lead to, or come from, any node. One that leaves
//! an end is left out.

use crate::expression::Expression;
use crate::workflow::{Assignment, Edge, Node, NodeKind, Route, Workflow};

/// A way from one node to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way<'w> {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) edge: &'w Edge,
    pub(crate) course: Course<'w>,
}

/// How a way belongs to its edge.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Course<'w> {
    /// The edge itself.
    Edge,
    /// Taken when the edge is used up.
    Exhausted(&'w Route),
    /// Taken when a person sends the work back.
    Rejected(&'w Route),
}

impl<'w> Way<'w> {
    /// Returns what the way changes in the state.
    pub(crate) fn set(&self) -> &'w [Assignment] {
        match self.course {
            Course::Edge => &self.edge.set,
            Course::Exhausted(route) | Course::Rejected(route) => &route.set,
        }
    }

    /// Lists the conditions that hold when the way is taken.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &'w Expression> {
        let of_route = match self.course {
            Course::Edge => None,
            Course::Exhausted(route) | Course::Rejected(route) => route.when.as_ref(),
        };
        self.edge.when.as_ref().into_iter().chain(of_route)
    }

    /// Returns how a message names the way.
    pub(crate) fn name(&self) -> String {
        match self.course {
            Course::Edge => self.edge.id.to_string(),
            Course::Exhausted(_) => format!("{} used up", self.edge.id),
            Course::Rejected(_) => format!("{} rejected", self.edge.id),
        }
    }
}

/// The graph of one level.
#[derive(Debug, Clone)]
pub(crate) struct Graph<'w> {
    pub(crate) workflow: &'w Workflow,
    pub(crate) level: u32,
    pub(crate) start: Option<usize>,
    pub(crate) ways: Vec<Way<'w>>,
    /// The nodes that a way leaves to a name that no node has.
    pub(crate) left_astray: Vec<usize>,
    /// The nodes that a way leads to from a name that no node has.
    pub(crate) entered_astray: Vec<usize>,
}

impl<'w> Graph<'w> {
    /// Finds the ways of a level.
    pub(crate) fn new(workflow: &'w Workflow, level: u32) -> Graph<'w> {
        let number = |name: &str| workflow.nodes.iter().position(|node| node.name.as_str() == name);
        let is_end = |node: usize| matches!(workflow.nodes[node].kind, NodeKind::End { .. });
        let (mut ways, mut left_astray, mut entered_astray) = (Vec::new(), Vec::new(), Vec::new());
        for edge in workflow.edges.iter().filter(|edge| edge.is_at(level)) {
            let exhausted = edge.exhausted.iter().map(|route| (&route.to, Course::Exhausted(route)));
            let rejected = edge.rejected.iter().map(|route| (&route.to, Course::Rejected(route)));
            let targets = [(&edge.to, Course::Edge)].into_iter().chain(exhausted).chain(rejected);
            let from = number(edge.from.name.as_str());
            for (target, course) in targets {
                match (from, number(target.name.as_str())) {
                    (Some(from), _) if is_end(from) => {}
                    (Some(from), Some(to)) => ways.push(Way { from, to, edge, course }),
                    (Some(from), None) => left_astray.push(from),
                    (None, to) => entered_astray.extend(to),
                }
            }
        }
        let is_unknown =
            workflow.gaps.is_start_unknown && std::ptr::eq(workflow.start_at(level), &workflow.start);
        let start = number(workflow.start_at(level).name.as_str()).filter(|_| !is_unknown);
        Graph { workflow, level, start, ways, left_astray, entered_astray }
    }

    /// Returns a node by its number.
    pub(crate) fn node(&self, number: usize) -> &'w Node {
        &self.workflow.nodes[number]
    }

    /// Says of each node whether a run of this level can come to it. Without a start it may be any, and so behind a
    /// way to a name that no node has.
    pub(crate) fn reachable(&self) -> Vec<bool> {
        if self.start.is_none() {
            return vec![true; self.workflow.nodes.len()];
        }
        let mut is_reached = vec![false; self.workflow.nodes.len()];
        let mut pending: Vec<usize> = self.start.into_iter().chain(self.entered_astray.clone()).collect();
        while let Some(node) = pending.pop() {
            if self.left_astray.contains(&node) {
                return vec![true; self.workflow.nodes.len()];
            }
            if !std::mem::replace(&mut is_reached[node], true) {
                pending.extend(self.ways.iter().filter(|way| way.from == node).map(|way| way.to));
            }
        }
        is_reached
    }
}

/// Lists the levels of a workflow; one without any has one.
pub(crate) fn levels(workflow: &Workflow) -> Vec<u32> {
    if workflow.levels.is_empty() {
        vec![crate::workflow::ONLY_LEVEL]
    } else {
        workflow.levels.keys().copied().collect()
    }
}
