//! What every drawing of a workflow shows, apart from how: the nodes of one level, and the arcs between them.
//!
//! A node that no link of the level touches is left out: a lower level of a workflow is a smaller drawing.

use super::links::{Graph, Link, LinkKind};
use crate::workflow::{EndStatus, Node, NodeKind, Workflow};

/// What a drawing shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outline {
    /// The workflow's name.
    pub(super) name: String,
    /// The index of the start node, if there is one.
    pub(super) start: Option<usize>,
    /// The nodes in the order of the file.
    pub(super) nodes: Vec<Shown>,
    /// The arcs in the order of the file.
    pub(super) arcs: Vec<Arc>,
}

/// A node as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) name: String,
    /// A second line: the kind, and what tells one node of a kind from another.
    pub(super) detail: String,
    pub(super) look: Look,
}

/// How a node looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// It does work.
    Work,
    /// It waits for a person.
    Person,
    /// The run completes here.
    Completed,
    /// The run fails here.
    Failed,
}

/// A link from one node to another, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arc {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The edge that it belongs to.
    pub(super) edge: String,
    /// What is written beside it.
    pub(super) label: String,
    /// Whether it is taken only instead of its edge: when that is used up, or a person sends the work back.
    pub(super) is_aside: bool,
}

impl Outline {
    /// Finds what a drawing of a level shows.
    pub(super) fn new(workflow: &Workflow, level: u32) -> Outline {
        let graph = Graph::new(workflow, level);
        let is_shown = |number: usize| {
            graph.start == Some(number)
                || graph.links.iter().any(|link| [link.from, link.to].contains(&number))
        };
        let numbers: Vec<usize> = (0..workflow.nodes.len()).filter(|number| is_shown(*number)).collect();
        let index = |number: usize| numbers.binary_search(&number).unwrap_or_default();
        let arc = |link: &Link<'_>| Arc {
            from: index(link.from),
            to: index(link.to),
            edge: link.edge.id.to_string(),
            label: label(link),
            is_aside: !matches!(link.kind, LinkKind::Edge) || link.edge.on.is_some(),
        };
        Outline {
            name: workflow.name.clone(),
            start: graph.start.map(index),
            nodes: numbers.iter().map(|number| shown(graph.node(*number))).collect(),
            arcs: graph.links.iter().map(arc).collect(),
        }
    }
}

fn label(link: &Link<'_>) -> String {
    match (link.kind, link.edge.max_iterations) {
        (LinkKind::Edge, most) if !link.edge.title.is_empty() => {
            let most = most.map(|most| format!(", at most {most}")).unwrap_or_default();
            format!("{}{most}", link.edge.title)
        }
        (LinkKind::Edge, Some(most)) => format!("{}, at most {most}", link.edge.id),
        _ => link.name(),
    }
}

fn shown(node: &Node) -> Shown {
    let word = node.kind.word();
    let (detail, look) = match &node.kind {
        NodeKind::Agent { role, .. } => (format!("{word} {}", role.name), Look::Work),
        NodeKind::Map { workflow, .. } => (format!("{word} {}", workflow.name), Look::Work),
        NodeKind::Parallel { nodes } => {
            let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
            (format!("{word} {}", names.join(", ")), Look::Work)
        }
        NodeKind::Check { .. } | NodeKind::Pass => (word.to_owned(), Look::Work),
        NodeKind::Approval { .. } => (word.to_owned(), Look::Person),
        NodeKind::End { status: EndStatus::Completed, .. } => (word.to_owned(), Look::Completed),
        NodeKind::End { status: EndStatus::Failed, .. } => (word.to_owned(), Look::Failed),
    };
    let detail = if node.title.is_empty() { detail } else { node.title.clone() };
    Shown { name: node.name.to_string(), detail, look }
}
