//! What is kept of the work on one task: what its sessions added, as the engine recorded it when they ended.

use super::KEPT_MAX;
use crate::session::Usage;
use crate::{Event, Fact, Task, Worked, WorkedAction, WorkedFile};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, VecDeque};

/// The work on one task.
#[derive(Debug, Default)]
pub(super) struct TaskWork {
    task: Option<Task>,
    branch: Option<String>,
    base: Option<String>,
    head: Option<String>,
    commits: VecDeque<Value>,
    more_commits: u64,
    files: BTreeMap<String, WorkedFile>,
    more_files: u64,
    last: Option<Worked>,
    used: Usage,
}

impl TaskWork {
    /// Folds an event of the task.
    pub(super) fn fold(&mut self, fact: &Fact) {
        Task::evolve_in_place(&mut self.task, fact);
        if let Some(worktree) = self.task.as_ref().and_then(Task::worktree) {
            let (branch, base) = (worktree.branch.clone(), worktree.base.to_string());
            if self.head.is_none() || self.base.as_ref() != Some(&base) {
                self.head = Some(base.clone());
            }
            (self.branch, self.base) = (Some(branch), Some(base));
        }
        if let Event::TaskWorked { worked, .. } = &fact.event {
            self.add(worked);
        }
    }

    /// Adds what a session used.
    pub(super) fn charge(&mut self, usage: &Usage) {
        self.used = std::mem::take(&mut self.used).plus(usage);
    }

    fn add(&mut self, worked: &Worked) {
        // A session that is run again after a crash reports once more.
        let is_again =
            self.last.as_ref().is_some_and(|last| last.head == worked.head && last.base == worked.base);
        self.head = Some(worked.head.to_string());
        if is_again {
            return;
        }
        self.commits.extend(worked.commits.iter().map(commit));
        self.more_commits += u64::from(worked.more_commits);
        while self.commits.len() > KEPT_MAX {
            self.commits.pop_front();
            self.more_commits += 1;
        }
        self.more_files += u64::from(worked.more_files);
        for file in &worked.files {
            self.add_file(file);
        }
        self.last = Some(worked.clone());
    }

    fn add_file(&mut self, later: &WorkedFile) {
        let Some(known) = self.files.get_mut(&later.path) else {
            if self.files.len() < KEPT_MAX {
                self.files.insert(later.path.clone(), later.clone());
            } else {
                self.more_files += 1;
            }
            return;
        };
        known.added = known.added.saturating_add(later.added);
        known.removed = known.removed.saturating_add(later.removed);
        known.action = match (known.action, later.action) {
            (WorkedAction::Added, WorkedAction::Modified) => WorkedAction::Added,
            (WorkedAction::Deleted, WorkedAction::Added) => WorkedAction::Modified,
            // A file that was added and removed again is none of the work.
            (WorkedAction::Added, WorkedAction::Deleted) => {
                self.files.remove(&later.path);
                return;
            }
            (_, action) => action,
        };
    }

    /// Returns what expressions see of it.
    pub(super) fn value(&self) -> Value {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
        if let Some(task) = &self.task {
            put("task", task.id.number().into());
            put("column", task.column().to_string().into());
            put("sessions", task.sessions.into());
            if let Some(proof) = &task.proof {
                put("checks", serde_json::to_value(&proof.results).unwrap_or_default());
            }
            let collision = |one: &crate::Collision| json!({ "with": one.with(), "files": one.files });
            put("collisions", task.forecast.collisions.iter().map(collision).collect());
        }
        for (name, text) in [("branch", &self.branch), ("base", &self.base), ("head", &self.head)] {
            if let Some(text) = text {
                put(name, text.clone().into());
            }
        }
        put("commits", self.commits.iter().cloned().collect());
        put("files", self.files.values().map(file).collect());
        put("more", json!({ "commits": self.more_commits, "files": self.more_files }));
        if let Some(last) = &self.last {
            put("last", last_value(last));
        }
        let Usage { input_tokens, output_tokens, cost_micros, milliseconds, .. } = self.used;
        let cost = cost_micros.map(|micros| micros as f64 / 1_000_000.0);
        put(
            "cost",
            json!({ "tokens": input_tokens + output_tokens, "usd": cost, "seconds": milliseconds / 1_000 }),
        );
        fields.into()
    }
}

fn last_value(last: &Worked) -> Value {
    json!({
        "base": last.base.to_string(),
        "head": last.head.to_string(),
        "commits": last.commits.iter().map(commit).collect::<Value>(),
        "files": last.files.iter().map(file).collect::<Value>(),
        "more": { "commits": last.more_commits, "files": last.more_files },
    })
}

fn commit(commit: &crate::WorkedCommit) -> Value {
    json!({ "id": commit.id.to_string(), "title": commit.title, "at": super::facts::time(commit.at) })
}

fn file(file: &WorkedFile) -> Value {
    json!({ "path": file.path, "action": file.action.as_str(), "added": file.added, "removed": file.removed })
}
