//! A workflow as data: the contents of its files, with positions.
//!
//! Values of these types have no syntax errors ([`Workflow::load`]). Whether names refer to anything and the graph
//! makes sense is for the check. A run changes nothing here.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::expression::Expression;
use crate::fault::{Fault, Position};
use crate::folder::Folder;
use crate::gaps::Gaps;
use crate::name::{EdgeId, NodeName};
use crate::place::Place;
use crate::role::Role;
use crate::schema::{Schema, SchemaFault, StateSchema};

/// The level of a workflow that has none.
pub const ONLY_LEVEL: u32 = 1;

/// A workflow.
#[derive(Debug)]
pub struct Workflow {
    /// Its name.
    pub name: String,
    /// What it is for, in a line; may be empty.
    pub title: String,
    /// The node that a run begins with, unless its level says otherwise.
    pub start: Target,
    /// Names for places, in the order of the file; expressions see them as variables.
    pub bind: Vec<Bind>,
    /// Which items are tasks.
    pub board: Option<Board>,
    /// The nodes in the order of the file.
    pub nodes: Vec<Node>,
    /// The edges in the order of the file.
    pub edges: Vec<Edge>,
    /// The levels by number. A workflow without any has [`ONLY_LEVEL`].
    pub levels: BTreeMap<u32, Level>,
    /// The schema of the state.
    pub schema: StateSchema,
    /// The schema of what a run is given, if it says.
    pub input: Option<Schema>,
    /// The roles of `roles/`, by name.
    pub roles: BTreeMap<String, Role>,
    /// The workflows of `children/`, by name.
    pub children: BTreeMap<String, Workflow>,
    /// What was found while loading and does not keep it from running; for the whole folder, with the outermost.
    pub warnings: Vec<Fault>,
    /// What could not be read; nothing, unless it is only being checked.
    pub(crate) gaps: Gaps,
    /// The files it was loaded from, with those of its children.
    pub folder: Arc<Folder>,
    /// The top of `workflow.toml`.
    pub at: Position,
}

impl Workflow {
    /// Returns the node of that name.
    pub fn find_node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name.as_str() == name)
    }

    /// Returns the edge of that id.
    pub fn find_edge(&self, id: &str) -> Option<&Edge> {
        self.edges.iter().find(|edge| edge.id.as_str() == id)
    }

    /// Fills the defaults of its schema into an input, and says what does not fit.
    pub fn fit_input(&self, input: &mut Value) -> Result<(), Vec<SchemaFault>> {
        let Some(schema) = &self.input else { return Ok(()) };
        schema.fill_defaults(input);
        schema.check(input)
    }

    /// Returns the level that a run has when nobody chose one.
    pub fn default_level(&self) -> u32 {
        let chosen = self.levels.values().find(|level| level.default);
        chosen.or_else(|| self.levels.values().next_back()).map_or(ONLY_LEVEL, |level| level.number)
    }

    /// Returns the node that a run of that level begins with.
    pub fn start_at(&self, level: u32) -> &Target {
        self.levels.get(&level).and_then(|level| level.start.as_ref()).unwrap_or(&self.start)
    }

    /// Returns the edges that leave a node at a level, in the order in which they are tried.
    pub fn edges_from<'w>(&'w self, node: &str, level: u32) -> impl Iterator<Item = &'w Edge> {
        self.edges.iter().filter(move |edge| edge.leaves(node) && edge.is_at(level))
    }

    /// Whether assignments to a field of the state are kept up at a level.
    pub fn keeps(&self, level: u32, field: &str) -> bool {
        let fields = self.levels.get(&level).and_then(|level| level.fields.as_ref());
        fields.is_none_or(|fields| fields.iter().any(|kept| kept.name == field))
    }

    /// Returns the digest of the files, of which the children's are a part.
    pub fn digest(&self) -> String {
        self.folder.digest()
    }
}

/// The name of a node where a part of the workflow refers to it; whether there is one is not said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The node.
    pub name: NodeName,
    /// Where it is referred to.
    pub at: Position,
}

/// Any other name with where it stands: a role, a child, a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub at: Position,
}

/// A name for a place.
#[derive(Debug, Clone)]
pub struct Bind {
    /// The name, without the `$`.
    pub name: String,
    /// The place.
    pub place: Place,
    /// Where the place stands.
    pub at: Position,
}

/// Which items are tasks. All but `items` are evaluated over one item.
#[derive(Debug, Clone)]
pub struct Board {
    /// The items.
    pub items: Expression,
    /// The key of an item, by which a step speaks of its task.
    pub key: Expression,
    /// The title.
    pub title: Option<Expression>,
    /// The description.
    pub description: Option<Expression>,
    /// The acceptance criteria, a list of texts.
    pub criteria: Option<Expression>,
    /// The priority: high, medium or low.
    pub priority: Option<Expression>,
    /// The keys of the items it depends on.
    pub depends: Option<Expression>,
    /// Where the board begins.
    pub at: Position,
}

/// A node.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its name.
    pub name: NodeName,
    /// What it is for, in a line for people; may be empty.
    pub title: String,
    /// What it performs.
    pub kind: NodeKind,
    /// What it changes in the state afterwards.
    pub set: Vec<Assignment>,
    /// Where its name stands.
    pub at: Position,
}

/// What a node performs.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// A session of the agent that has the role.
    Agent {
        /// The role.
        role: Named,
        /// Whose prompt and output schema it has; absent: the role's own.
        prompt: Option<Named>,
        /// What the prompt is made from, in the order of the file.
        input: Vec<(Named, Expression)>,
        /// The key of the task in whose worktree it works.
        task: Option<Expression>,
        /// Whether it may change files.
        writes: bool,
        /// What it found of each criterion of the task, a list of `criterion` and `met`; sees the output.
        findings: Option<Expression>,
    },
    /// A child run per item.
    Map {
        /// The workflow of the child.
        workflow: Named,
        /// The items.
        items: Expression,
        /// The key of an item, evaluated over it.
        key: Expression,
        /// The keys of the items that it needs first, evaluated over it.
        depends: Option<Expression>,
        /// How many run at once; absent: all.
        max_parallel: Option<Limit>,
    },
    /// A question to a person.
    Approval {
        /// The question.
        question: Expression,
    },
    /// The project's checks.
    Check {
        /// Their names; absent: all.
        names: Option<Vec<Named>>,
        /// The key of the task in whose worktree they run.
        task: Option<Expression>,
    },
    /// Nothing: it only sets.
    Pass,
    /// The end of the run.
    End {
        /// How it ended.
        status: EndStatus,
        /// Why it failed.
        reason: Option<Expression>,
        /// What comes of the run; absent: the state.
        result: Option<Expression>,
    },
}

impl NodeKind {
    /// Returns the word for the kind in the files.
    pub fn word(&self) -> &'static str {
        match self {
            NodeKind::Agent { .. } => "agent",
            NodeKind::Map { .. } => "map",
            NodeKind::Approval { .. } => "approval",
            NodeKind::Check { .. } => "check",
            NodeKind::Pass => "pass",
            NodeKind::End { .. } => "end",
        }
    }
}

impl NodeKind {
    /// Returns the name of the prompt and the output schema of an agent node.
    pub fn prompt_name(&self) -> Option<&Named> {
        match self {
            NodeKind::Agent { role, prompt, .. } => Some(prompt.as_ref().unwrap_or(role)),
            _ => None,
        }
    }
}

/// How many children of a `map` node run at once.
#[derive(Debug, Clone)]
pub enum Limit {
    /// That many.
    Count(u32),
    /// As many as the expression says.
    Of(Expression),
}

/// How an end node ends a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndStatus {
    /// The work is done.
    Completed,
    /// It is not.
    Failed,
}

/// An edge.
#[derive(Debug, Clone)]
pub struct Edge {
    /// Its id.
    pub id: EdgeId,
    /// What it is for, in a line for people; may be empty.
    pub title: String,
    /// The nodes it leaves, at least one.
    pub from: Vec<Target>,
    /// The node it leads to.
    pub to: Target,
    /// When it holds; absent: always.
    pub when: Option<Expression>,
    /// How often it may be taken in a scope; absent: without a cap.
    pub max_iterations: Option<u32>,
    /// What the cap is counted for; absent: the run.
    pub scope: Option<Expression>,
    /// The ways out when the cap is reached, in the order in which they are tried.
    pub exhausted: Vec<Route>,
    /// The way when a person sends the submitted task back.
    pub rejected: Option<Route>,
    /// What it changes in the state.
    pub set: Vec<Assignment>,
    /// The key of the task that is put up for approval.
    pub submit: Option<Expression>,
    /// The key of the task that is left to a person with its error.
    pub fail: Option<Expression>,
    /// Edges below that it is meant to win against.
    pub overrides: Vec<(EdgeId, Position)>,
    /// The levels it is part of; absent: all.
    pub levels: Option<Vec<(u32, Position)>>,
    /// Where its id stands.
    pub at: Position,
}

impl Edge {
    /// Whether the edge leaves a node.
    pub fn leaves(&self, node: &str) -> bool {
        self.from.iter().any(|from| from.name.as_str() == node)
    }

    /// Lists the nodes it leaves, as a message names them.
    pub fn told_from(&self) -> String {
        let names: Vec<&str> = self.from.iter().map(|from| from.name.as_str()).collect();
        names.join(", ")
    }

    /// Whether the edge is part of a level.
    pub fn is_at(&self, level: u32) -> bool {
        self.levels.as_ref().is_none_or(|levels| levels.iter().any(|(number, _)| *number == level))
    }
}

/// Another way than the edge's own.
#[derive(Debug, Clone)]
pub struct Route {
    /// The node it leads to.
    pub to: Target,
    /// When it holds; absent: always.
    pub when: Option<Expression>,
    /// What it changes in the state.
    pub set: Vec<Assignment>,
    /// The key of the task that is left to a person with its error.
    pub fail: Option<Expression>,
    /// Where it begins.
    pub at: Position,
}

/// One assignment of a `set`.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// The place.
    pub place: Place,
    /// What it is set to.
    pub value: Expression,
    /// Where the place stands.
    pub at: Position,
}

/// How much of the graph and of the state is used.
#[derive(Debug, Clone)]
pub struct Level {
    /// Its number.
    pub number: u32,
    /// What it is, in a line; may be empty.
    pub title: String,
    /// The node that a run begins with; absent: the workflow's.
    pub start: Option<Target>,
    /// The fields of the state that are kept up; absent: all.
    pub fields: Option<Vec<Named>>,
    /// Whether a run has it when nobody chose one.
    pub default: bool,
    /// Where it begins.
    pub at: Position,
}
