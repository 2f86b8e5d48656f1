//! Memory stays bounded whatever is printed. Alone in its file, because it measures the whole process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use regatta_agents::{Outcome, Output};
use support::{Place, peak_memory_bytes, until, within};

const PRINTED_BYTES: u64 = 200_000_000;
const GROWTH_BYTES_MAX: u64 = 50_000_000;

#[tokio::test]
async fn a_flood_that_nobody_reads_is_counted_and_not_kept() {
    let place = Place::new();
    // One line without an end, then many short ones.
    let script = "head -c 100000000 /dev/zero | tr '\\0' x; yes | head -c 100000000";
    let mut start = place.shell(script);
    start.limits.transcript_bytes_max = 1_000_000;
    let before = peak_memory_bytes();
    let mut session = regatta_agents::start(start).await.unwrap();
    // Reading one piece and no more until the end is as slow as a reader can be.
    let mut seen = count(&within(session.next()).await.unwrap());
    let transcript = place.root().join("sessions/transcript.jsonl");
    until("the transcript is closed", || {
        std::fs::read_to_string(&transcript).unwrap().ends_with("\"text\":\"finished\"}\n")
    })
    .await;
    while let Some(output) = within(session.next()).await {
        seen += count(&output);
    }
    let ended = within(session.wait()).await;
    assert_eq!(ended.outcome, Outcome::Finished);
    assert_eq!((ended.output_bytes, seen), (PRINTED_BYTES, PRINTED_BYTES));
    let size = std::fs::metadata(&transcript).unwrap().len();
    assert!(size < 1_200_000, "the transcript has {size} bytes");
    let growth = peak_memory_bytes() - before;
    assert!(growth < GROWTH_BYTES_MAX, "memory grew by {growth} bytes");
}

fn count(output: &Output) -> u64 {
    match output {
        Output::Text(text) => text.len() as u64,
        Output::Skipped { bytes } => *bytes,
        other => panic!("unexpected {other:?}"),
    }
}
