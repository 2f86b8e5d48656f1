//! Estimates the size of a value in little time.
//!
//! A tracer can look at a value only through a shortened copy. With one item per level that copy is small, and the
//! engine notes in it how many items it left out. From these counts follows roughly how much memory the value takes
//! and how many values it contains, assuming that all items are like the first. A string is copied to learn its
//! length.

use jlens_core::audit::{CaptureLimits, ValueRef};
use serde_json::Value;

/// What an item of an array takes, about.
const ITEM_BYTES: usize = 32;

/// What a field of an object takes, about.
pub(crate) const FIELD_BYTES: usize = 96;

/// What any string, array or object takes before it holds anything, about.
pub(crate) const CONTAINER_BYTES: usize = 64;

/// How deep a value is looked into to weigh it.
const WEIGHED_LEVELS: usize = 24;

/// Reads only the first item at each level, with the number of the others.
pub(crate) const SPINE: CaptureLimits = CaptureLimits {
    max_items: 1,
    max_string: 0,
    max_depth: WEIGHED_LEVELS,
    max_rejected: 0,
    max_nodes: 0,
    max_source: 0,
};

/// Reads a scalar as it is.
pub(crate) const WHOLE: CaptureLimits = CaptureLimits { max_string: usize::MAX, ..SPINE };

/// How much a value is, about.
pub(crate) enum Weight {
    /// A number, a boolean, null, a function or nothing.
    Scalar,
    /// A string.
    Text { bytes: usize },
    /// An array or an object.
    Container {
        /// What the outermost level takes.
        own_bytes: usize,
        /// How many values the outermost level holds.
        width: usize,
        /// How many values all levels hold.
        values: usize,
    },
}

impl Weight {
    pub(crate) fn of(value: ValueRef<'_>) -> Weight {
        match value.type_name() {
            "string" => {
                let copy = value.capture(&WHOLE);
                Weight::Text { bytes: copy.as_ref().and_then(Value::as_str).map_or(0, str::len) }
            }
            "array" | "object" => {
                value.capture(&SPINE).map_or(Weight::Scalar, |spine| Weight::of_spine(&spine))
            }
            _ => Weight::Scalar,
        }
    }

    fn of_spine(spine: &Value) -> Weight {
        let (own_bytes, width) = measure(spine);
        let mut values = width;
        let mut level = first_within(spine);
        while let Some(inner) = level {
            values = values.saturating_mul(measure(inner).1.max(1));
            level = first_within(inner);
        }
        Weight::Container { own_bytes, width, values }
    }
}

/// Returns about how many bytes the outermost level takes, and how many values it holds.
fn measure(spine: &Value) -> (usize, usize) {
    match spine {
        Value::Array(items) => {
            let width = items.first().map_or(0, |_| 1 + others(items.get(1)));
            (CONTAINER_BYTES + width * ITEM_BYTES, width)
        }
        Value::Object(fields) => {
            let width = fields.len().min(1) + others(fields.get("\u{2026}"));
            (CONTAINER_BYTES + width * FIELD_BYTES, width)
        }
        _ => (0, 1),
    }
}

/// Reads the number of items that the engine left out: "\u{2026} 7 more" or "7 more".
fn others(note: Option<&Value>) -> usize {
    let words = note.and_then(Value::as_str).unwrap_or_default().split(' ');
    words.filter_map(|word| word.parse::<usize>().ok()).next().unwrap_or(0)
}

fn first_within(spine: &Value) -> Option<&Value> {
    let first = match spine {
        Value::Array(items) => items.first(),
        Value::Object(fields) => fields.values().next(),
        _ => None,
    };
    first.filter(|first| first.is_array() || first.is_object())
}
