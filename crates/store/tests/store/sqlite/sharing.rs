//! Several handles on one file at once.

use std::sync::{Arc, Barrier};

use crate::contract::sample::{
    PATIENCE, append, append_with_retries, lease, name, read_without_gaps, store, token,
};
use regatta_store::{Append, LeaseAnswer, Seq, Verified, Version};

use super::{open, place};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handles_that_append_at_once_leave_no_gap_and_readers_see_none() {
    const HANDLES: u64 = 4;
    const APPENDS: u64 = 200;
    let (_folder, path) = place();
    let writers: Vec<_> = (0..HANDLES)
        .map(|handle| tokio::spawn(append_with_retries(open(&path), format!("own/{handle}"), APPENDS)))
        .collect();
    let events = HANDLES * APPENDS * 2;
    let reader = tokio::spawn(read_without_gaps(open(&path), events));
    for writer in writers {
        writer.await.unwrap();
    }
    reader.await.unwrap();
    let subject = open(&path);
    let verified = subject.verify().await.unwrap();
    assert_eq!(verified, Verified { events, streams: HANDLES + 1, intents: HANDLES * APPENDS });
    assert_eq!(subject.load(&name("shared"), 1).await.unwrap().version, Version(HANDLES * APPENDS));
}

#[test]
fn handles_that_open_a_new_file_at_once_all_get_it() {
    const HANDLES: usize = 8;
    // The race is between two reads of one handle; a few rounds do not meet it.
    const ROUNDS: usize = 30;
    for _ in 0..ROUNDS {
        let (_folder, path) = place();
        let start = Arc::new(Barrier::new(HANDLES));
        let threads: Vec<_> = (0..HANDLES)
            .map(|_| {
                let (start, path) = (Arc::clone(&start), path.clone());
                std::thread::spawn(move || {
                    start.wait();
                    drop(open(&path));
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }
}

#[tokio::test]
async fn a_wait_ends_with_an_append_of_another_handle() {
    let (_folder, path) = place();
    let (waiting, writing) = (open(&path), open(&path));
    for version in 0..3 {
        let wait = tokio::spawn({
            let waiting = waiting.clone();
            async move { waiting.wait_past(Seq(version), PATIENCE).await.unwrap() }
        });
        store(&writing, append(&[("a", version)], &[&["a"]])).await;
        assert_eq!(wait.await.unwrap(), Seq(version + 1));
    }
}

#[tokio::test]
async fn a_lease_taken_over_by_another_handle_fences_the_first() {
    let (_folder, path) = place();
    let (first, second) = (open(&path), open(&path));
    assert_eq!(first.take_lease(lease(1, 0)).await.unwrap(), LeaseAnswer::Taken);
    assert!(matches!(second.take_lease(lease(2, 1)).await.unwrap(), LeaseAnswer::Held(_)));
    assert_eq!(second.take_lease(lease(2, 10)).await.unwrap(), LeaseAnswer::Taken);
    let fenced = Append { fence: Some(token(1)), ..append(&[("a", 0)], &[&["a"]]) };
    assert!(first.append(fenced).await.is_err());
    assert_eq!(second.head().await.unwrap(), Seq(0));
}
