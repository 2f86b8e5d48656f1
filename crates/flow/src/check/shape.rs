//! What a JSON Schema says of a value and of its fields, as far as a check needs it.
//!
//! It reads the keywords that give a value its shape and passes over the rest, always in favour of the workflow: what
//! it does not understand is allowed. Whether a value really fits is for the validator to say.

use serde_json::Value;

use crate::schema::matches_pattern;

/// The longest chain of references and alternatives that is followed; a schema may refer to itself.
const DEPTH_MAX: usize = 16;

/// A place in a schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape<'s> {
    root: &'s Value,
    schema: &'s Value,
}

/// What a schema says of a field.
#[derive(Debug, Clone)]
pub(super) enum Field<'s> {
    /// It is described.
    Known(Vec<Shape<'s>>),
    /// Nothing is said of it, and nothing else is described either.
    Open,
    /// It is not described, and others are; such a field is allowed.
    Undescribed,
    /// It is not allowed.
    Closed,
}

impl<'s> Shape<'s> {
    /// The most alternatives of one place that are considered.
    pub(super) const ALTERNATIVES_MAX: usize = 32;

    /// Begins at the top of a schema.
    pub(super) fn new(root: &'s Value) -> Shape<'s> {
        Shape { root, schema: root }
    }

    fn at(self, schema: &'s Value) -> Shape<'s> {
        Shape { root: self.root, schema }
    }

    /// Returns a keyword of this place alone.
    pub(super) fn keyword(self, name: &str) -> Option<&'s Value> {
        self.schema.get(name)
    }

    /// Whether this place says that no value may stand there.
    pub(super) fn is_never(self) -> bool {
        *self.schema == Value::Bool(false)
    }

    /// Lists the shapes that a value here may have, with references followed and choices laid side by side.
    pub(super) fn alternatives(self) -> Vec<Shape<'s>> {
        let mut found = Vec::new();
        self.collect(DEPTH_MAX, &mut found);
        found
    }

    fn collect(self, depth: usize, found: &mut Vec<Shape<'s>>) {
        if depth == 0 || found.len() >= Shape::ALTERNATIVES_MAX {
            return;
        }
        let referred =
            self.keyword("$ref").and_then(Value::as_str).and_then(|reference| self.find_reference(reference));
        if let Some(schema) = referred {
            return self.at(schema).collect(depth - 1, found);
        }
        let choices =
            ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|name| self.keyword(name)?.as_array());
        let before = found.len();
        choices.flatten().for_each(|schema| self.at(schema).collect(depth - 1, found));
        let describes = ["type", "properties", "enum", "const", "items", "additionalProperties"];
        if found.len() == before || describes.iter().any(|name| self.keyword(name).is_some()) {
            found.push(self);
        }
    }

    fn find_reference(self, reference: &str) -> Option<&'s Value> {
        let pointer = reference.strip_prefix('#')?;
        self.root.pointer(pointer)
    }

    /// Lists the names of types that a value of this one alternative may have; empty means any.
    pub(super) fn types(self) -> Vec<&'s str> {
        match self.keyword("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ if self.keyword("properties").is_some() || self.keyword("additionalProperties").is_some() => {
                vec!["object"]
            }
            _ if self.keyword("items").is_some() => vec!["array"],
            _ => self.members().into_iter().map(type_of).collect(),
        }
    }

    /// Lists the values that are allowed one by one.
    pub(super) fn members(self) -> Vec<&'s Value> {
        let members = self.keyword("enum").and_then(Value::as_array).into_iter().flatten();
        members.chain(self.keyword("const")).collect()
    }

    /// Says what is known of a field. JSONata reads a field of a list from its items, so lists are passed through.
    pub(super) fn read(self, name: &str) -> Field<'s> {
        let alternatives = self.alternatives();
        let through = alternatives.iter().flat_map(|shape| {
            let items = if shape.types().contains(&"array") { shape.items() } else { None };
            items.map_or_else(|| vec![*shape], |items| items.alternatives())
        });
        let found = field_of(through.collect(), name);
        // A list that says nothing of its items may have any.
        let is_open = |shape: &Shape<'_>| shape.types().contains(&"array") && shape.items().is_none();
        match found {
            Field::Undescribed | Field::Closed if alternatives.iter().any(is_open) => Field::Open,
            found => found,
        }
    }

    /// Says what is known of a field that is written; lists are not passed through.
    pub(super) fn field(self, name: &str) -> Field<'s> {
        field_of(self.alternatives(), name)
    }

    /// Returns the shape of the items of a list.
    pub(super) fn items(self) -> Option<Shape<'s>> {
        self.keyword("items").map(|schema| self.at(schema))
    }

    /// Whether the items of a list here may be lists.
    pub(super) fn holds_lists(self) -> bool {
        let items = self.alternatives().into_iter().filter_map(Shape::items).flat_map(Shape::alternatives);
        items.into_iter().any(|item| item.types().contains(&"array"))
    }

    /// Lists the names that are described here.
    pub(super) fn names(self) -> Vec<&'s str> {
        let through = self
            .alternatives()
            .into_iter()
            .flat_map(|shape| shape.items().map_or_else(|| vec![shape], Shape::alternatives));
        through
            .flat_map(Shape::properties)
            .filter(|(_, field, _)| !field.is_never())
            .map(|(name, ..)| name)
            .collect()
    }

    /// Lists the fields that an object of this one alternative has, with whether each must be there.
    pub(super) fn properties(self) -> Vec<(&'s str, Shape<'s>, bool)> {
        let required: Vec<&str> = self
            .keyword("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let fields = self.keyword("properties").and_then(Value::as_object).into_iter().flatten();
        fields
            .map(|(name, schema)| (name.as_str(), self.at(schema), required.contains(&name.as_str())))
            .collect()
    }

    /// Whether a field is ruled out by its name.
    pub(super) fn rules_out(self, name: &str) -> bool {
        let fields = self.alternatives().into_iter().flat_map(Shape::properties);
        fields.into_iter().any(|(known, field, _)| known == name && field.is_never())
    }

    /// Whether a value may stand here, as far as types, choices and bounds of numbers say.
    pub(super) fn may_hold(self, value: &Value) -> bool {
        self.alternatives().into_iter().any(|shape| shape.may_be(value))
    }

    fn may_be(self, value: &Value) -> bool {
        let types = self.types();
        let is_type = types.is_empty() || types.iter().any(|name| has_type(value, name));
        let is_choice =
            self.keyword("enum").and_then(Value::as_array).is_none_or(|members| members.contains(value));
        let is_constant = self.keyword("const").is_none_or(|constant| constant == value);
        is_type && is_choice && is_constant && self.is_within(value)
    }

    /// Whether this one alternative leaves only so many values.
    pub(super) fn is_finite(self) -> bool {
        let has_bounds = ["minimum", "maximum"].iter().all(|name| self.keyword(name).is_some());
        let is_finite = |name: &&str| match *name {
            "boolean" | "null" => true,
            "integer" => has_bounds,
            _ => false,
        };
        let types = self.types();
        self.keyword("enum").is_some()
            || self.keyword("const").is_some()
            || (!types.is_empty() && types.iter().all(is_finite))
    }

    /// Whether an object of this one alternative has no fields but those that are described by name.
    pub(super) fn is_closed(self) -> bool {
        self.keyword("additionalProperties") == Some(&Value::Bool(false))
            && self.keyword("patternProperties").is_none()
    }

    /// Whether a number is within `minimum` and `maximum`.
    pub(super) fn is_within(self, value: &Value) -> bool {
        let Some(number) = value.as_f64() else { return true };
        let bound = |name: &str| self.keyword(name).and_then(Value::as_f64);
        bound("minimum").is_none_or(|least| number >= least)
            && bound("maximum").is_none_or(|most| number <= most)
    }
}

fn field_of<'s>(shapes: Vec<Shape<'s>>, name: &str) -> Field<'s> {
    let mut known = Vec::new();
    let (mut is_described, mut is_allowed) = (false, false);
    for shape in shapes {
        let types = shape.types();
        if !types.is_empty() && !types.contains(&"object") {
            continue;
        }
        let fields = shape.keyword("properties").and_then(Value::as_object);
        is_described |= fields.is_some();
        let others = shape.keyword("additionalProperties");
        let patterns = shape.keyword("patternProperties").and_then(Value::as_object).into_iter().flatten();
        let matching: Vec<&Value> = patterns
            .filter(|(pattern, _)| matches_pattern(pattern, name))
            .map(|(_, schema)| schema)
            .collect();
        let field = fields.and_then(|fields| fields.get(name)).map(|schema| shape.at(schema));
        if let Some(field) = field {
            // `false` describes a field that is never there.
            known.extend(Some(field).filter(|field| !field.is_never()));
        } else if !matching.is_empty() {
            known.extend(matching.into_iter().map(|schema| shape.at(schema)));
        } else if let Some(schema) = others.filter(|others| others.is_object()) {
            known.push(shape.at(schema));
        } else {
            is_allowed |= others != Some(&Value::Bool(false));
        }
    }
    match (known.is_empty(), is_allowed, is_described) {
        (false, ..) => Field::Known(known),
        (true, true, false) => Field::Open,
        (true, true, true) => Field::Undescribed,
        (true, false, _) => Field::Closed,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    }
}
