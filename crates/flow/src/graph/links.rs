//! The links between the nodes of a workflow at one level: its edges and their routes.
//!
//! Drawings and the check use a graph through this. Nodes are numbered as in the workflow. A link to or from an
//! unknown node is kept apart from the others: it may lead to, or come from, any node. One that leaves an end is left
//! out.

use crate::expression::Expression;
use crate::workflow::{Assignment, Edge, Node, NodeKind, Route, Workflow};

/// A link from one node to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link<'w> {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) edge: &'w Edge,
    pub(crate) kind: LinkKind<'w>,
}

/// How a link belongs to its edge.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LinkKind<'w> {
    /// The edge itself.
    Edge,
    /// Taken when the edge is used up.
    Exhausted(&'w Route),
    /// Taken when a person sends the work back.
    Rejected(&'w Route),
}

impl<'w> Link<'w> {
    /// Returns what the link changes in the state.
    pub(crate) fn set(&self) -> &'w [Assignment] {
        match self.kind {
            LinkKind::Edge => &self.edge.set,
            LinkKind::Exhausted(route) | LinkKind::Rejected(route) => &route.set,
        }
    }

    /// Lists the conditions that hold when the link is taken.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &'w Expression> {
        let of_route = match self.kind {
            LinkKind::Edge => None,
            LinkKind::Exhausted(route) | LinkKind::Rejected(route) => route.when.as_ref(),
        };
        self.edge.when.as_ref().into_iter().chain(of_route)
    }

    /// Returns how a message names the link.
    pub(crate) fn name(&self) -> String {
        match self.kind {
            LinkKind::Edge => self.edge.id.to_string(),
            LinkKind::Exhausted(_) => format!("{} used up", self.edge.id),
            LinkKind::Rejected(_) => format!("{} rejected", self.edge.id),
        }
    }
}

/// The graph of one level.
#[derive(Debug, Clone)]
pub(crate) struct Graph<'w> {
    pub(crate) workflow: &'w Workflow,
    pub(crate) level: u32,
    pub(crate) start: Option<usize>,
    /// The nodes at which a signal continues a run that has ended.
    pub(crate) continued: Vec<usize>,
    pub(crate) links: Vec<Link<'w>>,
    /// The nodes that a link leaves to a name that no node has.
    pub(crate) left_astray: Vec<usize>,
    /// The nodes that a link leads to from a name that no node has.
    pub(crate) entered_astray: Vec<usize>,
}

impl<'w> Graph<'w> {
    /// Finds the links of a level.
    pub(crate) fn new(workflow: &'w Workflow, level: u32) -> Graph<'w> {
        let number = |name: &str| workflow.nodes.iter().position(|node| node.name.as_str() == name);
        let is_end = |node: usize| matches!(workflow.nodes[node].kind, NodeKind::End { .. });
        let (mut links, mut left_astray, mut entered_astray) = (Vec::new(), Vec::new(), Vec::new());
        for edge in workflow.edges.iter().filter(|edge| edge.is_at(level)) {
            let exhausted = edge.exhausted.iter().map(|route| (&route.to, LinkKind::Exhausted(route)));
            let rejected = edge.rejected.iter().map(|route| (&route.to, LinkKind::Rejected(route)));
            let targets = [(&edge.to, LinkKind::Edge)].into_iter().chain(exhausted).chain(rejected);
            let sources: Vec<Option<usize>> =
                edge.from.iter().map(|from| number(from.name.as_str())).collect();
            for (target, kind) in targets {
                let to = number(target.name.as_str());
                for from in &sources {
                    match (*from, to) {
                        (Some(from), _) if is_end(from) => {}
                        (Some(from), Some(to)) => links.push(Link { from, to, edge, kind }),
                        (Some(from), None) => left_astray.push(from),
                        (None, to) => entered_astray.extend(to),
                    }
                }
            }
        }
        let is_unknown =
            workflow.gaps.is_start_unknown && std::ptr::eq(workflow.start_at(level), &workflow.start);
        let start = number(workflow.start_at(level).name.as_str()).filter(|_| !is_unknown);
        let targets = workflow.signals.iter().filter_map(|signal| signal.to.as_ref());
        let continued = targets.filter_map(|to| number(to.name.as_str())).collect();
        Graph { workflow, level, start, continued, links, left_astray, entered_astray }
    }

    /// Returns a node by its number.
    pub(crate) fn node(&self, number: usize) -> &'w Node {
        &self.workflow.nodes[number]
    }

    /// Lists the nodes that a `parallel` node performs.
    fn members(&self, number: usize) -> impl Iterator<Item = usize> + use<'_, 'w> {
        let find = |name: &str| self.workflow.nodes.iter().position(|node| node.name.as_str() == name);
        self.node(number).kind.members().iter().filter_map(move |member| find(member.name.as_str()))
    }

    /// Lists what the step of a node changes, with what the nodes change that it performs.
    pub(crate) fn set_of(&self, number: usize) -> impl Iterator<Item = &'w Assignment> {
        let of_members = self.members(number).flat_map(|member| &self.node(member).set);
        of_members.chain(&self.node(number).set)
    }

    /// Says of each node whether a run of this level can come to it. Without a start it may be any, and so behind a
    /// link to a name that no node has.
    pub(crate) fn reachable(&self) -> Vec<bool> {
        if self.start.is_none() {
            return vec![true; self.workflow.nodes.len()];
        }
        let mut is_reached = vec![false; self.workflow.nodes.len()];
        let roots = self.start.into_iter().chain(self.continued.clone());
        let mut pending: Vec<usize> = roots.chain(self.entered_astray.clone()).collect();
        while let Some(node) = pending.pop() {
            if self.left_astray.contains(&node) {
                return vec![true; self.workflow.nodes.len()];
            }
            if !std::mem::replace(&mut is_reached[node], true) {
                pending.extend(self.links.iter().filter(|link| link.from == node).map(|link| link.to));
                pending.extend(self.members(node));
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
