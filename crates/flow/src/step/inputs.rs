//! The inputs of a role, the prompt made from them, and the findings in its output.

use serde_json::{Map, Value};

use crate::step::items::evaluate_list;
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

/// What a role found of one criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The criterion, in the role's words.
    pub criterion: String,
    /// Whether it is met.
    pub met: bool,
}

/// Evaluates what an agent node found of the criteria. What is no finding is left out; other kinds have none.
pub fn findings(look: &Look<'_>, node: &Node) -> Result<Vec<Finding>, StepFault> {
    let NodeKind::Agent { findings: Some(findings), .. } = &node.kind else { return Ok(Vec::new()) };
    let finding = |value: Value| {
        let criterion = value.get("criterion")?.as_str()?.to_owned();
        Some(Finding { criterion, met: value.get("met")?.as_bool()? })
    };
    Ok(evaluate_list(look, findings)?.into_iter().filter_map(finding).collect())
}

/// Makes the prompt of a role.
pub fn prompt(workflow: &Workflow, role: &str, inputs: &Map<String, Value>) -> Result<String, StepFault> {
    let missing = || StepFault::Missing { kind: "role", name: role.to_owned() };
    Ok(workflow.roles.get(role).ok_or_else(missing)?.prompt(inputs)?)
}
