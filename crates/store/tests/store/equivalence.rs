//! Whatever is done to them, the store in memory and the store in SQLite show the same.

use std::sync::Arc;
use std::time::Duration;

use crate::contract::sample::{LIST, Subject, command, event, intent, lease, picture, snapshot, time, token};
use crate::memory::MemoryStore;
use proptest::prelude::*;
use regatta_store::{Append, IntentId, LeaseRequest, ListId, NewRow, OpenMode, Seq, SqliteStore, Version};

/// The streams of the model; few, so that appends meet.
const STREAMS: [&str; 3] = ["a", "b/1", "b/2"];

/// How many sequences are tried; each append of SQLite is on disk before the next.
const SEQUENCES: u32 = 48;

#[derive(Debug, Clone)]
enum Step {
    Append(Plan),
    Take {
        token: u128,
        now: i64,
        replaces: Option<u128>,
    },
    Renew {
        token: u128,
        now: i64,
    },
    Release {
        token: u128,
    },
    /// Builds the list, perhaps for a head that is not the log's.
    Build {
        behind: u64,
    },
}

/// An append in small numbers; the versions are looked up when it is made.
#[derive(Debug, Clone)]
struct Plan {
    command: Option<(u128, u8)>,
    /// For each event, the streams it joins as bits.
    events: Vec<u8>,
    /// The stream whose version is stated wrong.
    stale: Option<usize>,
    /// The stream whose version is not stated.
    unguarded: Option<usize>,
    intents: Vec<usize>,
    settle: Option<Settle>,
    snapshots: Vec<(usize, u32)>,
    fence: Option<u128>,
    /// Rows that are written (or removed), by number.
    rows: Vec<(u64, bool)>,
    /// Whether the rows are of another format.
    is_strange: bool,
}

/// The intent a plan settles.
#[derive(Debug, Clone)]
enum Settle {
    /// One of those that are open.
    Open(usize),
    /// Any, which may be settled already or not exist.
    Any(u64),
}

fn rarely<T: std::fmt::Debug + Clone>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(0.1, value)
}

fn plans() -> impl Strategy<Value = Plan> {
    let settle = prop_oneof![(0..2usize).prop_map(Settle::Open), (1..6u64).prop_map(Settle::Any)];
    let settle = prop::option::of(settle);
    let snapshots = prop::collection::vec((0..STREAMS.len(), 1..3u32), 0..2);
    let rows = prop::collection::vec((0..3u64, any::<bool>()), 0..3);
    let rows = (rows, prop::bool::weighted(0.05));
    let what = (
        prop::collection::vec(0..8u8, 0..4),
        prop::collection::vec(0..2usize, 0..4),
        settle,
        snapshots,
        rows,
    );
    let wrong = (rarely(0..STREAMS.len()), rarely(0..STREAMS.len()), rarely(0..3u128));
    let command = prop::option::of((0..6u128, prop_oneof![9 => Just(0u8), 1 => Just(1)]));
    (what, wrong, command).prop_map(
        |((events, intents, settle, snapshots, (rows, is_strange)), (stale, unguarded, fence), command)| {
            Plan { command, events, stale, unguarded, intents, settle, snapshots, fence, rows, is_strange }
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => plans().prop_map(Step::Append),
        1 => (0..3u128, 0..40i64, prop::option::of(0..3u128))
            .prop_map(|(token, now, replaces)| Step::Take { token, now, replaces }),
        1 => (0..3u128, 0..40i64).prop_map(|(token, now)| Step::Renew { token, now }),
        1 => (0..3u128).prop_map(|token| Step::Release { token }),
        2 => (0..2u64).prop_map(|behind| Step::Build { behind }),
    ];
    prop::collection::vec(step, 1..24)
}

/// Makes the append of a plan, with versions as `subject` has them.
async fn make(plan: &Plan, subject: &Subject) -> Append {
    let names = STREAMS.map(|stream| stream.parse().unwrap());
    let loaded = subject.load_many(&names, 1).await.unwrap();
    let mut expect = Vec::new();
    for (index, loaded) in loaded.into_iter().enumerate() {
        let off = u64::from(plan.stale == Some(index));
        if plan.unguarded != Some(index) {
            expect.push((loaded.stream, Version(loaded.version.0 + off)));
        }
    }
    let joined = |bits: u8| -> Vec<&str> {
        let streams = STREAMS.iter().enumerate().filter(|(index, _)| bits & (1 << index) != 0);
        streams.map(|(_, stream)| *stream).collect()
    };
    // No bits would be no stream, which is always refused; most plans must go through.
    let events = plan.events.iter().map(|bits| (*bits).max(1));
    let mut events: Vec<_> =
        events.enumerate().map(|(index, bits)| event(index as u64, &joined(bits))).collect();
    events.iter_mut().for_each(|event| event.streams.reverse());
    let intents = plan.intents.iter().filter(|event| **event < plan.events.len());
    let settle = match plan.settle {
        Some(Settle::Open(index)) => subject.open_intents().await.unwrap().get(index).map(|intent| intent.id),
        Some(Settle::Any(seq)) => Some(IntentId { seq: Seq(seq), ordinal: 0 }),
        None => None,
    };
    Append {
        command: plan.command.map(|(number, digest)| command(number, &digest.to_string())),
        answer: format!("{:?}", plan.events),
        expect,
        events,
        intents: intents.map(|event| intent(*event, "sample")).collect(),
        snapshots: plan
            .snapshots
            .iter()
            .map(|(stream, format)| snapshot(STREAMS[*stream], *format, "{}"))
            .collect(),
        settle: settle.into_iter().collect(),
        fence: plan.fence.map(token),
        rows: plan.rows.iter().map(|(key, is_there)| row(plan, *key, *is_there)).collect(),
    }
}

fn row(plan: &Plan, key: u64, is_there: bool) -> NewRow {
    let list = ListId { format: if plan.is_strange { 2 } else { LIST.format }, ..LIST };
    NewRow { list, key, data: is_there.then(|| format!("{:?}", plan.events)) }
}

/// Takes a step and returns what it showed, a refusal by its text.
async fn take(step: &Step, subject: &Subject) -> String {
    let ttl = Duration::from_secs(10);
    match step {
        Step::Append(plan) => {
            let append = make(plan, subject).await;
            let answer = match &append.command {
                Some(command) => format!("{:?}", subject.find_answer(command).await),
                None => String::new(),
            };
            format!("{answer} {:?}", subject.append(append).await)
        }
        Step::Take { token: number, now, replaces } => {
            let request = LeaseRequest { replaces: replaces.map(token), ..lease(*number, *now) };
            format!("{:?}", subject.take_lease(request).await)
        }
        Step::Renew { token: number, now } => {
            format!("{:?}", subject.renew_lease(&token(*number), time(*now), ttl).await)
        }
        Step::Build { behind } => {
            let head = Seq(subject.head().await.unwrap().0.saturating_sub(*behind));
            let rows = vec![(1, "built".to_owned()), (2, "built".to_owned())];
            format!("{:?}", subject.build_list(LIST, head, rows).await)
        }
        Step::Release { token: number } => format!("{:?}", subject.release_lease(&token(*number)).await),
    }
}

async fn compare(steps: &[Step]) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.db");
    let memory: Subject = Arc::new(MemoryStore::new());
    let mut sqlite: Subject = Arc::new(SqliteStore::open(&path, OpenMode::Create).unwrap());
    for (index, step) in steps.iter().enumerate() {
        prop_assert_eq!(take(step, &memory).await, take(step, &sqlite).await, "step {}: {:?}", index, step);
    }
    prop_assert_eq!(picture(&memory).await, picture(&sqlite).await);
    drop(sqlite);
    sqlite = Arc::new(SqliteStore::open(&path, OpenMode::Existing).unwrap());
    prop_assert_eq!(picture(&memory).await, picture(&sqlite).await);
    prop_assert_eq!(memory.find_lease("engine").await.unwrap(), sqlite.find_lease("engine").await.unwrap());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: SEQUENCES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_stores_show_the_same(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(compare(&steps))?;
    }
}
