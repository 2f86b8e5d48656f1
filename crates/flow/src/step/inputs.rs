//! What a role is given: the inputs of its node, and the prompt made from them.

use serde_json::{Map, Value};

use crate::step::{Look, StepFault};
use crate::workflow::{Node, NodeKind, Workflow};

/// Evaluates the inputs of an agent node. What is undefined is null; other kinds have none.
pub fn inputs(look: &Look<'_>, node: &Node) -> Result<Map<String, Value>, StepFault> {
    let NodeKind::Agent { input, .. } = &node.kind else { return Ok(Map::new()) };
    input
        .iter()
        .map(|(name, expression)| Ok((name.name.clone(), look.evaluate(expression)?.unwrap_or_default())))
        .collect()
}

/// Makes the prompt of a role.
pub fn prompt(workflow: &Workflow, role: &str, inputs: &Map<String, Value>) -> Result<String, StepFault> {
    let missing = || StepFault::Missing { kind: "role", name: role.to_owned() };
    Ok(workflow.roles.get(role).ok_or_else(missing)?.prompt(inputs)?)
}
