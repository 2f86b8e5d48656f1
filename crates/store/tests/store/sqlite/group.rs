//! Group commits: what waits together is stored together, and a refused append hurts no other.

use std::fs;
use std::path::Path;

use crate::contract::sample::{Subject, append, event, picture, refusal, store, versions};
use regatta_store::{Append, Seq, Verified};
use rusqlite::Connection;

use super::{beside, open, place};

/// Counts the transactions in the WAL: its frames that say how large the database is after a commit.
fn count_commits(path: &Path) -> usize {
    const WAL_HEADER_BYTES: usize = 32;
    const FRAME_HEADER_BYTES: usize = 24;
    let wal = fs::read(beside(path, "-wal")).unwrap();
    let page_bytes = u32::from_be_bytes(wal[8..12].try_into().unwrap()) as usize;
    let frames = wal[WAL_HEADER_BYTES..].chunks(FRAME_HEADER_BYTES + page_bytes);
    frames.filter(|frame| frame[4..8] != [0; 4]).count()
}

fn to_own_stream(number: u64) -> Append {
    let own = format!("own/{number}");
    Append { expect: versions(&[(&own, 0)]), events: vec![event(number, &[&own])], ..Append::default() }
}

/// Starts appends while another connection has the write lock, so that all of them come to wait.
///
/// The runtime has one thread: after one yield each of them has been sent.
async fn append_all_at_once(path: &Path, subject: &Subject, appends: Vec<Append>) -> Vec<Result<(), String>> {
    let blocker = Connection::open(path).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let tasks: Vec<_> = appends
        .into_iter()
        .map(|append| {
            let subject = subject.clone();
            tokio::spawn(async move { subject.append(append).await })
        })
        .collect();
    tokio::task::yield_now().await;
    blocker.execute_batch("ROLLBACK").unwrap();
    let mut outcomes = Vec::new();
    for task in tasks {
        let outcome = task.await.unwrap();
        outcomes.push(if outcome.is_ok() { Ok(()) } else { Err(refusal(outcome)) });
    }
    outcomes
}

#[tokio::test]
async fn appends_that_wait_together_share_a_commit_and_are_durable() {
    const APPENDS: u64 = 100;
    let (_folder, path) = place();
    let subject = open(&path);
    store(&subject, append(&[("a", 0)], &[&["a"]])).await;
    let before = count_commits(&path);
    let outcomes = append_all_at_once(&path, &subject, (0..APPENDS).map(to_own_stream).collect()).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    // The thread may take a few of the first before the others are sent.
    let commits = count_commits(&path) - before;
    assert!(commits <= 10, "{APPENDS} appends took {commits} commits");

    let live = picture(&subject).await;
    drop(subject);
    let subject = open(&path);
    assert_eq!(picture(&subject).await, live);
    let verified = subject.verify().await.unwrap();
    assert_eq!(verified, Verified { events: APPENDS + 1, streams: APPENDS + 1, intents: 0 });
}

#[tokio::test]
async fn a_refused_append_in_a_group_changes_nothing_else() {
    let (_folder, path) = place();
    let subject = open(&path);
    let unknown = || "7.0".parse().unwrap();
    let mut group: Vec<Append> = (0..20).map(to_own_stream).collect();
    // Each of these is found out late, after a part of it has been done.
    group.insert(5, Append { settle: vec![unknown()], ..to_own_stream(100) });
    group.insert(10, append(&[("own/1", 0), ("fresh", 0)], &[&["fresh"], &["own/1"]]));
    group.push(append(&[("own/2", 1)], &[&["own/2"]]));
    let outcomes = append_all_at_once(&path, &subject, group).await;

    let refusals: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    let stale = "stream `own/1` is at version 1, the decision was made at 0";
    assert_eq!(refusals, ["there is no intent 7.0", stale]);
    assert_eq!(subject.head().await.unwrap(), Seq(21));
    let verified = subject.verify().await.unwrap();
    assert_eq!(verified, Verified { events: 21, streams: 20, intents: 0 });
}
