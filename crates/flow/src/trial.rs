//! The state as the expressions of one step see it, with changes that last only as long as the step is tried.
//!
//! `input`, `output` and `feedback` are added to the state, and patches are applied in place, because the cost of a copy
//! would grow with the state. Dropping the trial restores everything: a decision changes nothing. The owner of the
//! state applies what was decided ([`apply`](crate::apply)).

use regatta_expr::Limits;
use serde_json::Value;

use crate::expression::RESERVED;
use crate::patch::{Assigned, Patch, PlaceFault, set, unset};
use crate::schema::{Changed, SchemaFault, StateSchema};
use crate::step::Look;
use crate::workflow::Workflow;

/// What expressions can read besides the state.
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
    changes: Vec<Change>,
    /// What the node returned, once the step has come to nodes that return nothing.
    passed: Option<Value>,
    /// How many of the changes were found to fit the schema.
    judged: usize,
    limits: Limits,
}

/// A patch that is applied. Its own value is in the state meanwhile.
#[derive(Debug)]
struct Change {
    patch: Patch,
    before: Option<Value>,
}

impl<'a> Trial<'a> {
    /// Begins a trial at a time in milliseconds since the Unix epoch, which stays fixed within it.
    pub fn begin(state: &'a mut Value, given: &'a mut Given, now_millis: i64) -> Trial<'a> {
        let mut trial = Trial {
            state,
            given,
            hidden: Default::default(),
            changes: Vec::new(),
            passed: None,
            judged: 0,
            limits: Limits::at(now_millis),
        };
        trial.lend();
        trial
    }

    /// Returns what the functions of a step look at.
    pub fn look<'t>(&'t self, workflow: &'t Workflow) -> Look<'t> {
        Look::new(workflow, self.state, &self.limits)
    }

    /// Evaluates expressions as they are evaluated after the step, when there is no output.
    pub fn look_after<T>(&mut self, workflow: &Workflow, evaluate: impl FnOnce(&Look<'_>) -> T) -> T {
        let output = self.state.get_mut("output").map(std::mem::take);
        let found = evaluate(&self.look(workflow));
        if let (Some(output), Some(place)) = (output, self.state.get_mut("output")) {
            *place = output;
        }
        found
    }

    /// Comes to a node that performs nothing: from here on there is no output.
    pub fn pass_on(&mut self) {
        let output = self.state.get_mut("output").map(std::mem::take).unwrap_or_default();
        self.passed.get_or_insert(output);
    }

    /// Returns how many patches are applied.
    pub fn count_changes(&self) -> usize {
        self.changes.len()
    }

    /// Applies patches until the end of the trial.
    pub fn apply(&mut self, patches: Vec<Patch>) -> Result<(), PlaceFault> {
        self.changes.reserve(patches.len());
        for mut patch in patches {
            let value = match &mut patch.assigned {
                Assigned::Value(value) => std::mem::take(value),
                part @ Assigned::Output(_) => {
                    part.value(self.state.get("output").unwrap_or(&Value::Null)).clone()
                }
            };
            let before = set(self.state, &patch.place, value)?;
            self.changes.push(Change { patch, before });
        }
        Ok(())
    }

    /// Validates what changed since the last call, as far as the schema depends on it.
    pub fn check(&mut self, schema: &StateSchema) -> Result<(), Vec<SchemaFault>> {
        if self.judged == self.changes.len() {
            return Ok(());
        }
        // A schema that looks at the whole may not see what was lent.
        let is_in_the_way = !schema.is_judged_in_parts();
        if is_in_the_way {
            self.take_back();
        }
        let changed: Vec<Changed<'_>> = self.changes[self.judged..]
            .iter()
            .map(|change| Changed { place: &change.patch.place, added: change.before.is_none() })
            .collect();
        let verdict = schema.check(self.state, &changed);
        self.judged = self.changes.len();
        if is_in_the_way {
            self.lend();
        }
        verdict
    }

    /// Ends the trial and returns what was applied.
    pub fn end(mut self) -> Vec<Patch> {
        self.undo()
    }

    fn undo(&mut self) -> Vec<Patch> {
        let mut patches = Vec::with_capacity(self.changes.len());
        while let Some(Change { mut patch, before }) = self.changes.pop() {
            let put = unset(self.state, &patch.place, before);
            if let Assigned::Value(value) = &mut patch.assigned {
                *value = put.unwrap_or_default();
            }
            patches.push(patch);
        }
        patches.reverse();
        patches
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
        self.undo();
        self.take_back();
        if let Some(output) = self.passed.take() {
            self.given.output = output;
        }
    }
}
