//! What the expressions of a run see, so that a person can try one out.

use crate::clock;
use crate::core::RunId;
use crate::error::Error;
use crate::project::Project;
use crate::runs::driver::Driver;
use regatta_flow::FactName;
use serde_json::Value;

/// What an expression sees between two steps of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Scope {
    /// The state, with `input` and `feedback` beside its fields.
    pub root: Value,
    /// The variables, without the `$`: facts, views, and the names that the workflow gives to places which exist.
    pub variables: Vec<(String, Value)>,
}

/// Loads what an expression sees of a run in its current state.
pub async fn load_scope(project: &Project, run: RunId) -> Result<Scope, Error> {
    let driver = Driver::load(project, run).await?;
    let (run, workflow) = (driver.run(), driver.workflow());
    let facts = {
        let mut held = project.families().enter(project, run.id).await?;
        held.family().known.variables(run.id, &FactName::ALL.into())
    };
    let (mut root, mut variables): (Value, Vec<_>) =
        run.sheet.look(workflow, &facts, clock::now().as_millisecond(), |look| {
            let variable = |bind: &regatta_flow::Bind| {
                let path = bind.place.resolve(look).ok()??;
                path.find(look.root()).map(|value| (bind.name.clone(), value.clone()))
            };
            let view = |view: &regatta_flow::View| {
                let value = look.view(&view.name).ok()??;
                Some((view.name.clone(), (*value).clone()))
            };
            let bound = workflow.bind.iter().filter_map(variable);
            (look.root().clone(), bound.chain(workflow.views.iter().filter_map(view)).collect())
        });
    variables.extend(facts.iter().map(|(name, value)| (name.to_owned(), (**value).clone())));
    // There is an output only within a step.
    if let Value::Object(fields) = &mut root {
        fields.shift_remove("output");
    }
    Ok(Scope { root, variables })
}
