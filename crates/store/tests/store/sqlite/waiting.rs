//! Events are entered beside the log for many at once; nobody who reads or appends sees the difference.

use std::sync::Arc;

use crate::contract::sample::{Subject, append, intent, name, refusal, snapshot, store};
use regatta_store::{Append, Intent, IntentId, Loaded, Seq, Version};
use rusqlite::Connection;

use super::{open, place};
use crate::memory::MemoryStore;

const STREAMS: [&str; 4] = ["a", "b", "run/1", "task/1"];

/// How many events wait before they are entered.
const WAITING_MAX: i64 = 64;

/// Which streams the next append joins; every so often two of them, and a snapshot of one. Some ask for intents, and
/// some settle one, of the last event or of one that was long ago.
fn nth_append(number: u64, versions: &[u64; 4], open: &[Intent]) -> (Append, Vec<usize>) {
    let first = (number * 7 % 11 % 4) as usize;
    let second = (first + 1) % 4;
    let joined = if number.is_multiple_of(5) { vec![first, second] } else { vec![first] };
    let guards: Vec<(&str, u64)> = joined.iter().map(|index| (STREAMS[*index], versions[*index])).collect();
    let names: Vec<&str> = joined.iter().map(|index| STREAMS[*index]).collect();
    let mut append = append(&guards, &[&names]);
    if number % 9 == 4 {
        append.snapshots = vec![snapshot(STREAMS[first], 1, &format!("{{\"at\":{number}}}"))];
    }
    append.intents = (0..number % 3).map(|kind| intent(0, &format!("kind-{kind}"))).collect();
    let settled = if number.is_multiple_of(2) { open.last() } else { open.get(number as usize % 5) };
    append.settle = settled.map(|intent| intent.id).into_iter().collect();
    if number % 13 == 7 {
        // What is settled without an event.
        append.events.clear();
        append.intents.clear();
        append.snapshots.clear();
        return (append, Vec::new());
    }
    (append, joined)
}

async fn picture(subject: &Subject) -> (Vec<Loaded>, Vec<Intent>) {
    let mut loaded = subject.load_prefix("", 1).await.unwrap();
    for stream in STREAMS {
        loaded.push(subject.load(&name(stream), 1).await.unwrap());
    }
    (loaded, subject.open_intents().await.unwrap())
}

#[tokio::test]
async fn what_waits_is_read_like_what_is_entered() {
    let (_folder, path) = place();
    let (one, other) = (open(&path), open(&path));
    let memory: Subject = Arc::new(MemoryStore::new());
    let mut versions = [0; 4];
    for number in 1..=200 {
        let open = memory.open_intents().await.unwrap();
        let (next, joined) = nth_append(number, &versions, &open);
        // Two handles in turn, so that each finds that the other has changed the file.
        let writer = if number % 7 < 4 { &one } else { &other };
        store(writer, next.clone()).await;
        store(&memory, next.clone()).await;
        joined.into_iter().for_each(|index| versions[index] += 1);
        assert_eq!(picture(&one).await, picture(&memory).await, "after append {number}");
        for settled in next.settle {
            assert!(!one.is_open(settled).await.unwrap());
            let again = Append { settle: vec![settled], ..Append::default() };
            assert_eq!(refusal(one.append(again.clone()).await), refusal(memory.append(again).await));
        }
    }
    let (verified, expected) = (one.verify().await.unwrap(), memory.verify().await.unwrap());
    assert_eq!(verified, expected);
    let never = IntentId { seq: Seq(1), ordinal: 99 };
    assert!(!one.is_open(never).await.unwrap());
    let loaded = one.load(&name("a"), 1).await.unwrap();
    assert_eq!(loaded.version, Version(versions[0]));
}

#[tokio::test]
async fn places_are_entered_when_enough_events_wait() {
    let (_folder, path) = place();
    let subject = open(&path);
    let count = || {
        let connection = Connection::open(&path).unwrap();
        connection.query_row("SELECT count(*) FROM places", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    for version in 0..WAITING_MAX - 1 {
        store(&subject, append(&[("a", version.unsigned_abs())], &[&["a"]])).await;
    }
    assert_eq!(count(), 0);
    store(&subject, append(&[("a", WAITING_MAX.unsigned_abs() - 1)], &[&["a"]])).await;
    assert_eq!(count(), WAITING_MAX);
    subject.verify().await.unwrap();
}

#[tokio::test]
async fn a_refused_append_when_places_are_due_loses_nothing() {
    let (_folder, path) = place();
    let subject = open(&path);
    for version in 0..WAITING_MAX {
        store(&subject, append(&[("a", version.unsigned_abs())], &[&["a"]])).await;
    }
    let settled_twice = Append { settle: vec!["1.0".parse().unwrap()], ..append(&[("b", 0)], &[&["b"]]) };
    subject.append(settled_twice).await.unwrap_err();
    store(&subject, append(&[("b", 0)], &[&["b"]])).await;
    subject.verify().await.unwrap();
    assert_eq!(subject.load(&name("b"), 1).await.unwrap().tail.len(), 1);
}
