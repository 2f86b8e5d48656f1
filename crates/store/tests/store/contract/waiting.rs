//! Cases of waiting for the log to grow.

use std::time::Duration;

use super::sample::{PATIENCE, Subject, append, store};
use regatta_store::Seq;

pub(crate) async fn a_wait_for_the_past_returns_at_once(subject: Subject) {
    store(&subject, append(&[("a", 0)], &[&["a"], &["a"]])).await;
    for after in [0, 1] {
        assert_eq!(subject.wait_past(Seq(after), Duration::MAX).await.unwrap(), Seq(2));
    }
}

pub(crate) async fn a_wait_ends_with_an_append(subject: Subject) {
    for version in 0..5 {
        let waiting = tokio::spawn({
            let subject = subject.clone();
            async move { subject.wait_past(Seq(version), PATIENCE).await.unwrap() }
        });
        store(&subject, append(&[("a", version)], &[&["a"]])).await;
        assert_eq!(waiting.await.unwrap(), Seq(version + 1));
    }
}

pub(crate) async fn a_wait_ends_at_its_limit(subject: Subject) {
    store(&subject, append(&[("a", 0)], &[&["a"]])).await;
    for (after, limit) in [(1, Duration::ZERO), (1, Duration::from_millis(30)), (9, Duration::from_millis(1))]
    {
        assert_eq!(subject.wait_past(Seq(after), limit).await.unwrap(), Seq(1));
    }
}

pub(crate) async fn many_may_wait_at_once(subject: Subject) {
    const WAITING: u64 = 20;
    let waits: Vec<_> = (0..WAITING)
        .map(|after| {
            let subject = subject.clone();
            tokio::spawn(async move { (after, subject.wait_past(Seq(after), PATIENCE).await.unwrap()) })
        })
        .collect();
    for version in 0..WAITING {
        store(&subject, append(&[("a", version)], &[&["a"]])).await;
    }
    for wait in waits {
        let (after, head) = wait.await.unwrap();
        assert!(head > Seq(after), "the wait past {after} ended at {head}");
    }
}
