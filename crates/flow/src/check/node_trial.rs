//! What the edges of a node say of sample values, and what follows from that.
//!
//! A sample gives a value to everything that the conditions compare with literals. The [`values`](super::values) come
//! from the schemas, or from the node's own `set` where it copies a value or sets a constant. All combinations are
//! tried, so an edge that holds for none of them never holds. Some combinations are impossible, because values are
//! not checked against each other and what a `set` computes is known only by its schema. Warnings ignore the doubtful
//! ones.

use regatta_expr::{Comparison, Condition, Expression as Compiled, Limits, Operand};
use serde_json::Value;

use super::bounds::{names, touches};
use super::condition::{constant, plain_path};
use super::expressions::of_place;
use super::ground::Ground;
use super::held::{Found, Held, judge};
use super::shape::Field;
use super::values::{collect_values, find_at, numbers};
use crate::expression::{Expression, RESERVED};
use crate::step::shorten;
use crate::workflow::{Assignment, Edge, Node, Workflow};

/// The most samples of one node at one level; edges that look at more are judged one by one.
const SAMPLES_MAX: usize = 4_096;

/// The most values that an example names.
const TOLD_MAX: usize = 6;

/// What the edges of a node said of its samples.
#[derive(Debug, Clone)]
pub(super) struct NodeTrial<'w> {
    /// In the order in which they are tried.
    pub(super) edges: Vec<&'w Edge>,
    /// For each edge, whether it never holds.
    pub(super) never_holds: Vec<bool>,
    /// For each edge, whether each of its `exhausted` routes never holds.
    pub(super) routes_never_hold: Vec<Vec<bool>>,
    /// One for each sample; empty if there are too many.
    pub(super) answers: Vec<Answer>,
}

/// What the edges said of one sample.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    /// Of each edge.
    pub(super) held: Vec<Held>,
    /// Whether a run may never see such values.
    pub(super) is_doubtful: bool,
    /// The sample in words.
    pub(super) told: String,
}

/// Something that conditions compare with literals, and the values it may have.
#[derive(Debug)]
struct Range {
    operand: Operand,
    values: Vec<Choice>,
}

#[derive(Debug, Clone, PartialEq)]
struct Choice {
    /// `None` if it is missing.
    value: Option<Value>,
    is_doubtful: bool,
}

/// Judges the edges of a node on samples.
pub(super) fn try_node<'w>(
    ground: &Ground<'w>,
    workflow: &'w Workflow,
    level: u32,
    node: usize,
) -> NodeTrial<'w> {
    let edges: Vec<&Edge> = workflow.edges_from(workflow.nodes[node].name.as_str(), level).collect();
    let set = workflow.nodes[node].set.iter().filter(|one| workflow.keeps(level, one.place.field()));
    let initial = workflow.schema.initial();
    let sampler = Sampler { ground, workflow, level, node, set: set.collect(), initial };
    let conditions: Vec<Condition> = edges.iter().map(|edge| read_condition(edge.when.as_ref())).collect();
    let of_routes =
        |edge: &&Edge| edge.exhausted.iter().map(|route| sampler.never_holds(route.when.as_ref())).collect();
    NodeTrial {
        never_holds: edges.iter().map(|edge| sampler.never_holds(edge.when.as_ref())).collect(),
        routes_never_hold: edges.iter().map(of_routes).collect(),
        answers: sampler.try_all(&conditions),
        edges,
    }
}

/// Reads what a condition asks; of one that is the same for every state, the value.
fn read_condition(when: Option<&Expression>) -> Condition {
    match when {
        None => Condition::Truth(Operand::Literal(true.into())),
        Some(when) if !when.is_known() => Condition::Other,
        Some(when) if when.compiled().is_constant() => {
            Condition::Truth(Operand::Literal(constant(when.compiled()).unwrap_or_default()))
        }
        Some(when) => when.compiled().condition(),
    }
}

/// Makes the samples of a node at a level.
struct Sampler<'s, 'w> {
    ground: &'s Ground<'w>,
    workflow: &'w Workflow,
    level: u32,
    node: usize,
    /// What the node sets before its edges are tried.
    set: Vec<&'w Assignment>,
    /// The state that a run begins with.
    initial: Value,
}

impl Sampler<'_, '_> {
    fn never_holds(&self, when: Option<&Expression>) -> bool {
        let answers = self.try_all(&[read_condition(when)]);
        let may_hold = |answer: &Answer| matches!(answer.held[0], Held::Yes | Held::Unknown);
        let is_ruled_out = !answers.is_empty() && !answers.iter().any(may_hold);
        is_ruled_out || when.is_some_and(|when| self.is_false_from_the_start(when))
    }

    /// Whether a condition requires a comparison of fields that the level does not keep, and it fails for their defaults.
    fn is_false_from_the_start(&self, when: &Expression) -> bool {
        let is_kept = |path: &Vec<String>| {
            RESERVED.contains(&path[0].as_str()) || self.workflow.keeps(self.level, &path[0])
        };
        when.is_known()
            && when.compiled().required_comparisons().iter().any(|Comparison { left, operator, right }| {
                let Ok(compiled) = Compiled::compile(&format!("{left} {operator} {right}")) else {
                    return false;
                };
                let reads = compiled.reads();
                let is_fixed = !reads.paths.is_empty() && !reads.paths.iter().any(is_kept);
                let has_more = reads.whole_input || reads.any_variable || !reads.variables.is_empty();
                is_fixed
                    && !has_more
                    && !compiled.is_fickle()
                    && compiled.evaluate(&self.initial, &[], &Limits::at(0)) == Ok(Some(false.into()))
            })
    }

    /// Judges conditions on every sample, unless there are too many.
    fn try_all(&self, conditions: &[Condition]) -> Vec<Answer> {
        let mut compared = Vec::new();
        if can_be_tried(self.workflow, &self.workflow.nodes[self.node]) {
            conditions.iter().for_each(|condition| collect_compared(condition, &mut compared));
            compared.sort_by(|(one, _), (other, _)| path_of(one).cmp(path_of(other)));
        }
        let range = |(operand, literals): (Operand, Vec<Value>)| {
            Some(Range { values: self.find_values(&operand, &literals)?, operand })
        };
        let ranges: Vec<Range> = compared.into_iter().filter_map(range).collect();
        let total = ranges.iter().fold(1_usize, |total, range| total.saturating_mul(range.values.len()));
        let numbers = 0..if total > SAMPLES_MAX { 0 } else { total };
        numbers.map(|number| answer(conditions, &ranges, number)).collect()
    }

    /// Lists the values of an operand after the node's `set`, if enough is known of it.
    fn find_values(&self, operand: &Operand, literals: &[Value]) -> Option<Vec<Choice>> {
        let path = path_of(operand);
        let mut found = Vec::new();
        let mut add = |values: Vec<Option<Value>>, is_computed: bool| {
            for value in values {
                let is_doubtful = is_computed && value.as_ref().is_none_or(Value::is_null);
                let choice = Choice { value, is_doubtful };
                if !found.contains(&choice) {
                    found.push(choice);
                }
            }
        };
        if let Operand::Count(_) = operand {
            let counts = numbers([Some(0.0), None], true, literals)?.into_iter();
            add(counts.filter(|count| count.as_f64() >= Some(0.0)).map(Some).collect(), false);
            return Some(found);
        }
        // A name that no schema knows is an error of its own.
        self.ground.follow(path, Some(self.node)).ok()?;
        let mut touching = self.set.iter().filter(|assignment| touches(&assignment.place, path));
        match (touching.next(), touching.next()) {
            (None, _) => add(self.find_given(path, literals)?, false),
            (Some(one), None) if is_around(one, path) => match self.find_assigned(one, path, literals) {
                Some(values) => add(values, false),
                None => add(self.find_given(path, literals)?, true),
            },
            _ => add(self.find_given(path, literals)?, true),
        }
        Some(found)
    }

    /// Lists the values that an assignment puts at a path, if it copies them or is a constant, and all of them fit.
    fn find_assigned(
        &self,
        assignment: &Assignment,
        path: &[String],
        literals: &[Value],
    ) -> Option<Vec<Option<Value>>> {
        let behind = &path[names(&assignment.place).len()..];
        let compiled = assignment.value.compiled();
        let values = if let Some(value) = constant(compiled) {
            vec![find_at(&value, behind)]
        } else {
            let source = plain_path(compiled)?;
            let mut values = self.find_given(&[&source[..], behind].concat(), literals)?;
            if source.len() > 1 && values.contains(&None) {
                // Where the source is missing, the place keeps the value it has.
                values.retain(Option::is_some);
                values.extend(self.find_given(path, literals)?);
            }
            values
        };
        let shapes = self.ground.follow_in_state(path);
        let fits = |value: &Value| shapes.iter().any(|shape| shape.may_hold(value));
        values.iter().flatten().all(fits).then_some(values)
    }

    /// Lists the values at a path before the node sets anything.
    fn find_given(&self, path: &[String], literals: &[Value]) -> Option<Vec<Option<Value>>> {
        let (first, rest) = path.split_first()?;
        let mut found = Vec::new();
        let shapes = match first.as_str() {
            "input" => vec![self.ground.input()?],
            "output" => vec![self.ground.output_of(self.node)?],
            "feedback" => vec![self.ground.feedback()],
            name if !self.workflow.keeps(self.level, name) => {
                return Some(vec![find_at(&self.initial, path)]);
            }
            name => match self.ground.state().field(name) {
                Field::Known(shapes) => {
                    found.extend(self.initial.get(name).is_none().then_some(None));
                    shapes
                }
                _ => return None,
            },
        };
        for shape in shapes {
            collect_values(shape, rest, literals, &mut found)?;
        }
        Some(found)
    }
}

/// Whether an assignment puts a value at a path, or at what holds it.
fn is_around(assignment: &Assignment, path: &[String]) -> bool {
    !assignment.place.appends()
        && of_place(&assignment.place).is_empty()
        && path.starts_with(&names(&assignment.place))
}

fn path_of(operand: &Operand) -> &[String] {
    match operand {
        Operand::Path(path) | Operand::Count(path) => path,
        _ => &[],
    }
}

/// Lists what a condition looks at, each with the literals that it is compared with.
fn collect_compared(condition: &Condition, found: &mut Vec<(Operand, Vec<Value>)>) {
    let mut add = |operand: &Operand, literals: &[Value]| {
        if path_of(operand).is_empty() {
            return;
        }
        match found.iter_mut().find(|(known, _)| known == operand) {
            Some((_, all)) => all.extend_from_slice(literals),
            None => found.push((operand.clone(), literals.to_vec())),
        }
    };
    match condition {
        Condition::And(one, other) | Condition::Or(one, other) => {
            collect_compared(one, found);
            collect_compared(other, found);
        }
        Condition::Not(one) => collect_compared(one, found),
        Condition::Exists(path) => add(&Operand::Path(path.clone()), &[]),
        // An empty text and zero are not true.
        Condition::Truth(operand) => add(operand, &["".into(), 0.into()]),
        Condition::Compared(_, operand, Operand::Literal(literal))
        | Condition::Compared(_, Operand::Literal(literal), operand) => {
            add(operand, std::slice::from_ref(literal));
        }
        Condition::Compared(..) | Condition::Other => {}
    }
}

/// Judges conditions on the sample of a number.
fn answer(conditions: &[Condition], ranges: &[Range], number: usize) -> Answer {
    let mut rest = number;
    let mut sample = Vec::with_capacity(ranges.len());
    for range in ranges {
        sample.push((&range.operand, &range.values[rest % range.values.len()]));
        rest /= range.values.len();
    }
    let find = |operand: &Operand| -> Found {
        match operand {
            Operand::Literal(literal) => Some(Some(literal.clone())),
            _ => sample.iter().find(|(known, _)| *known == operand).map(|(_, choice)| choice.value.clone()),
        }
    };
    let told = sample.iter().take(TOLD_MAX).map(|(operand, choice)| tell(operand, choice.value.as_ref()));
    Answer {
        held: conditions.iter().map(|condition| judge(condition, &find)).collect(),
        is_doubtful: sample.iter().any(|(_, choice)| choice.is_doubtful) || is_torn(&sample),
        told: told.collect::<Vec<_>>().join(", "),
    }
}

/// Whether a field is there and the object around it is not, or the other way round.
fn is_torn(sample: &[(&Operand, &Choice)]) -> bool {
    let is_object = |choice: &Choice| choice.value.as_ref().is_some_and(Value::is_object);
    sample.iter().any(|(inner, field)| match inner {
        Operand::Path(path) => sample.iter().any(|(outer, object)| match outer {
            Operand::Path(around) if path.len() > around.len() && path.starts_with(around) => {
                is_object(object) != field.value.is_some()
            }
            _ => false,
        }),
        _ => false,
    })
}

fn tell(operand: &Operand, value: Option<&Value>) -> String {
    let name = format!("`{}`", path_of(operand).join("."));
    match (operand, value) {
        (_, None) => format!("no {name}"),
        (Operand::Count(_), Some(count)) => {
            format!("{name} with {count} item{}", if *count == 1 { "" } else { "s" })
        }
        (_, Some(Value::Object(_))) => format!("{name} there"),
        (_, Some(value)) => format!("{name} = {}", shorten(value)),
    }
}

/// Whether enough of a workflow could be read to know the values that follow a node.
fn can_be_tried(workflow: &Workflow, node: &Node) -> bool {
    let gaps = &workflow.gaps;
    let is_role_known =
        node.kind.prompt_name().is_none_or(|prompt| workflow.roles.contains_key(&prompt.name));
    !gaps.has_doubtful_values
        && !gaps.nodes.contains(node.name.as_str())
        && !gaps.is_output_unknown(node)
        && is_role_known
        && node.set.iter().all(Assignment::is_known)
}
