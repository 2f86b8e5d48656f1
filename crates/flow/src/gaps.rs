//! The parts of a workflow that could not be read, so that the check can continue with the rest.
//!
//! A placeholder stands for each part that cannot be read: an expression that may hold or not, a schema that allows
//! everything, a node with only a name. The check reports nothing that only follows from such a gap. A workflow with
//! gaps never leaves this crate: it exists only while its errors are collected.

use std::collections::BTreeSet;

use crate::place::{Place, Segment};
use crate::workflow::{Assignment, Node, Workflow};

/// The parts of a workflow that could not be read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gaps {
    /// Nodes with keys that could not be read.
    pub(crate) nodes: BTreeSet<String>,
    /// Those of them whose kind is unknown.
    pub(crate) kinds: BTreeSet<String>,
    /// Edges with keys that could not be read.
    pub(crate) edges: BTreeSet<String>,
    /// Whether there are edges with an unknown source or target.
    pub(crate) has_lost_edges: bool,
    /// Whether there are signals with something that could not be read.
    pub(crate) has_lost_signals: bool,
    /// Roles whose output schema is unknown.
    pub(crate) roles: BTreeSet<String>,
    /// Children that could not be read.
    pub(crate) children: BTreeSet<String>,
    /// Whether the schema of the state is unknown.
    pub(crate) is_state_unknown: bool,
    /// Whether values that fit the schemas and `[bind]` cannot be made.
    pub(crate) has_doubtful_values: bool,
    pub(crate) is_start_unknown: bool,
    pub(crate) has_doubtful_levels: bool,
}

impl Gaps {
    /// Whether everything of the graph could be read: its nodes, its edges and signals, with what they set.
    pub(crate) fn is_graph_whole(&self) -> bool {
        self.nodes.is_empty() && self.edges.is_empty() && !self.has_lost_edges && !self.has_lost_signals
    }

    /// Whether it is not known what a node returns.
    pub(crate) fn is_output_unknown(&self, node: &Node) -> bool {
        let is_role_unknown = node.kind.prompt_name().is_some_and(|name| self.roles.contains(&name.name));
        is_role_unknown || self.kinds.contains(node.name.as_str())
    }
}

impl Place {
    /// Whether all of its text could be read.
    pub(crate) fn is_known(&self) -> bool {
        let is_known = |segment: &Segment| match segment {
            Segment::Name(_) => true,
            Segment::At(expression) => expression.is_known(),
        };
        !self.segments().is_empty() && self.segments().iter().all(is_known)
    }
}

impl Assignment {
    /// Whether place and value could be read.
    pub(crate) fn is_known(&self) -> bool {
        self.place.is_known() && self.value.is_known()
    }

    /// Whether it counts at a level; one whose place could not be read may.
    pub(crate) fn is_kept(&self, workflow: &Workflow, level: u32) -> bool {
        self.place.segments().is_empty() || workflow.keeps(level, self.place.field())
    }
}
