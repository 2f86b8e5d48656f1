//! Makes states that can be there after a node, and asks conditions about them.
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
use super::expressions::of_place;
use super::ground::Ground;
use super::shape::Field;
use crate::expression::{Expression, RESERVED};
use crate::place::Place;
use crate::step::{Look, StepFault, assign, shorten};
use crate::trial::{Given, Trial};
use crate::workflow::{Assignment, Edge, Workflow};

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

/// Why a condition cannot be evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// JSONata's code, such as `T2010`; empty if the fault is none of an expression's.
    pub(super) code: String,
    /// In words, shortened.
    pub(super) message: String,
}

/// What edges and their routes said of a sample.
pub(super) type Said = (Vec<Held>, Vec<Vec<Held>>);

/// The answers that were found so far, each with the number of its sample, the sample in words and the failures.
pub(super) type Answers = BTreeMap<Said, (u64, String, Vec<Option<Failure>>)>;

/// What came of trying samples.
pub(super) struct Tried {
    pub(super) answers: Answers,
    pub(super) is_cut: bool,
    /// Whether what the node sets failed or did not fit for a sample, which was left out.
    pub(super) has_failed: bool,
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
pub(super) struct Plan<'p> {
    workflow: &'p Workflow,
    level: u32,
    pub(super) set: &'p [Assignment],
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
    pub(super) fn new(
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
    pub(super) fn kept(&self) -> Vec<&'p Assignment> {
        self.set.iter().filter(|one| self.workflow.keeps(self.level, one.place.field())).collect()
    }

    pub(super) fn leave_set_out(&mut self) {
        self.hidden = self.set.iter().map(|assignment| &assignment.place).collect();
        self.set = &[];
    }

    fn tester<'t>(&self, when: Option<&'t Expression>, budget: &'t Budget) -> Tester<'t> {
        let looked_at = when.map(|when| find_looked_at(self.workflow, &[when])).unwrap_or_default();
        let is_hidden = looked_at.iter().any(|path| self.hidden.iter().any(|place| touches(place, path)));
        Tester { when, budget, purse: Purse::default(), is_hidden }
    }

    /// Asks the edges about every sample, as far as the budget goes.
    pub(super) fn try_all(&self, edges: &[&Edge], budget: &Budget) -> Tried {
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
pub(super) fn find_looked_at(workflow: &Workflow, conditions: &[&Expression]) -> Vec<Vec<String>> {
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
