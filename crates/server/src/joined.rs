//! One answer for all who ask for the same thing at the same time.
//!
//! ```text
//!   request 1 ──▶ begins to make it ─────▶ answered
//!   request 2 ─────── waits ──────────────▶ makes it again ──▶ answered
//!   request 3 ─────────── waits ──────────────────────────────▶ answered, with what request 2 made
//! ```
//!
//! So fifty clients that ask for a list at once cost two lists instead of fifty. Nobody gets an answer that was begun before
//! their request came: it is as current as one of their own. That is why nothing has to be compared with the log, and why
//! nothing is kept once nobody waits.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What is being made, by what was asked.
#[derive(Debug)]
pub(crate) struct Joined<K, T> {
    rounds: Mutex<BTreeMap<K, Weak<Round<T>>>>,
}

/// The requests for the same thing.
#[derive(Debug)]
struct Round<T> {
    /// How many have come.
    came: AtomicU64,
    /// What was made last, and how many had come when that was begun.
    made: tokio::sync::Mutex<Option<(u64, T)>>,
}

impl<K, T> Default for Joined<K, T> {
    fn default() -> Self {
        Joined { rounds: Mutex::default() }
    }
}

impl<K: Ord, T: Clone> Joined<K, T> {
    /// Returns what `make` makes, or what another request has begun to make since this one came.
    ///
    /// An error is shared like an answer. If the request that makes it goes away, the next one begins again.
    pub(crate) async fn get<F>(&self, asked: K, make: impl FnOnce() -> F) -> T
    where
        F: Future<Output = T>,
    {
        let round = self.enter(asked);
        let place = round.came.fetch_add(1, Ordering::SeqCst) + 1;
        let mut made = round.made.lock().await;
        if let Some((covered, answer)) = made.as_ref()
            && *covered >= place
        {
            return answer.clone();
        }
        let covered = round.came.load(Ordering::SeqCst);
        let answer = make().await;
        *made = Some((covered, answer.clone()));
        answer
    }

    /// Joins the round of a request, and forgets those that are over.
    fn enter(&self, asked: K) -> Arc<Round<T>> {
        let mut rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        rounds.retain(|_, round| round.strong_count() > 0);
        let open = rounds.get(&asked).and_then(Weak::upgrade);
        open.unwrap_or_else(|| {
            let round = Arc::new(Round { came: AtomicU64::new(0), made: tokio::sync::Mutex::new(None) });
            rounds.insert(asked, Arc::downgrade(&round));
            round
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};
    use tokio::sync::Notify;

    /// Lets it run as far as it can.
    fn look<F: Future>(future: &mut Pin<&mut F>) -> Option<F::Output> {
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    /// Makes a number that grows, once it may.
    async fn count(made: &Cell<u32>, may: &Notify) -> u32 {
        made.set(made.get() + 1);
        let number = made.get();
        may.notified().await;
        number
    }

    #[tokio::test]
    async fn those_who_wait_share_what_was_begun_after_they_came() {
        let (joined, made, may) = (Joined::default(), Cell::new(0), Notify::new());
        let ask = |key: &'static str| joined.get(key, || count(&made, &may));
        let (mut first, mut second, mut third) = (pin!(ask("a")), pin!(ask("a")), pin!(ask("a")));
        assert_eq!(look(&mut first), None);
        assert_eq!((look(&mut second), look(&mut third)), (None, None));
        may.notify_one();
        assert_eq!(first.await, 1);
        assert_eq!(look(&mut second), None, "what the first one made was begun too early");
        let mut late = pin!(ask("a"));
        assert_eq!(look(&mut late), None);
        may.notify_one();
        assert_eq!((second.await, third.await), (2, 2));
        may.notify_one();
        assert_eq!(late.await, 3);
        may.notify_one();
        assert_eq!(ask("b").await, 4);
        assert_eq!(joined.rounds.lock().unwrap().len(), 1, "the round of the others is over");
    }

    #[tokio::test]
    async fn a_request_that_goes_away_leaves_its_place_to_the_next() {
        let (joined, made, may) = (Joined::default(), Cell::new(0), Notify::new());
        let ask = || joined.get((), || count(&made, &may));
        {
            let mut gone = pin!(ask());
            assert_eq!(look(&mut gone), None);
        }
        may.notify_one();
        assert_eq!(ask().await, 2);
    }
}
