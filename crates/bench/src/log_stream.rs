//! The workload W5: events of 300 bytes, appended to the log and read again.

use crate::error::Error;
use crate::measure::{rate, round};
use crate::place;
use jiff::Timestamp;
use regatta_store::{Append, NewEvent, OpenMode, Seq, SqliteStore, Store, StreamName, Version};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;
use uuid::Uuid;

/// As many bytes as an event has.
const EVENT_BYTES: usize = 300;

/// As many events as a subscriber reads at once.
const PAGE: usize = 1_000;

/// How events are appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    producers: usize,
    batch: usize,
}

impl Options {
    /// Finds a mode by its name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        Some(match name {
            "append1" => Options { producers: 1, batch: 1 },
            "c16" => Options { producers: 16, batch: 1 },
            "batch100" => Options { producers: 1, batch: 100 },
            "batch1000" => Options { producers: 1, batch: 1_000 },
            _ => return None,
        })
    }
}

/// Appends events; each producer waits for its answer before it continues.
pub(crate) fn measure(folder: &Path, count: usize, options: Options) -> Result<Value, Error> {
    let store = SqliteStore::open(database(folder), OpenMode::Create)?;
    let runtime = place::start_runtime()?;
    let begin = Instant::now();
    runtime.block_on(produce_all(&store, count, options))?;
    let took = begin.elapsed();
    let head = runtime.block_on(store.head())?;
    Error::unless_equal("the number of events", head, Seq(count as u64))?;
    Ok(json!({
        "events": count,
        "secs": round(took.as_secs_f64()),
        "append_per_s": rate(count, took),
    }))
}

/// Reads the whole log in pages.
pub(crate) fn replay(folder: &Path) -> Result<Value, Error> {
    let store = SqliteStore::open(database(folder), OpenMode::Existing)?;
    let runtime = place::start_runtime()?;
    let begin = Instant::now();
    let (mut seen, mut bytes) = (Seq(0), 0);
    loop {
        let page = runtime.block_on(store.read(seen, PAGE))?;
        let Some(last) = page.last() else { break };
        seen = last.seq;
        bytes += page.iter().map(|event| event.data.len()).sum::<usize>();
    }
    let took = begin.elapsed();
    let count = seen.0 as usize;
    Error::unless_equal("the number of bytes", bytes, count * EVENT_BYTES)?;
    Ok(json!({ "events": count, "secs": round(took.as_secs_f64()), "replay_per_s": rate(count, took) }))
}

fn database(folder: &Path) -> PathBuf {
    folder.join("stream.db")
}

async fn produce_all(store: &SqliteStore, count: usize, options: Options) -> Result<(), Error> {
    let mut producers = Vec::new();
    for index in 0..options.producers {
        let from = count * index / options.producers;
        let to = count * (index + 1) / options.producers;
        producers.push(tokio::spawn(produce(store.clone(), index, from..to, options.batch)));
    }
    for producer in producers {
        match producer.await {
            Ok(produced) => produced?,
            Err(panic) => {
                return Err(Error::Stuck { seconds: 0, what: format!("a producer broke off: {panic}") });
            }
        }
    }
    Ok(())
}

/// Appends its part to a stream of its own.
async fn produce(
    store: SqliteStore,
    producer: usize,
    part: std::ops::Range<usize>,
    batch: usize,
) -> Result<(), Error> {
    let stream =
        StreamName::parse(format!("producer/{producer}")).expect("letters and digits are a stream name");
    let mut version = 0;
    for first in part.clone().step_by(batch) {
        let last = part.end.min(first + batch);
        let events: Vec<NewEvent> = (first..last).map(|index| event(index, &stream)).collect();
        let expect = vec![(stream.clone(), Version(version))];
        version += events.len() as u64;
        store.append(Append { expect, events, ..Append::default() }).await?;
    }
    Ok(())
}

fn event(index: usize, stream: &StreamName) -> NewEvent {
    NewEvent {
        id: Uuid::now_v7(),
        at: Timestamp::now(),
        kind: "agent:message".to_owned(),
        actor: r#"{"kind":"engine"}"#.to_owned(),
        streams: vec![stream.clone()],
        data: data(index),
    }
}

/// Returns an event in the shape that every engine of the comparison writes.
fn data(index: usize) -> String {
    let task = index % 1_000;
    let mut text = format!(r#"{{"seq":{index:08},"type":"agent:message","taskId":"T{task:04}","text":""#);
    let end = r#""}"#;
    text.extend(std::iter::repeat_n('x', EVENT_BYTES - end.len() - text.len()));
    text + end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_its_bytes() {
        for index in [0, 7, 99_999_999] {
            assert_eq!(data(index).len(), EVENT_BYTES);
        }
    }
}
