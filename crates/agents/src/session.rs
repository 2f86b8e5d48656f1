//! The handle of a running session.

use tokio::task::JoinHandle;

use crate::failure::{Failure, FailureClass};
use crate::feed::FeedReader;
use crate::outcome::{Ended, Outcome};
use crate::output::Output;
use crate::session_id::SessionId;
use crate::stop::{StopReason, Stopper};
use crate::usage::Usage;

/// A running session. Dropping it without [`Session::wait`] stops it as for a shutdown.
#[derive(Debug)]
pub struct Session {
    id: SessionId,
    pid: Option<u32>,
    reader: FeedReader,
    stopper: Stopper,
    driver: JoinHandle<Ended>,
}

impl Session {
    pub(crate) fn new(
        id: SessionId,
        pid: Option<u32>,
        reader: FeedReader,
        stopper: Stopper,
        driver: JoinHandle<Ended>,
    ) -> Session {
        Session { id, pid, reader, stopper, driver }
    }

    /// Returns the id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Returns the process id of the program; a script has none.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Returns the next piece of output; nothing after the end. A slow reader misses text but holds nobody up.
    pub async fn next(&mut self) -> Option<Output> {
        self.reader.next().await
    }

    /// Returns a handle that stops the session.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Waits until the session has ended and every process of it is confirmed dead; unread output is let go.
    pub async fn wait(mut self) -> Ended {
        match (&mut self.driver).await {
            Ok(ended) => ended,
            Err(error) => lost(&error),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stopper.stop(StopReason::Shutdown);
    }
}

/// The task that drives the session broke off: the runtime went down, or there is a bug in this room.
fn lost(error: &tokio::task::JoinError) -> Ended {
    let failure = Failure::new(FailureClass::Crash, format!("the session was lost: {error}"));
    Ended {
        outcome: Outcome::Failed(failure),
        turns: 1,
        result: None,
        result_from: None,
        result_faults: Vec::new(),
        summary: None,
        usage: Usage::default(),
        agent_session: None,
        is_session_gone: false,
        output_bytes: 0,
        duration: std::time::Duration::ZERO,
    }
}
