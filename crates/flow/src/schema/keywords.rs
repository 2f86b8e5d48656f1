//! Which keywords of a schema matter when one part of a value changes.
//!
//! A keyword is local if it looks at one child at a time, or at no children. Any other keyword, also an unknown one,
//! counts as not local: then more is validated than necessary, and nothing is missed.

use serde_json::{Map, Value};

/// Words that lead to the schema of a child, or to another schema for the same value.
const LEADING: &[&str] = &["properties", "additionalProperties", "items", "prefixItems", "$ref"];

/// Words about a whole value that a change of one child leaves as they are: it has the same kind, and nothing is
/// ever removed.
const STEADY: &[&str] = &["type", "required", "minItems", "minProperties"];

/// Words that count children; they are asked only when one is added.
const COUNTING: &[&str] = &["maxItems", "maxProperties"];

/// Words about values that have no children.
const SCALAR: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "contentEncoding",
    "contentMediaType",
];

/// Words that judge nothing.
const SILENT: &[&str] = &[
    "$schema",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// Whether every word of a schema is local. `is_root` is true for the document itself, whose `$id` is harmless.
pub(crate) fn are_local(schema: &Map<String, Value>, is_root: bool) -> bool {
    let is_local = |word: &str| {
        [LEADING, STEADY, COUNTING, SCALAR, SILENT].iter().any(|words| words.contains(&word))
            || is_root && word == "$id"
    };
    schema.keys().all(|word| is_local(word))
}
