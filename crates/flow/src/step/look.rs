//! What the expressions of a step can read: the state with `input`, `output` and `feedback`, the names of `[bind]`, and
//! variables.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use regatta_expr::{Fault, Limits, has_mark};
use serde_json::Value;

use crate::expression::Expression;
use crate::shown::{Remembered, SHOWN_BYTES_MAX};
use crate::step::StepFault;
use crate::variables::{FactName, Variables};
use crate::workflow::{Bind, Workflow};

/// A look at a state; made by [`Trial::look`](crate::Trial::look).
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    workflow: &'a Workflow,
    root: &'a Value,
    variables: &'a Variables,
    limits: &'a Limits,
    read_fact: &'a Cell<bool>,
    views: &'a RefCell<Remembered>,
}

impl<'a> Look<'a> {
    pub(crate) fn new(
        workflow: &'a Workflow,
        root: &'a Value,
        variables: &'a Variables,
        limits: &'a Limits,
        (read_fact, views): (&'a Cell<bool>, &'a RefCell<Remembered>),
    ) -> Look<'a> {
        Look { workflow, root, variables, limits, read_fact, views }
    }

    /// Returns the workflow.
    pub fn workflow(&self) -> &'a Workflow {
        self.workflow
    }

    /// Returns the state with `input`, `output` and `feedback`.
    pub fn root(&self) -> &'a Value {
        self.root
    }

    /// Returns what the node returned.
    pub fn output(&self) -> &'a Value {
        self.root.get("output").unwrap_or(&Value::Null)
    }

    /// Evaluates an expression. `None` is JSONata's undefined.
    pub fn evaluate(&self, expression: &Expression) -> Result<Option<Value>, StepFault> {
        self.evaluate_over(self.root, expression, self.limits)
    }

    /// Evaluates an expression over one item, with the same names for places.
    pub(crate) fn evaluate_item(
        &self,
        item: &Value,
        expression: &Expression,
    ) -> Result<Option<Value>, StepFault> {
        self.evaluate_over(item, expression, self.limits)
    }

    /// Evaluates an expression whose result may be as large as the state.
    pub(crate) fn evaluate_items(
        &self,
        expression: &Expression,
        bytes_max: usize,
    ) -> Result<Option<Value>, StepFault> {
        let limits = Limits { result_bytes: bytes_max, ..self.limits.clone() };
        self.evaluate_over(self.root, expression, &limits)
    }

    /// Returns the value of a fact, or of what comes with the occasion.
    pub(crate) fn find_variable(&self, name: &str) -> Option<&'a Value> {
        self.variables.find(name).map(|value| &**value).filter(|_| !self.is_bound(name))
    }

    /// Evaluates a view, once for as long as nothing changes. Nothing is known of a name that no view has.
    pub fn view(&self, name: &str) -> Result<Option<Arc<Value>>, StepFault> {
        let Some(view) = self.workflow.find_view(name) else { return Ok(None) };
        if let Some(known) = self.views.borrow().0.get(name) {
            let reads_fact = !view.reads.facts.is_empty();
            self.read_fact.set(self.read_fact.get() || reads_fact);
            return Ok(known.clone());
        }
        // It sees only those above it, so this ends.
        let value = self.evaluate_items(&view.value, SHOWN_BYTES_MAX)?.map(Arc::new);
        self.views.borrow_mut().0.insert(name.to_owned(), value.clone());
        Ok(value)
    }

    fn is_bound(&self, name: &str) -> bool {
        self.workflow.bind.iter().any(|bind| bind.name == name)
    }

    /// Returns the value at a place that has a name, if the place is there.
    pub(crate) fn find_bound(&self, name: &str) -> Result<Option<&'a Value>, StepFault> {
        match self.workflow.bind.iter().find(|bind| bind.name == name) {
            Some(bind) => self.find_at(bind),
            None => Ok(None),
        }
    }

    /// A place under `[bind]` sees no other, so this does not go round.
    fn find_at(&self, bind: &Bind) -> Result<Option<&'a Value>, StepFault> {
        bind.place.find(self)
    }

    fn evaluate_over(
        &self,
        input: &Value,
        expression: &Expression,
        limits: &Limits,
    ) -> Result<Option<Value>, StepFault> {
        let reads = expression.reads();
        let mut bindings: Vec<(&str, &Value)> = Vec::new();
        for bind in &self.workflow.bind {
            if reads.any_variable || reads.variables.contains(&bind.name) {
                bindings.extend(self.find_at(bind)?.map(|value| (bind.name.as_str(), value)));
            }
        }
        for (name, value) in self.variables.iter() {
            // A place of that name comes first: older workflows may have one.
            if reads.variables.iter().any(|read| read == name) && !self.is_bound(name) {
                self.read_fact.set(self.read_fact.get() || FactName::find(name).is_some());
                bindings.push((name, value));
            }
        }
        let mut shown = Vec::new();
        for view in self.workflow.views.iter().filter(|view| reads.variables.contains(&view.name)) {
            shown.extend(self.view(&view.name)?.map(|value| (view.name.as_str(), value)));
        }
        bindings.extend(shown.iter().map(|(name, value)| (*name, &**value)));
        let fault = |fault: Fault| StepFault::evaluation(expression, fault);
        let result = expression.compiled().evaluate(input, &bindings, limits).map_err(fault)?;
        match result {
            Some(value) if has_mark(&value) => {
                Err(StepFault::unusable(expression, "a value without a reserved key", &value))
            }
            result => Ok(result),
        }
    }
}
