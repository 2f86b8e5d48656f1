//! How a value breaks its schema, in words for the author of the value.

use std::fmt;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::path::{PathStep, ResolvedPath};

/// The most errors reported for one value: an agent that is asked again fixes the first ones first.
pub const SCHEMA_FAULTS_MAX: usize = 20;

/// The longest message, in characters: some schemas list hundreds of allowed values.
const MESSAGE_CHARACTERS_MAX: usize = 300;

/// The longest value that is shown as it is, in characters.
const VALUE_CHARACTERS_MAX: usize = 80;

/// One thing that a schema does not allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaFault {
    /// The place in the value, such as `tasks[0].status`; empty for the value itself.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

/// Tells errors of a value that stands at `prefix`.
pub(crate) fn tell<'e>(
    errors: impl Iterator<Item = ValidationError<'e>>,
    root: &Value,
    prefix: &[PathStep],
) -> Vec<SchemaFault> {
    let mut told = Vec::new();
    for error in errors.take(SCHEMA_FAULTS_MAX) {
        tell_one(&error, root, prefix, &mut told);
    }
    told.truncate(SCHEMA_FAULTS_MAX);
    told
}

fn tell_one(error: &ValidationError<'_>, root: &Value, prefix: &[PathStep], told: &mut Vec<SchemaFault>) {
    for error in find_meant(error) {
        let mut path = ResolvedPath(prefix.to_vec());
        path.0.extend(steps_of(error.instance_path().as_str(), root));
        told.push(SchemaFault { path: path.to_string(), message: message_of(error) });
    }
}

/// Returns the errors that explain one. Of alternatives that all failed these are the errors of the one that went
/// furthest, because that is the one that was meant.
pub(crate) fn find_meant<'e, 'v>(error: &'e ValidationError<'v>) -> Vec<&'e ValidationError<'v>>
where
    'static: 'v,
{
    if let ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } =
        error.kind()
    {
        let reach = |errors: &Vec<ValidationError<'_>>| {
            errors.iter().map(|error| (error.instance_path().as_str().len(), !is_type_error(error))).max()
        };
        if let Some(nearest) =
            context.iter().filter(|errors| !errors.is_empty()).max_by_key(|errors| reach(errors))
        {
            return nearest.iter().flat_map(|error| find_meant(error)).collect();
        }
    }
    vec![error]
}

fn is_type_error(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), ValidationErrorKind::Type { .. })
}

pub(crate) fn message_of(error: &ValidationError<'_>) -> String {
    let value = error.instance();
    let is_short = match value.as_ref() {
        Value::Array(_) | Value::Object(_) => false,
        Value::String(text) => text.len() <= VALUE_CHARACTERS_MAX,
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    };
    let message = match error.kind() {
        // The words of the library leave out all but the first options, and an agent needs them all.
        ValidationErrorKind::Enum { options } if is_short => format!("{value} is not one of {options}"),
        ValidationErrorKind::Enum { options } => format!("the value is not one of {options}"),
        _ if is_short => error.to_string(),
        _ => error.masked_with("the value").to_string(),
    };
    match message.char_indices().nth(MESSAGE_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message,
    }
}

/// Reads a JSON pointer against the value that it points into: a number is an index only in a list.
fn steps_of(pointer: &str, root: &Value) -> Vec<PathStep> {
    let mut steps = Vec::new();
    let mut value = Some(root);
    for part in pointer.split('/').skip(1) {
        let name = part.replace("~1", "/").replace("~0", "~");
        let step = match (value, name.parse::<usize>()) {
            (Some(Value::Array(_)), Ok(index)) => PathStep::Index(index),
            _ => PathStep::Key(name.into()),
        };
        value = value.and_then(|value| match &step {
            PathStep::Index(index) => value.get(*index),
            PathStep::Key(name) => value.get(&**name),
        });
        steps.push(step);
    }
    steps
}
