//! Cases of appends: numbers, optimistic checks, and what is wrong with an append regardless of the log.

use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use super::sample::{
    Subject, append, append_with_retries, command, intent, name, picture, places, read_without_gaps, refusal,
    snapshot, store, versions,
};
use regatta_store::{Append, Appended, IntentId, NewEvent, Seq, Verified, Version};

pub(crate) async fn an_empty_log_has_nothing(subject: Subject) {
    assert_eq!(subject.head().await.unwrap(), Seq(0));
    assert_eq!(subject.read(Seq(0), 10).await.unwrap(), []);
    assert_eq!(subject.load_prefix("", 1).await.unwrap(), []);
    assert_eq!(subject.open_intents().await.unwrap(), []);
    assert_eq!(subject.find_lease("engine").await.unwrap(), None);
    assert_eq!(subject.wait_past(Seq(0), Duration::ZERO).await.unwrap(), Seq(0));
    assert_eq!(subject.verify().await.unwrap(), Verified { events: 0, streams: 0, intents: 0 });
}

pub(crate) async fn events_are_numbered_in_the_log_and_in_each_stream(subject: Subject) {
    let first = subject.append(append(&[("a", 0), ("b", 0)], &[&["a"], &["b", "a"]])).await.unwrap();
    assert_eq!(first, Appended::Stored { first: Some(Seq(1)), last: Seq(2), intents: vec![] });
    let second = subject.append(append(&[("b", 1)], &[&["b"]])).await.unwrap();
    assert_eq!(second, Appended::Stored { first: Some(Seq(3)), last: Seq(3), intents: vec![] });

    assert_eq!(subject.head().await.unwrap(), Seq(3));
    for (stream, expected) in [("a", [1, 2]), ("b", [2, 3])] {
        let loaded = subject.load(&name(stream), 1).await.unwrap();
        assert_eq!((loaded.version, places(&loaded.tail)), (Version(2), expected.to_vec()));
    }
}

pub(crate) async fn what_was_given_comes_back(subject: Subject) {
    let odd = "{ \"b\" : 1.0,\n\t\"a\": \"\\u0000 \u{1F6A3} ' \\\" ; -- \", \"a\": null }";
    let long = format!("\"{}\"", "x".repeat(1 << 20));
    let streams = || ["z", "a/b_c.d-e", "m"].map(name).to_vec();
    let events: Vec<NewEvent> = [odd, &long, ""]
        .iter()
        .zip(["2026-01-02T03:04:05.123456789Z", "-009999-01-02T01:59:59Z", "9999-12-30T22:00:00.999999999Z"])
        .enumerate()
        .map(|(index, (data, at))| NewEvent {
            id: Uuid::from_u128(u128::MAX - index as u128),
            at: at.parse::<Timestamp>().unwrap(),
            kind: "odd:made …".to_owned(),
            actor: "it's \"me\"".to_owned(),
            streams: streams(),
            data: (*data).to_owned(),
        })
        .collect();
    let expect = versions(&[("a/b_c.d-e", 0), ("m", 0), ("z", 0)]);
    let command = Some(command(7, "digest"));
    store(&subject, Append { command, expect, events: events.clone(), ..Append::default() }).await;

    let read = subject.read(Seq(0), 10).await.unwrap();
    assert_eq!(subject.load(&name("m"), 1).await.unwrap().tail, read);
    assert_eq!(read.len(), events.len());
    for (index, (recorded, given)) in read.into_iter().zip(events).enumerate() {
        assert_eq!(recorded.seq, Seq(index as u64 + 1));
        assert_eq!(recorded.command, Some(Uuid::from_u128(7)));
        let (id, at, kind, actor) = (recorded.id, recorded.at, recorded.kind, recorded.actor);
        let back = NewEvent { id, at, kind, actor, streams: recorded.streams, data: recorded.data };
        assert!(back == given, "event {index} came back changed");
    }
}

pub(crate) async fn a_stale_version_is_refused_and_changes_nothing(subject: Subject) {
    store(&subject, append(&[("a", 0), ("b", 0)], &[&["a", "b"], &["a"]])).await;
    let before = picture(&subject).await;
    for (stated, text) in [(0, "0"), (1, "1"), (3, "3"), (u64::MAX, "18446744073709551615")] {
        let mut stale = append(&[("b", 1), ("a", stated)], &[&["b"], &["a"]]);
        stale.intents.push(intent(0, "never"));
        stale.snapshots.push(snapshot("b", 1, "{}"));
        let refused = refusal(subject.append(stale).await);
        assert_eq!(refused, format!("stream `a` is at version 2, the decision was made at {text}"));
    }
    let refused = refusal(subject.append(append(&[("c", 1)], &[&["c"]])).await);
    assert_eq!(refused, "stream `c` is at version 0, the decision was made at 1");
    assert_eq!(picture(&subject).await, before);
}

pub(crate) async fn a_stream_that_was_only_read_is_checked_too(subject: Subject) {
    store(&subject, append(&[("crew", 0)], &[&["crew"]])).await;
    let refused = refusal(subject.append(append(&[("crew", 0), ("task/1", 0)], &[&["task/1"]])).await);
    assert_eq!(refused, "stream `crew` is at version 1, the decision was made at 0");
    store(&subject, append(&[("crew", 1), ("task/1", 0)], &[&["task/1"]])).await;
    assert_eq!(subject.load(&name("crew"), 1).await.unwrap().version, Version(1));
}

pub(crate) async fn an_unguarded_stream_is_refused(subject: Subject) {
    let refused = refusal(subject.append(append(&[("a", 0)], &[&["a", "b"]])).await);
    assert_eq!(refused, "the append touches stream `b` but does not state its version");
    let mut of_other = append(&[("a", 0)], &[&["a"]]);
    of_other.snapshots.push(snapshot("c", 1, "{}"));
    let refused = refusal(subject.append(of_other).await);
    assert_eq!(refused, "the append touches stream `c` but does not state its version");
    assert_eq!(subject.head().await.unwrap(), Seq(0));
}

pub(crate) async fn a_malformed_append_is_refused(subject: Subject) {
    let settled = IntentId { seq: Seq(1), ordinal: 0 };
    let good = || append(&[("a", 0)], &[&["a"]]);
    let faults = [
        (append(&[("a", 0)], &[&["a"], &[]]), "event 1 joins no stream"),
        (append(&[("a", 0)], &[&["a", "a"]]), "event 0 joins stream `a` twice"),
        (append(&[("a", 0), ("a", 0)], &[&["a"]]), "the version of stream `a` is stated twice"),
        (
            Append { intents: vec![intent(0, "x"), intent(1, "y")], ..good() },
            "intent 1 belongs to event 1, but there are 1 events",
        ),
        (Append { settle: vec![settled, settled], ..good() }, "intent 1.0 is settled twice"),
        (
            Append { snapshots: vec![snapshot("a", 1, ""), snapshot("a", 2, "")], ..good() },
            "stream `a` has two snapshots",
        ),
        (
            Append { snapshots: vec![snapshot("a", 1, "")], ..append(&[("a", 0)], &[]) },
            "stream `a` has a snapshot but no events",
        ),
    ];
    for (malformed, fault) in faults {
        assert_eq!(refusal(subject.append(malformed).await), format!("the append is malformed: {fault}"));
    }
    assert_eq!(subject.head().await.unwrap(), Seq(0));
}

pub(crate) async fn an_append_of_nothing_returns_the_head(subject: Subject) {
    let nothing = subject.append(Append::default()).await.unwrap();
    assert_eq!(nothing, Appended::Stored { first: None, last: Seq(0), intents: vec![] });
    store(&subject, append(&[("a", 0)], &[&["a"], &["a"]])).await;
    let nothing = subject.append(Append::default()).await.unwrap();
    assert_eq!(nothing, Appended::Stored { first: None, last: Seq(2), intents: vec![] });
    let refused = refusal(subject.append(append(&[("a", 1)], &[])).await);
    assert_eq!(refused, "stream `a` is at version 2, the decision was made at 1");
}

pub(crate) async fn appends_at_once_leave_no_gap_and_readers_see_none(subject: Subject) {
    const WRITERS: u64 = 6;
    const APPENDS: u64 = 20;
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(append_with_retries(subject.clone(), format!("own/{writer}"), APPENDS)))
        .collect();
    let events = WRITERS * APPENDS * 2;
    let reader = tokio::spawn(read_without_gaps(subject.clone(), events));
    for writer in writers {
        writer.await.unwrap();
    }
    reader.await.unwrap();
    let shared = subject.load(&name("shared"), 1).await.unwrap();
    assert_eq!(shared.version, Version(WRITERS * APPENDS));
    let verified = subject.verify().await.unwrap();
    assert_eq!(verified, Verified { events, streams: WRITERS + 1, intents: WRITERS * APPENDS });
}
