//! What a task is going to collide with, as people and programs see it.

use crate::core::{Collision, CollisionKind, Forecast, TaskId};
use serde::Serialize;

/// Other work that a task's branch will not merge with, or that changes the same files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CollisionView {
    /// `conflict` if what is committed does not merge; `overlap` if it is not all committed yet.
    pub kind: CollisionKind,
    /// The other task; nothing if it is the branch that the task is to be merged into.
    pub task_id: Option<TaskId>,
    /// The other branch.
    pub branch: String,
    /// The files.
    pub files: Vec<String>,
    /// How many more files there are.
    pub more_files: u32,
    /// All of it in one line.
    pub summary: String,
}

impl CollisionView {
    fn of(collision: &Collision) -> Self {
        CollisionView {
            kind: collision.kind,
            task_id: collision.task,
            branch: collision.branch.clone(),
            files: collision.files.clone(),
            more_files: collision.more_files,
            summary: format!("{}: {}", collision.summary(), collision.list_files()),
        }
    }

    /// Names the other side: `#12`, or the branch.
    pub fn with(&self) -> String {
        self.task_id.map_or_else(|| self.branch.clone(), |task| format!("#{task}"))
    }
}

/// Returns the collisions of a forecast.
pub(crate) fn list(forecast: &Forecast) -> Vec<CollisionView> {
    forecast.collisions.iter().map(CollisionView::of).collect()
}
