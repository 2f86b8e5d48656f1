//! What the expressions of a run read: its state, its input and what a person said last.
//!
//! An expression is evaluated over one value, so the output of a node and the changes of a step have to be in the state
//! while the step is tried. A copy would cost what the state weighs. A sheet therefore changes its own state for as long
//! as the trial lasts and restores it before [`Sheet::try_out`] returns: to everyone else it is unchanged, which lets a
//! decision take it by shared reference. The lock is what makes that sound; nobody else waits for it, because a run is
//! decided in one place at a time.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt;
use std::ops::Deref;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::patch::{Patch, PlaceFault, apply};
use crate::shown::Remembered;
use crate::step::Look;
use crate::trial::{Given, Trial};
use crate::variables::Variables;
use crate::workflow::Workflow;

/// A state with what expressions see beside it.
pub struct Sheet(RwLock<Root>);

#[derive(Debug, Clone, PartialEq)]
struct Root {
    state: Value,
    /// Without an output: there is one only while a step is tried.
    given: Given,
}

/// A sheet as it is kept.
#[derive(Deserialize)]
struct Kept {
    state: Value,
    input: Value,
    feedback: Value,
}

/// What a step is tried with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Occasion {
    /// What the node returned.
    pub output: Value,
    /// What a person says with the step, in place of what was said last.
    pub feedback: Option<Value>,
    /// Facts about the run, and what comes with the step.
    pub variables: Variables,
    /// The views that were evaluated before and still hold; afterwards also those that were evaluated now.
    pub views: Remembered,
    /// The time, in milliseconds since 1970 began in UTC; it stands still within a trial.
    pub now_millis: i64,
}

/// A value of a sheet, which can be read while nothing is tried.
pub struct Reading<'a> {
    root: RwLockReadGuard<'a, Root>,
    part: fn(&Root) -> &Value,
}

impl Sheet {
    /// Makes a sheet of a state, an input, and what a person said last or null.
    pub fn new(state: Value, input: Value, feedback: Value) -> Self {
        Sheet(RwLock::new(Root { state, given: Given { input, feedback, ..Given::default() } }))
    }

    /// Returns the state, the input, and what a person said last.
    pub fn into_parts(self) -> (Value, Value, Value) {
        let Root { state, given } = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        (state, given.input, given.feedback)
    }

    /// Reads the state.
    pub fn state(&self) -> Reading<'_> {
        Reading { root: self.read(), part: |root| &root.state }
    }

    /// Reads what the run was given.
    pub fn input(&self) -> Reading<'_> {
        Reading { root: self.read(), part: |root| &root.given.input }
    }

    /// Reads what a person said last.
    pub fn feedback(&self) -> Reading<'_> {
        Reading { root: self.read(), part: |root| &root.given.feedback }
    }

    /// Tries a step. Afterwards the sheet is as it was, and the occasion has its output and feedback again.
    pub fn try_out<T>(&self, occasion: &mut Occasion, attempt: impl FnOnce(Trial<'_>) -> T) -> T {
        let mut root = self.write();
        let Root { state, given } = &mut *root;
        given.output = std::mem::take(&mut occasion.output);
        if let Some(said) = &mut occasion.feedback {
            std::mem::swap(said, &mut given.feedback);
        }
        std::mem::swap(&mut occasion.variables, &mut given.variables);
        std::mem::swap(&mut occasion.views, &mut given.views);
        let tried = attempt(Trial::begin(state, given, occasion.now_millis));
        std::mem::swap(&mut occasion.variables, &mut given.variables);
        std::mem::swap(&mut occasion.views, &mut given.views);
        occasion.output = std::mem::take(&mut given.output);
        if let Some(said) = &mut occasion.feedback {
            std::mem::swap(said, &mut given.feedback);
        }
        tried
    }

    /// Evaluates expressions between two steps, when there is no output.
    pub fn look<T>(
        &self,
        workflow: &Workflow,
        variables: &Variables,
        now_millis: i64,
        evaluate: impl FnOnce(&Look<'_>) -> T,
    ) -> T {
        let variables = variables.clone();
        let mut occasion = Occasion { variables, now_millis, ..Occasion::default() };
        self.try_out(&mut occasion, |trial| evaluate(&trial.look(workflow)))
    }

    /// Applies patches to the state. It stops at the first that cannot be applied.
    pub fn apply(&mut self, patches: &[Patch], output: &Value) -> Result<(), PlaceFault> {
        apply(&mut self.get_mut().state, patches, output)
    }

    /// Replaces what a person said last.
    pub fn set_feedback(&mut self, feedback: Value) {
        self.get_mut().given.feedback = feedback;
    }

    // A trial that panics has put the state back while it was dropped, so a poisoned lock guards a sound value.
    fn get_mut(&mut self) -> &mut Root {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> RwLockReadGuard<'_, Root> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Root> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Reading<'_> {
    type Target = Value;

    fn deref(&self) -> &Value {
        (self.part)(&self.root)
    }
}

impl fmt::Debug for Reading<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(out)
    }
}

impl fmt::Debug for Sheet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read().fmt(out)
    }
}

impl Clone for Sheet {
    fn clone(&self) -> Self {
        Sheet(RwLock::new(self.read().clone()))
    }
}

impl PartialEq for Sheet {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || *self.read() == *other.read()
    }
}

impl Eq for Sheet {}

impl Serialize for Sheet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Root { state, given: Given { input, feedback, .. } } = &*self.read();
        let mut kept = serializer.serialize_struct("Sheet", 3)?;
        kept.serialize_field("state", state)?;
        kept.serialize_field("input", input)?;
        kept.serialize_field("feedback", feedback)?;
        kept.end()
    }
}

impl<'de> Deserialize<'de> for Sheet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Kept::deserialize(deserializer).map(|kept| Sheet::new(kept.state, kept.input, kept.feedback))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::Assigned;
    use crate::path::{PathStep, ResolvedPath};
    use serde_json::json;

    fn patch(name: &str, value: Value) -> Patch {
        Patch { place: ResolvedPath(vec![PathStep::Key(name.into())]), assigned: Assigned::Value(value) }
    }

    fn sheet() -> Sheet {
        Sheet::new(json!({ "b": 1, "a": [2] }), json!({ "goal": "x" }), json!("well done"))
    }

    #[test]
    fn what_is_tried_sees_everything_and_leaves_no_trace() {
        let (sheet, before) = (sheet(), sheet());
        let mut occasion = Occasion {
            output: json!({ "passed": true }),
            feedback: Some(json!("no")),
            ..Occasion::default()
        };
        let set = sheet.try_out(&mut occasion, |mut trial| {
            trial.apply(vec![patch("b", json!(7)), patch("c", json!(8))]).unwrap();
            trial.end()
        });
        assert_eq!(set, [patch("b", json!(7)), patch("c", json!(8))]);
        assert_eq!((&occasion.output, &occasion.feedback), (&json!({ "passed": true }), &Some(json!("no"))));
        assert_eq!(sheet, before);
        assert_eq!(serde_json::to_string(&sheet).unwrap(), serde_json::to_string(&before).unwrap());
    }

    #[test]
    fn a_trial_that_panics_leaves_the_state_as_it_was() {
        let sheet = sheet();
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            sheet.try_out(&mut Occasion::default(), |mut trial| {
                trial.apply(vec![patch("b", json!(7))]).unwrap();
                panic!("a bug");
            })
        }));
        assert!(tried.is_err());
        assert_eq!(*sheet.state(), json!({ "b": 1, "a": [2] }));
    }

    #[test]
    fn it_is_read_back_as_it_was_kept() {
        let mut sheet = sheet();
        sheet.apply(&[patch("b", json!(3))], &Value::Null).unwrap();
        sheet.set_feedback(Value::Null);
        let text = serde_json::to_string(&sheet).unwrap();
        assert_eq!(text, r#"{"state":{"b":3,"a":[2]},"input":{"goal":"x"},"feedback":null}"#);
        assert_eq!(serde_json::from_str::<Sheet>(&text).unwrap(), sheet);
    }
}
