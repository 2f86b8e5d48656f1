//! The parts of a schema and how they lead to each other, found once.
//!
//! A step judges a handful of changed places. Following the text of a schema for each, pointer by pointer, would cost
//! more than the judgements; on the chart a walk takes one lookup per name. It says nothing about values.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::schema::defaults::find_referred;
use crate::schema::keywords::are_local;

/// A part of a schema, by its number on the chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartId(usize);

impl PartId {
    /// Returns its place among all parts.
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

/// All parts of a schema that a walk can come to.
#[derive(Debug)]
pub(crate) struct Chart {
    parts: Vec<Part>,
}

/// One part of a schema.
#[derive(Debug)]
pub(crate) struct Part {
    /// Where it stands, such as `#/properties/tasks`.
    pub(crate) pointer: String,
    /// Where it leads; `None` if a value must be judged by it whole.
    pub(crate) ways: Option<Ways>,
}

/// Where a part leads whose words look at one child at a time.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    /// The part that speaks of the same value too.
    pub(crate) referred: Option<PartId>,
    /// The most items of a list.
    pub(crate) items_max: Option<u64>,
    /// The most fields of an object.
    pub(crate) fields_max: Option<u64>,
    fields: HashMap<String, PartId>,
    other_fields: Option<PartId>,
    items: Vec<PartId>,
    other_items: Option<PartId>,
}

impl Ways {
    /// Returns the part for the field of that name.
    pub(crate) fn find_field(&self, name: &str) -> Option<PartId> {
        self.fields.get(name).copied().or(self.other_fields)
    }

    /// Returns the part for the item with that number.
    pub(crate) fn find_item(&self, index: usize) -> Option<PartId> {
        self.items.get(index).copied().or(self.other_items)
    }
}

impl Chart {
    /// The part that is the whole schema.
    pub(crate) const ROOT: PartId = PartId(0);

    /// Draws the chart of a schema.
    pub(crate) fn draw(document: &Value) -> Chart {
        let mut drawing = Drawing { document, pointers: Vec::new(), known: HashMap::new() };
        drawing.number("#".to_owned());
        let mut parts = Vec::new();
        // Every part stands in the document, so there are no more of them than it has values and references.
        while let Some(pointer) = drawing.pointers.get(parts.len()).cloned() {
            let ways = drawing.find_ways(&pointer);
            parts.push(Part { pointer, ways });
        }
        Chart { parts }
    }

    /// Returns a part.
    pub(crate) fn part(&self, id: PartId) -> &Part {
        &self.parts[id.0]
    }

    /// Returns all parts, in the order of their numbers.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Tells whether a change below the top never makes a walk stop at it, or count its fields.
    pub(crate) fn is_open_at_top(&self) -> bool {
        let mut at = Some(Chart::ROOT);
        // A reference leads to another part each time, or goes round.
        for _ in 0..self.parts.len() {
            let Some(part) = at else { return true };
            let Some(ways) = &self.part(part).ways else { return false };
            if ways.fields_max.is_some() {
                return false;
            }
            at = ways.referred;
        }
        true
    }
}

/// A chart while it is drawn: the parts that were come to, in that order.
struct Drawing<'d> {
    document: &'d Value,
    pointers: Vec<String>,
    known: HashMap<String, PartId>,
}

impl Drawing<'_> {
    fn number(&mut self, pointer: String) -> PartId {
        if let Some(known) = self.known.get(&pointer) {
            return *known;
        }
        let id = PartId(self.pointers.len());
        self.known.insert(pointer.clone(), id);
        self.pointers.push(pointer);
        id
    }

    fn find_ways(&mut self, pointer: &str) -> Option<Ways> {
        // `true` allows whatever comes, and `false` nothing: both are judged like any other schema.
        let schema = find_referred(self.document, pointer)?.as_object()?;
        let referred = schema.get("$ref").and_then(Value::as_str);
        let leads =
            referred.is_none_or(|name| !name.contains('%') && find_referred(self.document, name).is_some());
        if !leads || !are_local(schema, pointer == "#") {
            return None;
        }
        let max = |word| schema.get(word).and_then(Value::as_u64);
        Some(Ways {
            referred: referred.map(|name| self.number(name.to_owned())),
            items_max: max("maxItems"),
            fields_max: max("maxProperties"),
            fields: self.number_fields(schema, pointer),
            other_fields: self.number_under(schema, pointer, "additionalProperties"),
            items: self.number_items(schema, pointer),
            other_items: self.number_under(schema, pointer, "items"),
        })
    }

    fn number_fields(&mut self, schema: &Map<String, Value>, pointer: &str) -> HashMap<String, PartId> {
        let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        fields
            .map(|(name, _)| (name.clone(), self.number(format!("{pointer}/properties/{}", escape(name)))))
            .collect()
    }

    fn number_items(&mut self, schema: &Map<String, Value>, pointer: &str) -> Vec<PartId> {
        let items = schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
        (0..items).map(|index| self.number(format!("{pointer}/prefixItems/{index}"))).collect()
    }

    fn number_under(&mut self, schema: &Map<String, Value>, pointer: &str, word: &str) -> Option<PartId> {
        schema.contains_key(word).then(|| self.number(format!("{pointer}/{word}")))
    }
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
