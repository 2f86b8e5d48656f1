//! What the edges of a node say of its samples, and what may be concluded from that.
//!
//! A rule asks here whether an edge surely never holds. That is so only where the [`samples`](super::samples) were all
//! tried and stand for every state that its condition can tell apart ([`coverage`](super::coverage)). What is known is
//! kept for each edge, so that one which cannot be judged does not hide the others.

use super::budget::Budget;
use super::coverage::Coverage;
use super::ground::Ground;
use super::samples::{Answers, Failure, Held, Plan, Tried, find_looked_at};
use crate::expression::Expression;
use crate::workflow::{Assignment, Edge, Node, NodeKind, Workflow};

/// What the edges of a node said of its samples.
#[derive(Debug, Clone)]
pub(super) struct NodeTrial<'w> {
    /// In the order in which they are tried.
    pub(super) edges: Vec<&'w Edge>,
    /// Each distinct answer once, with the first sample that led to it.
    pub(super) answers: Vec<Answer>,
    /// Whether none of the samples that should be there is missing.
    is_complete: bool,
    /// Whether there were more values, or more combinations of them, than are tried.
    is_cut: bool,
    /// What is known of the condition of each edge.
    known: Vec<Known>,
    /// What is known of the condition of each `exhausted` route of each edge.
    known_of_routes: Vec<Vec<Known>>,
}

/// What is known of a condition before it is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    /// Whether every field that it looks at is one; if not, that is the fault to mend first.
    is_described: bool,
    /// Whether samples can stand for every state that it can tell apart.
    is_covered: bool,
    /// Whether it is the same for every state.
    is_constant: bool,
    /// Whether it holds on no sample of those that vary nothing but what it looks at, and there are few of these.
    is_dead_alone: bool,
}

impl Known {
    const NOTHING: Known =
        Known { is_described: false, is_covered: false, is_constant: false, is_dead_alone: false };
}

/// What the edges said of one sample.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    /// Of each edge.
    pub(super) held: Vec<Held>,
    /// Why an edge could not be evaluated, for each that could not.
    pub(super) failures: Vec<Option<Failure>>,
    /// Of each `exhausted` route of each edge.
    pub(super) routes: Vec<Vec<Held>>,
    /// The sample in words.
    pub(super) told: String,
}

impl NodeTrial<'_> {
    /// Whether it is certain that an edge holds on no state.
    pub(super) fn never_holds(&self, edge: usize) -> bool {
        let is_never_held = || self.answers.iter().all(|answer| answer.held[edge] == Held::No);
        self.edges[edge].when.is_some()
            && (self.known[edge].is_dead_alone || (self.is_certain(edge) && is_never_held()))
    }

    /// Whether it is certain that a route holds on no state on which its edge does.
    pub(super) fn never_holds_route(&self, edge: usize, route: usize) -> bool {
        let is_there = self.edges[edge].exhausted[route].when.is_some();
        let no = |answer: &Answer| answer.routes[edge][route] == Held::No;
        let is_certain = self.is_known_well(self.known_of_routes[edge][route]);
        let is_never = || self.answers.iter().all(no);
        let is_never_then = || {
            self.is_certain(edge)
                && self.answers.iter().all(|answer| answer.held[edge] == Held::No || no(answer))
        };
        is_there && is_certain && (is_never() || is_never_then())
    }

    /// Whether an edge was taken on no sample, and that is not certain because not all could be tried.
    pub(super) fn is_in_doubt(&self, edge: usize) -> bool {
        let is_taken =
            |answer: &Answer| answer.held[edge] == Held::Yes && !answer.held[..edge].contains(&Held::Yes);
        let Known { is_described, is_covered, .. } = self.known[edge];
        let is_there = self.edges[edge].when.is_some();
        self.is_cut && is_there && is_described && is_covered && !self.answers.iter().any(is_taken)
    }

    /// Whether the samples are all there is to say about the condition of an edge.
    pub(super) fn is_certain(&self, edge: usize) -> bool {
        let is_tried = |answer: &Answer| answer.held[edge] != Held::Unknown;
        self.is_known_well(self.known[edge]) && self.answers.iter().all(is_tried)
    }

    /// Whether every field that the edges look at is one.
    pub(super) fn is_described(&self) -> bool {
        self.known.iter().all(|known| known.is_described)
    }

    /// Lists the edges that hold on no sample, though samples can stand for all that they look at.
    fn list_unheld(&self, answers: &Answers) -> Vec<usize> {
        let is_unheld = |place: &usize| answers.keys().all(|(held, _)| held[*place] == Held::No);
        let is_known = |place: &usize| self.known[*place].is_described && self.known[*place].is_covered;
        (0..self.edges.len()).filter(is_known).filter(is_unheld).collect()
    }

    fn is_known_well(&self, known: Known) -> bool {
        let is_whole = known.is_constant || (self.is_complete && known.is_covered);
        is_whole && known.is_described && !self.answers.is_empty()
    }
}

/// Evaluates the edges of a node on samples.
pub(super) fn try_node<'w>(
    ground: &Ground<'w>,
    workflow: &'w Workflow,
    level: u32,
    node: usize,
    budget: &Budget,
) -> NodeTrial<'w> {
    let edges: Vec<&Edge> = workflow.edges_from(workflow.nodes[node].name.as_str(), level).collect();
    let for_routes =
        |known: Known| edges.iter().map(|edge| vec![known; edge.exhausted.len()]).collect::<Vec<_>>();
    let mut trial = NodeTrial {
        answers: Vec::new(),
        is_complete: false,
        is_cut: false,
        known: vec![Known::NOTHING; edges.len()],
        known_of_routes: for_routes(Known::NOTHING),
        edges,
    };
    if trial.edges.is_empty() || !can_be_tried(workflow, &workflow.nodes[node]) {
        return trial;
    }
    let mut plan = Plan::new(ground, workflow, level, node, &trial.edges);
    let coverage = Coverage { ground, workflow, level, node, set: plan.kept() };
    let know = |when: &Option<Expression>| know(&coverage, when.as_ref());
    trial.known = trial.edges.iter().map(|edge| know(&edge.when)).collect();
    let of_routes = |edge: &&Edge| edge.exhausted.iter().map(|route| know(&route.when)).collect();
    trial.known_of_routes = trial.edges.iter().map(of_routes).collect();
    let mut tried = plan.try_all(&trial.edges, budget);
    let is_fair = |tried: &Tried| !tried.is_cut && (!tried.has_failed || coverage.is_fair());
    trial.is_complete = is_fair(&tried);
    if tried.answers.is_empty() && !plan.set.is_empty() {
        // What the node sets never fits. That is a fault of its own, and says nothing of edges that do not look there.
        plan.leave_set_out();
        tried = plan.try_all(&trial.edges, budget);
        trial.is_complete = !tried.is_cut;
    } else if tried.is_cut {
        for place in trial.list_unheld(&tried.answers) {
            let alone = Plan::new(ground, workflow, level, node, &trial.edges[place..=place]);
            let tried = alone.try_all(&trial.edges[place..=place], budget);
            let is_never = tried.answers.keys().all(|(held, _)| held[0] == Held::No);
            trial.known[place].is_dead_alone = is_fair(&tried) && !tried.answers.is_empty() && is_never;
        }
    }
    trial.is_cut = tried.is_cut;
    let mut answers: Vec<_> = tried.answers.into_iter().collect();
    answers.sort_by_key(|(_, (number, ..))| *number);
    let answer = |((held, routes), (_, told, failures))| Answer { held, failures, routes, told };
    trial.answers = answers.into_iter().map(answer).collect();
    trial
}

fn know(coverage: &Coverage<'_>, when: Option<&Expression>) -> Known {
    let is_described = |path: &Vec<String>| coverage.ground.follow(path, Some(coverage.node)).is_ok();
    let is_described = |when| find_looked_at(coverage.workflow, &[when]).iter().all(is_described);
    Known {
        is_described: when.is_none_or(is_described),
        is_covered: when.is_none_or(|when| coverage.covers(when)),
        is_constant: when.is_none_or(|when| when.is_known() && when.compiled().is_constant()),
        is_dead_alone: false,
    }
}

/// Whether enough of a workflow could be read to make states that follow a node.
fn can_be_tried(workflow: &Workflow, node: &Node) -> bool {
    let gaps = &workflow.gaps;
    let is_role_known =
        !matches!(&node.kind, NodeKind::Agent { role, .. } if !workflow.roles.contains_key(&role.name));
    !gaps.has_doubtful_values
        && !gaps.nodes.contains(node.name.as_str())
        && !gaps.is_output_unknown(node)
        && is_role_known
        && node.set.iter().all(Assignment::is_known)
}
