//! Selects events of the log.

use crate::core::{AnyEvent, FieldFault, Refusal, RunId, TaskId, find_nearest};
use crate::error::Error;
use crate::log::journal::Entry;

/// Which events are meant; fields that are not set are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Only those of this task.
    pub task: Option<TaskId>,
    /// Only those of this run.
    pub run: Option<RunId>,
    /// Only those of this type, or of all types that begin so if it ends with a colon.
    pub kind: Option<String>,
}

impl EventFilter {
    /// Refuses a type that no event has: it would show nothing, and nobody would know why.
    pub fn checked(self) -> Result<Self, Error> {
        let Some(kind) = &self.kind else { return Ok(self) };
        let is_known =
            |known: &str| known == kind || (kind.ends_with(':') && known.starts_with(kind.as_str()));
        if AnyEvent::kinds().any(is_known) {
            return Ok(self);
        }
        let guess = find_nearest(kind, AnyEvent::kinds());
        let guess = guess.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
        let problem = format!("names `{kind}`, which no event is{guess}");
        Err(Error::Refused(Refusal::Invalid { faults: vec![FieldFault { field: "type", problem }] }))
    }

    /// Tells whether an event is meant.
    pub fn admits(&self, entry: &Entry) -> bool {
        let is_kind = |kind: &String| {
            let own = entry.event.kind();
            own == kind || (kind.ends_with(':') && own.starts_with(kind.as_str()))
        };
        self.task.is_none_or(|task| entry.task() == Some(task))
            && self.run.is_none_or(|run| entry.event.find_run() == Some(run))
            && self.kind.as_ref().is_none_or(is_kind)
    }
}
