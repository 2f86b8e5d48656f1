//! A damaged file: the walk names the first thing that does not add up, and reads do not hide it.

use std::path::Path;

use crate::contract::sample::{append, intent, name, refusal, snapshot, store};
use regatta_store::{Append, Seq};
use rusqlite::Connection;

use super::{open, place};

/// What enters the four events, as the store does when more have come.
const ENTER: &str = "INSERT INTO places VALUES (1, 1, 1), (1, 2, 2), (1, 3, 4), (2, 1, 2), (2, 2, 3); \
     INSERT INTO intents VALUES (2, 1, 'y', 'lane/1', '{}'); INSERT INTO entered VALUES (0, 4);";

/// Makes a log of four events that are entered, then changes it behind the store's back.
async fn damaged(path: &Path, damage: &str) {
    damaged_after(path, ENTER, damage).await;
}

/// Makes a log of four events, prepares it, then changes it behind the store's back.
async fn damaged_after(path: &Path, prepare: &str, damage: &str) {
    let subject = open(path);
    let mut first = append(&[("a", 0), ("b", 0)], &[&["a"], &["a", "b"], &["b"]]);
    first.intents = vec![intent(1, "x"), intent(1, "y")];
    first.snapshots = vec![snapshot("a", 1, "{}")];
    first.command = Some(crate::contract::sample::command(1, "digest"));
    store(&subject, first).await;
    let settle = vec!["2.0".parse().unwrap()];
    store(&subject, Append { settle, ..append(&[("a", 2)], &[&["a"]]) }).await;
    subject.verify().await.unwrap();
    drop(subject);
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(prepare).unwrap();
    open(path).verify().await.unwrap();
    connection.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;").unwrap();
    connection.execute_batch(damage).unwrap();
}

#[tokio::test]
async fn the_walk_names_the_first_thing_that_does_not_add_up() {
    let cases = [
        ("DELETE FROM events WHERE seq = 2", "event 2 is missing"),
        ("DELETE FROM events WHERE seq = 4", "stream `a` is kept at version 3 but has 2 events"),
        ("UPDATE events SET streams = '' WHERE seq = 3", "event 3 belongs to no stream"),
        (
            "UPDATE events SET streams = 'b a' WHERE seq = 3",
            "stream `a` is kept at version 3 but has 4 events",
        ),
        (
            "UPDATE events SET streams = 'b' WHERE seq = 1; UPDATE events SET streams = 'a' WHERE seq = 3",
            "stream `a` has event 1 as version 1, which is not its next",
        ),
        ("DELETE FROM places WHERE seq = 4", "stream `a` is kept at version 2 but has 3 events"),
        ("DELETE FROM places WHERE stream = 2", "stream `b` is kept at version 0 but has 2 events"),
        (
            "DELETE FROM places WHERE stream = 1 AND version = 2",
            "stream `a` has version 3 at event 4 where 2 must be",
        ),
        (
            "UPDATE places SET seq = 2 WHERE stream = 1 AND version = 3",
            "stream `a` has event 2 as version 3, which is not its next",
        ),
        (
            "UPDATE places SET seq = 9 WHERE stream = 1 AND version = 3",
            "a stream has event 9, which the log does not have",
        ),
        ("INSERT INTO places VALUES (1, 4, 9)", "stream `a` is kept at version 4 but has 3 events"),
        (
            "INSERT INTO intents VALUES (9, 0, 'x', 'l', '')",
            "intent 9.0 belongs to an event that the log does not have",
        ),
        ("INSERT INTO intents VALUES (2, 2, 'x', 'l', '')", "intent 2.2 is open, but its event asked for 2"),
        (
            "INSERT INTO intents VALUES (2, 0, 'x', 'lane/1', '{}')",
            "intent 2.0 is open, but event 4 settled it",
        ),
        ("UPDATE events SET asked = 'x lane' WHERE seq = 2", "column `asked` of table `events` has a value"),
        ("UPDATE events SET asked = '' WHERE seq = 3", "column `asked` of table `events` has a value"),
        (
            "UPDATE events SET settled = '2.0 ' WHERE seq = 4",
            "column `settled` of table `events` has a value",
        ),
        (
            "UPDATE snapshots SET version = 8",
            "the snapshot of stream `a` is of version 8, the stream is at 3",
        ),
        ("UPDATE snapshots SET data = x'ffffffff00'", "column `data` of table `snapshots` has a value"),
        ("DELETE FROM commands", "event 1 names a command that has no answer"),
        ("UPDATE events SET at = 'noon' WHERE seq = 3", "column `at` of table `events` has a value"),
        ("UPDATE events SET command = x'00' WHERE seq = 3", "column `command` of table `events` has a value"),
        ("UPDATE streams SET name = 'B b' WHERE name = 'b'", "column `name` of table `streams` has a value"),
        ("DELETE FROM streams WHERE name = 'b'", "column `stream` of table `places` has a value"),
        (
            "DELETE FROM streams WHERE name = 'b'; DELETE FROM places WHERE stream = 2",
            "there are 1 streams, but events name 2",
        ),
        ("UPDATE events SET streams = 'B b' WHERE seq = 3", "column `streams` of table `events` has a value"),
    ];
    for (damage, finding) in cases {
        let (_folder, path) = place();
        damaged(&path, damage).await;
        let found = refusal(open(&path).verify().await);
        let expected = format!("the log is inconsistent: {finding}");
        assert!(found.starts_with(&expected), "after {damage}:\n  found    {found}\n  expected {expected}");
    }
}

#[tokio::test]
async fn the_walk_finds_what_is_wrong_with_events_that_wait() {
    let cases = [
        ("DELETE FROM events WHERE seq = 2", "event 2 is missing"),
        ("UPDATE events SET streams = '' WHERE seq = 3", "event 3 belongs to no stream"),
        ("INSERT INTO places VALUES (1, 1, 1)", "stream `a` is kept at version 4 but has 3 events"),
        ("INSERT INTO entered VALUES (0, 1)", "stream `a` is kept at version 2 but has 3 events"),
        ("INSERT INTO entered VALUES (0, 9)", "stream `a` is kept at version 0 but has 3 events"),
        ("DELETE FROM streams WHERE name = 'b'", "there are 1 streams, but events name 2"),
        ("UPDATE events SET asked = 'x lane' WHERE seq = 2", "column `asked` of table `events` has a value"),
        ("UPDATE events SET settled = '2' WHERE seq = 4", "column `settled` of table `events` has a value"),
        (
            "INSERT INTO intents VALUES (9, 0, 'x', 'lane/1', '{}')",
            "intent 9.0 belongs to an event that the log does not have",
        ),
    ];
    for (damage, finding) in cases {
        let (_folder, path) = place();
        damaged_after(&path, "", damage).await;
        let found = refusal(open(&path).verify().await);
        let expected = format!("the log is inconsistent: {finding}");
        assert!(found.starts_with(&expected), "after {damage}:\n  found    {found}\n  expected {expected}");
    }
}

#[tokio::test]
async fn a_load_reports_an_event_that_is_missing_among_those_that_wait() {
    let (_folder, path) = place();
    damaged_after(&path, "", "DELETE FROM events WHERE seq = 2").await;
    let missing = "the log is inconsistent: event 2 is missing";
    assert_eq!(refusal(open(&path).load(&name("a"), 1).await), missing);
}

#[tokio::test]
async fn a_read_reports_what_is_missing() {
    let (_folder, path) = place();
    damaged(&path, "DELETE FROM events WHERE seq IN (2, 4)").await;
    let subject = open(&path);
    assert_eq!(refusal(subject.read(Seq(0), 10).await), "the log is inconsistent: event 2 is missing");
    let missing = "the log is inconsistent: stream `a` is kept at version 3 but has 2 events";
    assert_eq!(refusal(subject.load(&name("a"), 1).await), missing);
    let missing = "the log is inconsistent: stream `b` is kept at version 2 but has 1 events";
    assert_eq!(refusal(subject.load_prefix("b", 1).await), missing);
    let orphan = "the log is inconsistent: intent 2.1 belongs to an event that the log does not have";
    assert_eq!(refusal(subject.open_intents().await), orphan);
}

#[tokio::test]
async fn a_snapshot_that_cannot_be_unpacked_is_reported() {
    let (_folder, path) = place();
    damaged(&path, "UPDATE snapshots SET data = x'ffffffff00'").await;
    let found = refusal(open(&path).load(&name("a"), 1).await);
    assert!(found.contains("column `data` of table `snapshots`"), "{found}");
}

#[tokio::test]
async fn damaged_pages_are_reported() {
    let (_folder, path) = place();
    damaged(&path, "").await;
    let mut bytes = std::fs::read(&path).unwrap();
    let page = 4096;
    for byte in &mut bytes[2 * page..] {
        *byte = 0xA5;
    }
    std::fs::write(&path, bytes).unwrap();
    let found = match regatta_store::SqliteStore::open(&path, regatta_store::OpenMode::Existing) {
        Ok(subject) => refusal(regatta_store::Store::verify(&subject).await),
        Err(error) => refusal::<()>(Err(error)),
    };
    assert!(found.starts_with("the log is inconsistent: the database file is damaged"), "{found}");
}
