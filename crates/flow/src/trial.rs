//! The state as the expressions of one step see it, with changes that last only as long as the step is tried.
//!
//! `input`, `output` and `feedback` are added to the state, and patches are applied in place, because the cost of a copy
//! would grow with the state. Dropping the trial restores everything: a decision changes nothing. The owner of the
//! state applies what was decided ([`apply`](crate::apply)).

use std::cell::{Cell, RefCell};

use regatta_expr::Limits;
use serde_json::Value;

use crate::expression::RESERVED;
use crate::patch::{Assigned, Patch, PlaceFault, set, unset};
use crate::schema::{Changed, SchemaFault, StateSchema};
use crate::shown::Remembered;
use crate::step::{Look, Said};
use crate::variables::Variables;
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
    /// Facts about the run, and what comes with the occasion.
    pub variables: Variables,
    /// The views that were evaluated and still hold.
    pub views: Remembered,
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
    /// The messages since they were last taken.
    said: Vec<Said>,
    /// Whether an expression read a fact.
    read_fact: Cell<bool>,
    /// The views that were evaluated since the last change.
    views: RefCell<Remembered>,
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
        let views = RefCell::new(std::mem::take(&mut given.views));
        let mut trial = Trial {
            state,
            given,
            hidden: Default::default(),
            changes: Vec::new(),
            passed: None,
            judged: 0,
            said: Vec::new(),
            read_fact: Cell::new(false),
            views,
            limits: Limits::at(now_millis),
        };
        trial.lend();
        trial
    }

    /// Returns what the functions of a step look at.
    pub fn look<'t>(&'t self, workflow: &'t Workflow) -> Look<'t> {
        Look::new(workflow, self.state, &self.given.variables, &self.limits, (&self.read_fact, &self.views))
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

    /// Evaluates expressions with a field of the output in the place of all of it.
    pub(crate) fn look_at_part<T>(
        &mut self,
        workflow: &Workflow,
        name: &str,
        evaluate: impl FnOnce(&Look<'_>) -> T,
    ) -> T {
        let whole = self.state.get_mut("output").map(|output| {
            let part = output.get_mut(name).map(std::mem::take).unwrap_or_default();
            std::mem::replace(output, part)
        });
        let found = evaluate(&self.look(workflow));
        if let (Some(mut whole), Some(output)) = (whole, self.state.get_mut("output")) {
            let part = std::mem::take(output);
            if let Some(place) = whole.get_mut(name) {
                *place = part;
            }
            *output = whole;
        }
        found
    }

    /// Comes to a node that performs nothing: from here on there is no output.
    pub fn pass_on(&mut self) {
        let output = self.state.get_mut("output").map(std::mem::take).unwrap_or_default();
        self.passed.get_or_insert(output);
    }

    /// Whether an expression has read a fact about the run so far.
    pub fn has_read_fact(&self) -> bool {
        self.read_fact.get()
    }

    pub(crate) fn note_said(&mut self, said: impl Iterator<Item = Said>) {
        self.said.extend(said);
    }

    /// Takes the messages that were evaluated since the last call.
    pub fn take_said(&mut self) -> Vec<Said> {
        std::mem::take(&mut self.said)
    }

    /// Returns how many patches are applied.
    pub fn count_changes(&self) -> usize {
        self.changes.len()
    }

    /// Applies patches until the end of the trial.
    pub fn apply(&mut self, patches: Vec<Patch>) -> Result<(), PlaceFault> {
        self.changes.reserve(patches.len());
        if !patches.is_empty() {
            self.views.get_mut().0.clear();
        }
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
        if !self.changes.is_empty() {
            self.views.get_mut().0.clear();
        }
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
        let Given { input, output, feedback, .. } = &mut *self.given;
        for ((name, value), hidden) in RESERVED.iter().zip([input, output, feedback]).zip(&mut self.hidden) {
            *hidden = fields.insert((*name).to_owned(), std::mem::take(value));
        }
    }

    fn take_back(&mut self) {
        let Value::Object(fields) = &mut *self.state else { return };
        let Given { input, output, feedback, .. } = &mut *self.given;
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
        // What was evaluated over changes that are undone holds no longer.
        if !self.changes.is_empty() {
            self.views.get_mut().0.clear();
        }
        self.undo();
        self.take_back();
        self.given.views = std::mem::take(self.views.get_mut());
        if let Some(output) = self.passed.take() {
            self.given.output = output;
        }
    }
}
