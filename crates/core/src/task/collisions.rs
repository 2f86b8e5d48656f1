//! The forecast of collisions: other work that a task's branch will not merge with, or that touches the same files.
//!
//! The engine looks at the branches and worktrees; here is only what is recorded of it. A forecast stops nothing, so it
//! may be recorded at any time and says nothing about the stage. It is recorded when it changed, and a task without a
//! worktree has none.

use super::{Stage, Task, one_line};
use crate::{Event, TaskId};
use serde::{Deserialize, Serialize};

/// So many collisions of a task are listed; the rest is counted.
pub(crate) const COLLISIONS_MAX: usize = 20;
/// So many files of a collision are listed; the rest is counted.
pub(crate) const FILES_MAX: usize = 20;

/// What a task is going to collide with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Forecast {
    /// The collisions: first conflicts, then overlaps; in each the target first, then tasks by number.
    pub collisions: Vec<Collision>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_collisions: u32,
}

/// Another line of work that a task collides with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Collision {
    /// Whether it is certain.
    pub kind: CollisionKind,
    /// The other task; nothing if it is the branch that the task is to be merged into.
    pub task: Option<TaskId>,
    /// The other branch.
    pub branch: String,
    /// The files, in order.
    pub files: Vec<String>,
    /// How many more files there are.
    #[serde(default)]
    pub more_files: u32,
}

/// Whether a collision is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CollisionKind {
    /// What is committed on both sides does not merge.
    Conflict,
    /// Both sides are changing the same files, and not all of it is committed.
    Overlap,
}

impl CollisionKind {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            CollisionKind::Conflict => "conflict",
            CollisionKind::Overlap => "overlap",
        }
    }
}

impl Forecast {
    /// Makes the forecast of everything that a task collides with: in order, and cut to what is recorded.
    pub fn new(found: Vec<Collision>) -> Self {
        let mut collisions: Vec<Collision> = found.into_iter().map(Collision::cut).collect();
        collisions.sort();
        let more_collisions = count(collisions.len().saturating_sub(COLLISIONS_MAX));
        collisions.truncate(COLLISIONS_MAX);
        Forecast { collisions, more_collisions }
    }

    /// Tells whether the task collides with nothing.
    pub fn is_empty(&self) -> bool {
        self.collisions.is_empty()
    }

    /// Says in a few words what comes first; nothing if there is nothing.
    pub fn summary(&self) -> Option<String> {
        let first = self.collisions.first()?.summary();
        let others = count(self.collisions.len() - 1).saturating_add(self.more_collisions);
        Some(if others == 0 { first } else { format!("{first}, and {others} more") })
    }
}

impl Collision {
    fn cut(mut self) -> Self {
        self.files.sort();
        self.files.dedup();
        self.more_files = self.more_files.saturating_add(count(self.files.len().saturating_sub(FILES_MAX)));
        self.files.truncate(FILES_MAX);
        self.files.iter_mut().for_each(|file| *file = one_line(file));
        self
    }

    /// Names the other side: `#12`, or the branch.
    pub fn with(&self) -> String {
        self.task.map_or_else(|| self.branch.clone(), |task| format!("#{task}"))
    }

    /// Says what is going to happen: `will conflict with #12 in 2 files`.
    pub fn summary(&self) -> String {
        let (with, number) = (self.with(), count(self.files.len()).saturating_add(self.more_files));
        let files = if number == 1 { "1 file".to_owned() } else { format!("{number} files") };
        match (self.kind, self.task) {
            (CollisionKind::Conflict, _) => format!("will conflict with {with} in {files}"),
            (CollisionKind::Overlap, Some(_)) => format!("is changing {files} that {with} is changing too"),
            (CollisionKind::Overlap, None) => {
                let were = if number == 1 { "was" } else { "were" };
                format!("is changing {files} that {were} changed on {with} since")
            }
        }
    }

    /// Names the files: `a.rs, b.rs and 3 more`.
    pub fn list_files(&self) -> String {
        let files = self.files.join(", ");
        if self.more_files == 0 { files } else { format!("{files} and {} more", self.more_files) }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Tells whether a task has a branch that could collide with another.
pub(crate) fn can_collide(task: &Task) -> bool {
    matches!(task.stage, Stage::InProgress(_) | Stage::WaitingApproval(_))
}

/// Returns the fact that the forecast of a task changed; none if it did not, or if the task has no branch any more.
pub(crate) fn note_collisions(task: &Task, forecast: &Forecast) -> Vec<Event> {
    if !can_collide(task) || task.forecast == *forecast {
        return Vec::new();
    }
    vec![Event::CollisionsForecast { task_id: task.id, forecast: forecast.clone() }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, id};
    use crate::{Actor, Command, replay_task};

    fn collision(kind: CollisionKind, task: Option<u32>, files: usize) -> Collision {
        let branch = task.map_or_else(|| "main".to_owned(), |task| format!("task/{task}"));
        let files = (0..files).rev().map(|number| format!("src/{number:03}.rs")).collect();
        Collision { kind, task: task.map(id), branch, files, more_files: 0 }
    }

    fn forecast() -> Forecast {
        Forecast::new(vec![
            collision(CollisionKind::Overlap, Some(3), 1),
            collision(CollisionKind::Conflict, Some(12), 2),
            collision(CollisionKind::Conflict, None, 1),
        ])
    }

    fn give(world: &mut World, forecast: Forecast) -> usize {
        let before = world.facts.len();
        world.give(id(1), &Actor::Engine, &Command::NoteCollisions(forecast)).unwrap();
        world.facts.len() - before
    }

    #[test]
    fn it_is_recorded_when_it_changed_and_moves_nothing() {
        for given in [
            "add; assign 1 alpha; settle 1",
            "add; assign 1 alpha; settle 1; break 1",
            "add; assign 1 alpha; settle 1; ready 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1",
            "add; assign 1 alpha; settle 1; cancel 1",
        ] {
            let mut world = World::given(given);
            let before = world.tasks[&id(1)].clone();
            assert_eq!(give(&mut world, Forecast::default()), 0, "{given}");
            assert_eq!(give(&mut world, forecast()), 1, "{given}");
            assert_eq!(give(&mut world, forecast()), 0, "{given}");
            let expected = Task { forecast: forecast(), ..before.clone() };
            assert_eq!(world.tasks[&id(1)], expected, "{given}");
            assert_eq!(replay_task(&world.facts).unwrap(), Some(expected));
            assert_eq!(give(&mut world, Forecast::default()), 1, "{given}");
            assert_eq!(world.tasks[&id(1)], before, "{given}");
        }
    }

    #[test]
    fn a_task_without_a_branch_has_none_and_loses_it_with_the_branch() {
        for given in ["add", "add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1"] {
            assert_eq!(give(&mut World::given(given), forecast()), 0, "{given}");
        }
        for (given, end) in [
            ("add; assign 1 alpha; settle 1; ready 1; approve 1", "ok 1"),
            ("add; assign 1 alpha; settle 1; cancel 1", "settle 1"),
        ] {
            let mut world = World::given(given);
            give(&mut world, forecast());
            let said = world.line(end);
            assert!(!said.contains("error["), "{said}");
            assert_eq!(world.tasks[&id(1)].forecast, Forecast::default(), "{given}");
            assert_eq!(replay_task(&world.facts).unwrap(), Some(world.tasks[&id(1)].clone()));
        }
    }

    #[test]
    fn what_is_certain_comes_first_and_all_of_it_is_bounded() {
        let found = forecast();
        let all: Vec<String> = found.collisions.iter().map(Collision::summary).collect();
        assert_eq!(
            all,
            [
                "will conflict with main in 1 file",
                "will conflict with #12 in 2 files",
                "is changing 1 file that #3 is changing too",
            ]
        );
        assert_eq!(found.summary().unwrap(), "will conflict with main in 1 file, and 2 more");
        let many = (1..=30).map(|task| collision(CollisionKind::Conflict, Some(task), 50)).collect();
        let many = Forecast::new(many);
        assert_eq!((many.collisions.len(), many.more_collisions), (COLLISIONS_MAX, 10));
        let first = &many.collisions[0];
        assert_eq!((first.files.len(), first.more_files), (FILES_MAX, 30));
        assert_eq!(first.summary(), "will conflict with #1 in 50 files");
        assert!(first.list_files().starts_with("src/000.rs, src/001.rs"), "{}", first.list_files());
        assert!(first.list_files().ends_with(" and 30 more"), "{}", first.list_files());
        assert_eq!(Forecast::default().summary(), None);
    }

    #[test]
    fn a_name_that_an_agent_made_up_is_one_bounded_line() {
        let hostile = format!("a\n\u{1b}[31m{}", "x".repeat(5_000));
        let found = Forecast::new(vec![Collision {
            files: vec![hostile],
            ..collision(CollisionKind::Conflict, Some(2), 0)
        }]);
        let name = &found.collisions[0].files[0];
        assert!(name.starts_with("a  [31mxx") && name.chars().count() == 200, "{name}");
    }
}
