//! A state as the expressions of one step see it, changed for as long as the step is tried.
//!
//! The state is lent `input`, `output` and `feedback`, and patches are applied to it in place, because a copy would
//! make a step cost what the state weighs. When the trial is dropped everything is as it was: a decision changes
//! nothing, and what it decided is applied to the state by whoever keeps it ([`apply`](crate::apply)).

use regatta_expr::Limits;
use serde_json::Value;

use crate::expression::RESERVED;
use crate::patch::{Patch, PlaceFault, set, unset};
use crate::path::ResolvedPath;
use crate::schema::{Changed, SchemaFault, StateSchema};
use crate::step::Look;
use crate::workflow::Workflow;

/// What expressions see beside the state.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Given {
    /// What the run was given.
    pub input: Value,
    /// What the node that was just performed returned.
    pub output: Value,
    /// What a person said last, or null.
    pub feedback: Value,
}

/// A state on trial.
#[derive(Debug)]
pub struct Trial<'a> {
    state: &'a mut Value,
    given: &'a mut Given,
    /// Fields of the state that had a reserved name, which no schema allows.
    hidden: [Option<Value>; 3],
    changes: Vec<(ResolvedPath, Option<Value>)>,
    limits: Limits,
}

impl<'a> Trial<'a> {
    /// Begins a trial at a moment, in milliseconds since 1970 began in UTC. The time stands still within it.
    pub fn begin(state: &'a mut Value, given: &'a mut Given, now_millis: i64) -> Trial<'a> {
        let mut trial = Trial {
            state,
            given,
            hidden: Default::default(),
            changes: Vec::new(),
            limits: Limits::at(now_millis),
        };
        trial.lend();
        trial
    }

    /// Returns what the functions of a step look at.
    pub fn look<'t>(&'t self, workflow: &'t Workflow) -> Look<'t> {
        Look::new(workflow, self.state, &self.limits)
    }

    /// Applies patches until the end of the trial.
    pub fn apply(&mut self, patches: &[Patch]) -> Result<(), PlaceFault> {
        for patch in patches {
            let output = self.state.get("output").unwrap_or(&Value::Null);
            let value = patch.assigned.value(output).clone();
            let before = set(self.state, &patch.place, value)?;
            self.changes.push((patch.place.clone(), before));
        }
        Ok(())
    }

    /// Judges what was changed, as far as the schema can tell a difference.
    pub fn check(&mut self, schema: &StateSchema) -> Result<(), Vec<SchemaFault>> {
        self.take_back();
        let changed: Vec<Changed<'_>> =
            self.changes.iter().map(|(place, before)| Changed { place, added: before.is_none() }).collect();
        let verdict = schema.check(self.state, &changed);
        self.lend();
        verdict
    }

    fn lend(&mut self) {
        let Value::Object(fields) = &mut *self.state else { return };
        let Given { input, output, feedback } = &mut *self.given;
        for ((name, value), hidden) in RESERVED.iter().zip([input, output, feedback]).zip(&mut self.hidden) {
            *hidden = fields.insert((*name).to_owned(), std::mem::take(value));
        }
    }

    fn take_back(&mut self) {
        let Value::Object(fields) = &mut *self.state else { return };
        let Given { input, output, feedback } = &mut *self.given;
        for ((name, value), hidden) in
            RESERVED.iter().zip([input, output, feedback]).zip(&mut self.hidden).rev()
        {
            let lent = match hidden.take() {
                Some(hidden) => fields.insert((*name).to_owned(), hidden),
                None => fields.shift_remove(*name),
            };
            *value = lent.unwrap_or_default();
        }
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        while let Some((place, before)) = self.changes.pop() {
            unset(self.state, &place, before);
        }
        self.take_back();
    }
}
