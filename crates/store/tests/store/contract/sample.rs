//! Helpers that keep the cases short.
//!
//! Ids and times are made from small numbers, so that a failure is legible and the same every time.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use regatta_store::{
    Append, Appended, CommandKey, Error, LeaseRequest, LeaseToken, ListId, NewEvent, NewIntent, NewSnapshot,
    Recorded, Seq, Store, StreamName, Version,
};

/// A store under test.
pub(crate) type Subject = Arc<dyn Store>;

/// The list whose rows a [`picture`] shows.
pub(crate) const LIST: ListId = ListId { name: "sample", format: 1 };

/// How long a case may wait for what must happen; only a failing case waits so long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Returns a stream name.
pub(crate) fn name(text: &str) -> StreamName {
    StreamName::parse(text).expect("the case has a good name")
}

/// Returns a time, in seconds after a fixed point.
pub(crate) fn time(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).expect("the case has a good time")
}

/// Returns the token made from a number.
pub(crate) fn token(number: u128) -> LeaseToken {
    LeaseToken(Uuid::from_u128(number))
}

/// Returns the key of a command.
pub(crate) fn command(number: u128, digest: &str) -> CommandKey {
    CommandKey { id: Uuid::from_u128(number), digest: digest.to_owned() }
}

/// Returns an event whose content names `number`.
pub(crate) fn event(number: u64, streams: &[&str]) -> NewEvent {
    NewEvent {
        id: Uuid::from_u128(u128::from(number)),
        at: time(number as i64),
        kind: "sample:made".to_owned(),
        actor: "tester".to_owned(),
        streams: streams.iter().map(|stream| name(stream)).collect(),
        data: format!("{{\"number\":{number}}}"),
    }
}

/// Returns an append that states versions and has one event for each list of streams.
pub(crate) fn append(expect: &[(&str, u64)], events: &[&[&str]]) -> Append {
    let events = events.iter().enumerate().map(|(index, streams)| event(index as u64 + 1, streams));
    Append { expect: versions(expect), events: events.collect(), ..Append::default() }
}

/// Returns versions by stream.
pub(crate) fn versions(expect: &[(&str, u64)]) -> Vec<(StreamName, Version)> {
    expect.iter().map(|(stream, version)| (name(stream), Version(*version))).collect()
}

/// Returns an intent of the event with an index.
pub(crate) fn intent(event: usize, kind: &str) -> NewIntent {
    NewIntent { event, kind: kind.to_owned(), lane: "lane".to_owned(), data: "{}".to_owned() }
}

/// Returns a snapshot.
pub(crate) fn snapshot(stream: &str, format: u32, data: &str) -> NewSnapshot {
    NewSnapshot { stream: name(stream), format, data: data.to_owned() }
}

/// Returns a request for the lease `engine` that lasts ten seconds.
pub(crate) fn lease(number: u128, now: i64) -> LeaseRequest {
    LeaseRequest {
        name: "engine".to_owned(),
        holder: format!("{{\"process\":{number}}}"),
        token: token(number),
        now: time(now),
        ttl: Duration::from_secs(10),
        replaces: None,
    }
}

/// Appends and returns the head after it.
pub(crate) async fn store(subject: &Subject, append: Append) -> Seq {
    match subject.append(append).await.expect("the append is good") {
        Appended::Stored { last, .. } => last,
        Appended::Repeated { answer } => panic!("the command was done before: {answer}"),
    }
}

/// Returns the text of a refusal, with that of its cause.
pub(crate) fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    let error = result.expect_err("this must be refused");
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
    format!("{error}{cause}")
}

/// Returns the places of events.
pub(crate) fn places(events: &[Recorded]) -> Vec<u64> {
    events.iter().map(|event| event.seq.0).collect()
}

/// Everything of a store that can be seen without asking for one thing by name, as text to compare.
pub(crate) async fn picture(subject: &Subject) -> String {
    let events = subject.read(Seq(0), usize::MAX).await.expect("the log is read");
    let streams = subject.load_prefix("", 1).await.expect("the streams load");
    let intents = subject.open_intents().await.expect("the intents are read");
    let verified = subject.verify().await.expect("the log is sound");
    let head = subject.head().await.expect("the head is read");
    let list = subject.find_list(LIST).await.expect("the list is read");
    format!("{head} {verified:?}\n{events:#?}\n{streams:#?}\n{intents:#?}\n{list:#?}")
}

/// Appends to a stream of its own and to the one named `shared`, deciding again after every conflict.
pub(crate) async fn append_with_retries(subject: Subject, own: String, appends: u64) {
    for version in 0..appends {
        // One of the writers always gets through, so this ends; a store that always refuses fails the case.
        let mut tries_left = 10_000;
        loop {
            let shared = subject.load(&name("shared"), 1).await.unwrap().version;
            let events = vec![event(1, &[&own]), event(2, &["shared", &own])];
            let intents = vec![intent(1, "x")];
            let expect = versions(&[("shared", shared.0), (&own, version * 2)]);
            match subject.append(Append { expect, events, intents, ..Append::default() }).await {
                Ok(_) => break,
                Err(Error::Conflict { .. }) if tries_left > 0 => tries_left -= 1,
                Err(error) => panic!("version {version} of {own}: {error:?}"),
            }
        }
    }
}

/// Reads the log as it grows, and fails when an event is seen before the one before it.
pub(crate) async fn read_without_gaps(subject: Subject, events: u64) {
    let mut seen = Seq(0);
    while seen.0 < events {
        let head = subject.wait_past(seen, PATIENCE).await.unwrap();
        assert!(head > seen, "the log stopped growing at {head}");
        let page = subject.read(seen, 7).await.unwrap();
        let expected: Vec<u64> = (seen.0 + 1..=seen.0 + page.len() as u64).collect();
        assert_eq!(places(&page), expected);
        assert!(!page.is_empty(), "the head is {head} but nothing is after {seen}");
        seen = Seq(seen.0 + page.len() as u64);
    }
}
