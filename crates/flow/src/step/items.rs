//! The items that a `map` node runs its child for.

use serde_json::Value;

use crate::expression::Expression;
use crate::step::{Look, StepFault};
use crate::workflow::{Node, NodeKind};

/// The most that a list of items may weigh, in bytes: ten thousand tasks of a kilobyte and more.
pub(crate) const ITEMS_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One item of a `map` node.
#[derive(Debug, Clone, PartialEq)]
pub struct MapItem {
    /// Its key.
    pub key: String,
    /// The keys of the items that it needs first.
    pub depends: Vec<String>,
    /// The item itself.
    pub value: Value,
}

/// Evaluates the items of a `map` node; other kinds have none.
pub fn map_items(look: &Look<'_>, node: &Node) -> Result<Vec<MapItem>, StepFault> {
    let NodeKind::Map { items, key, depends, .. } = &node.kind else { return Ok(Vec::new()) };
    let item = |value: Value| {
        Ok(MapItem {
            key: item_text(look, &value, key)?
                .ok_or_else(|| StepFault::unusable(key, "a text", &Value::Null))?,
            depends: depends
                .as_ref()
                .map(|depends| item_texts(look, &value, depends))
                .transpose()?
                .unwrap_or_default(),
            value,
        })
    };
    evaluate_list(look, items)?.into_iter().map(item).collect()
}

/// Evaluates an expression to a list. Undefined and null are empty, and a single value is a list of one.
pub(crate) fn evaluate_list(look: &Look<'_>, expression: &Expression) -> Result<Vec<Value>, StepFault> {
    Ok(match look.evaluate_items(expression, ITEMS_BYTES_MAX)? {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(single) => vec![single],
    })
}

pub(crate) fn item_text(
    look: &Look<'_>,
    item: &Value,
    expression: &Expression,
) -> Result<Option<String>, StepFault> {
    match look.evaluate_item(item, expression)? {
        None | Some(Value::Null) => Ok(None),
        Some(value) => text_of(expression, value).map(Some),
    }
}

pub(crate) fn item_texts(
    look: &Look<'_>,
    item: &Value,
    expression: &Expression,
) -> Result<Vec<String>, StepFault> {
    match look.evaluate_item(item, expression)? {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(values)) => values.into_iter().map(|value| text_of(expression, value)).collect(),
        Some(value) => Ok(vec![text_of(expression, value)?]),
    }
}

fn text_of(expression: &Expression, value: Value) -> Result<String, StepFault> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(StepFault::unusable(expression, "a text", &other)),
    }
}
