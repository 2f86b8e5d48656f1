//! Evaluates the most common expressions directly on the input, without the engine.
//!
//! For `output.status = 'blocked'` or `currentAttempts + 1` the engine takes longer to set up than to evaluate. Such
//! expressions are evaluated here: names along objects, literals, comparisons, sums, conditions, `$count`, `$lookup`.
//! Anything with a special meaning in JSONata (a list along the path, an undefined operand, an error, a value that
//! would have to be copied) is left to the engine, so that only one place decides these.

use jlens_core::ast::{Attrs, BinaryOp};
use jlens_core::{Node, NodeKind};
use serde_json::{Number, Value};

use crate::hazards::Names;
use crate::limits::Limits;

/// The most nodes of an expression that is answered here; an edge has some ten.
const NODES_MAX: u32 = 256;

/// The deepest nesting of an expression that is answered here.
const LEVELS_MAX: u32 = 32;

/// The most that the engine needs for an expression of that size. With tighter limits, the engine is used.
const NEEDED: Needed = Needed { steps: 16 * NODES_MAX as u64, depth: 8 * LEVELS_MAX as usize };

/// From here on the engine does not write a number as an integer.
const INTEGER_END: f64 = 9_007_199_254_740_992.0;

/// The longest number or boolean in a result, in bytes.
const SCALAR_BYTES_MAX: usize = 32;

/// The functions that are known here; a variable of such a name takes its place.
const FUNCTIONS: &[&str] = &["count", "lookup"];

struct Needed {
    steps: u64,
    depth: usize,
}

/// An expression that can be evaluated directly.
#[derive(Debug)]
pub(crate) enum Direct {
    Text(String),
    Number(f64),
    Bool(bool),
    Null,
    /// Names, from the input or from a variable.
    Path(Option<String>, Vec<String>),
    Compared(BinaryOp, Box<Direct>, Box<Direct>),
    Calculated(BinaryOp, Box<Direct>, Box<Direct>),
    And(Box<Direct>, Box<Direct>),
    Or(Box<Direct>, Box<Direct>),
    If(Box<Direct>, Box<Direct>, Option<Box<Direct>>),
    Count(Box<Direct>),
    Lookup(Box<Direct>, Box<Direct>),
}

/// A value that was come to; what is not a scalar is only looked at.
#[derive(Debug, Clone, Copy)]
enum Found<'v> {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(&'v str),
    Object(&'v serde_json::Map<String, Value>),
    List(&'v [Value]),
}

/// What an expression is evaluated over.
struct Scene<'v> {
    input: &'v Value,
    bindings: &'v [(&'v str, &'v Value)],
}

impl Direct {
    /// Returns how an expression is evaluated directly, if it can be.
    pub(crate) fn find(root: &Node, names: &Names) -> Option<Direct> {
        Finder { names, nodes: 0 }.find(root, 0)
    }

    /// Evaluates, or returns `None` where the engine is to be asked. The inner `None` is JSONata's undefined.
    pub(crate) fn evaluate(
        &self,
        input: &Value,
        bindings: &[(&str, &Value)],
        limits: &Limits,
    ) -> Option<Option<Value>> {
        let hides_function = bindings.iter().any(|(name, _)| FUNCTIONS.contains(name));
        let is_allowed = limits.steps >= NEEDED.steps && limits.depth >= NEEDED.depth;
        if !is_allowed || hides_function || !input.is_object() {
            return None;
        }
        let result = match self.find_in(&Scene { input, bindings })? {
            Found::Undefined => return Some(None),
            Found::Null => Value::Null,
            Found::Bool(value) => Value::Bool(value),
            Found::Number(value) => number(value)?,
            // Each byte of a text takes at most six in JSON.
            Found::Text(text) if text.len() < limits.result_bytes / 6 => Value::from(text),
            Found::Text(_) | Found::Object(_) | Found::List(_) => return None,
        };
        (limits.result_bytes >= SCALAR_BYTES_MAX).then_some(Some(result))
    }

    fn find_in<'v>(&'v self, scene: &Scene<'v>) -> Option<Found<'v>> {
        Some(match self {
            Direct::Text(text) => Found::Text(text),
            Direct::Number(value) => Found::Number(*value),
            Direct::Bool(value) => Found::Bool(*value),
            Direct::Null => Found::Null,
            Direct::Path(variable, names) => follow(scene, variable.as_deref(), names)?,
            Direct::Compared(op, left, right) => {
                Found::Bool(compare(*op, left.find_in(scene)?, right.find_in(scene)?)?)
            }
            Direct::Calculated(op, left, right) => {
                calculate(*op, left.find_in(scene)?, right.find_in(scene)?)?
            }
            Direct::And(left, right) => {
                Found::Bool(is_true(left.find_in(scene)?)? && is_true(right.find_in(scene)?)?)
            }
            Direct::Or(left, right) => {
                Found::Bool(is_true(left.find_in(scene)?)? || is_true(right.find_in(scene)?)?)
            }
            Direct::If(condition, then, otherwise) => {
                match (is_true(condition.find_in(scene)?)?, otherwise) {
                    (true, _) => then.find_in(scene)?,
                    (false, Some(otherwise)) => otherwise.find_in(scene)?,
                    (false, None) => Found::Undefined,
                }
            }
            Direct::Count(list) => match list.find_in(scene)? {
                Found::List(items) => Found::Number(items.len() as f64),
                _ => return None,
            },
            Direct::Lookup(object, key) => match (object.find_in(scene)?, key.find_in(scene)?) {
                (Found::Object(fields), Found::Text(key)) => found(fields.get(key)),
                _ => return None,
            },
        })
    }
}

/// Follows names as long as there are objects; a list on the way is the engine's to gather from.
fn follow<'v>(scene: &Scene<'v>, variable: Option<&str>, names: &[String]) -> Option<Found<'v>> {
    let mut value = match variable {
        // Not bound, it may be the name of a function.
        Some(variable) => found(Some(scene.bindings.iter().find(|(name, _)| *name == variable)?.1)),
        None => found(Some(scene.input)),
    };
    for name in names {
        value = match value {
            Found::Object(fields) => found(fields.get(name)),
            Found::List(_) => return None,
            _ => return Some(Found::Undefined),
        };
    }
    Some(value)
}

fn found(value: Option<&Value>) -> Found<'_> {
    match value {
        None => Found::Undefined,
        Some(Value::Null) => Found::Null,
        Some(Value::Bool(value)) => Found::Bool(*value),
        Some(Value::Number(value)) => Found::Number(value.as_f64().unwrap_or(f64::NAN)),
        Some(Value::String(text)) => Found::Text(text),
        Some(Value::Object(fields)) => Found::Object(fields),
        Some(Value::Array(items)) => Found::List(items),
    }
}

fn is_true(value: Found<'_>) -> Option<bool> {
    match value {
        Found::Undefined | Found::Null => Some(false),
        Found::Bool(value) => Some(value),
        Found::Number(value) => value.is_finite().then_some(value != 0.0),
        Found::Text(text) => Some(!text.is_empty()),
        Found::Object(fields) => Some(!fields.is_empty()),
        Found::List(_) => None,
    }
}

fn compare(op: BinaryOp, left: Found<'_>, right: Found<'_>) -> Option<bool> {
    let is_equal = match (left, right) {
        (Found::List(_) | Found::Object(_), _) | (_, Found::List(_) | Found::Object(_)) => return None,
        (Found::Number(left), Found::Number(right)) if op != BinaryOp::Eq && op != BinaryOp::Ne => {
            return Some(match op {
                BinaryOp::Lt => left < right,
                BinaryOp::Le => left <= right,
                BinaryOp::Gt => left > right,
                BinaryOp::Ge => left >= right,
                _ => return None,
            });
        }
        _ if op != BinaryOp::Eq && op != BinaryOp::Ne => return None,
        // Nothing is equal to what is not there, and nothing differs from it.
        (Found::Undefined, _) | (_, Found::Undefined) => return Some(false),
        (Found::Null, Found::Null) => true,
        (Found::Bool(left), Found::Bool(right)) => left == right,
        (Found::Number(left), Found::Number(right)) => left == right,
        (Found::Text(left), Found::Text(right)) => left == right,
        _ => false,
    };
    Some(is_equal == (op == BinaryOp::Eq))
}

fn calculate<'v>(op: BinaryOp, left: Found<'_>, right: Found<'_>) -> Option<Found<'v>> {
    let (Found::Number(left), Found::Number(right)) = (left, right) else { return None };
    let result = match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => left * right,
        _ => return None,
    };
    result.is_finite().then_some(Found::Number(result))
}

/// Writes a number as the engine does.
fn number(value: f64) -> Option<Value> {
    if value.fract() == 0.0 && value.abs() < INTEGER_END {
        return Some(Value::from(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}

struct Finder<'n> {
    names: &'n Names,
    nodes: u32,
}

impl Finder<'_> {
    fn find(&mut self, node: &Node, level: u32) -> Option<Direct> {
        self.nodes += 1;
        if level > LEVELS_MAX || self.nodes > NODES_MAX || !is_bare(&node.attrs) {
            return None;
        }
        let names = self.names;
        let mut below = |node: &Node| self.find(node, level + 1).map(Box::new);
        Some(match &node.kind {
            NodeKind::String { value } => Direct::Text(value.clone()),
            NodeKind::Number { value } => Direct::Number(*value),
            NodeKind::Bool { value } => Direct::Bool(*value),
            NodeKind::Null => Direct::Null,
            NodeKind::Variable { name } => Direct::Path(Some(self.variable(name)?), Vec::new()),
            NodeKind::Path { steps, keep_singleton_array: false } => self.path(steps)?,
            NodeKind::Block { exprs, .. } => match exprs.as_slice() {
                [only] => return self.find(only, level + 1),
                _ => return None,
            },
            NodeKind::Condition { condition, then, otherwise } => {
                let otherwise = match otherwise {
                    Some(otherwise) => Some(below(otherwise)?),
                    None => None,
                };
                Direct::If(below(condition)?, below(then)?, otherwise)
            }
            NodeKind::Binary { op, lhs, rhs } => {
                let (left, right) = (below(lhs)?, below(rhs)?);
                match op {
                    BinaryOp::And => Direct::And(left, right),
                    BinaryOp::Or => Direct::Or(left, right),
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => Direct::Calculated(*op, left, right),
                    BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::Lt
                    | BinaryOp::Le
                    | BinaryOp::Gt
                    | BinaryOp::Ge => Direct::Compared(*op, left, right),
                    _ => return None,
                }
            }
            NodeKind::Function { args, .. } => match (names.find_builtin_called(node)?, args.as_slice()) {
                ("count", [list]) => Direct::Count(below(list)?),
                ("lookup", [object, key]) => Direct::Lookup(below(object)?, below(key)?),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn path(&mut self, steps: &[Node]) -> Option<Direct> {
        self.nodes += u32::try_from(steps.len()).ok()?;
        if !steps.iter().all(|step| is_bare(&step.attrs)) {
            return None;
        }
        let (variable, rest) = match steps.split_first() {
            Some((Node { kind: NodeKind::Variable { name }, .. }, rest)) => {
                (Some(self.variable(name)?), rest)
            }
            _ => (None, steps),
        };
        let name = |step: &Node| match &step.kind {
            NodeKind::Name { name } => Some(name.clone()),
            _ => None,
        };
        Some(Direct::Path(variable, rest.iter().map(name).collect::<Option<_>>()?))
    }

    /// Returns the name of a variable that is given; `$` and `$$` are the engine's.
    fn variable(&self, name: &str) -> Option<String> {
        (!name.is_empty() && name != "$").then(|| name.to_owned())
    }
}

/// Whether a node has no filter, no grouping, nothing that keeps a list or binds.
fn is_bare(attrs: &Attrs) -> bool {
    !attrs.keep_array
        && !attrs.cons_array
        && !attrs.tuple
        && attrs.focus.is_none()
        && attrs.index.is_none()
        && attrs.stages.is_empty()
        && attrs.predicate.is_empty()
        && attrs.group.is_none()
        && attrs.ancestor.is_none()
        && attrs.ancestor_label.is_none()
        && attrs.seeking_parent.is_empty()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::Expression;

    /// What both ways are asked about.
    fn input() -> Value {
        json!({
            "n": 3, "zero": 0, "half": 0.5, "round": 2.0, "big": 9_007_199_254_740_993_i64, "minus": -1.5,
            "t": "text", "empty": "", "yes": true, "no": false, "null": null,
            "o": { "n": 4, "t": "text", "deep": { "list": [1], "x": "y" }, "none": {} },
            "list": [1, 2, 3], "one": [7], "nothing": [], "items": [{ "n": 1 }, { "n": 2 }]
        })
    }

    fn is_direct(text: &str) -> bool {
        let expression = Expression::compile(text).unwrap();
        expression.direct().is_some_and(|direct| {
            direct.evaluate(&input(), &[("v", &json!({ "n": 5 }))], &Limits::at(0)).is_some()
        })
    }

    /// An explanation always comes from the engine.
    fn check(text: &str) {
        let expression = Expression::compile(text).unwrap();
        let (input, variable) = (input(), json!({ "n": 5, "t": "text", "list": [1, 2] }));
        let bindings = [("v", &variable)];
        let limits = Limits::at(0);
        let here = expression.evaluate(&input, &bindings, &limits);
        let engine = expression.explain(&input, &bindings, &limits).result;
        assert_eq!(here.map_err(drop), engine.map_err(drop), "{text}");
    }

    #[test]
    fn what_edges_say_is_answered_here() {
        for text in [
            "t",
            "o.deep.x",
            "o.nowhere.x",
            "$v.n",
            "t = 'text'",
            "o.n != 4 or yes",
            "n + 1",
            "yes ? 'a' : 'b'",
            "(n < $count(list) - 1) and no = false",
            "($lookup(o, t) ? $lookup(o, t) : 0) + 1",
            "null = missing",
        ] {
            assert!(is_direct(text), "{text}");
            check(text);
        }
    }

    #[test]
    fn what_jsonata_alone_can_say_is_left_to_the_engine() {
        for text in [
            "list",
            "o",
            "items.n",
            "list[0]",
            "t[]",
            "$",
            "$$.n",
            "missing + 1",
            "t + 1",
            "t < 'u'",
            "$unknown",
            "$count(t)",
            "$lookup(items, 'n')",
            "list = 1",
            "yes and list",
            "1e308 * 10",
            "$sum(list)",
            "o.{'a': n}",
        ] {
            assert!(!is_direct(text), "{text}");
            check(text);
        }
    }

    #[test]
    fn a_variable_takes_the_place_of_a_function() {
        let expression = Expression::compile("$count(list)").unwrap();
        let result = expression.evaluate(&input(), &[("count", &json!(1))], &Limits::at(0));
        assert!(result.is_err(), "{result:?}");
    }

    #[test]
    fn narrow_limits_are_the_engines_to_keep() {
        let expression = Expression::compile("t").unwrap();
        let narrow = Limits { result_bytes: 3, ..Limits::at(0) };
        assert!(expression.evaluate(&input(), &[], &narrow).is_err());
        let narrow = Limits { steps: 0, ..Limits::at(0) };
        assert!(expression.evaluate(&input(), &[], &narrow).is_err());
    }

    fn operand() -> impl Strategy<Value = String> {
        let known = [
            "n",
            "zero",
            "half",
            "round",
            "big",
            "minus",
            "t",
            "empty",
            "yes",
            "no",
            "null",
            "o",
            "o.n",
            "o.t",
            "o.none",
            "o.deep.x",
            "o.deep.list",
            "list",
            "one",
            "nothing",
            "items.n",
            "missing",
            "missing.x",
            "t.x",
            "$v",
            "$v.n",
            "$v.list",
            "$w",
            "1",
            "0",
            "2.5",
            "'text'",
            "''",
            "true",
            "false",
        ];
        prop::sample::select(known.map(str::to_owned).to_vec())
    }

    fn expression() -> impl Strategy<Value = String> {
        let operators = ["=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "and", "or", "&", "in"];
        operand().prop_recursive(4, 24, 3, move |inner| {
            prop_oneof![
                (inner.clone(), prop::sample::select(operators.to_vec()), inner.clone())
                    .prop_map(|(left, op, right)| format!("({left} {op} {right})")),
                (inner.clone(), inner.clone(), inner.clone())
                    .prop_map(|(condition, then, other)| format!("({condition} ? {then} : {other})")),
                inner.clone().prop_map(|list| format!("$count({list})")),
                (inner.clone(), inner).prop_map(|(object, key)| format!("$lookup({object}, {key})")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        #[test]
        fn both_ways_give_the_same(text in expression()) {
            check(&text);
        }
    }
}
