//! Several processes on one file: locks that only count between processes, and a process that is killed.
//! The other process is `writer.rs`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::contract::sample::{append, read_without_gaps, store};
use regatta_store::{Seq, Verified};

use super::{open, place};

/// How often each process appends; `writer.rs` says the same.
const APPENDS: u64 = 40;

fn start_child(arguments: &[&str], path: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_regatta-store-test-writer"))
        .args(arguments)
        .arg(path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_append_at_once_leave_no_gap() {
    const CHILDREN: u64 = 3;
    let (_folder, path) = place();
    let subject = open(&path);
    let children: Vec<_> =
        (0..CHILDREN).map(|child| start_child(&["append", &format!("own/{child}")], &path)).collect();
    let events = CHILDREN * APPENDS * 2;
    read_without_gaps(subject.clone(), events).await;
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let verified = subject.verify().await.unwrap();
    assert_eq!(verified, Verified { events, streams: CHILDREN + 1, intents: CHILDREN * APPENDS });
}

#[tokio::test]
async fn what_a_killed_process_was_told_is_stored_is_there() {
    let (_folder, path) = place();
    let mut child = start_child(&["endless"], &path);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let told =
        lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("stored ")?.parse::<u64>().ok());
    let last = told.take(25).last().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();

    let subject = open(&path);
    let head = subject.head().await.unwrap();
    assert!(head >= Seq(last), "the process was told {last}, the log ends at {head}");
    let verified = subject.verify().await.unwrap();
    assert_eq!(verified, Verified { events: head.0, streams: 1, intents: 0 });
    assert_eq!(store(&subject, append(&[("a", head.0)], &[&["a"]])).await, Seq(head.0 + 1));
}
