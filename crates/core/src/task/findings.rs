//! What a reviewer found of the criteria: a second opinion beside the claim.
//!
//! A finding is about the commit that the reviewer looked at. It says nothing of a diff that leads to another.

use super::{Criterion, Task};
use crate::{AgentId, CommitId, Event};
use serde::{Deserialize, Serialize};

/// What a reviewer found at one commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Findings {
    /// The agent that reviewed.
    pub agent_id: AgentId,
    /// The commit that it looked at.
    pub commit: CommitId,
    /// What it found of each criterion.
    pub results: Vec<Finding>,
}

/// What a reviewer found of one criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The criterion.
    pub criterion: String,
    /// Whether it is met.
    pub met: bool,
}

/// Returns the fact that a reviewer judged criteria; what is about none of the task's is left out.
pub(super) fn judged(task: &Task, findings: &Findings) -> Vec<Event> {
    let find = |criterion: &Criterion| {
        let found = findings.results.iter().find(|found| is_same(&found.criterion, &criterion.text))?;
        Some(Finding { criterion: criterion.text.clone(), met: found.met })
    };
    let results: Vec<Finding> = task.criteria.iter().filter_map(find).collect();
    if results.is_empty() {
        return Vec::new();
    }
    let (agent_id, commit) = (findings.agent_id.clone(), findings.commit.clone());
    vec![Event::CriteriaJudged { task_id: task.id, findings: Findings { agent_id, commit, results } }]
}

impl Task {
    /// Returns whether a reviewer found a criterion met, at the commit under review or at the newest one before that.
    pub fn is_met(&self, criterion: &Criterion) -> Option<bool> {
        let findings = self.findings.as_ref()?;
        let is_current = self.diff().is_none_or(|diff| diff.head == findings.commit);
        let found = findings.results.iter().find(|found| found.criterion == criterion.text)?;
        is_current.then_some(found.met)
    }

    /// Tells whether nobody claims that a criterion holds, or a reviewer says that it does not.
    pub(super) fn is_open(&self, criterion: &Criterion) -> bool {
        !self.is_met(criterion).unwrap_or(criterion.checked)
    }
}

/// Tells whether two texts are one criterion; an agent may change case, spacing or the last full stop.
fn is_same(one: &str, other: &str) -> bool {
    let plain = |text: &str| -> String {
        let text = Criterion::parse(text).text.to_lowercase();
        text.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('.').to_owned()
    };
    plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use crate::testing::{World, agent, commit, id};

    fn judge(world: &mut World, at: CommitId, results: &[(&str, bool)]) {
        let finding =
            |(criterion, met): &(&str, bool)| Finding { criterion: (*criterion).to_owned(), met: *met };
        let results = results.iter().map(finding).collect();
        let findings = Findings { agent_id: agent("judge"), commit: at, results };
        world.report(id(1), Outcome::CriteriaJudged(findings));
    }

    fn met(world: &World) -> Vec<Option<bool>> {
        let task = &world.tasks[&id(1)];
        task.criteria.iter().map(|criterion| task.is_met(criterion)).collect()
    }

    #[test]
    fn a_finding_is_about_the_commit_that_was_looked_at() {
        let mut world = World::given("add criteria 2; assign 1 alpha; settle 1; finish 1");
        assert_eq!(met(&world), [None, None]);
        judge(&mut world, commit(9), &[("Criterion 1 holds", true)]);
        assert_eq!(met(&world), [None, None], "another commit was looked at");
        judge(
            &mut world,
            commit(1),
            &[(" criterion 1  HOLDS.", true), ("Criterion 2 holds", false), ("No such", true)],
        );
        assert_eq!(met(&world), [Some(true), Some(false)]);
    }

    #[test]
    fn a_finding_stands_in_for_a_tick_and_outweighs_one() {
        let mut world = World::given("auto; add criteria 2; tick 1 2; assign 1 alpha; settle 1; finish 1");
        judge(&mut world, commit(1), &[("Criterion 1 holds", true), ("Criterion 2 holds", false)]);
        let lacks = world.tasks[&id(1)].find_lacks(&world.settings.checks);
        assert_eq!(lacks.open_criteria, ["Criterion 2 holds"]);
    }

    #[test]
    fn a_judgement_of_nothing_adds_nothing() {
        let mut world = World::given("add criteria 1; assign 1 alpha; settle 1");
        let before = world.facts.len();
        judge(&mut world, commit(1), &[("Something else", true)]);
        assert_eq!(world.facts.len(), before);
    }
}
