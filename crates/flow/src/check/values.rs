//! Values that a schema allows at a path: enough to distinguish everything that is compared with literals.
//!
//! They are every choice, every literal, a number on both sides of each, and a string that is none of them. Keywords
//! that are not read here may rule some of them out, so an impossible condition may look possible; but one that holds
//! for none of the values never holds.

use serde_json::{Value, json};

use super::shape::Shape;

/// From here on, the numbers next to a literal cannot be told apart from it.
const NUMBER_MAX: f64 = 1e15;

/// A text that no comparison names.
const OTHER_TEXT: &str = "other";

/// Adds the values at a path, `None` for a missing one. Returns `None` if there may be others.
pub(super) fn collect_values(
    shape: Shape<'_>,
    path: &[String],
    literals: &[Value],
    found: &mut Vec<Option<Value>>,
) -> Option<()> {
    let alternatives = shape.alternatives();
    if alternatives.is_empty() || alternatives.len() >= Shape::ALTERNATIVES_MAX {
        return None;
    }
    for one in alternatives {
        let members = one.members();
        let types = one.types();
        if !members.is_empty() {
            found.extend(members.into_iter().map(|member| find_at(member, path)));
        } else if types.is_empty() {
            return None;
        } else if let Some((name, rest)) = path.split_first() {
            // JSONata gathers the fields of all items of a list.
            if types.contains(&"array") {
                return None;
            }
            if types.contains(&"object") {
                collect_field(one, name, rest, literals, found)?;
            }
            found.extend(types.iter().any(|name| *name != "object").then_some(None));
        } else {
            for name in types {
                found.extend(values_of_type(name, one, literals)?.into_iter().map(Some));
            }
        }
    }
    Some(())
}

fn collect_field(
    shape: Shape<'_>,
    name: &str,
    rest: &[String],
    literals: &[Value],
    found: &mut Vec<Option<Value>>,
) -> Option<()> {
    match shape.properties().into_iter().find(|(field, ..)| *field == name) {
        Some((_, field, is_required)) => {
            collect_values(field, rest, literals, found)?;
            found.extend((!is_required).then_some(None));
            Some(())
        }
        None => shape.is_closed().then(|| found.push(None)),
    }
}

/// Follows names into a value.
pub(super) fn find_at(value: &Value, path: &[String]) -> Option<Value> {
    path.iter().try_fold(value, |value, name| value.get(name)).cloned()
}

fn values_of_type(name: &str, shape: Shape<'_>, literals: &[Value]) -> Option<Vec<Value>> {
    match name {
        "null" => Some(vec![Value::Null]),
        "boolean" => Some(vec![false.into(), true.into()]),
        "integer" | "number" => {
            let bound = |name: &str| shape.keyword(name).and_then(Value::as_f64);
            let bounds = [bound("minimum"), bound("maximum")];
            let numbers = numbers(bounds, name == "integer", literals)?;
            Some(numbers.into_iter().filter(|number| shape.is_within(number)).collect())
        }
        "string" => Some(texts(literals)),
        "object" => Some(vec![json!({}), json!({ "any": 1 })]),
        _ => None,
    }
}

fn texts(literals: &[Value]) -> Vec<Value> {
    let mut other = OTHER_TEXT.to_owned();
    while literals.iter().any(|literal| *literal == other) {
        other.push('.');
    }
    let compared = literals.iter().filter(|literal| literal.is_string()).cloned();
    std::iter::once(other.into()).chain(compared).collect()
}

/// Lists numbers equal to each literal and bound, between every two of them, and beyond them. The first is the plainest.
pub(super) fn numbers(
    [least, most]: [Option<f64>; 2],
    is_integer: bool,
    literals: &[Value],
) -> Option<Vec<Value>> {
    let least = least.unwrap_or(0.0);
    let mut numbers: Vec<f64> =
        literals.iter().filter_map(Value::as_f64).chain([least]).chain(most).collect();
    if numbers.iter().any(|number| number.abs() >= NUMBER_MAX) {
        return None;
    }
    numbers.sort_by(f64::total_cmp);
    let around = |number: &f64| match is_integer {
        true => [number.floor() - 1.0, number.floor(), number.ceil(), number.ceil() + 1.0],
        false => [number - 1.0, *number, *number, number + 1.0],
    };
    let between = numbers.windows(2).filter(|_| !is_integer).map(|pair| pair[0].midpoint(pair[1]));
    let mut all: Vec<f64> = numbers.iter().flat_map(around).chain(between).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all.sort_by_key(|number| *number < least);
    Some(all.into_iter().map(number_value).collect())
}

/// Writes a whole number as one.
fn number_value(number: f64) -> Value {
    if number.fract() == 0.0 { Value::from(number as i64) } else { Value::from(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(schema: Value, path: &str, literals: &[Value]) -> String {
        let path: Vec<String> = path.split_terminator('.').map(str::to_owned).collect();
        let mut found = Vec::new();
        match collect_values(Shape::new(&schema), &path, literals, &mut found) {
            Some(()) => {
                let tell = |value: &Option<Value>| value.as_ref().map_or("none".to_owned(), Value::to_string);
                found.iter().map(tell).collect::<Vec<_>>().join(" ")
            }
            None => "unknown".to_owned(),
        }
    }

    #[test]
    fn numbers_stand_on_both_sides_of_what_they_are_compared_with() {
        let schema = json!({ "type": "integer", "minimum": 0, "maximum": 7 });
        assert_eq!(values(schema, "", &[json!(7)]), "0 1 6 7");
        assert_eq!(values(json!({ "type": "integer" }), "", &[json!(-5)]), "0 1 -6 -5 -4 -1");
        let number = json!({ "type": "number", "minimum": 0, "maximum": 1 });
        assert_eq!(values(number, "", &[json!(0.5), json!(0.75)]), "0 0.25 0.5 0.625 0.75 0.875 1");
        assert_eq!(values(json!({ "type": "number" }), "", &[json!(1.7e308)]), "unknown");
    }

    #[test]
    fn one_text_is_none_that_it_is_compared_with() {
        let compared = [json!("other"), json!(""), json!(3)];
        assert_eq!(values(json!({ "type": "string" }), "", &compared), r#""other." "other" """#);
    }

    #[test]
    fn fields_may_be_missing_and_lists_are_not_known() {
        let schema = json!({
            "anyOf": [{ "$ref": "#/$defs/a" }, { "type": "null" }],
            "$defs": { "a": {
                "type": "object",
                "required": ["flag"],
                "properties": { "flag": { "type": "boolean" }, "kind": { "enum": ["x", { "k": 1 }] }, "xs": { "items": {} } }
            } }
        });
        assert_eq!(values(schema.clone(), "flag", &[]), "false true none");
        assert_eq!(values(schema.clone(), "kind.k", &[]), "none 1 none none");
        for path in ["xs", "xs.a", "undescribed"] {
            assert_eq!(values(schema.clone(), path, &[]), "unknown", "{path}");
        }
        assert_eq!(values(json!({ "$ref": "#" }), "", &[]), "unknown");
    }
}
