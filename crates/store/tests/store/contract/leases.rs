//! Cases of leases: one holder at a time, by the caller's clock, and fenced appends.

use std::time::Duration;

use jiff::Timestamp;

use super::sample::{Subject, append, lease, refusal, store, time, token};
use regatta_store::{Append, Lease, LeaseAnswer, LeaseRequest, Seq};

fn held(number: u128, since: i64, expires: i64) -> Lease {
    let LeaseRequest { name, holder, token, .. } = lease(number, 0);
    Lease { name, holder, token, since: time(since), expires: time(expires) }
}

async fn take(subject: &Subject, request: LeaseRequest) -> LeaseAnswer {
    subject.take_lease(request).await.unwrap()
}

async fn find(subject: &Subject) -> Option<Lease> {
    subject.find_lease("engine").await.unwrap()
}

pub(crate) async fn a_lease_is_held_by_one(subject: Subject) {
    assert_eq!(take(&subject, lease(1, 0)).await, LeaseAnswer::Taken);
    assert_eq!(find(&subject).await, Some(held(1, 0, 10)));
    assert_eq!(take(&subject, lease(2, 5)).await, LeaseAnswer::Held(held(1, 0, 10)));
    assert_eq!(find(&subject).await, Some(held(1, 0, 10)));

    let other = LeaseRequest { name: "other".to_owned(), ..lease(2, 5) };
    assert_eq!(take(&subject, other).await, LeaseAnswer::Taken);
    assert_eq!(subject.find_lease("none").await.unwrap(), None);
}

pub(crate) async fn a_lease_that_ran_out_may_be_taken(subject: Subject) {
    take(&subject, lease(1, 0)).await;
    assert_eq!(take(&subject, lease(2, 9)).await, LeaseAnswer::Held(held(1, 0, 10)));
    assert_eq!(take(&subject, lease(2, 10)).await, LeaseAnswer::Taken);
    assert_eq!(find(&subject).await, Some(held(2, 10, 20)));
}

pub(crate) async fn a_dead_holder_may_be_replaced(subject: Subject) {
    take(&subject, lease(1, 0)).await;
    let replacing = |number, dead| LeaseRequest { replaces: Some(token(dead)), ..lease(number, 1) };
    assert_eq!(take(&subject, replacing(2, 7)).await, LeaseAnswer::Held(held(1, 0, 10)));
    assert_eq!(take(&subject, replacing(2, 1)).await, LeaseAnswer::Taken);
    assert_eq!(take(&subject, replacing(3, 1)).await, LeaseAnswer::Held(held(2, 1, 11)));
}

pub(crate) async fn a_holder_may_take_its_lease_again(subject: Subject) {
    take(&subject, lease(1, 0)).await;
    assert_eq!(take(&subject, lease(1, 5)).await, LeaseAnswer::Taken);
    assert_eq!(find(&subject).await, Some(held(1, 0, 15)));
}

pub(crate) async fn a_lease_may_be_renewed_until_it_is_lost(subject: Subject) {
    let renew =
        async |number, now| subject.renew_lease(&token(number), time(now), Duration::from_secs(10)).await;
    let lost = "the lease of token 00000000-0000-0000-0000-000000000001 is no longer held";
    assert_eq!(refusal(renew(1, 0).await), lost);
    take(&subject, lease(1, 0)).await;
    renew(1, 5).await.unwrap();
    assert_eq!(find(&subject).await, Some(held(1, 0, 15)));
    renew(1, 100).await.unwrap();
    assert_eq!(find(&subject).await, Some(held(1, 0, 110)));
    take(&subject, lease(2, 110)).await;
    assert_eq!(refusal(renew(1, 111).await), lost);
    assert_eq!(find(&subject).await, Some(held(2, 110, 120)));
}

pub(crate) async fn a_lease_is_released_once(subject: Subject) {
    take(&subject, lease(1, 0)).await;
    subject.release_lease(&token(2)).await.unwrap();
    assert_eq!(find(&subject).await, Some(held(1, 0, 10)));
    subject.release_lease(&token(1)).await.unwrap();
    assert_eq!(find(&subject).await, None);
    assert_eq!(take(&subject, lease(2, 1)).await, LeaseAnswer::Taken);
    subject.release_lease(&token(1)).await.unwrap();
    assert_eq!(find(&subject).await, Some(held(2, 1, 11)));
}

pub(crate) async fn a_lost_lease_fences_appends(subject: Subject) {
    let fenced =
        |number, version: u64| Append { fence: Some(token(number)), ..append(&[("a", version)], &[&["a"]]) };
    let lost = "the lease of token 00000000-0000-0000-0000-000000000001 is no longer held";
    assert_eq!(refusal(subject.append(fenced(1, 0)).await), lost);
    take(&subject, lease(1, 0)).await;
    store(&subject, fenced(1, 0)).await;
    take(&subject, lease(2, 60)).await;
    assert_eq!(refusal(subject.append(fenced(1, 1)).await), lost);
    assert_eq!(store(&subject, fenced(2, 1)).await, Seq(2));
}

pub(crate) async fn a_lease_may_last_for_ever(subject: Subject) {
    take(&subject, LeaseRequest { ttl: Duration::MAX, ..lease(1, 0) }).await;
    assert_eq!(find(&subject).await.unwrap().expires, Timestamp::MAX);
    assert!(matches!(take(&subject, lease(2, 1_000_000)).await, LeaseAnswer::Held(_)));
}
