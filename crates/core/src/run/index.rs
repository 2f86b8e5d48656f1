//! Which runs there are.

use super::Event;
use crate::{Fact, RunId};
use serde::{Deserialize, Serialize};

/// The numbers that were given to runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    last: Option<RunId>,
}

impl Index {
    /// Returns the number that the next run gets.
    pub fn next_id(self) -> RunId {
        self.last.map_or(RunId::FIRST, RunId::next)
    }

    /// Returns the number of the newest run.
    pub fn last(self) -> Option<RunId> {
        self.last
    }

    /// Folds one fact into the index.
    pub fn evolve(mut self, fact: &Fact<Event>) -> Self {
        if let Event::RunCreated { run_id, .. } = &fact.event {
            self.last = self.last.max(Some(*run_id));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{run_samples, user};

    #[test]
    fn numbers_go_up_whatever_happens() {
        assert_eq!(Index::default().next_id(), RunId::FIRST);
        let fact = |event| Fact { at: jiff::Timestamp::UNIX_EPOCH, actor: user(), event };
        let index =
            run_samples().into_iter().fold(Index::default(), |index, event| index.evolve(&fact(event)));
        assert_eq!((index.last().map(RunId::number), index.next_id().number()), (Some(4), 5));
    }
}
