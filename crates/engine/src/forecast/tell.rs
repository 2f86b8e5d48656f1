//! What agents read of a forecast: who else changes the same files, and what to do about it.

use crate::commands::orders;
use crate::core::{Collision, CollisionKind, Task};
use crate::project::Project;
use std::fmt::Write as _;

/// A collision with the title of the other task.
pub(crate) struct Told {
    pub(crate) collision: Collision,
    pub(crate) title: Option<String>,
}

/// Returns the collisions of a task with the titles of the other tasks.
pub(crate) async fn tell(project: &Project, task: &Task) -> Vec<Told> {
    let mut told = Vec::new();
    for collision in &task.forecast.collisions {
        let title = match collision.task {
            // One that was deleted has no title.
            Some(other) => orders::get_task(project, other).await.ok().map(|other| other.title),
            None => None,
        };
        told.push(Told { collision: collision.clone(), title });
    }
    told
}

/// Renders the part of a prompt that names other work on the same files; nothing if there is none.
pub(crate) fn render(told: &[Told]) -> String {
    if told.is_empty() {
        return String::new();
    }
    let mut text = "\n## Other work on the same files\n\n".to_owned();
    for Told { collision, title } in told {
        let title = title.as_ref().map_or_else(String::new, |title| format!(" ({title})"));
        let _ = writeln!(text, "- This branch {}{title}: {}", collision.summary(), collision.list_files());
    }
    text.push_str(
        "\nIt was found by merging on trial; nothing is merged yet. Change no more of these files than your task needs, and \
         say in your notes what the other side must know.",
    );
    let is_with_target =
        |told: &&Told| told.collision.kind == CollisionKind::Conflict && told.collision.task.is_none();
    if let Some(Told { collision: Collision { branch, .. }, .. }) = told.iter().find(is_with_target) {
        let _ = write!(text, " Resolve the conflict with `{branch}` now: merge `{branch}` into your branch.");
    }
    text.push('\n');
    text
}
