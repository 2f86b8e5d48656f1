//! The items of a session's output, read piece by piece: a transcript can have more than a hundred megabytes, and a client that
//! does not read must not keep them in memory.

use crate::sessions;
use regatta_engine::core::Problem;
use regatta_engine::{Follower, SessionLog};
use serde_json::Value;
use std::collections::VecDeque;

/// A place in an output; at most one piece of the transcript is in memory.
#[derive(Debug)]
pub(crate) struct Items {
    follower: Follower,
    /// What was read and not taken.
    piece: VecDeque<Value>,
    /// Whether the transcript had more after the piece.
    is_more: bool,
    /// How many items were taken.
    number: u64,
}

impl Items {
    /// Begins before the first item.
    pub(crate) fn new(log: &SessionLog) -> Self {
        Items { follower: Follower::new(&log.transcript), piece: VecDeque::new(), is_more: true, number: 0 }
    }

    /// Returns how many items were taken.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Takes the next item; nothing if there is none yet.
    pub(crate) async fn next(&mut self, log: &SessionLog) -> Result<Option<Value>, Problem> {
        while self.piece.is_empty() {
            (self.piece, self.is_more) = sessions::read(log, &mut self.follower)?;
            if self.piece.is_empty() && !self.is_more {
                return Ok(None);
            }
            // Reading and parsing keeps the thread busy, and others want to be answered.
            tokio::task::yield_now().await;
        }
        self.number += 1;
        Ok(self.piece.pop_front())
    }

    /// Takes all items that there are, and returns how many there were from the beginning.
    pub(crate) async fn count(&mut self, log: &SessionLog) -> Result<u64, Problem> {
        while self.next(log).await?.is_some() {}
        Ok(self.number)
    }

    /// Takes up to so many items after the first `after`.
    pub(crate) async fn page(
        &mut self,
        log: &SessionLog,
        after: u64,
        count_max: usize,
    ) -> Result<Vec<Value>, Problem> {
        if after < self.number {
            *self = Items::new(log);
        }
        let mut page = Vec::new();
        while page.len() < count_max
            && let Some(item) = self.next(log).await?
        {
            if self.number > after {
                page.push(item);
            }
        }
        Ok(page)
    }
}
