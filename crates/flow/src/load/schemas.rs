//! The schemas of a folder: JSON that is a JSON Schema, and for the state a little more.

use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use crate::expression::RESERVED;
use crate::fault::{Fault, Position};
use crate::load::section::Section;
use crate::load::unique::find_repeated_key;
use crate::load::{Loading, pointer};
use crate::schema::{Schema, StateSchema, find_meant, message_of};
use crate::source::Source;

/// The file of the state's schema, unless the workflow says otherwise.
const STATE: &str = "state.schema.json";

/// The file of the input's schema, unless the workflow says otherwise.
const INPUT: &str = "input.schema.json";

/// The dialect of JSON Schema to write in.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The most errors reported for one schema.
const FAULTS_MAX: usize = 10;

impl Loading<'_> {
    /// Loads the schema of the state.
    pub(super) fn load_state_schema(&self, prefix: &str, section: &Section<'_>) -> Option<StateSchema> {
        let (file, at) = named_file(section, prefix, "state", STATE);
        let source = self.needed_file(&file, &at)?;
        let document = self.read_schema(&source)?;
        let is_object = self.check_fields(&source, &document);
        match StateSchema::compile(document) {
            Ok(schema) => {
                if is_object {
                    self.check_initial(&source, &schema);
                }
                Some(schema)
            }
            Err(error) => self.bad_schema(&source, &error),
        }
    }

    /// Loads the schema of the input. `Some(None)` means that there is none, and need not be.
    pub(super) fn load_input_schema(&self, prefix: &str, section: &Section<'_>) -> Option<Option<Schema>> {
        let (file, at) = named_file(section, prefix, "input", INPUT);
        let is_named = section.entries().iter().any(|(key, _)| key.value == "input");
        match self.find_file(&file) {
            None if !is_named => Some(None),
            None => self.needed_file(&file, &at).and(None),
            Some(source) => self.compile_schema(&source).map(Some),
        }
    }

    /// Judges the schemas that have their usual names, of a workflow that cannot be read.
    pub(super) fn check_usual_schemas(&self, prefix: &str) {
        for name in [STATE, INPUT] {
            self.find_file(&format!("{prefix}{name}")).and_then(|source| self.compile_schema(&source));
        }
    }

    /// Reads and compiles any other schema.
    pub(super) fn compile_schema(&self, source: &Source<'_>) -> Option<Schema> {
        let document = self.read_schema(source)?;
        Schema::compile(document).map_or_else(|error| self.bad_schema(source, &error), Some)
    }

    /// Reads JSON and judges it as a schema.
    fn read_schema(&self, source: &Source<'_>) -> Option<Value> {
        let document: Value = match regatta_expr::read_json(source.text) {
            Ok(document) => document,
            Err(error) => {
                let at = source.position(offset_of(source.text, error.line(), error.column()));
                self.faults.add(Fault::error("bad-json", &at, format!("the file is not JSON: {error}")));
                return None;
            }
        };
        if let Some(error) = find_repeated_key(source.text) {
            let end = offset_of(source.text, error.line(), error.column());
            let before = source.text.get(..end.start).unwrap_or_default();
            let at = source.position(before.rfind('"').unwrap_or(end.start)..end.end);
            let told = error.to_string();
            let message = told.split(" at line ").next().unwrap_or_default();
            self.faults.add(Fault::error("repeated-key", &at, message));
            return None;
        }
        let validator = match jsonschema::meta::validator_for(&document) {
            Ok(validator) => validator,
            Err(error) if matches!(error.kind(), ValidationErrorKind::Referencing(_)) => {
                return self.unknown_dialect(source, &document);
            }
            Err(error) => return self.bad_schema(source, &error),
        };
        let errors: Vec<_> = validator.iter_errors(&document).take(FAULTS_MAX).collect();
        for error in &errors {
            self.bad_schema::<()>(source, error);
        }
        let is_fit = errors.is_empty();
        drop(errors);
        is_fit.then_some(document)
    }

    fn unknown_dialect<T>(&self, source: &Source<'_>, document: &Value) -> Option<T> {
        let dialect = document.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let at = source.position(pointer::find(source.text, "/$schema"));
        let message = format!("this is not a schema: `{dialect}` is not a known dialect of JSON Schema");
        let hint = format!("write \"{DIALECT}\", or remove `$schema`");
        self.faults.add(Fault::error("bad-schema", &at, message).with_hint(hint));
        None
    }

    fn bad_schema<T>(&self, source: &Source<'_>, error: &jsonschema::ValidationError<'_>) -> Option<T> {
        for error in find_meant(error) {
            let message = message_of(error);
            let pointer = match error.kind() {
                ValidationErrorKind::Referencing(_) => find_reference(source.text, &message),
                _ => error.instance_path().as_str().to_owned(),
            };
            let at = source.position(pointer::find(source.text, &pointer));
            let fault = match error.kind() {
                ValidationErrorKind::Referencing(_) if leads_outside(source.text, &pointer) => {
                    let message = "this is not a schema: the reference points outside the file";
                    let hint = "only references within the file are followed, such as \"#/$defs/item\": copy it there";
                    Fault::error("bad-schema", &at, message).with_hint(hint)
                }
                _ => Fault::error("bad-schema", &at, format!("this is not a schema: {message}")),
            };
            self.faults.add(fault);
        }
        None
    }

    /// Returns whether the state is an object.
    fn check_fields(&self, source: &Source<'_>, document: &Value) -> bool {
        let is_object = document.get("type").and_then(Value::as_str) == Some("object");
        if !is_object {
            let at = source.position(pointer::find(source.text, "/type"));
            let fault = Fault::error("state-not-object", &at, "a state is an object");
            self.faults.add(fault.with_hint("write `\"type\": \"object\"`"));
        }
        for name in RESERVED {
            let at = format!("/properties/{name}");
            if document.pointer(&at).is_some() {
                let at = source.position(pointer::find(source.text, &at));
                let message = format!(
                    "a field of the state cannot be called `{name}`: expressions use that name for something else"
                );
                self.faults.add(Fault::error("reserved-name", &at, message).with_hint("rename the field"));
            }
        }
        is_object
    }

    fn check_initial(&self, source: &Source<'_>, schema: &StateSchema) {
        if let Err(faults) = schema.check_whole(&schema.initial()) {
            for fault in faults {
                let field = fault.path.split(['.', '[']).next().unwrap_or_default();
                let pointer =
                    if field.is_empty() { "/required".to_owned() } else { format!("/properties/{field}") };
                let at = source.position(pointer::find(source.text, &pointer));
                let message = format!("the defaults do not make a valid state: {fault}");
                let fault = Fault::error("bad-defaults", &at, message);
                self.faults.add(fault.with_hint("every required field needs a valid `default`"));
            }
        }
    }
}

/// Returns the file that a key names, and where it is asked for.
fn named_file(section: &Section<'_>, prefix: &str, key: &str, default: &str) -> (String, Position) {
    match section.text(key) {
        Some(text) => (format!("{prefix}{}", text.value), section.reader.position(text.literal)),
        None => (format!("{prefix}{default}"), section.header().clone()),
    }
}

/// Returns the pointer to the reference that a message speaks of.
fn find_reference(text: &str, message: &str) -> String {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let mut pending = vec![(String::new(), &document)];
    while let Some((pointer, value)) = pending.pop() {
        let named = value.get("$ref").and_then(Value::as_str).map(|name| name.trim_start_matches('#'));
        if named.is_some_and(|name| !name.is_empty() && message.contains(name)) {
            return format!("{pointer}/$ref");
        }
        match value {
            Value::Object(fields) => pending.extend(fields.iter().map(|(name, value)| {
                let name = name.replace('~', "~0").replace('/', "~1");
                (format!("{pointer}/{name}"), value)
            })),
            Value::Array(items) => {
                pending.extend(
                    items.iter().enumerate().map(|(index, value)| (format!("{pointer}/{index}"), value)),
                );
            }
            _ => {}
        }
    }
    String::new()
}

/// Whether there is a reference at a pointer that does not begin within its own file.
fn leads_outside(text: &str, pointer: &str) -> bool {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    document.pointer(pointer).and_then(Value::as_str).is_some_and(|reference| !reference.starts_with('#'))
}

/// Returns the byte at a line and column, as serde counts them.
fn offset_of(text: &str, line: usize, column: usize) -> std::ops::Range<usize> {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let at = start + column.saturating_sub(1);
    at..at + 1
}
