//! A compiled schema that judges values whole.

use jsonschema::{PatternOptions, ValidationError, ValidationOptions, Validator};
use serde_json::{Value, json};

use crate::schema::defaults;
use crate::schema::fault::{SchemaFault, tell};

/// The most tries of a `pattern` that looks ahead or back: enough for a key, too few to be felt.
const PATTERN_TRIES_MAX: usize = 100_000;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    document: Value,
    validator: Validator,
}

impl Schema {
    /// Compiles a schema; it must refer to itself only.
    pub(crate) fn compile(document: Value) -> Result<Schema, ValidationError<'static>> {
        let validator = options().build(&document)?;
        Ok(Schema { document, validator })
    }

    /// Returns the schema that everything fits.
    pub(crate) fn open() -> Schema {
        Schema::compile(json!({})).expect("a schema without words can be compiled")
    }

    /// Returns the schema as it is written.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// Judges a value and tells what is wrong with it, up to a bound.
    pub fn check(&self, value: &Value) -> Result<(), Vec<SchemaFault>> {
        if self.validator.is_valid(value) {
            return Ok(());
        }
        Err(tell(self.validator.iter_errors(value), value, &[]))
    }

    /// Adds the defaults of fields that a value does not have.
    pub fn fill_defaults(&self, value: &mut Value) {
        defaults::fill(&self.document, value);
    }
}

/// Whether a `patternProperties` pattern of a schema speaks of a name. One that cannot be judged does.
pub(crate) fn matches_pattern(pattern: &str, name: &str) -> bool {
    let judged = options().build(&json!({ "pattern": pattern }));
    judged.map_or(true, |validator| validator.is_valid(&Value::from(name)))
}

/// Returns how schemas are compiled here: nothing is fetched, and patterns are bounded.
pub(crate) fn options() -> ValidationOptions<'static> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(PATTERN_TRIES_MAX);
    jsonschema::options().offline().with_pattern_options(patterns)
}
