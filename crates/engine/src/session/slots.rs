//! Slots: how many sessions may run at the same time, in all and per agent.
//!
//! `ASSIGN` is decided against the same limits; a resumed session is not, and waits here instead. Where a changed config
//! allows fewer, sessions that run keep their places until they end.

use crate::core::AgentId;
use crate::project::config::Config;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places of one engine.
pub(crate) struct Slots {
    pools: Mutex<Pools>,
}

struct Pools {
    all: Pool,
    agents: BTreeMap<AgentId, Pool>,
}

struct Pool {
    places: Arc<Semaphore>,
    count: u32,
}

/// A place that is taken until this is dropped.
pub(crate) struct Place {
    _all: OwnedSemaphorePermit,
    _agent: Option<OwnedSemaphorePermit>,
}

impl Slots {
    pub(crate) fn new(config: &Config) -> Self {
        let agents = config.agents.iter().map(|(id, agent)| (id.clone(), Pool::new(agent.instances)));
        let all = Pool::new(config.settings.max_concurrent_agents);
        Slots { pools: Mutex::new(Pools { all, agents: agents.collect() }) }
    }

    /// Follows another config.
    pub(crate) fn adapt(&self, config: &Config) {
        let mut pools = self.lock();
        pools.all.resize(config.settings.max_concurrent_agents);
        for (id, agent) in &config.agents {
            let pool = pools.agents.entry(id.clone()).or_insert_with(|| Pool::new(agent.instances));
            pool.resize(agent.instances);
        }
    }

    /// Waits for a place. The agent's own is taken first, so that waiting for it blocks nobody else.
    pub(crate) async fn take(&self, agent: &AgentId) -> Place {
        let (all, own) = {
            let pools = self.lock();
            let own = pools.agents.get(agent).map(|pool| Arc::clone(&pool.places));
            (Arc::clone(&pools.all.places), own)
        };
        let own = match own {
            Some(places) => Some(acquire(places).await),
            None => None,
        };
        Place { _all: acquire(all).await, _agent: own }
    }

    fn lock(&self) -> MutexGuard<'_, Pools> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    fn new(count: u32) -> Self {
        Pool { places: Arc::new(Semaphore::new(count as usize)), count }
    }

    fn resize(&mut self, count: u32) {
        if count > self.count {
            self.places.add_permits((count - self.count) as usize);
        }
        if count < self.count {
            let (places, fewer) = (Arc::clone(&self.places), self.count - count);
            // They go as they become free: whoever waits for one comes after this.
            tokio::spawn(async move {
                let taken = places.acquire_many_owned(fewer).await;
                taken.expect("the semaphore is never closed").forget();
            });
        }
        self.count = count;
    }
}

async fn acquire(places: Arc<Semaphore>) -> OwnedSemaphorePermit {
    places.acquire_owned().await.expect("the semaphore is never closed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tokio::task::yield_now;

    fn config(count: u32) -> Config {
        let text = format!(
            "[project]\nmax_concurrent_agents = {count}\n[agents.a]\nkind = \"claude\"\ninstances = {count}\n"
        );
        Config::parse(&text, Path::new("config.toml")).unwrap()
    }

    #[tokio::test]
    async fn places_follow_the_config_and_running_sessions_keep_theirs() {
        let slots = Arc::new(Slots::new(&config(2)));
        let agent: AgentId = "a".parse().unwrap();
        let (first, second) = (slots.take(&agent).await, slots.take(&agent).await);
        slots.adapt(&config(1));
        yield_now().await;
        let waiting = tokio::spawn({
            let (slots, agent) = (Arc::clone(&slots), agent.clone());
            async move { slots.take(&agent).await }
        });
        drop(first);
        for _ in 0..5 {
            yield_now().await;
        }
        assert!(!waiting.is_finished(), "one runs, and one may run");
        drop(second);
        let third = waiting.await.unwrap();
        slots.adapt(&config(3));
        let _more = (slots.take(&agent).await, slots.take(&agent).await);
        drop(third);
    }
}
