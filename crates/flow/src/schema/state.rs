//! The schema of a state: where it begins, and what a change may do.
//!
//! A state of ten thousand tasks is not judged again because one of them changed its status. The subject of a
//! judgement is found by [`changed`](crate::schema::changed); here it is carried out.

use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};

use crate::path::{ResolvedPath, find_along};
use crate::schema::changed::{Changed, Judgement, Walk};
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
    chart: Chart,
    /// The parts of the chart, in its order; `None` for one that cannot be compiled by itself.
    parts: Vec<Option<Validator>>,
    /// Whether the schema is of the draft whose words the walk knows.
    is_walked: bool,
    /// Whether a change below the top is always judged there, and never by the whole.
    is_judged_in_parts: bool,
}

impl StateSchema {
    /// Compiles a schema and each of its parts; it must refer to itself only.
    pub(crate) fn compile(document: Value) -> Result<StateSchema, ValidationError<'static>> {
        let whole = options().build(&document)?;
        let compiled = options().build_map(&document)?;
        let draft = document.get("$schema").and_then(Value::as_str);
        let is_walked = draft.is_none_or(|draft| draft.trim_end_matches('#') == DRAFT);
        let chart = Chart::draw(&document);
        let parts: Vec<_> = chart.parts().iter().map(|part| compiled.get(&part.pointer).cloned()).collect();
        let is_judged_in_parts = is_walked && chart.is_open_at_top() && parts.iter().all(Option::is_some);
        Ok(StateSchema { document, whole, chart, parts, is_walked, is_judged_in_parts })
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

    /// Tells whether [`check`](Self::check) looks at nothing but the fields that were changed, whatever these are.
    pub(crate) fn is_judged_in_parts(&self) -> bool {
        self.is_judged_in_parts
    }

    /// Judges a state that was fit before these places were set.
    ///
    /// The cost is that of the new values, and of the enclosing parts whose schemas could depend on them.
    pub fn check(&self, after: &Value, changes: &[Changed<'_>]) -> Result<(), Vec<SchemaFault>> {
        let mut walk = Walk::new(&self.chart);
        let mut told: Vec<SchemaFault> = Vec::new();
        for changed in changes {
            for judgement in self.find_judgements(&mut walk, after, *changed) {
                let Err(faults) = self.carry_out(after, changed.place, judgement) else { continue };
                for fault in faults {
                    if told.len() < SCHEMA_FAULTS_MAX && !told.contains(&fault) {
                        told.push(fault);
                    }
                }
            }
        }
        if told.is_empty() { Ok(()) } else { Err(told) }
    }

    fn find_judgements<'w>(
        &self,
        walk: &'w mut Walk<'_>,
        after: &Value,
        changed: Changed<'_>,
    ) -> &'w [Judgement] {
        if self.is_walked {
            walk.find_judgements(after, changed)
        } else {
            &[Judgement::Whole { depth: 0, part: Chart::ROOT }]
        }
    }

    fn carry_out(
        &self,
        after: &Value,
        place: &ResolvedPath,
        judgement: &Judgement,
    ) -> Result<(), Vec<SchemaFault>> {
        match judgement {
            Judgement::TooMany { depth, count, max } => {
                let path = ResolvedPath(place.steps()[..*depth].to_vec()).to_string();
                let message = format!("has {count} parts, more than the {max} allowed");
                Err(vec![SchemaFault { path, message }])
            }
            Judgement::Whole { depth, part } => {
                let within = &place.steps()[..*depth];
                match (find_along(after, within), &self.parts[part.index()]) {
                    // What a later change put around it is judged with that change.
                    (None, _) => Ok(()),
                    (Some(value), Some(part)) => judge(part, value, within),
                    // A part that could not be compiled by itself is judged with all the rest.
                    (Some(_), None) => self.check_whole(after),
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
