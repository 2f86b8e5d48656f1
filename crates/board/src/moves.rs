//! Where a card can be moved, what a drop does there, and why not elsewhere.

use crate::words;
use regatta_engine::TaskView;
use regatta_engine::core::machine::Column;
use serde_json::{Value, json};

/// What a drop in a column does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The column.
    pub to: Column,
    /// The verb, if it can be moved there.
    pub verb: Option<&'static str>,
    /// What a drop does, or why it is not possible.
    pub says: String,
}

/// Returns what a drop does in each other column.
pub fn of(task: &TaskView) -> Vec<Move> {
    let others = Column::ALL.into_iter().filter(|to| *to != task.column);
    others
        .map(|to| {
            let (verb, says) = judge(task, to);
            Move { to, verb, says }
        })
        .collect()
}

/// Returns the moves as the script of the board reads them.
pub fn to_json(moves: &[Move]) -> String {
    let pairs = moves.iter().map(|one| (one.to.as_str().to_owned(), json!([one.verb, one.says])));
    Value::Object(pairs.collect()).to_string()
}

fn judge(task: &TaskView, to: Column) -> (Option<&'static str>, String) {
    let can = |verb, says: &str| (Some(verb), says.to_owned());
    let cannot = |says: &str| (None, says.to_owned());
    let is_still = matches!(task.phase, "halted" | "by_hand");
    match (task.column, to) {
        (Column::Backlog, Column::InProgress) if task.queue_position.is_some() => {
            cannot("It is queued, and starts by itself.")
        }
        (Column::Backlog, Column::InProgress) if !task.blocked_by.is_empty() => {
            cannot(&format!("Not yet. It waits for {} to be merged.", words::tasks(&task.blocked_by)))
        }
        (Column::Backlog, Column::InProgress) => can("assign", "Drop to assign it."),
        (Column::Backlog, Column::WaitingApproval) => cannot("Only finished work waits for approval."),
        (Column::InProgress | Column::WaitingApproval, Column::Backlog) => match task.phase {
            "stopping" | "removing" | "unwinding" | "merging" | "cleaning" => {
                cannot("The engine is at it now. Try again when it is done.")
            }
            _ => can("cancel", "Drop to cancel. The work is kept."),
        },
        (Column::InProgress, Column::WaitingApproval) if is_still => {
            can("submit", "Drop to submit what is there for review.")
        }
        (Column::InProgress, Column::WaitingApproval) => cannot("Its agent submits it when it is done."),
        (Column::WaitingApproval, Column::InProgress) if task.phase == "ready" => {
            can("reject", "Drop to send back. You are asked why.")
        }
        (Column::WaitingApproval, Column::InProgress) => cannot("The engine is at it now."),
        (Column::Verified, _) => cannot("Merged work stays."),
        (_, Column::Verified) => cannot("Not by dragging. Approve it in its review."),
        _ => cannot("It is there already."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::task;
    use regatta_engine::core::TaskId;

    fn says(change: impl FnOnce(&mut TaskView), to: Column) -> (Option<&'static str>, String) {
        let mut task = task();
        change(&mut task);
        let moves = of(&task);
        assert!(moves.iter().all(|one| one.to != task.column), "it is there already");
        moves
            .into_iter()
            .find(|one| one.to == to)
            .map(|one| (one.verb, one.says))
            .expect("every other column is judged")
    }

    #[test]
    fn a_drop_is_one_of_the_commands_or_says_why_not() {
        let verb = |column, phase, to| says(|task| (task.column, task.phase) = (column, phase), to).0;
        assert_eq!(verb(Column::Backlog, "waiting", Column::InProgress), Some("assign"));
        assert_eq!(verb(Column::Backlog, "waiting", Column::Verified), None);
        assert_eq!(verb(Column::InProgress, "running", Column::Backlog), Some("cancel"));
        assert_eq!(verb(Column::InProgress, "running", Column::WaitingApproval), None);
        assert_eq!(verb(Column::InProgress, "halted", Column::WaitingApproval), Some("submit"));
        assert_eq!(verb(Column::WaitingApproval, "ready", Column::InProgress), Some("reject"));
        assert_eq!(verb(Column::WaitingApproval, "ready", Column::Verified), None);
        assert_eq!(verb(Column::WaitingApproval, "merging", Column::Backlog), None);
        for to in [Column::Backlog, Column::InProgress, Column::WaitingApproval] {
            assert_eq!(verb(Column::Verified, "done", to), None);
        }
    }

    #[test]
    fn a_task_that_waits_for_another_cannot_be_assigned() {
        let blocked = says(|task| task.blocked_by = vec![TaskId::new(4).unwrap()], Column::InProgress);
        assert_eq!(blocked, (None, "Not yet. It waits for #4 to be merged.".to_owned()));
    }
}
