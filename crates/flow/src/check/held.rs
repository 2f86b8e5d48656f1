//! What a condition says of sample values, as far as it joins plain comparisons.
//!
//! A path or a count compared with a literal is judged, and so are `$exists`, `$not`, `and` and `or` around it, with
//! their meaning in JSONata. Anything else is [`Held::Unknown`].

use regatta_expr::{Condition, Operand};
use serde_json::Value;

/// What a condition says of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    Yes,
    No,
    /// JSONata's undefined, which is not true.
    Undefined,
    /// It cannot be evaluated.
    Fails,
    /// It is not judged.
    Unknown,
}

/// The value of an operand in a sample; the outer `None` means that it is not known, the inner one that it is missing.
pub(super) type Found = Option<Option<Value>>;

/// Judges a condition, which must be exactly `true` to hold.
pub(super) fn judge(condition: &Condition, find: &impl Fn(&Operand) -> Found) -> Held {
    match condition {
        Condition::Truth(operand) => match find(operand) {
            None => Held::Unknown,
            Some(value) => Held::from(value == Some(Value::Bool(true))),
        },
        _ => judge_part(condition, find),
    }
}

fn judge_part(condition: &Condition, find: &impl Fn(&Operand) -> Found) -> Held {
    match condition {
        Condition::And(one, other) => and(judge_part(one, find), || judge_part(other, find)),
        Condition::Or(one, other) => or(judge_part(one, find), || judge_part(other, find)),
        Condition::Not(one) => match judge_part(one, find) {
            Held::Yes => Held::No,
            Held::No => Held::Yes,
            held => held,
        },
        Condition::Exists(path) => {
            find(&Operand::Path(path.clone())).map_or(Held::Unknown, |value| Held::from(value.is_some()))
        }
        Condition::Truth(operand) => find(operand).map_or(Held::Unknown, |value| truth(value.as_ref())),
        Condition::Compared(operator, left, right) if is_literal(left) || is_literal(right) => {
            match (find(left), find(right)) {
                (Some(left), Some(right)) => compare(operator, left.as_ref(), right.as_ref()),
                _ => Held::Unknown,
            }
        }
        Condition::Compared(..) | Condition::Other => Held::Unknown,
    }
}

fn is_literal(operand: &Operand) -> bool {
    matches!(operand, Operand::Literal(_))
}

impl From<bool> for Held {
    fn from(holds: bool) -> Held {
        if holds { Held::Yes } else { Held::No }
    }
}

/// `and` and `or` give a boolean.
fn or_no(held: Held) -> Held {
    if held == Held::Undefined { Held::No } else { held }
}

fn and(left: Held, right: impl Fn() -> Held) -> Held {
    match left {
        Held::Yes => or_no(right()),
        Held::No | Held::Undefined => Held::No,
        Held::Fails => Held::Fails,
        Held::Unknown if matches!(right(), Held::No | Held::Undefined) => Held::No,
        Held::Unknown => Held::Unknown,
    }
}

fn or(left: Held, right: impl Fn() -> Held) -> Held {
    match left {
        Held::Yes => Held::Yes,
        Held::No | Held::Undefined => or_no(right()),
        Held::Fails => Held::Fails,
        Held::Unknown if right() == Held::Yes => Held::Yes,
        Held::Unknown => Held::Unknown,
    }
}

fn truth(value: Option<&Value>) -> Held {
    match value {
        None => Held::Undefined,
        Some(Value::Null) => Held::No,
        Some(Value::Bool(value)) => Held::from(*value),
        Some(Value::Number(number)) => Held::from(number.as_f64() != Some(0.0)),
        Some(Value::String(text)) => Held::from(!text.is_empty()),
        Some(Value::Object(fields)) => Held::from(!fields.is_empty()),
        Some(Value::Array(_)) => Held::Unknown,
    }
}

fn compare(operator: &str, left: Option<&Value>, right: Option<&Value>) -> Held {
    let is_comparable =
        |value: Option<&Value>| value.is_none_or(|value| value.is_number() || value.is_string());
    let is_equal = |left: &Value, right: &Value| match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left == right,
        _ => left == right,
    };
    match (operator, left, right) {
        ("=", Some(left), Some(right)) => Held::from(is_equal(left, right)),
        ("!=", Some(left), Some(right)) => Held::from(!is_equal(left, right)),
        ("=" | "!=", ..) => Held::No,
        ("in", ..) => Held::Unknown,
        _ if !is_comparable(left) || !is_comparable(right) => Held::Fails,
        (_, Some(left), Some(right)) => match (left.as_f64(), right.as_f64()) {
            (Some(left), Some(right)) => Held::from(match operator {
                "<" => left < right,
                "<=" => left <= right,
                ">" => left > right,
                _ => left >= right,
            }),
            // The samples of a text are not ordered around the literal.
            (None, None) => Held::Unknown,
            _ => Held::Fails,
        },
        _ => Held::Undefined,
    }
}

#[cfg(test)]
mod tests {
    use regatta_expr::{Expression, Limits};
    use serde_json::json;

    use super::*;

    /// What is judged is what the evaluator says, for each value of `a`.
    #[test]
    fn conditions_mean_what_they_mean_in_a_run() {
        let values = [
            None,
            Some(json!(null)),
            Some(json!(true)),
            Some(json!(false)),
            Some(json!(0)),
            Some(json!(5)),
            Some(json!(5.5)),
            Some(json!("")),
            Some(json!("x")),
            Some(json!({})),
            Some(json!({ "k": 1 })),
        ];
        for text in [
            "a",
            "a = 5",
            "a != 5",
            "a = 'x'",
            "a = null",
            "a = true",
            "a != 'x'",
            "a > 4",
            "5 >= a",
            "a < true",
            "$exists(a)",
            "$not(a)",
            "$not(a = 5)",
            "$not(a > 4)",
            "$not($exists(a))",
            "a and true",
            "a or false",
            "a > 4 and a < 6",
            "a = 'x' or a > 4",
            "a > 4 or a = 'x'",
            "$not(a and a > 4)",
            "$exists(a) and $not(a = 5)",
        ] {
            let expression = Expression::compile(text).unwrap();
            for value in &values {
                let find = |operand: &Operand| match operand {
                    Operand::Literal(literal) => Some(Some(literal.clone())),
                    _ => Some(value.clone()),
                };
                let root = value.as_ref().map_or(json!({}), |value| json!({ "a": value }));
                let expected = match expression.evaluate(&root, &[], &Limits::at(0)) {
                    Err(_) => Held::Fails,
                    Ok(result) => Held::from(result == Some(json!(true))),
                };
                let judged = or_no(judge(&expression.condition(), &find));
                assert_eq!(judged, expected, "{text} with {value:?}");
            }
        }
    }

    #[test]
    fn what_is_not_plain_is_not_judged() {
        let find = |operand: &Operand| match operand {
            Operand::Literal(literal) => Some(Some(literal.clone())),
            Operand::Path(_) => Some(Some(json!(true))),
            _ => None,
        };
        let held = |text: &str| judge(&Expression::compile(text).unwrap().condition(), &find);
        assert_eq!(held("$length(t) > 3"), Held::Unknown);
        assert_eq!(held("$length(t) > 3 or a"), Held::Yes);
        assert_eq!(held("$length(t) > 3 and a"), Held::Unknown);
        assert_eq!(held("$length(t) > 3 and a = false"), Held::No);
        assert_eq!(held("a and $length(t) > 3"), Held::Unknown);
        assert_eq!(held("$not($length(t) > 3)"), Held::Unknown);
    }
}
