//! What was noticed, and what is still to be sent.

use crate::error::Error;
use crate::notices::notice::Notice;
use crate::project::Project;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

/// How many notices wait at most for a receiver that is away; then the oldest are dropped.
const OUTBOX_MAX: usize = 1_000;

/// The memory of one project.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Memory {
    /// The last event that was looked at.
    pub(crate) position: u64,
    /// What each subject was last noticed for, while it lasts: `task/3` and why it waits.
    pub(crate) standing: BTreeMap<String, String>,
    /// What is still to be sent, by receiver, oldest first.
    pub(crate) outbox: BTreeMap<Receiver, VecDeque<Notice>>,
}

/// Who gets notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Receiver {
    Command,
    Webhook,
}

impl Memory {
    /// Reads it; nothing if there is none, or none that can be read.
    pub(crate) fn load(project: &Project) -> Option<Self> {
        let text = std::fs::read_to_string(path(project)).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub(crate) fn save(&self, project: &Project) -> Result<(), Error> {
        let text = serde_json::to_vec(self).expect("the memory is plain data");
        regatta_files::disk::write_atomically(&path(project), &text).map_err(Error::StateFile)
    }

    /// Notes why a subject stands as it does; `true` if that is new. Nothing ends it.
    pub(crate) fn stand(&mut self, subject: String, why: Option<&str>) -> bool {
        match why {
            None => {
                self.standing.remove(&subject);
                false
            }
            Some(why) => self.standing.insert(subject, why.to_owned()).as_deref() != Some(why),
        }
    }

    /// Puts a notice into the outbox of each receiver.
    pub(crate) fn post(&mut self, notice: &Notice, receivers: &[Receiver]) {
        for receiver in receivers {
            let waiting = self.outbox.entry(*receiver).or_default();
            waiting.push_back(notice.clone());
            let too_many = waiting.len().saturating_sub(OUTBOX_MAX);
            waiting.drain(..too_many);
        }
    }

    /// Takes a notice off that was sent, or given up.
    pub(crate) fn take_off(&mut self, receiver: Receiver, id: &str) {
        if let Some(waiting) = self.outbox.get_mut(&receiver) {
            waiting.retain(|notice| notice.id != id);
        }
    }

    pub(crate) fn first(&self, receiver: Receiver) -> Option<&Notice> {
        self.outbox.get(&receiver)?.front()
    }
}

fn path(project: &Project) -> PathBuf {
    project.location().home.join("notices.json")
}
