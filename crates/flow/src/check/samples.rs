//! Evaluates the edges of a node on states that can be there after it.
//!
//! A sample is a state, an output of the node and an input of the run, made of [`candidates`](super::candidates) for
//! what the edges look at. The node's own `set` is applied to it first, by the functions that a run uses; where that
//! is refused a run would not come to the edges, and the sample is left out. Fields that the level does not keep up
//! stay as they are at the beginning.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::bounds::{names, touches};
use super::budget::{Budget, Purse};
use super::candidates::{Literals, Values, Wanted, find_values};
use super::condition::{fields_behind, plain_path};
use super::coverage::Coverage;
use super::expressions::of_place;
use super::ground::Ground;
use super::shape::Field;
use crate::expression::{Expression, RESERVED};
use crate::place::Place;
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
}

impl Known {
    const NOTHING: Known = Known { is_described: false, is_covered: false, is_constant: false };
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
        self.edges[edge].when.is_some()
            && self.is_certain(edge)
            && self.answers.iter().all(|answer| answer.held[edge] == Held::No)
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

    fn is_known_well(&self, known: Known) -> bool {
        let is_whole = known.is_constant || (self.is_complete && known.is_covered);
        is_whole && known.is_described && !self.answers.is_empty()
    }
}

/// What edges and their routes said of a sample.
type Said = (Vec<Held>, Vec<Vec<Held>>);

/// The answers that were found so far, each with the number of its sample, the sample in words and the failures.
type Answers = BTreeMap<Said, (u64, String, Vec<Option<Failure>>)>;

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
    let know = |when: &Option<Expression>| {
        when.as_ref().map_or(Known { is_described: true, is_covered: true, is_constant: true }, |when| {
            Known {
                is_described: find_looked_at(workflow, &[when])
                    .iter()
                    .all(|path| ground.follow(path, Some(node)).is_ok()),
                is_covered: coverage.covers(when),
                is_constant: when.is_known() && when.compiled().is_constant(),
            }
        })
    };
    trial.known = trial.edges.iter().map(|edge| know(&edge.when)).collect();
    trial.known_of_routes = trial
        .edges
        .iter()
        .map(|edge| edge.exhausted.iter().map(|route| know(&route.when)).collect())
        .collect();
    let mut tried = plan.try_all(&trial.edges, budget);
    trial.is_complete = !tried.is_cut && (!tried.has_failed || coverage.is_fair());
    if tried.answers.is_empty() && !plan.set.is_empty() {
        // What the node sets never fits. That is a fault of its own, and says nothing of edges that do not look there.
        plan.leave_set_out();
        tried = plan.try_all(&trial.edges, budget);
        trial.is_complete = !tried.is_cut;
    }
    trial.is_cut = tried.is_cut;
    let mut answers: Vec<_> = tried.answers.into_iter().collect();
    answers.sort_by_key(|(_, (number, ..))| *number);
    let answer = |((held, routes), (_, told, failures))| Answer { held, failures, routes, told };
    trial.answers = answers.into_iter().map(answer).collect();
    trial
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

/// What came of trying samples.
struct Tried {
    answers: Answers,
    is_cut: bool,
    /// Whether what the node sets failed or did not fit for a sample, which was left out.
    has_failed: bool,
}

/// A condition that is tried on many samples.
struct Tester<'t> {
    when: Option<&'t Expression>,
    budget: &'t Budget,
    purse: Purse,
    is_hidden: bool,
}

impl Tester<'_> {
    fn judge(&self, look: &Look<'_>) -> (Held, Option<Failure>) {
        let Some(when) = self.when else { return (Held::Yes, None) };
        if !when.is_known() || self.is_hidden {
            return (Held::Unknown, None);
        }
        let result = self.budget.attempt(&self.purse, when.at(), |steps| look.evaluate_within(when, steps));
        match result {
            None => (Held::Unknown, None),
            Some(Ok(Some(Value::Bool(true)))) => (Held::Yes, None),
            Some(Ok(_)) => (Held::No, None),
            Some(Err(fault)) => (Held::Fails, Some(tell_failure(fault))),
        }
    }
}

fn tell_failure(fault: StepFault) -> Failure {
    let (code, message) = match fault {
        StepFault::Evaluation { fault, .. } => (fault.jsonata_code().to_owned(), fault.to_string()),
        other => (String::new(), other.to_string()),
    };
    Failure { code, message: message.chars().take(REASON_CHARACTERS_MAX).collect() }
}

/// What came of one sample.
enum Outcome {
    Seen,
    /// What the node sets failed or does not fit.
    Failed,
    /// There is nothing left to try it with.
    NotTried,
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
    /// Places that were to be set and are not, so that conditions which look there are not judged.
    hidden: Vec<&'p Place>,
    set_purse: Purse,
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
            .flat_map(|condition| condition.compiled().literals())
            .for_each(|value| literal.add(&value));
        looked_at.iter().for_each(|path| wanted.add(path));
        for assignment in kept {
            find_sources(assignment, &looked_at).iter().for_each(|path| wanted.add(path));
            if looked_at.iter().any(|path| touches(&assignment.place, path)) {
                let written = assignment.value.compiled().literals();
                literal.add_steps(&written);
                written.iter().for_each(|value| literal.add(value));
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
            hidden: Vec::new(),
            set_purse: Purse::default(),
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
            let Field::Known(shapes) = ground.state().field(name) else { continue };
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

    /// Lists what the node sets at the level.
    fn kept(&self) -> Vec<&'p Assignment> {
        self.set.iter().filter(|one| self.workflow.keeps(self.level, one.place.field())).collect()
    }

    fn leave_set_out(&mut self) {
        self.hidden = self.set.iter().map(|assignment| &assignment.place).collect();
        self.set = &[];
    }

    fn tester<'t>(&self, when: Option<&'t Expression>, budget: &'t Budget) -> Tester<'t> {
        let looked_at = when.map(|when| find_looked_at(self.workflow, &[when])).unwrap_or_default();
        let is_hidden = looked_at.iter().any(|path| self.hidden.iter().any(|place| touches(place, path)));
        Tester { when, budget, purse: Purse::default(), is_hidden }
    }

    /// Asks the edges about every sample, as far as the budget goes.
    fn try_all(&self, edges: &[&Edge], budget: &Budget) -> Tried {
        let test = |when| self.tester(when, budget);
        let of_edges: Vec<Tester<'_>> = edges.iter().map(|edge| test(edge.when.as_ref())).collect();
        let of_routes: Vec<Vec<Tester<'_>>> = edges
            .iter()
            .map(|edge| edge.exhausted.iter().map(|route| test(route.when.as_ref())).collect())
            .collect();
        let total = self.total();
        let mut tried =
            Tried { answers: BTreeMap::new(), is_cut: self.is_cut || total > SAMPLES_MAX, has_failed: false };
        for number in 0..total.min(SAMPLES_MAX) {
            let number = if total > SAMPLES_MAX { number.wrapping_mul(SPREAD) % total } else { number };
            let outcome = self.evaluate(number, budget, |look| {
                let (held, failures) = of_edges.iter().map(|tester| tester.judge(look)).unzip();
                let judge_all =
                    |testers: &Vec<Tester<'_>>| testers.iter().map(|tester| tester.judge(look).0).collect();
                let said = (held, of_routes.iter().map(judge_all).collect());
                tried.answers.entry(said).or_insert_with(|| (number, self.tell(look.root()), failures));
            });
            match outcome {
                Outcome::Seen => {}
                Outcome::Failed => tried.has_failed = true,
                Outcome::NotTried => {
                    tried.is_cut = true;
                    break;
                }
            }
        }
        tried
    }

    /// Looks at the sample of a number, after the node's `set`.
    fn evaluate(&self, number: u64, budget: &Budget, look_at: impl FnOnce(&Look<'_>)) -> Outcome {
        let (mut state, mut given) = (self.initial.clone(), self.given.clone());
        let mut rest = number;
        for (name, values) in &self.varied {
            let Some(value) = values.get((rest % values.len() as u64) as usize).cloned() else {
                return Outcome::Failed;
            };
            rest /= values.len() as u64;
            match name.as_str() {
                "input" => given.input = value,
                "output" => given.output = value,
                "feedback" => given.feedback = value,
                _ => state[name.as_str()] = value,
            }
        }
        let mut trial = Trial::begin(&mut state, &mut given, 0);
        if let Some(first) = self.set.first() {
            let patches = budget.attempt(&self.set_purse, first.value.at(), |steps| {
                trial.limit_steps(steps);
                assign(&trial.look(self.workflow), self.level, self.set)
            });
            let patches = match patches {
                None => return Outcome::NotTried,
                Some(Err(_)) => return Outcome::Failed,
                Some(Ok(patches)) => patches,
            };
            if trial.apply(patches).is_err() || trial.check(&self.workflow.schema).is_err() {
                return Outcome::Failed;
            }
        }
        look_at(&trial.look(self.workflow));
        Outcome::Seen
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
