//! A store in memory that keeps the whole contract except for the disk: the model that SQLite is compared with.
//!
//! An append is first checked as a whole and then applied by steps that cannot fail.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;
use uuid::Uuid;

use crate::contract::sample::Subject;
use regatta_store::{
    Append, Appended, CommandKey, Error, Intent, IntentId, Lease, LeaseAnswer, LeaseRequest, LeaseToken,
    ListId, Loaded, NewEvent, NewRow, Recorded, Row, RowRead, Seq, Snapshot, Store, StreamName, TakeRow,
    Verified, Version,
};

/// A store in memory; clones share one log.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryStore {
    log: Arc<Mutex<Log>>,
    head: Arc<watch::Sender<Seq>>,
}

#[derive(Debug, Default)]
struct Log {
    events: Vec<Recorded>,
    streams: BTreeMap<StreamName, Stream>,
    intents: BTreeMap<IntentId, Kept>,
    answers: HashMap<Uuid, Answer>,
    lists: BTreeMap<&'static str, Built>,
    leases: BTreeMap<String, Lease>,
}

#[derive(Debug, Default)]
struct Stream {
    events: Vec<Seq>,
    snapshot: Option<Snapshot>,
}

#[derive(Debug)]
struct Kept {
    intent: Intent,
    is_settled: bool,
}

/// A list that is built.
#[derive(Debug)]
struct Built {
    format: u32,
    rows: BTreeMap<u64, Row>,
}

#[derive(Debug)]
struct Answer {
    digest: String,
    text: String,
}

impl MemoryStore {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().expect("no code that holds the log panics")
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn append(&self, append: Append) -> Result<Appended, Error> {
        append.check()?;
        let mut log = self.log();
        let appended = log.append(append)?;
        // Sent while the log is locked, so that heads are announced in order.
        self.head.send_replace(log.head());
        Ok(appended)
    }

    async fn find_answer(&self, command: &CommandKey) -> Result<Option<String>, Error> {
        self.log().find_answer(command)
    }

    async fn load(&self, stream: &StreamName, format: u32) -> Result<Loaded, Error> {
        Ok(self.log().load(stream, format))
    }

    async fn load_prefix(&self, prefix: &str, format: u32) -> Result<Vec<Loaded>, Error> {
        let log = self.log();
        let names = log.streams.keys().filter(|name| name.as_str().starts_with(prefix));
        Ok(names.map(|name| log.load(name, format)).collect())
    }

    async fn load_many(&self, streams: &[StreamName], format: u32) -> Result<Vec<Loaded>, Error> {
        let log = self.log();
        Ok(streams.iter().map(|name| log.load(name, format)).collect())
    }

    async fn read(&self, after: Seq, limit: usize) -> Result<Vec<Recorded>, Error> {
        let log = self.log();
        let skipped = usize::try_from(after.0).unwrap_or(usize::MAX);
        Ok(log.events.iter().skip(skipped).take(limit).cloned().collect())
    }

    async fn head(&self) -> Result<Seq, Error> {
        Ok(self.log().head())
    }

    async fn wait_past(&self, after: Seq, limit: Duration) -> Result<Seq, Error> {
        let mut heads = self.head.subscribe();
        // Whether it came in time or not, the head says all there is to say.
        let _ = tokio::time::timeout(limit, heads.wait_for(|head| *head > after)).await;
        self.head().await
    }

    async fn has_list(&self, list: ListId) -> Result<bool, Error> {
        Ok(self.log().lists.get(list.name).is_some_and(|built| built.format == list.format))
    }

    async fn read_list(&self, list: ListId, from: u64, mut take: TakeRow) -> Result<Option<Seq>, Error> {
        let log = self.log();
        let built = log.lists.get(list.name).filter(|built| built.format == list.format);
        let Some(built) = built else { return Ok(None) };
        for (_, Row { key, seq, data }) in built.rows.range(from..) {
            if take(RowRead { key: *key, seq: *seq, data }).is_break() {
                break;
            }
        }
        Ok(Some(log.head()))
    }

    async fn build_list(&self, list: ListId, head: Seq, rows: Vec<(u64, String)>) -> Result<bool, Error> {
        let mut log = self.log();
        if log.head() != head {
            return Ok(false);
        }
        let rows = rows.into_iter().map(|(key, data)| (key, Row { key, seq: head, data })).collect();
        log.lists.insert(list.name, Built { format: list.format, rows });
        Ok(true)
    }

    async fn open_intents(&self) -> Result<Vec<Intent>, Error> {
        let log = self.log();
        let open = log.intents.values().filter(|kept| !kept.is_settled);
        Ok(open.map(|kept| kept.intent.clone()).collect())
    }

    async fn is_open(&self, intent: IntentId) -> Result<bool, Error> {
        Ok(self.log().intents.get(&intent).is_some_and(|kept| !kept.is_settled))
    }

    async fn take_lease(&self, request: LeaseRequest) -> Result<LeaseAnswer, Error> {
        let mut log = self.log();
        let LeaseRequest { name, holder, token, now, ttl, replaces } = request;
        let since = match log.leases.get(&name) {
            Some(lease) if lease.token == token => lease.since,
            Some(lease) if lease.expires > now && replaces != Some(lease.token) => {
                return Ok(LeaseAnswer::Held(lease.clone()));
            }
            _ => now,
        };
        log.leases.insert(name.clone(), Lease { name, holder, token, since, expires: expiry(now, ttl) });
        Ok(LeaseAnswer::Taken)
    }

    async fn renew_lease(&self, token: &LeaseToken, now: Timestamp, ttl: Duration) -> Result<(), Error> {
        let mut log = self.log();
        let held = log.leases.values_mut().find(|lease| lease.token == *token);
        held.ok_or(Error::LeaseLost { token: *token })?.expires = expiry(now, ttl);
        Ok(())
    }

    async fn release_lease(&self, token: &LeaseToken) -> Result<(), Error> {
        self.log().leases.retain(|_, lease| lease.token != *token);
        Ok(())
    }

    async fn find_lease(&self, name: &str) -> Result<Option<Lease>, Error> {
        Ok(self.log().leases.get(name).cloned())
    }

    async fn verify(&self) -> Result<Verified, Error> {
        // Nothing here can be damaged: it counts.
        let log = self.log();
        let (events, streams, intents) = (log.events.len(), log.streams.len(), log.intents.len());
        Ok(Verified { events: events as u64, streams: streams as u64, intents: intents as u64 })
    }
}

impl Log {
    fn head(&self) -> Seq {
        Seq(self.events.len() as u64)
    }

    fn version(&self, stream: &StreamName) -> Version {
        Version(self.streams.get(stream).map_or(0, |stream| stream.events.len() as u64))
    }

    fn find_answer(&self, command: &CommandKey) -> Result<Option<String>, Error> {
        match self.answers.get(&command.id) {
            None => Ok(None),
            Some(answer) if answer.digest == command.digest => Ok(Some(answer.text.clone())),
            Some(_) => Err(Error::CommandReused { command: command.id }),
        }
    }

    fn append(&mut self, append: Append) -> Result<Appended, Error> {
        if let Some(command) = &append.command
            && let Some(answer) = self.find_answer(command)?
        {
            return Ok(Appended::Repeated { answer });
        }
        self.admit(&append)?;
        Ok(self.apply(append))
    }

    /// Refuses an append that the log, as it is, does not allow.
    fn admit(&self, append: &Append) -> Result<(), Error> {
        if let Some(token) = append.fence
            && !self.leases.values().any(|lease| lease.token == token)
        {
            return Err(Error::LeaseLost { token });
        }
        for (stream, expected) in &append.expect {
            let actual = self.version(stream);
            if actual != *expected {
                return Err(Error::Conflict { stream: stream.clone(), expected: *expected, actual });
            }
        }
        for intent in &append.settle {
            match self.intents.get(intent) {
                None => return Err(Error::UnknownIntent { intent: *intent }),
                Some(kept) if kept.is_settled => return Err(Error::IntentSettled { intent: *intent }),
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn apply(&mut self, append: Append) -> Appended {
        let first = Seq(self.head().0 + 1);
        let last = Seq(self.head().0 + append.events.len() as u64);
        for intent in &append.settle {
            if let Some(kept) = self.intents.get_mut(intent) {
                kept.is_settled = true;
            }
        }
        let mut intents = Vec::new();
        for intent in append.intents {
            let event = &append.events[intent.event];
            let seq = Seq(first.0 + intent.event as u64);
            let id = IntentId {
                seq,
                ordinal: intents.iter().filter(|id: &&IntentId| id.seq == seq).count() as u32,
            };
            intents.push(id);
            let at = event.at;
            let intent = Intent { id, kind: intent.kind, lane: intent.lane, data: intent.data, at };
            self.intents.insert(id, Kept { intent, is_settled: false });
        }
        let command = append.command.as_ref().map(|command| command.id);
        let has_events = !append.events.is_empty();
        for event in append.events {
            self.record(event, command);
        }
        for snapshot in append.snapshots {
            let version = self.version(&snapshot.stream);
            let stream = self.streams.entry(snapshot.stream).or_default();
            stream.snapshot = Some(Snapshot { version, format: snapshot.format, data: snapshot.data });
        }
        for row in append.rows {
            self.put_row(row, last);
        }
        if let Some(command) = append.command {
            self.answers.insert(command.id, Answer { digest: command.digest, text: append.answer });
        }
        Appended::Stored { first: has_events.then_some(first), last, intents }
    }

    /// A row of another format would be a stranger in its list, so the list has to be built again.
    fn put_row(&mut self, NewRow { list, key, data }: NewRow, seq: Seq) {
        let Some(built) = self.lists.get_mut(list.name) else { return };
        if built.format != list.format {
            self.lists.remove(list.name);
            return;
        }
        match data {
            Some(data) => drop(built.rows.insert(key, Row { key, seq, data })),
            None => drop(built.rows.remove(&key)),
        }
    }

    fn record(&mut self, event: NewEvent, command: Option<Uuid>) {
        let seq = Seq(self.head().0 + 1);
        for stream in &event.streams {
            self.streams.entry(stream.clone()).or_default().events.push(seq);
        }
        let NewEvent { id, at, kind, actor, streams, data } = event;
        self.events.push(Recorded { seq, id, at, kind, actor, streams, data, command });
    }

    fn load(&self, name: &StreamName, format: u32) -> Loaded {
        let stream = self.streams.get(name);
        let snapshot = stream.and_then(|stream| stream.snapshot.clone());
        let snapshot = snapshot.filter(|snapshot| snapshot.format == format);
        let folded = snapshot.as_ref().map_or(0, |snapshot| snapshot.version.0 as usize);
        let places = stream.map_or(&[][..], |stream| &stream.events[folded..]);
        let tail = places.iter().map(|seq| self.events[seq.0 as usize - 1].clone()).collect();
        Loaded { stream: name.clone(), version: self.version(name), snapshot, tail }
    }
}

fn expiry(now: Timestamp, ttl: Duration) -> Timestamp {
    SignedDuration::try_from(ttl).ok().and_then(|ttl| now.checked_add(ttl).ok()).unwrap_or(Timestamp::MAX)
}

async fn make() -> (Subject, ()) {
    (Arc::new(MemoryStore::new()), ())
}

contract_suite!(make);
