//! Asks a session to stop: a small cloneable handle on one side, a signal that can be waited for on the other.
//!
//! The first reason wins; asking again, or after the end, does nothing.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// Why a session is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Its work is no longer wanted.
    Cancelled,
    /// Its work continues later.
    Paused,
    /// The engine is shutting down.
    Shutdown,
}

impl fmt::Display for StopReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            StopReason::Cancelled => "cancelled",
            StopReason::Paused => "paused",
            StopReason::Shutdown => "shutdown",
        })
    }
}

/// Stops a session; cheap to clone and safe to keep after the session ended.
#[derive(Debug, Clone)]
pub struct Stopper {
    sender: Arc<watch::Sender<Option<StopReason>>>,
}

impl Stopper {
    /// Asks the session to stop. Only the first reason counts.
    pub fn stop(&self, reason: StopReason) {
        self.try_stop(reason);
    }

    /// Asks the session to stop, and tells whether nobody did before.
    pub(crate) fn try_stop(&self, reason: StopReason) -> bool {
        self.sender.send_if_modified(|current| {
            let is_first = current.is_none();
            if is_first {
                *current = Some(reason);
            }
            is_first
        })
    }
}

/// The side of the session: learns that it must stop.
#[derive(Debug, Clone)]
pub(crate) struct StopSignal {
    receiver: watch::Receiver<Option<StopReason>>,
}

impl StopSignal {
    /// Waits until a stop is asked for; for ever if nobody is left who could ask.
    pub(crate) async fn stopped(&mut self) -> StopReason {
        loop {
            if let Some(reason) = *self.receiver.borrow_and_update() {
                return reason;
            }
            if self.receiver.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

/// Makes a connected pair.
pub(crate) fn stop_pair() -> (Stopper, StopSignal) {
    let (sender, receiver) = watch::channel(None);
    (Stopper { sender: Arc::new(sender) }, StopSignal { receiver })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_reason_wins() {
        let (stopper, mut signal) = stop_pair();
        stopper.clone().stop(StopReason::Paused);
        stopper.stop(StopReason::Cancelled);
        drop(stopper);
        assert_eq!(signal.stopped().await, StopReason::Paused);
        assert_eq!(signal.stopped().await, StopReason::Paused);
    }
}
