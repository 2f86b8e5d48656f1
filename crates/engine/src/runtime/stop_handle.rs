//! A handle on a long effect, such as a session or a set-up: to stop it, and to wait until it is over.

use regatta_agents::StopReason;
use std::sync::Arc;
use tokio::sync::watch;

/// A cloneable handle on one effect, or on a part of one.
#[derive(Clone)]
pub(crate) struct StopHandle {
    state: Arc<watch::Sender<State>>,
    /// The handle of the whole, if this is for a part.
    whole: Option<Arc<watch::Sender<State>>>,
}

#[derive(Clone, Copy, Default)]
struct State {
    asked: Option<StopReason>,
    over: bool,
}

impl StopHandle {
    pub(crate) fn new() -> Self {
        StopHandle { state: Arc::new(watch::Sender::new(State::default())), whole: None }
    }

    /// Makes a handle on a part: it can be stopped alone, or with the whole.
    pub(crate) fn for_part(&self) -> Self {
        StopHandle { whole: Some(Arc::clone(&self.state)), ..StopHandle::new() }
    }

    /// Asks it to stop; the first reason counts.
    pub(crate) fn stop(&self, reason: StopReason) {
        self.state.send_modify(|state| state.asked = state.asked.or(Some(reason)));
    }

    pub(crate) fn mark_over(&self) {
        self.state.send_modify(|state| state.over = true);
    }

    /// Tells whether both are handles on the same thing.
    pub(crate) fn is_same(&self, other: &StopHandle) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }

    /// Waits until somebody asks it to stop.
    pub(crate) async fn asked(&self) -> StopReason {
        match &self.whole {
            None => asked(&self.state).await,
            Some(whole) => tokio::select! {
                reason = asked(whole) => reason,
                reason = asked(&self.state) => reason,
            },
        }
    }

    /// Waits until it is over.
    pub(crate) async fn over(&self) {
        let _ = self.state.subscribe().wait_for(|state| state.over).await;
    }
}

async fn asked(state: &watch::Sender<State>) -> StopReason {
    let mut receiver = state.subscribe();
    let found = receiver.wait_for(|state| state.asked.is_some()).await.map(|state| state.asked);
    found.ok().flatten().expect("this handle keeps the channel open")
}
