//! What is read off a task's stage: its column, its agent, its worktree, and whether it moves by itself.

use super::state::{Cleanup, Criterion, Diff, ReviewPhase, Stage, Task, WorkPhase, Worktree, WorktreeState};
use crate::machine::Column;
use crate::{AgentId, AgentState, Approval, Code};

/// What a task is to those that depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Its column.
    pub column: Column,
    /// Whether they can begin.
    pub is_done: bool,
}

impl Default for Standing {
    /// What is known of a task that nobody has loaded.
    fn default() -> Self {
        Standing { column: Column::Backlog, is_done: false }
    }
}

impl Task {
    /// Returns the board's column.
    pub fn column(&self) -> Column {
        match self.stage {
            Stage::Backlog => Column::Backlog,
            Stage::InProgress(_) => Column::InProgress,
            Stage::WaitingApproval(_) => Column::WaitingApproval,
            Stage::Verified(_) => Column::Verified,
        }
    }

    /// Returns the name that its branch has or gets.
    pub fn branch_name(&self) -> String {
        self.branch.clone().unwrap_or_else(|| format!("task/{}", self.id))
    }

    /// Returns what it is to the tasks that depend on it.
    pub fn standing(&self) -> Standing {
        Standing { column: self.column(), is_done: self.is_done() }
    }

    /// Tells whether what depends on it can begin: it is merged, or it was done before it was imported.
    pub fn is_done(&self) -> bool {
        self.column() == Column::Verified || self.is_done_elsewhere()
    }

    /// Tells whether it was done before it was imported, and nobody has taken it up since.
    pub fn is_done_elsewhere(&self) -> bool {
        self.hidden && self.column() == Column::Backlog
    }

    /// Returns the agent that has or had it, if it is not in the backlog or a person's own.
    pub fn agent(&self) -> Option<&AgentId> {
        match &self.stage {
            Stage::Backlog => None,
            Stage::InProgress(work) => work.agent.as_ref(),
            Stage::WaitingApproval(review) => review.agent.as_ref(),
            Stage::Verified(landed) => landed.agent.as_ref(),
        }
    }

    /// Returns its worktree, which may be gone when it is verified.
    pub fn worktree(&self) -> Option<&Worktree> {
        match &self.stage {
            Stage::Backlog => None,
            Stage::InProgress(work) => Some(&work.worktree),
            Stage::WaitingApproval(review) => Some(&review.worktree),
            Stage::Verified(landed) => Some(&landed.worktree),
        }
    }

    /// Returns its newest diff.
    pub fn diff(&self) -> Option<&Diff> {
        match &self.stage {
            Stage::WaitingApproval(review) => Some(&review.diff),
            Stage::Verified(landed) => Some(&landed.diff),
            Stage::Backlog | Stage::InProgress(_) => None,
        }
    }

    /// Returns what its agent is doing.
    pub fn agent_state(&self) -> AgentState {
        if self.agent().is_none() {
            return AgentState::Idle;
        }
        match &self.stage {
            Stage::Backlog => AgentState::Idle,
            Stage::InProgress(work) => match work.phase {
                WorkPhase::Preparing | WorkPhase::Starting { .. } => AgentState::Starting,
                WorkPhase::Running { .. }
                | WorkPhase::Driven { session: Some(_), .. }
                | WorkPhase::Handing { .. }
                | WorkPhase::Stopping { session: Some(_), .. } => AgentState::Running,
                WorkPhase::Driven { session: None, .. } | WorkPhase::Parked { .. } => AgentState::Paused,
                _ => AgentState::Error,
            },
            Stage::WaitingApproval(_) => AgentState::Paused,
            Stage::Verified(_) => AgentState::Completed,
        }
    }

    /// Returns what becomes of its worktree.
    pub fn worktree_state(&self) -> Option<WorktreeState> {
        Some(match &self.stage {
            Stage::Backlog => return None,
            Stage::InProgress(work) => match work.phase {
                WorkPhase::Preparing => WorktreeState::Creating,
                WorkPhase::Unwinding | WorkPhase::Removing { .. } => WorktreeState::Removing,
                _ => WorktreeState::Active,
            },
            Stage::WaitingApproval(review) => match review.phase {
                ReviewPhase::Merging { .. } => WorktreeState::Merging,
                ReviewPhase::Removing { .. } => WorktreeState::Removing,
                _ if self.has_error(Code::WorktreeMergeConflict) => WorktreeState::Conflict,
                _ => WorktreeState::Active,
            },
            Stage::Verified(landed) => match landed.cleanup {
                Cleanup::Pending => WorktreeState::Removing,
                Cleanup::Done => WorktreeState::Removed,
                Cleanup::Failed => WorktreeState::Error,
            },
        })
    }

    /// Tells whether the engine has seen that a criterion holds, at the commit that is up for review or merged.
    pub fn is_verified(&self, criterion: &Criterion) -> bool {
        let (Some(name), Some(proof)) = (&criterion.check, &self.proof) else { return false };
        let is_current = self.diff().is_some_and(|diff| diff.head == proof.commit);
        is_current && proof.results.iter().any(|evidence| evidence.name == *name && evidence.passed)
    }

    /// Returns the criteria that nobody claims to hold.
    pub fn open_criteria(&self) -> Vec<&str> {
        let open = self.criteria.iter().filter(|criterion| !criterion.checked);
        open.map(|criterion| criterion.text.as_str()).collect()
    }

    /// Tells whether a command is still being carried out, other than a session.
    pub fn is_settling(&self) -> bool {
        match &self.stage {
            Stage::Backlog => false,
            Stage::InProgress(work) => {
                use WorkPhase::{ByHand, Driven, Halted, Parked, Running};
                !matches!(work.phase, Running { .. } | Driven { .. } | Parked { .. } | Halted | ByHand)
            }
            Stage::WaitingApproval(review) => {
                !matches!(review.phase, ReviewPhase::Ready)
                    || (review.approval == Approval::Auto && self.error.is_none())
            }
            Stage::Verified(landed) => landed.cleanup == Cleanup::Pending,
        }
    }

    /// Tells whether nothing will happen to it until somebody gives a command.
    pub fn is_at_rest(&self) -> bool {
        use WorkPhase::{Driven, Parked, Running};
        let runs = matches!(
            &self.stage,
            Stage::InProgress(work) if matches!(work.phase, Running { .. } | Driven { .. } | Parked { .. })
        );
        !runs && !self.is_settling()
    }

    fn has_error(&self, code: Code) -> bool {
        self.error.as_ref().is_some_and(|error| error.code == code)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{World, id};
    use expect_test::expect;

    #[test]
    fn what_the_board_shows_of_agent_and_worktree() {
        let situations = [
            "add",
            "add; assign 1 alpha",
            "add; assign 1 alpha; ok 1",
            "add; assign 1 alpha; settle 1",
            "add; assign 1 alpha; settle 1; break 1",
            "add; assign 1 alpha; ok 1; fail 1",
            "add; assign 1 alpha; settle 1; cancel 1",
            "add; assign 1 alpha; settle 1; cancel 1; ok 1",
            "add; assign 1 alpha; settle 1; finish 1",
            "add; assign 1 alpha; settle 1; ready 1",
            "auto; add; assign 1 alpha; settle 1; finish 1; ok 1; ok 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1; fail 1",
            "add; assign 1 alpha; settle 1; ready 1; cancel 1; ok 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1; fail 1",
        ];
        let text: String = situations.iter().map(|given| format!("{given}\n    {}\n", show(given))).collect();
        expect![[r#"
            add
                backlog, agent Idle, worktree none, at rest
            add; assign 1 alpha
                in_progress, agent Starting, worktree Creating, settling
            add; assign 1 alpha; ok 1
                in_progress, agent Starting, worktree Active, settling
            add; assign 1 alpha; settle 1
                in_progress, agent Running, worktree Active, at work
            add; assign 1 alpha; settle 1; break 1
                in_progress, agent Error, worktree Active, at rest
            add; assign 1 alpha; ok 1; fail 1
                in_progress, agent Error, worktree Removing, settling
            add; assign 1 alpha; settle 1; cancel 1
                in_progress, agent Running, worktree Active, settling
            add; assign 1 alpha; settle 1; cancel 1; ok 1
                in_progress, agent Error, worktree Removing, settling
            add; assign 1 alpha; settle 1; finish 1
                waiting_approval, agent Paused, worktree Active, settling
            add; assign 1 alpha; settle 1; ready 1
                waiting_approval, agent Paused, worktree Active, at rest
            auto; add; assign 1 alpha; settle 1; finish 1; ok 1; ok 1
                waiting_approval, agent Paused, worktree Active, settling
            add; assign 1 alpha; settle 1; ready 1; approve 1
                waiting_approval, agent Paused, worktree Merging, settling
            add; assign 1 alpha; settle 1; ready 1; approve 1; fail 1
                waiting_approval, agent Paused, worktree Conflict, at rest
            add; assign 1 alpha; settle 1; ready 1; cancel 1; ok 1
                waiting_approval, agent Paused, worktree Removing, settling
            add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1
                verified, agent Completed, worktree Removing, settling
            add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1
                verified, agent Completed, worktree Removed, at rest
            add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1; fail 1
                verified, agent Completed, worktree Error, at rest
        "#]]
        .assert_eq(&text);
    }

    fn show(given: &str) -> String {
        let world = World::given(given);
        let task = &world.tasks[&id(1)];
        let stir = match (task.is_settling(), task.is_at_rest()) {
            (true, false) => "settling",
            (false, true) => "at rest",
            (false, false) => "at work",
            (true, true) => panic!("a task at rest is settled"),
        };
        let worktree = task.worktree_state().map_or("none".to_owned(), |state| format!("{state:?}"));
        format!("{}, agent {:?}, worktree {worktree}, {stir}", task.column(), task.agent_state())
    }
}
