//! Values that a schema allows, few but telling: every choice, both sides of every number that is compared with.
//!
//! An edge that looks at a value can only tell apart what it compares with, so these stand for all others.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::shape::Shape;

/// The most values of one place: enough for some hundred edges that compare with a number each.
const VALUES_MAX: usize = 1_024;

/// The most objects of one place; each is a combination of the values of its fields.
const OBJECTS_MAX: usize = 1_024;

/// The deepest value that is made; a schema may refer to itself.
const DEPTH_MAX: usize = 8;

/// The most items of a list that is made, unless a comparison names a higher number.
const ITEMS_MAX: u64 = 3;

/// The highest number in a comparison for which a list of as many items is made.
pub(super) const COUNT_MAX: u64 = 12;

/// A text that no comparison names.
const OTHER_TEXT: &str = "other";

/// The fields that matter, by name, each with the fields that matter in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Wanted(pub(super) BTreeMap<String, Wanted>);

impl Wanted {
    /// Adds a path of names.
    pub(super) fn add(&mut self, path: &[String]) {
        if let Some((first, rest)) = path.split_first() {
            self.0.entry(first.clone()).or_default().add(rest);
        }
    }
}

/// What values are compared with.
#[derive(Debug, Clone, Default)]
pub(super) struct Literals {
    /// In order, each once.
    numbers: Vec<f64>,
    texts: BTreeSet<String>,
}

impl Literals {
    /// Adds a value that something is compared with.
    pub(super) fn add(&mut self, value: &Value) {
        match value {
            Value::String(text) => drop(self.texts.insert(text.clone())),
            Value::Number(number) => {
                self.numbers.extend(number.as_f64().filter(|number| number.is_finite()));
                sort(&mut self.numbers);
            }
            Value::Array(values) => values.iter().for_each(|value| self.add(value)),
            _ => {}
        }
    }

    /// Adds what a value must be for one of the numbers to come out, after one of the steps is added or taken away.
    pub(super) fn add_steps(&mut self, steps: &[Value]) {
        let steps = steps.iter().filter_map(Value::as_f64);
        let moved: Vec<f64> = steps
            .flat_map(|step| self.numbers.iter().flat_map(move |number| [number - step, number + step]))
            .collect();
        self.numbers.extend(moved);
        sort(&mut self.numbers);
    }
}

fn sort(numbers: &mut Vec<f64>) {
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
}

/// Values of a place.
#[derive(Debug, Clone)]
pub(super) struct Values {
    /// Each once; the first is the plainest.
    pub(super) values: Vec<Value>,
    /// Whether none was left out because there are too many.
    pub(super) is_complete: bool,
}

/// Lists telling values that one of the shapes allows.
pub(super) fn find_values(shapes: &[Shape<'_>], wanted: &Wanted, literals: &Literals) -> Values {
    let maker = Maker { literals, is_complete: Cell::new(true) };
    let values = shapes.iter().flat_map(|shape| maker.values(*shape, wanted, DEPTH_MAX)).collect();
    Values { values, is_complete: maker.is_complete.get() }
}

struct Maker<'m> {
    literals: &'m Literals,
    is_complete: Cell<bool>,
}

impl Maker<'_> {
    fn values(&self, shape: Shape<'_>, wanted: &Wanted, depth: usize) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        for alternative in shape.alternatives() {
            for value in self.values_of(alternative, wanted, depth) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        if values.len() > VALUES_MAX {
            self.is_complete.set(false);
            values.truncate(VALUES_MAX);
        }
        values
    }

    fn values_of(&self, shape: Shape<'_>, wanted: &Wanted, depth: usize) -> Vec<Value> {
        if let Some(members) = shape.keyword("enum").and_then(Value::as_array) {
            return members.clone();
        }
        if let Some(constant) = shape.keyword("const") {
            return vec![constant.clone()];
        }
        let types = shape.types();
        if types.is_empty() {
            return self.any();
        }
        types.into_iter().flat_map(|name| self.values_of_type(name, shape, wanted, depth)).collect()
    }

    fn values_of_type(&self, name: &str, shape: Shape<'_>, wanted: &Wanted, depth: usize) -> Vec<Value> {
        match name {
            "boolean" => vec![false.into(), true.into()],
            "integer" => self.numbers(shape, true),
            "number" => self.numbers(shape, false),
            "string" => self.texts(),
            "array" => self.lists(shape, wanted, depth),
            "object" => self.objects(shape, wanted, depth),
            _ => vec![Value::Null],
        }
    }

    fn any(&self) -> Vec<Value> {
        let numbers = self.literals.numbers.iter().map(|number| number_value(*number));
        let plain = [Value::Null, false.into(), true.into()];
        plain.into_iter().chain(self.texts()).chain(numbers).collect()
    }

    fn texts(&self) -> Vec<Value> {
        let is_compared = |text: &String| self.literals.texts.contains(text);
        let mut other = OTHER_TEXT.to_owned();
        while is_compared(&other) {
            other.push('.');
        }
        let compared = self.literals.texts.iter().map(|text| Value::from(text.as_str()));
        std::iter::once(other.into()).chain(compared).collect()
    }

    /// Lists numbers that are equal to each literal, between every two of them, and beyond them.
    fn numbers(&self, shape: Shape<'_>, is_integer: bool) -> Vec<Value> {
        let bound = |name: &str| shape.keyword(name).and_then(Value::as_f64);
        let least = bound("minimum").unwrap_or(0.0);
        let mut numbers = self.literals.numbers.clone();
        numbers.extend([Some(least), bound("maximum")].into_iter().flatten());
        sort(&mut numbers);
        if is_integer {
            let around = |number: &f64| {
                let (below, above) = (number.floor(), number.ceil());
                [below - 1.0, below, above, above + 1.0]
            };
            numbers = numbers.iter().flat_map(around).collect();
        } else {
            let between: Vec<f64> = numbers.windows(2).map(|pair| pair[0].midpoint(pair[1])).collect();
            let beyond = [numbers.first().map(|first| first - 1.0), numbers.last().map(|last| last + 1.0)];
            numbers.extend(between.into_iter().chain(beyond.into_iter().flatten()));
        }
        numbers.extend([least.ceil(), least.ceil() + 1.0, least.ceil() + 2.0]);
        sort(&mut numbers);
        // One below what may be would be the first otherwise, where there is no `minimum`.
        numbers.sort_by_key(|number| *number < least);
        numbers.into_iter().map(number_value).filter(|value| shape.is_within(value)).collect()
    }

    fn lists(&self, shape: Shape<'_>, wanted: &Wanted, depth: usize) -> Vec<Value> {
        let bound = |name: &str| shape.keyword(name).and_then(Value::as_u64);
        let (least, most) = (bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(u64::MAX));
        let compared =
            self.literals.numbers.iter().filter(|number| (0.0..=COUNT_MAX as f64).contains(*number));
        let around = compared.flat_map(|number| {
            let (below, above) = (number.floor() as u64, number.ceil() as u64);
            [below.saturating_sub(1), below, above, above + 1]
        });
        let counts: BTreeSet<u64> =
            (0..=ITEMS_MAX).chain([least]).chain(around.filter(|count| *count <= COUNT_MAX)).collect();
        let items = match shape.items() {
            Some(items) if depth > 0 => self.values(items, wanted, depth - 1),
            _ => vec![Value::Null],
        };
        let counts = counts.into_iter().filter(|count| (least..=most).contains(count));
        counts.flat_map(|count| lists_of(&items, count as usize)).collect()
    }

    fn objects(&self, shape: Shape<'_>, wanted: &Wanted, depth: usize) -> Vec<Value> {
        let mut objects = vec![Map::new()];
        if depth == 0 {
            return vec![Value::Object(Map::new())];
        }
        for (name, field, is_required) in shape.properties() {
            let inner = wanted.0.get(name);
            let mut choices: Vec<Option<Value>> = match inner {
                Some(inner) => self.values(field, inner, depth - 1).into_iter().map(Some).collect(),
                None if is_required => {
                    self.values(field, &Wanted::default(), depth - 1).into_iter().take(1).map(Some).collect()
                }
                None => continue,
            };
            if !is_required {
                choices.push(None);
            }
            let fits = choices.len().min(OBJECTS_MAX / objects.len().max(1)).max(1);
            if fits < choices.len() {
                self.is_complete.set(false);
            }
            objects = objects
                .iter()
                .flat_map(|object| {
                    choices.iter().take(fits).map(|choice| with(object, name, choice.as_ref()))
                })
                .collect();
        }
        objects.into_iter().map(Value::Object).collect()
    }
}

/// Lists of as many items: all alike, for each kind of item, and all kinds in turn.
fn lists_of(items: &[Value], count: usize) -> Vec<Value> {
    let alike = |item: &Value| Value::Array(vec![item.clone(); count]);
    let mut lists: Vec<Value> = match count {
        0 => vec![Value::Array(Vec::new())],
        _ => items.iter().map(alike).collect(),
    };
    if count > 1 && items.len() > 1 {
        lists.push(Value::Array(items.iter().cycle().take(count).cloned().collect()));
    }
    lists
}

/// Writes a whole number as one.
fn number_value(number: f64) -> Value {
    let is_whole = number.fract() == 0.0 && number.abs() < i64::MAX as f64;
    if is_whole { Value::from(number as i64) } else { Value::from(number) }
}

fn with(object: &Map<String, Value>, name: &str, value: Option<&Value>) -> Map<String, Value> {
    let mut object = object.clone();
    if let Some(value) = value {
        object.insert(name.to_owned(), value.clone());
    }
    object
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(schema: Value, paths: &[&str], compared: &[Value]) -> String {
        let (mut wanted, mut literals) = (Wanted::default(), Literals::default());
        paths.iter().for_each(|path| wanted.add(&path.split('.').map(str::to_owned).collect::<Vec<_>>()));
        compared.iter().for_each(|value| literals.add(value));
        Value::from(find_values(&[Shape::new(&schema)], &wanted, &literals).values).to_string()
    }

    #[test]
    fn numbers_stand_on_both_sides_of_what_they_are_compared_with() {
        let schema = json!({ "type": "integer", "minimum": 0, "maximum": 7 });
        assert_eq!(values(schema, &[], &[json!(7)]), "[0,1,2,6,7]");
        assert_eq!(values(json!({ "type": "string" }), &[], &[json!("a")]), r#"["other","a"]"#);
        let between =
            values(json!({ "type": "number", "minimum": 0, "maximum": 1 }), &[], &[json!(0.5), json!(0.75)]);
        assert_eq!(between, "[0,0.25,0.5,0.625,0.75,0.875,1]");
        assert_eq!(values(json!({ "type": "integer" }), &[], &[json!(-5)]), "[0,1,2,-6,-5,-4,-1]");
    }

    #[test]
    fn one_text_is_none_that_it_is_compared_with() {
        let compared = [json!("other"), json!("")];
        assert_eq!(values(json!({ "type": "string" }), &[], &compared), r#"["other.","","other"]"#);
    }

    #[test]
    fn choices_are_laid_side_by_side() {
        let schema = json!({ "anyOf": [{ "$ref": "#/$defs/a" }, { "type": "null" }], "$defs": { "a": { "enum": [1, 2] } } });
        assert_eq!(values(schema, &[], &[]), "[1,2,null]");
    }

    #[test]
    fn only_fields_that_matter_vary() {
        let flag = json!({ "type": "boolean" });
        let schema = json!({ "type": "object", "required": ["a", "b"], "properties": { "a": flag, "b": flag, "c": flag } });
        assert_eq!(values(schema.clone(), &["a"], &[]), r#"[{"a":false,"b":false},{"a":true,"b":false}]"#);
        let optional = values(schema, &["c"], &[]);
        assert!(
            optional.contains(r#"{"a":false,"b":false}"#) && optional.contains(r#""c":true"#),
            "{optional}"
        );
    }

    #[test]
    fn lists_have_no_one_and_several_items_of_each_kind() {
        let schema = json!({ "type": "array", "maxItems": 2, "items": { "enum": ["x", "y"] } });
        assert_eq!(values(schema, &[], &[]), r#"[[],["x"],["y"],["x","x"],["y","y"],["x","y"]]"#);
    }

    #[test]
    fn a_schema_within_itself_ends() {
        let schema = json!({ "type": "object", "required": ["a"], "properties": { "a": { "$ref": "#" } } });
        assert!(values(schema, &["a.a.a"], &[]).len() < 200);
        let around = json!({ "$ref": "#" });
        assert_eq!(values(around, &[], &[]), "[]");
    }
}
