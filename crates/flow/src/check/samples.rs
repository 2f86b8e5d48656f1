//! Evaluates the edges of a node on states that can be there after it.
//!
//! A sample is a state, an output of the node and an input of the run, made of [`candidates`](super::candidates) for
//! what the edges look at. The node's own `set` is applied to it first, by the functions that a run uses; where that
//! is refused a run would not come to the edges, and the sample is left out. Fields that the level does not keep up
//! stay as they are at the beginning.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::bounds::{names, touches};
use super::candidates::{Literals, Values, Wanted, find_values};
use super::condition::{fields_behind, is_plain, literals, plain_path};
use super::expressions::of_place;
use super::ground::Ground;
use super::shape::Field;
use crate::expression::{Expression, RESERVED};
use crate::step::{Look, StepFault, assign, shorten};
use crate::trial::{Given, Trial};
use crate::workflow::{Assignment, Edge, Node, NodeKind, Workflow};

/// The most samples of one node at one level; beyond it they are spread over all combinations.
const SAMPLES_MAX: u64 = 4_096;

/// An odd number far from any product of small ones: its multiples spread evenly.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The longest reason of a failure that is told; the text of `$error` may be of any length.
const REASON_CHARACTERS_MAX: usize = 120;

/// The most fields that an example tells.
const TOLD_MAX: usize = 6;

/// What a condition says of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Held {
    Yes,
    No,
    /// It cannot be evaluated.
    Fails,
    /// It cannot be read.
    Unknown,
}

/// What the edges of a node said of its samples.
#[derive(Debug, Clone)]
pub(super) struct NodeTrial<'w> {
    /// In the order in which they are tried.
    pub(super) edges: Vec<&'w Edge>,
    /// Each distinct answer once, with the first sample that led to it.
    pub(super) answers: Vec<Answer>,
    /// Whether the samples stand for every state that plain conditions can tell apart.
    is_complete: bool,
    /// Whether there were more values, or more combinations of them, than are tried.
    is_cut: bool,
    /// Whether every field that the edges look at is one; if not, that is the fault to mend first.
    pub(super) is_described: bool,
}

/// Why a condition cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// JSONata's code, such as `T2010`; empty if the fault is none of an expression's.
    pub(super) code: String,
    /// In words, shortened.
    pub(super) message: String,
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
        let when = self.edges[edge].when.as_ref();
        when.is_some_and(|when| self.is_certain(when))
            && self.answers.iter().all(|answer| answer.held[edge] == Held::No)
    }

    /// Whether it is certain that a route holds on no state on which its edge does.
    pub(super) fn never_holds_route(&self, edge: usize, route: usize) -> bool {
        let when = self.edges[edge].exhausted[route].when.as_ref();
        let no = |answer: &Answer| answer.held[edge] != Held::Yes || answer.routes[edge][route] == Held::No;
        when.is_some_and(|when| self.is_certain(when)) && self.answers.iter().all(no)
    }

    /// Whether an edge was taken on no sample, and that is not certain because not all could be tried.
    pub(super) fn is_in_doubt(&self, edge: usize) -> bool {
        let is_taken =
            |answer: &Answer| answer.held[edge] == Held::Yes && !answer.held[..edge].contains(&Held::Yes);
        let is_plain = self.edges[edge].when.as_ref().is_some_and(is_plain);
        self.is_cut && self.is_described && is_plain && !self.answers.iter().any(is_taken)
    }

    /// Whether the samples are all there is to say about a condition.
    pub(super) fn is_certain(&self, condition: &Expression) -> bool {
        self.is_complete && self.is_described && !self.answers.is_empty() && is_plain(condition)
    }
}

/// What edges and their routes said of a sample.
type Said = (Vec<Held>, Vec<Vec<Held>>);

/// Evaluates the edges of a node on samples.
pub(super) fn try_node<'w>(
    ground: &Ground<'w>,
    workflow: &'w Workflow,
    level: u32,
    node: usize,
) -> NodeTrial<'w> {
    let edges: Vec<&Edge> = workflow.edges_from(workflow.nodes[node].name.as_str(), level).collect();
    if edges.is_empty() {
        return NodeTrial {
            edges,
            answers: Vec::new(),
            is_complete: true,
            is_cut: false,
            is_described: true,
        };
    }
    if !can_be_tried(workflow, &workflow.nodes[node]) {
        return NodeTrial {
            edges,
            answers: Vec::new(),
            is_complete: false,
            is_cut: false,
            is_described: false,
        };
    }
    let plan = Plan::new(ground, workflow, level, node, &edges);
    let mut answers: BTreeMap<Said, (u64, String, Vec<Option<Failure>>)> = BTreeMap::new();
    let total = plan.total();
    for number in 0..total.min(SAMPLES_MAX) {
        let number = if total > SAMPLES_MAX { number.wrapping_mul(SPREAD) % total } else { number };
        plan.evaluate(number, |look| {
            let judge = |when: &Option<Expression>| when.as_ref().map_or(Held::Yes, |when| judge(look, when));
            let held = edges.iter().map(|edge| judge(&edge.when)).collect();
            let routes =
                edges.iter().map(|edge| edge.exhausted.iter().map(|route| judge(&route.when)).collect());
            answers.entry((held, routes.collect())).or_insert_with(|| {
                let failures = edges.iter().map(|edge| find_failure(look, edge.when.as_ref()?));
                (number, plan.tell(look.root()), failures.collect())
            });
        });
    }
    let mut answers: Vec<_> = answers.into_iter().collect();
    answers.sort_by_key(|(_, (number, ..))| *number);
    let answer = |((held, routes), (_, told, failures))| Answer { held, failures, routes, told };
    NodeTrial {
        edges,
        answers: answers.into_iter().map(answer).collect(),
        is_complete: plan.is_complete && !plan.is_cut && total <= SAMPLES_MAX,
        is_cut: plan.is_cut || total > SAMPLES_MAX,
        is_described: plan.looked_at.iter().all(|path| ground.follow(path, Some(node)).is_ok()),
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

fn judge(look: &Look<'_>, when: &Expression) -> Held {
    if !when.is_known() {
        return Held::Unknown;
    }
    match look.evaluate(when) {
        Ok(Some(Value::Bool(true))) => Held::Yes,
        Ok(_) => Held::No,
        Err(_) => Held::Fails,
    }
}

fn find_failure(look: &Look<'_>, when: &Expression) -> Option<Failure> {
    let (code, message) = match look.evaluate(when).err()? {
        StepFault::Evaluation { fault, .. } => (fault.jsonata_code().to_owned(), fault.to_string()),
        other => (String::new(), other.to_string()),
    };
    Some(Failure { code, message: message.chars().take(REASON_CHARACTERS_MAX).collect() })
}

/// What samples are made of.
struct Plan<'p> {
    workflow: &'p Workflow,
    level: u32,
    set: &'p [Assignment],
    initial: Value,
    given: Given,
    /// What varies: a name of the root, and the values it may have.
    varied: Vec<(String, Vec<Value>)>,
    /// The paths that the edges look at.
    looked_at: Vec<Vec<String>>,
    is_complete: bool,
    /// Whether values were left out because there are too many.
    is_cut: bool,
}

impl<'p> Plan<'p> {
    fn new(
        ground: &Ground<'p>,
        workflow: &'p Workflow,
        level: u32,
        node: usize,
        edges: &[&'p Edge],
    ) -> Plan<'p> {
        let conditions: Vec<&Expression> = edges
            .iter()
            .flat_map(|edge| {
                edge.when.iter().chain(edge.exhausted.iter().filter_map(|route| route.when.as_ref()))
            })
            .collect();
        let looked_at = find_looked_at(workflow, &conditions);
        let set = workflow.nodes[node].set.as_slice();
        let kept: Vec<&Assignment> =
            set.iter().filter(|one| workflow.keeps(level, one.place.field())).collect();
        let (mut wanted, mut literal) = (Wanted::default(), Literals::default());
        conditions
            .iter()
            .flat_map(|condition| literals(condition.text()))
            .for_each(|value| literal.add(&value));
        looked_at.iter().for_each(|path| wanted.add(path));
        for assignment in kept {
            find_sources(assignment, &looked_at).iter().for_each(|path| wanted.add(path));
            if looked_at.iter().any(|path| touches(&assignment.place, path)) {
                literals(assignment.value.text()).iter().for_each(|value| literal.add(value));
            }
        }
        let mut plan = Plan {
            workflow,
            level,
            set,
            initial: workflow.schema.initial(),
            given: Given::default(),
            varied: Vec::new(),
            looked_at,
            is_complete: true,
            is_cut: false,
        };
        plan.vary(ground, node, &wanted, &literal);
        plan
    }

    fn vary(&mut self, ground: &Ground<'p>, node: usize, wanted: &Wanted, literals: &Literals) {
        let nothing = Wanted::default();
        let inner = |name: &str| wanted.0.get(name);
        let given = [
            ("input", ground.input()),
            ("output", ground.output_of(node)),
            ("feedback", Some(ground.feedback())),
        ];
        for (name, shape) in given {
            // Even what no condition looks at must be there for the node's own `set`.
            self.is_complete &= shape.is_some() || inner(name).is_none();
            let Values { values, is_complete } = match shape {
                Some(shape) => find_values(&[shape], inner(name).unwrap_or(&nothing), literals),
                None => Values { values: vec![Value::Object(Map::new())], is_complete: true },
            };
            let values = if inner(name).is_some() { values } else { values.into_iter().take(1).collect() };
            self.is_cut |= !is_complete && inner(name).is_some();
            self.varied.push((name.to_owned(), values));
        }
        let fields = wanted.0.iter().filter(|(name, _)| !RESERVED.contains(&name.as_str()));
        for (name, inner) in fields.filter(|(name, _)| self.workflow.keeps(self.level, name)) {
            let Field::Known(shapes) = ground.state().field(name) else {
                self.is_complete = false;
                continue;
            };
            let Values { mut values, is_complete } = find_values(&shapes, inner, literals);
            let initial = self.initial.get(name).filter(|initial| !values.contains(initial)).cloned();
            values.splice(0..0, initial);
            self.is_cut |= !is_complete;
            self.varied.push((name.clone(), values));
        }
    }

    fn total(&self) -> u64 {
        self.varied.iter().fold(1, |total: u64, (_, values)| total.saturating_mul(values.len() as u64))
    }

    /// Looks at the sample of a number, after the node's `set`.
    fn evaluate(&self, number: u64, look_at: impl FnOnce(&Look<'_>)) {
        let (mut state, mut given) = (self.initial.clone(), self.given.clone());
        let mut rest = number;
        for (name, values) in &self.varied {
            let Some(value) = values.get((rest % values.len() as u64) as usize).cloned() else { return };
            rest /= values.len() as u64;
            match name.as_str() {
                "input" => given.input = value,
                "output" => given.output = value,
                "feedback" => given.feedback = value,
                _ => state[name.as_str()] = value,
            }
        }
        let mut trial = Trial::begin(&mut state, &mut given, 0);
        let Ok(patches) = assign(&trial.look(self.workflow), self.level, self.set) else { return };
        if trial.apply(patches).is_ok() && trial.check(&self.workflow.schema).is_ok() {
            look_at(&trial.look(self.workflow));
        }
    }

    /// Tells what the edges see of a sample.
    fn tell(&self, root: &Value) -> String {
        let told: Vec<String> =
            self.looked_at.iter().take(TOLD_MAX).map(|path| tell_path(root, path)).collect();
        told.join(", ")
    }
}

/// Lists what conditions look at, by names from the top of what they see.
fn find_looked_at(workflow: &Workflow, conditions: &[&Expression]) -> Vec<Vec<String>> {
    let mut paths: Vec<Vec<String>> = Vec::new();
    for condition in conditions {
        paths.extend(condition.reads().paths.iter().cloned());
        for bind in workflow.bind.iter().filter(|bind| condition.reads().variables.contains(&bind.name)) {
            paths.extend(
                of_place(&bind.place).into_iter().flat_map(|within| within.reads().paths.iter().cloned()),
            );
            let behind = fields_behind(condition.text(), &bind.name);
            paths.extend(behind.into_iter().map(|fields| [names(&bind.place), fields].concat()));
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

/// Lists what decides about an assignment: where it goes, and where it comes from if an edge looks at the place.
fn find_sources(assignment: &Assignment, looked_at: &[Vec<String>]) -> Vec<Vec<String>> {
    let place = names(&assignment.place);
    let within = of_place(&assignment.place);
    let mut paths: Vec<Vec<String>> =
        within.iter().flat_map(|within| within.reads().paths.iter().cloned()).collect();
    if !within.is_empty() {
        paths.push(place.clone());
    }
    for path in looked_at.iter().filter(|path| touches(&assignment.place, path)) {
        match plain_path(assignment.value.text()) {
            Some(source) => paths.push([&source[..], path.get(place.len()..).unwrap_or_default()].concat()),
            None => paths.extend(assignment.value.reads().paths.iter().cloned()),
        }
    }
    paths
}

fn tell_path(root: &Value, path: &[String]) -> String {
    let mut value = Some(root);
    let mut told = path.len();
    for (depth, name) in path.iter().enumerate() {
        if let Some(Value::Array(_)) = value {
            told = depth;
            break;
        }
        value = value.and_then(|value| value.get(name));
    }
    let name = format!("`{}`", path[..told].join("."));
    match value {
        None => format!("no {name}"),
        Some(Value::Array(items)) => {
            format!("{name} with {} item{}", items.len(), if items.len() == 1 { "" } else { "s" })
        }
        Some(Value::Object(_)) => format!("{name} there"),
        Some(value) => format!("{name} = {}", shorten(value)),
    }
}
