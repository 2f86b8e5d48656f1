//! A hold on an effect that may take long, a session or a set-up: to stop it, and to wait until it is over.

use regatta_agents::StopReason;
use std::sync::Arc;
use tokio::sync::watch;

/// A cloneable hold on one effect.
#[derive(Clone)]
pub(crate) struct Control {
    state: Arc<watch::Sender<State>>,
}

#[derive(Clone, Copy, Default)]
struct State {
    asked: Option<StopReason>,
    over: bool,
}

impl Control {
    pub(crate) fn new() -> Self {
        Control { state: Arc::new(watch::Sender::new(State::default())) }
    }

    /// Asks it to stop; the first reason counts.
    pub(crate) fn stop(&self, reason: StopReason) {
        self.state.send_modify(|state| state.asked = state.asked.or(Some(reason)));
    }

    pub(crate) fn mark_over(&self) {
        self.state.send_modify(|state| state.over = true);
    }

    /// Waits until somebody asks it to stop.
    pub(crate) async fn asked(&self) -> StopReason {
        let mut receiver = self.state.subscribe();
        let found = receiver.wait_for(|state| state.asked.is_some()).await.map(|state| state.asked);
        found.ok().flatten().expect("this handle keeps the channel open")
    }

    /// Waits until it is over.
    pub(crate) async fn over(&self) {
        let _ = self.state.subscribe().wait_for(|state| state.over).await;
    }
}
