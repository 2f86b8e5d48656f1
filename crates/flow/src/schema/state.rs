//! The schema of a state: where it begins, and what a change may do.
//!
//! A state of ten thousand tasks is not judged again because one of them changed its status. The subject of a
//! judgement is found by [`changed`](crate::schema::changed); here it is carried out.

use jsonschema::{ValidationError, Validator, ValidatorMap};
use serde_json::{Value, json};

use crate::path::{ResolvedPath, find_along};
use crate::schema::changed::{Changed, Judgement, find_judgements};
use crate::schema::chart::Chart;
use crate::schema::compiled::options;
use crate::schema::defaults;
use crate::schema::fault::{SCHEMA_FAULTS_MAX, SchemaFault, tell};

/// The draft whose words the walk knows.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a state.
#[derive(Debug)]
pub struct StateSchema {
    document: Value,
    whole: Validator,
    parts: ValidatorMap,
    chart: Chart,
    /// Whether the schema is of the draft whose words the walk knows.
    is_walked: bool,
}

impl StateSchema {
    /// Compiles a schema and each of its parts; it must refer to itself only.
    pub(crate) fn compile(document: Value) -> Result<StateSchema, ValidationError<'static>> {
        let whole = options().build(&document)?;
        let parts = options().build_map(&document)?;
        let draft = document.get("$schema").and_then(Value::as_str);
        let is_walked = draft.is_none_or(|draft| draft.trim_end_matches('#') == DRAFT);
        let chart = Chart::draw(&document);
        Ok(StateSchema { document, whole, parts, chart, is_walked })
    }

    /// Returns the schema that every object fits.
    pub(crate) fn open() -> StateSchema {
        StateSchema::compile(json!({ "type": "object" })).expect("a schema of one word can be compiled")
    }

    /// Returns the schema as it is written.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// Returns the state that a run begins with: the defaults.
    pub fn initial(&self) -> Value {
        defaults::initial(&self.document)
    }

    /// Judges a whole state.
    pub fn check_whole(&self, state: &Value) -> Result<(), Vec<SchemaFault>> {
        judge(&self.whole, state, &[])
    }

    /// Judges a state that was fit before these places were set.
    ///
    /// The cost is that of the new values, and of the enclosing parts whose schemas could depend on them.
    pub fn check(&self, after: &Value, changes: &[Changed<'_>]) -> Result<(), Vec<SchemaFault>> {
        let mut faults = Vec::new();
        for changed in changes.iter().filter(|changed| changed.place.find(after).is_some()) {
            for judgement in self.find_judgements(after, *changed) {
                faults.extend(self.carry_out(after, changed.place, &judgement));
            }
        }
        let mut told: Vec<SchemaFault> = Vec::new();
        for fault in faults {
            if told.len() < SCHEMA_FAULTS_MAX && !told.contains(&fault) {
                told.push(fault);
            }
        }
        if told.is_empty() { Ok(()) } else { Err(told) }
    }

    fn find_judgements(&self, after: &Value, changed: Changed<'_>) -> Vec<Judgement> {
        if self.is_walked {
            find_judgements(&self.chart, after, changed)
        } else {
            vec![Judgement::Whole { depth: 0, part: Chart::ROOT }]
        }
    }

    fn carry_out(&self, after: &Value, place: &ResolvedPath, judgement: &Judgement) -> Vec<SchemaFault> {
        match judgement {
            Judgement::TooMany { depth, count, max } => {
                let path = ResolvedPath(place.steps()[..*depth].to_vec()).to_string();
                vec![SchemaFault { path, message: format!("has {count} parts, more than the {max} allowed") }]
            }
            Judgement::Whole { depth, part } => {
                let within = &place.steps()[..*depth];
                match (self.parts.get(&self.chart.part(*part).pointer), find_along(after, within)) {
                    (Some(part), Some(value)) => judge(part, value, within).err().unwrap_or_default(),
                    // A part that could not be compiled by itself is judged with all the rest.
                    _ => self.check_whole(after).err().unwrap_or_default(),
                }
            }
        }
    }
}

fn judge(
    validator: &Validator,
    value: &Value,
    within: &[crate::path::PathStep],
) -> Result<(), Vec<SchemaFault>> {
    if validator.is_valid(value) {
        return Ok(());
    }
    Err(tell(validator.iter_errors(value), value, within))
}
