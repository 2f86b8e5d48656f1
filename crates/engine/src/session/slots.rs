//! Slots: how many sessions may run at the same time, in all and per agent.
//!
//! `ASSIGN` is decided against the same limits; a resumed session is not, and waits here instead.

use crate::core::AgentId;
use crate::project::config::Config;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places of one engine.
pub(crate) struct Slots {
    all: Arc<Semaphore>,
    agents: BTreeMap<AgentId, Arc<Semaphore>>,
}

/// A place that is taken until this is dropped.
pub(crate) struct Place {
    _all: OwnedSemaphorePermit,
    _agent: Option<OwnedSemaphorePermit>,
}

impl Slots {
    pub(crate) fn new(config: &Config) -> Self {
        let semaphore = |count: u32| Arc::new(Semaphore::new(count as usize));
        let agents =
            config.agents.iter().map(|(id, agent)| (id.clone(), semaphore(agent.instances))).collect();
        Slots { all: semaphore(config.settings.max_concurrent_agents), agents }
    }

    /// Waits for a place. The agent's own is taken first, so that waiting for it blocks nobody else.
    pub(crate) async fn take(&self, agent: &AgentId) -> Place {
        let own = match self.agents.get(agent) {
            Some(semaphore) => Some(acquire(semaphore).await),
            None => None,
        };
        Place { _all: acquire(&self.all).await, _agent: own }
    }
}

async fn acquire(semaphore: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    Arc::clone(semaphore).acquire_owned().await.expect("the semaphore is never closed")
}
