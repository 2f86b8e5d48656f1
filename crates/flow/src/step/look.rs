//! What the expressions of a step can read: the state with `input`, `output` and `feedback`, and the names of
//! `[bind]`.

use regatta_expr::{Fault, Limits, has_mark};
use serde_json::Value;

use crate::expression::Expression;
use crate::step::StepFault;
use crate::workflow::{Bind, Workflow};

/// A look at a state; made by [`Trial::look`](crate::Trial::look).
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    workflow: &'a Workflow,
    root: &'a Value,
    limits: &'a Limits,
}

impl<'a> Look<'a> {
    pub(crate) fn new(workflow: &'a Workflow, root: &'a Value, limits: &'a Limits) -> Look<'a> {
        Look { workflow, root, limits }
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
