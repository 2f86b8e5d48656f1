//! What a role found about the criteria of its task; it is recorded with the task before the step is made.

use crate::clock;
use crate::commands::orders;
use crate::core::{CommitId, Finding, Findings, Outcome};
use crate::error::Error;
use crate::perform::Work;
use crate::runs::seat::Seat;
use regatta_flow::{Given, NodeKind, Trial, findings};
use serde_json::Value;

/// Records what a role found, if its node says where that is. A repetition of the step records the same
/// again.
pub(crate) async fn note(
    work: &Work,
    seat: &mut Seat,
    output: &Value,
    commit: &CommitId,
) -> Result<(), Error> {
    let Some(task) = seat.run().find_task() else { return Ok(()) };
    let results = find(seat, output);
    if results.is_empty() {
        return Ok(());
    }
    let Some(agent) = orders::get_task(&work.project, task).await?.agent().cloned() else { return Ok(()) };
    let findings = Findings { agent_id: agent, commit: commit.clone(), results };
    work.note(task, Outcome::CriteriaJudged(findings)).await
}

/// Returns what a role found; nothing if its output is invalid, since the role is then asked again.
fn find(seat: &mut Seat, output: &Value) -> Vec<Finding> {
    let now = clock::now().as_millisecond();
    let (run, workflow) = seat.lend();
    let Some(node) = workflow.find_node(run.node.as_str()) else { return Vec::new() };
    let NodeKind::Agent { role, findings: Some(_), .. } = &node.kind else { return Vec::new() };
    if workflow.roles.get(&role.name).is_none_or(|role| role.check_output(output).is_err()) {
        return Vec::new();
    }
    let (input, feedback) = (std::mem::take(&mut run.input), std::mem::take(&mut run.feedback));
    let mut given = Given { input, output: output.clone(), feedback };
    let found = {
        let trial = Trial::begin(&mut run.state, &mut given, now);
        findings(&trial.look(workflow), node)
    };
    (run.input, run.feedback) = (given.input, given.feedback);
    let finding = |found: regatta_flow::Finding| Finding { criterion: found.criterion, met: found.met };
    found.unwrap_or_default().into_iter().map(finding).collect()
}
