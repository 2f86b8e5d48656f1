//! What keeps a diff from being whole: open criteria, checks that did not pass, files that the engine obeys.
//!
//! A policy approves only what is whole. A person may approve the rest, but only knowingly, and the event records what
//! was overridden.

use super::{Review, Stage, Task};
use crate::{Code, Problem, TaskId};
use serde::{Deserialize, Serialize};

/// More names than this do not help a reader.
const NAMES_MAX: usize = 5;

/// What a diff under review lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Lacks {
    /// The criteria that nobody has ticked or found met, and those that a reviewer found not met.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_criteria: Vec<String>,
    /// The configured checks that failed at this commit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_checks: Vec<String>,
    /// The configured checks that did not run at this commit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_checks: Vec<String>,
    /// The changed files that the engine obeys.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub obeyed_files: Vec<String>,
}

impl Lacks {
    /// Tells whether the diff is whole.
    pub fn is_empty(&self) -> bool {
        *self == Lacks::default()
    }

    /// Adds the configured checks that did not pass.
    #[must_use]
    pub fn with_checks(self, checks: &[String], results: &[(String, bool)]) -> Self {
        let result = |name: &String| results.iter().find(|(ran, _)| ran == name).map(|(_, passed)| *passed);
        let having =
            |wanted: Option<bool>| checks.iter().filter(|name| result(name) == wanted).cloned().collect();
        Lacks { failed_checks: having(Some(false)), missing_checks: having(None), ..self }
    }

    /// Returns the most serious code: a check says more than a claim.
    pub(crate) fn code(&self) -> Code {
        let has_checks = !self.failed_checks.is_empty() || !self.missing_checks.is_empty();
        if has_checks { Code::ChecksFailed } else { Code::TaskNotWhole }
    }

    /// Says what is lacking, one sentence each, in the order in which a reader should worry.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if !self.obeyed_files.is_empty() {
            sentences
                .push(format!("it changes files that Regatta itself obeys: {}", list(&self.obeyed_files)));
        }
        if !self.failed_checks.is_empty() {
            sentences.push(format!("these checks failed: {}", list(&self.failed_checks)));
        }
        if !self.missing_checks.is_empty() {
            sentences
                .push(format!("these checks did not run at this commit: {}", list(&self.missing_checks)));
        }
        match self.open_criteria.len() {
            0 => {}
            1 => sentences.push(format!("1 criterion is open: {}", self.open_criteria[0])),
            count => {
                sentences.push(format!("{count} criteria are open: {}", join(&self.open_criteria, "; ")))
            }
        }
        sentences
    }

    /// Says the same in a few words, for a list.
    pub fn summary(&self) -> Vec<String> {
        let mut words = Vec::new();
        if !self.obeyed_files.is_empty() {
            words.push(format!("changes {}", list(&self.obeyed_files)));
        }
        words.extend(self.failed_checks.iter().map(|name| format!("{name} failed")));
        words.extend(self.missing_checks.iter().map(|name| format!("{name} not run")));
        match self.open_criteria.len() {
            0 => {}
            1 => words.push("1 criterion open".to_owned()),
            count => words.push(format!("{count} criteria open")),
        }
        words
    }
}

impl Task {
    /// Returns what the diff under review lacks, given the configured checks; nothing in any other stage.
    pub fn find_lacks(&self, checks: &[String]) -> Lacks {
        match &self.stage {
            Stage::WaitingApproval(review) => self.lacks_of(review, checks),
            Stage::Backlog | Stage::InProgress(_) | Stage::Verified(_) => Lacks::default(),
        }
    }

    /// Returns what the checks said at the commit under review, by name.
    pub fn find_results(&self) -> Vec<(String, bool)> {
        let head = self.diff().map(|diff| &diff.head);
        let proof = self.proof.as_ref().filter(|proof| Some(&proof.commit) == head);
        let results = proof.map(|proof| proof.results.as_slice()).unwrap_or_default();
        results.iter().map(|evidence| (evidence.name.clone(), evidence.passed)).collect()
    }

    fn lacks_of(&self, review: &Review, checks: &[String]) -> Lacks {
        let open = self.criteria.iter().filter(|criterion| self.is_open(criterion));
        let lacks = Lacks {
            open_criteria: open.map(|criterion| criterion.text.clone()).collect(),
            obeyed_files: review.diff.obeyed_files.clone(),
            ..Lacks::default()
        };
        lacks.with_checks(checks, &self.find_results())
    }
}

/// Says why a diff that is not whole was not approved.
pub(crate) fn explain(task: TaskId, lacks: &Lacks, by_policy: bool) -> Problem {
    let what = if by_policy { "was not approved by the policy" } else { "was not approved" };
    let next = format!(
        "look at `regatta task diff {task}`; `regatta task approve {task} --anyway` approves it anyway, \
         `regatta task reject {task} --reason \"…\"` sends it back"
    );
    Problem::new(lacks.code(), format!("task #{task} {what}"), lacks.sentences().join("; "), next)
        .with("taskId", task.number())
        .with("lacks", serde_json::to_value(lacks).unwrap_or_default())
}

fn list(names: &[String]) -> String {
    join(names, ", ")
}

fn join(names: &[String], between: &str) -> String {
    let mut text = names.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>().join(between);
    if names.len() > NAMES_MAX {
        text.push_str(&format!("{between}and {} more", names.len() - NAMES_MAX));
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn a_policy_approves_only_when_every_criterion_is_ticked() {
        check(
            "auto; add criteria 3; tick 1 1; assign 1 alpha; settle 1; finish 1; ok 1; ok 1",
            "ok 1; approve 1; tick 1 2; tick 1 3; approve 1",
            expect![[r#"
                > ok 1
                [approval:approve:failed]
                #1 waiting_approval/ready, alpha paused, error TASK_NOT_WHOLE
                > approve 1
                error[TASK_NOT_WHOLE]: task #1 was not approved
                  why:  2 criteria are open: Criterion 2 holds; Criterion 3 holds
                  next: look at `regatta task diff 1`; `regatta task approve 1 --anyway` approves it anyway, `regatta task reject 1 --reason "…"` sends it back
                > tick 1 2
                [criterion:checked]
                #1 waiting_approval/ready, alpha paused, error TASK_NOT_WHOLE
                > tick 1 3
                [criterion:checked]
                #1 waiting_approval/ready, alpha paused, error TASK_NOT_WHOLE
                > approve 1
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, alpha paused
            "#]],
        );
        check(
            "auto; add criteria 1; assign 1 alpha; settle 1; tick 1 1",
            "ready 1",
            expect![[r#"
                > ready 1
                [task:completed, approval:requested, agent:paused, approval:approved, worktree:merged, task:approved, worktree:removed] -> record_diff, pause_agent, approve_by_policy, merge_branch, remove_worktree
                #1 verified/cleanupdone
            "#]],
        );
    }

    #[test]
    fn a_policy_leaves_files_that_the_engine_obeys_to_a_person() {
        check(
            "auto; obeyed .regatta/config.toml,.gitattributes; add; assign 1 alpha; settle 1",
            "ready 1; approve 1; approve 1 anyway",
            expect![[r#"
                > ready 1
                [task:completed, approval:requested, agent:paused, approval:approve:failed] -> record_diff, pause_agent, approve_by_policy
                #1 waiting_approval/ready, alpha paused, error TASK_NOT_WHOLE
                > approve 1
                error[TASK_NOT_WHOLE]: task #1 was not approved
                  why:  it changes files that Regatta itself obeys: .regatta/config.toml, .gitattributes
                  next: look at `regatta task diff 1`; `regatta task approve 1 --anyway` approves it anyway, `regatta task reject 1 --reason "…"` sends it back
                > approve 1 anyway
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, alpha paused
            "#]],
        );
    }

    #[test]
    fn a_person_approves_over_what_is_open_only_with_anyway() {
        check(
            "checks test,broken; add criteria 2; assign 1 alpha; settle 1; ready 1",
            "approve 1; approve 1 by agent:alpha anyway; approve 1 dirty a.txt anyway; approve 1 anyway; settle 1",
            expect![[r#"
                > approve 1
                error[CHECKS_FAILED]: task #1 was not approved
                  why:  these checks failed: broken; 2 criteria are open: Criterion 1 holds; Criterion 2 holds
                  next: look at `regatta task diff 1`; `regatta task approve 1 --anyway` approves it anyway, `regatta task reject 1 --reason "…"` sends it back
                > approve 1 by agent:alpha anyway
                error[APPROVER_NOT_ALLOWED]: task #1 was not approved
                  why:  `alpha` is an agent, and an agent never approves
                  next: let a person approve
                > approve 1 dirty a.txt anyway
                error[WORKTREE_DIRTY]: task #1 was not merged
                  why:  1 file in its worktree is not committed: a.txt
                  next: `regatta task submit 1` commits them and submits the new diff; `regatta task reject 1 --reason "…"` leaves them to the agent; `regatta task cancel 1` keeps them as a salvage
                > approve 1 anyway
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, alpha paused
                > settle 1
                [worktree:merged, task:approved, worktree:removed] -> remove_worktree
                #1 verified/cleanupdone
            "#]],
        );
    }

    #[test]
    fn a_check_that_ran_at_another_commit_did_not_run_at_this_one() {
        check(
            "checks test; add; assign 1 alpha; settle 1; ready 1; reject 1 no; ok 1; checks test,new; finish 1; ok 1; ok 1",
            "fail 1; approve 1",
            expect![[r#"
                > fail 1
                [checks:run:failed]
                #1 waiting_approval/ready, alpha paused, rejected 1, error CHECKS_FAILED
                > approve 1
                error[CHECKS_FAILED]: task #1 was not approved
                  why:  these checks did not run at this commit: test, new
                  next: look at `regatta task diff 1`; `regatta task approve 1 --anyway` approves it anyway, `regatta task reject 1 --reason "…"` sends it back
            "#]],
        );
    }
}
