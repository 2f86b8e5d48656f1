//! The file of a task, what is beside it, and what the log says of it.

use crate::world::{Event, World};
use std::path::PathBuf;

/// The file of task 1.
pub(crate) struct TaskFile<'a> {
    world: &'a World,
}

impl<'a> TaskFile<'a> {
    pub(crate) fn of(world: &'a World) -> Self {
        TaskFile { world }
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> PathBuf {
        path(self.world, 1)
    }

    /// Returns its text.
    pub(crate) fn read(&self) -> String {
        std::fs::read_to_string(self.path()).expect("the task has a file")
    }

    /// Returns the text of the archive; an archive that is not there is empty.
    pub(crate) fn read_archive(&self) -> String {
        let path = self.world.project.path().join(".regatta/archives/task-1-archive.md");
        std::fs::read_to_string(path).unwrap_or_default()
    }

    /// Returns the texts of the versions that were kept beside it.
    pub(crate) fn read_conflicts(&self) -> String {
        let is_kept = |name: &&String| name.contains(".conflict-") || name.contains(".corrupt-");
        let names = names(self.world);
        let read = |name: &String| std::fs::read(self.path().with_file_name(name)).unwrap_or_default();
        names.iter().filter(is_kept).map(|name| String::from_utf8_lossy(&read(name)).into_owned()).collect()
    }

    /// Leaves a version beside it as a killed process does that had displaced it; its base is the newest in the log.
    pub(crate) fn leave(&self, text: &str) {
        let events = self.world.events();
        let is_version = |event: &&Event| event.kind() == "file:changed";
        let newest = events.iter().rfind(is_version).expect("the file is in the log");
        let base = newest.0["digest"].as_str().and_then(|digest| digest.get(..16)).expect("a digest");
        let name = format!(".regatta-task-1-{base}-Ab1234.tmp");
        std::fs::write(self.path().with_file_name(name), text).expect("it can be written");
    }
}

/// Returns what killed processes left beside the task files.
pub(crate) fn left_overs(world: &World) -> Vec<String> {
    names(world).into_iter().filter(|name| name.starts_with(".regatta-")).collect()
}

/// Returns every version of the file of a task that is in the log, from the first to the newest.
pub(crate) fn versions(events: &[Event], task: u64) -> Vec<String> {
    let of_task = |event: &&Event| event.task() == task && event.kind() == "file:changed";
    let mut texts: Vec<String> = Vec::new();
    for event in events.iter().filter(of_task) {
        let before = texts.last().map_or("", String::as_str);
        texts.push(apply(before, event));
    }
    texts
}

/// Returns the version that an event makes of the one before.
pub(crate) fn apply(before: &str, event: &Event) -> String {
    let splice = &event.0["splice"];
    let place = |key: &str| {
        splice[key].as_u64().and_then(|at| usize::try_from(at).ok()).expect("a place in the text")
    };
    let text = splice["text"].as_str().expect("a text");
    [&before[..place("start")], text, &before[place("end")..]].concat()
}

/// Returns where the file of a task is.
pub(crate) fn path(world: &World, task: u64) -> PathBuf {
    world.project.path().join(format!(".regatta/task-states/task-{task}-state.md"))
}

fn names(world: &World) -> Vec<String> {
    let entries = std::fs::read_dir(world.project.path().join(".regatta/task-states"));
    let mut names: Vec<String> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}
