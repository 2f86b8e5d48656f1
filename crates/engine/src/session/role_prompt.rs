//! The prompt of a role: the text of its template, what came before, and what it must return.

use crate::clock;
use crate::core::Failure;
use crate::core::run::{Phase, explain_node};
use crate::runs::driver::Driver;
use regatta_flow::{StepFault, inputs, prompt};
use serde_json::Value;
use std::fmt::Write as _;

/// Renders the prompt of that name for the node that a run is at.
pub(crate) fn render(driver: &Driver, name: &str) -> Result<String, Box<Failure>> {
    let now = clock::now().as_millisecond();
    let (run, workflow) = (driver.run(), driver.workflow());
    let told = from_template(driver, name, now).map_err(|fault| Box::new(explain_node(run, &fault)))?;
    // However a template ends, each part below begins after a blank line.
    let mut text = format!("{}\n", told.trim_end());
    // What was said about another item is not this one's to hear.
    let feedback = run.sheet.feedback();
    let is_about = feedback.get("task").and_then(Value::as_str);
    let said = feedback.get("text").and_then(Value::as_str).filter(|said| !said.is_empty());
    if let Some(said) = said.filter(|_| is_about.is_none() || is_about == run.item.as_deref()) {
        let _ = write!(text, "\n## What a person says\n\n{said}\n");
    }
    if let Some(Phase::Performing { faults, .. }) = run.phase()
        && !faults.is_empty()
    {
        text.push_str("\n## Your last answer could not be used\n\n");
        for fault in faults {
            let _ = writeln!(text, "- {fault}");
        }
    }
    if let Some(role) = workflow.roles.get(name) {
        let schema = serde_json::to_string_pretty(role.output.document()).unwrap_or_default();
        let _ = write!(
            text,
            "\n## What to return\n\nEnd with one JSON object, the last thing you print, that satisfies this schema:\n\n```json\n{schema}\n```\n"
        );
    }
    Ok(text)
}

fn from_template(driver: &Driver, name: &str, now: i64) -> Result<String, StepFault> {
    let (run, workflow) = (driver.run(), driver.workflow());
    let missing = || StepFault::Missing { kind: "node", name: run.node.to_string() };
    let node = workflow.find_node(run.node.as_str()).ok_or_else(missing)?;
    prompt(workflow, name, &run.sheet.look(workflow, driver.variables(), now, |look| inputs(look, node))?)
}
