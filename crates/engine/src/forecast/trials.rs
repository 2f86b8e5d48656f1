//! Trial merges, each made once: the same two commits always merge or do not.

use crate::error::Error;
use crate::project::Project;
use regatta_git::{CommitId, Trial};
use std::collections::BTreeMap;

/// As many trial merges are made in a round; the next round makes the others. A round must end, since branches move meanwhile.
const TRIALS_MAX: usize = 250;

/// The trial merges of two commits, by their ids in order.
#[derive(Default)]
pub(super) struct Trials {
    known: BTreeMap<(CommitId, CommitId), Vec<String>>,
}

/// The trial merges of one round.
pub(super) struct Trying<'a> {
    project: &'a Project,
    before: BTreeMap<(CommitId, CommitId), Vec<String>>,
    trials: &'a mut Trials,
    open: Option<Trial>,
    made: usize,
    /// Whether more are to be made in the next round.
    pub(super) is_cut: bool,
}

impl Trials {
    /// Begins a round; what it does not ask for is forgotten.
    pub(super) fn begin<'a>(&'a mut self, project: &'a Project) -> Trying<'a> {
        let before = std::mem::take(&mut self.known);
        Trying { project, before, trials: self, open: None, made: 0, is_cut: false }
    }
}

impl Trying<'_> {
    /// Returns the files in conflict between two commits; nothing if they merge, or if it is not known yet.
    pub(super) async fn find_conflicts(
        &mut self,
        one: &CommitId,
        other: &CommitId,
    ) -> Result<Vec<String>, Error> {
        if one == other {
            return Ok(Vec::new());
        }
        let pair = if one < other { (one, other) } else { (other, one) };
        let key = (pair.0.clone(), pair.1.clone());
        if let Some(found) = self.trials.known.get(&key) {
            return Ok(found.clone());
        }
        let found = match self.before.remove(&key) {
            Some(found) => found,
            None if self.made >= TRIALS_MAX => {
                self.is_cut = true;
                return Ok(Vec::new());
            }
            None => self.make(pair.0, pair.1).await?,
        };
        self.trials.known.insert(key, found.clone());
        Ok(found)
    }

    async fn make(&mut self, one: &CommitId, other: &CommitId) -> Result<Vec<String>, Error> {
        self.made += 1;
        let trial = match self.open.take() {
            Some(trial) => trial,
            None => self.project.repository().begin_trial().await?,
        };
        // What cannot be merged at all, such as unrelated histories, is refused when it is submitted.
        let found = trial.find_conflicts(one, other).await.unwrap_or_default();
        self.open = Some(trial);
        Ok(found)
    }
}
