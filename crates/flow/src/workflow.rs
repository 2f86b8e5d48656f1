//! A workflow as data: the contents of its files, with positions.
//!
//! Values of these types have no syntax errors ([`Workflow::load`]). Whether names refer to anything and the graph
//! makes sense is for the check. A run changes nothing here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::check::step_expressions;
use crate::expression::Expression;
use crate::fault::{Fault, Position};
use crate::folder::Folder;
use crate::gaps::Gaps;
use crate::name::{EdgeId, NodeName};
use crate::outcome::OutcomeKind;
use crate::place::Place;
use crate::role::Role;
use crate::schema::{Schema, SchemaFault, StateSchema};
use crate::shown::{StateFile, View};
use crate::variables::FactName;

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
    /// Where its files are, below `.regatta` unless the config says otherwise; those of children too.
    pub files_folder: Option<Named>,
    /// Derived values, in the order of the file; expressions see them as variables.
    pub views: Vec<View>,
    /// The files that a run keeps, in the order of the file.
    pub files: Vec<StateFile>,
    /// The nodes in the order of the file.
    pub nodes: Vec<Node>,
    /// The edges in the order of the file.
    pub edges: Vec<Edge>,
    /// What can be told to a run, in the order of the file.
    pub signals: Vec<Signal>,
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
    /// The facts that its steps read; views and files that no step names read more.
    pub facts: BTreeSet<FactName>,
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

    /// Returns the signal of that name.
    pub fn find_signal(&self, name: &str) -> Option<&Signal> {
        self.signals.iter().find(|signal| signal.name == name)
    }

    /// Whether a node of the workflow has the role.
    pub fn has_role(&self, role: &str) -> bool {
        self.nodes.iter().any(|node| node.kind.role().is_some_and(|own| own.name == role))
    }

    /// Lists every message that it may send, but for those of its children.
    pub fn sends(&self) -> impl Iterator<Item = &Send> {
        let of_edges = self.edges.iter().flat_map(|edge| {
            let routes = edge.exhausted.iter().chain(&edge.rejected);
            edge.send.iter().chain(routes.flat_map(|route| &route.send))
        });
        of_edges.chain(self.signals.iter().flat_map(|signal| &signal.send))
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

    /// Returns the edges that leave a node at a level with a result, in the order in which they are tried.
    pub fn edges_from<'w>(&'w self, node: &str, level: u32) -> impl Iterator<Item = &'w Edge> {
        self.edges_on(node, level, None)
    }

    /// Returns the edges that leave a node at a level with an outcome, or with a result.
    pub fn edges_on<'w>(
        &'w self,
        node: &str,
        level: u32,
        on: Option<OutcomeKind>,
    ) -> impl Iterator<Item = &'w Edge> {
        self.edges.iter().filter(move |edge| edge.outcome() == on && edge.leaves(node) && edge.is_at(level))
    }

    /// Returns the `parallel` node that a node is a member of.
    pub fn find_group(&self, member: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.kind.members().iter().any(|one| one.name.as_str() == member))
    }

    /// Whether it has no board and works on tasks all the same: those of the run above.
    pub fn shares_tasks(&self) -> bool {
        self.board.is_none() && (self.names_tasks() || self.children.values().any(Workflow::shares_tasks))
    }

    fn names_tasks(&self) -> bool {
        let by_edge = |edge: &Edge| {
            let routes = edge.exhausted.iter().chain(&edge.rejected);
            let by_route = |route: &Route| route.fail.is_some() || route.drop.is_some();
            edge.submit.is_some()
                || edge.fail.is_some()
                || edge.drop.is_some()
                || routes.clone().any(by_route)
        };
        self.nodes.iter().any(|node| node.kind.task().is_some()) || self.edges.iter().any(by_edge)
    }

    /// Whether assignments to a field of the state are kept up at a level.
    pub fn keeps(&self, level: u32, field: &str) -> bool {
        let fields = self.levels.get(&level).and_then(|level| level.fields.as_ref());
        fields.is_none_or(|fields| fields.iter().any(|kept| kept.name == field))
    }

    /// Finds the facts that the expressions of steps read. Nothing else is gathered for a step.
    pub(crate) fn find_facts(&self) -> BTreeSet<FactName> {
        self.facts_of(step_expressions(self).into_iter().map(|usage| usage.expression))
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
    /// The name of its branch.
    pub branch: Option<Expression>,
    /// The commit or branch that its work starts from.
    pub base: Option<Expression>,
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
    /// Several agent and check nodes at the same time.
    Parallel {
        /// The nodes, in the order in which their `set`s are made.
        nodes: Vec<Target>,
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
            NodeKind::Parallel { .. } => "parallel",
            NodeKind::Pass => "pass",
            NodeKind::End { .. } => "end",
        }
    }
}

impl NodeKind {
    /// Returns the role of an agent node.
    pub fn role(&self) -> Option<&Named> {
        if let NodeKind::Agent { role, .. } = self { Some(role) } else { None }
    }

    /// Returns the name of the prompt and the output schema of an agent node.
    pub fn prompt_name(&self) -> Option<&Named> {
        match self {
            NodeKind::Agent { role, prompt, .. } => Some(prompt.as_ref().unwrap_or(role)),
            _ => None,
        }
    }

    /// Returns the key of the task that a node works on.
    pub fn task(&self) -> Option<&Expression> {
        match self {
            NodeKind::Agent { task, .. } | NodeKind::Check { task, .. } => task.as_ref(),
            _ => None,
        }
    }

    /// Returns the nodes that a `parallel` node performs.
    pub fn members(&self) -> &[Target] {
        if let NodeKind::Parallel { nodes } = self { nodes } else { &[] }
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
    /// What it is for, if not a result.
    pub on: Option<On>,
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
    /// The messages that it sends, when it is followed.
    pub send: Vec<Send>,
    /// The key of the task that is put up for approval.
    pub submit: Option<Expression>,
    /// The key of the task that is left to a person with its error.
    pub fail: Option<Expression>,
    /// The key of the task that is cancelled.
    pub drop: Option<Expression>,
    /// Edges below that it is meant to win against.
    pub overrides: Vec<(EdgeId, Position)>,
    /// The levels it is part of; absent: all.
    pub levels: Option<Vec<(u32, Position)>>,
    /// Where its id stands.
    pub at: Position,
}

/// The outcome that an edge is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct On {
    /// The outcome.
    pub outcome: OutcomeKind,
    /// Where it stands.
    pub at: Position,
}

impl Edge {
    /// Returns the outcome that it is for; nothing if it is for a result.
    pub fn outcome(&self) -> Option<OutcomeKind> {
        self.on.as_ref().map(|on| on.outcome)
    }

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
    /// The messages that it sends.
    pub send: Vec<Send>,
    /// The key of the task that is left to a person with its error.
    pub fail: Option<Expression>,
    /// The key of the task that is cancelled.
    pub drop: Option<Expression>,
    /// Where it begins.
    pub at: Position,
}

/// A message to a role, of the run or of the nearest run above that has it.
#[derive(Debug, Clone)]
pub struct Send {
    /// The role.
    pub to: Named,
    /// What it is, in a word that its reader knows.
    pub kind: Named,
    /// The role that it is from; absent: that of the node.
    pub from: Option<Named>,
    /// What it is about, in a line.
    pub subject: Option<Expression>,
    /// What it says.
    pub body: Option<Expression>,
    /// What it says to a program, an object.
    pub data: Option<Expression>,
    /// When it is sent; absent: always.
    pub when: Option<Expression>,
    /// Where it begins.
    pub at: Position,
}

/// What a person, a program or an agent can tell a run.
#[derive(Debug, Clone)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// What it is for, in a line for people; may be empty.
    pub title: String,
    /// What comes with it.
    pub input: Arc<Schema>,
    /// When it is accepted; absent: always.
    pub when: Option<Expression>,
    /// What it changes in the state.
    pub set: Vec<Assignment>,
    /// The messages that it sends.
    pub send: Vec<Send>,
    /// Where a run that has ended continues; absent: it does not.
    pub to: Option<Target>,
    /// The roles whose agents may send it.
    pub roles: Vec<Named>,
    /// Where its name stands.
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
