//! What a role found about the criteria of its task; it is recorded with the task before the step is made.

use crate::clock;
use crate::commands::orders;
use crate::core::{CommitId, Finding, Findings, Outcome};
use crate::error::Error;
use crate::perform::Work;
use crate::runs::driver::Driver;
use regatta_flow::{NodeKind, Occasion, findings};
use serde_json::Value;

/// Notes what a role found, if its node says where that is. A repetition of the step notes it again, which is the same.
pub(crate) async fn note(
    work: &Work,
    driver: &Driver,
    output: &Value,
    commit: &CommitId,
) -> Result<(), Error> {
    let Some(task) = driver.run().find_task() else { return Ok(()) };
    let results = find(driver, output);
    if results.is_empty() {
        return Ok(());
    }
    let Some(agent) = orders::get_task(&work.project, task).await?.agent().cloned() else { return Ok(()) };
    let findings = Findings { agent_id: agent, commit: commit.clone(), results };
    work.note(task, Outcome::CriteriaJudged(findings)).await
}

/// Returns what a role found; nothing if its output is not what it has to be, since it is then asked again.
fn find(driver: &Driver, output: &Value) -> Vec<Finding> {
    let now = clock::now().as_millisecond();
    let (run, workflow) = (driver.run(), driver.workflow());
    let Some(node) = workflow.find_node(run.node.as_str()) else { return Vec::new() };
    let NodeKind::Agent { findings: Some(_), .. } = &node.kind else { return Vec::new() };
    let prompt = node.kind.prompt_name().and_then(|prompt| workflow.roles.get(&prompt.name));
    if prompt.is_none_or(|role| role.check_output(output).is_err()) {
        return Vec::new();
    }
    let variables = driver.variables().clone();
    let mut occasion = Occasion { output: output.clone(), variables, now_millis: now, ..Occasion::default() };
    let found = run.sheet.try_out(&mut occasion, |trial| findings(&trial.look(workflow), node));
    let finding = |found: regatta_flow::Finding| Finding { criterion: found.criterion, met: found.met };
    found.unwrap_or_default().into_iter().map(finding).collect()
}
