//! The log as people and programs read it.

use crate::core::{Actor, AnyEvent, Fact, TaskId};
use crate::error::Error;
use crate::log::happening_of;
use crate::project::Project;
use jiff::Timestamp;
use regatta_store::{Recorded, Seq};
use serde_json::{Map, Value};
use std::time::Duration;
use uuid::Uuid;

/// As many events as are read at once.
const PAGE: usize = 500;

/// One event of the log.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its sequence number; there are no gaps.
    pub seq: u64,
    /// Its id.
    pub id: Uuid,
    /// When it happened.
    pub at: Timestamp,
    /// Who caused it.
    pub actor: Actor,
    /// What happened.
    pub event: AnyEvent,
}

impl Entry {
    pub(crate) fn from_recorded(recorded: &Recorded) -> Result<Self, Error> {
        let Fact { at, actor, event } = happening_of(recorded)?;
        Ok(Entry { seq: recorded.seq.0, id: recorded.id, at, actor, event })
    }

    /// Returns the task it happened to, if any.
    pub fn task(&self) -> Option<TaskId> {
        self.event.find_task()
    }

    /// Returns it as one flat JSON object.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("seq".to_owned(), self.seq.into());
        object.insert("id".to_owned(), self.id.to_string().into());
        object.insert("at".to_owned(), format!("{:.3}", self.at).into());
        object.insert("actor".to_owned(), self.actor.to_string().into());
        if let Ok(Value::Object(fields)) = serde_json::to_value(&self.event) {
            object.extend(fields);
        }
        Value::Object(object)
    }
}

/// A position in the log from which to continue reading.
pub struct Journal<'a> {
    project: &'a Project,
    seen: Seq,
}

impl<'a> Journal<'a> {
    /// Starts after the event with this number.
    pub fn after(project: &'a Project, seq: u64) -> Self {
        Journal { project, seen: Seq(seq) }
    }

    /// Starts at the end of the log.
    pub async fn at_end(project: &'a Project) -> Result<Self, Error> {
        Ok(Journal { project, seen: project.store().head().await? })
    }

    /// Returns the number of the last event that was read.
    pub fn position(&self) -> u64 {
        self.seen.0
    }

    /// Returns the next events there are, possibly none.
    pub async fn read(&mut self) -> Result<Vec<Entry>, Error> {
        self.read_some(PAGE).await
    }

    /// Returns so many of the next events at most.
    pub async fn read_some(&mut self, count_max: usize) -> Result<Vec<Entry>, Error> {
        let rows = self.project.store().read(self.seen, count_max).await?;
        if let Some(last) = rows.last() {
            self.seen = last.seq;
        }
        rows.iter().map(Entry::from_recorded).collect()
    }

    /// Waits for further events, at most so long, and returns them.
    pub async fn wait(&mut self, limit: Duration) -> Result<Vec<Entry>, Error> {
        self.project.store().wait_past(self.seen, limit).await?;
        self.read().await
    }
}
