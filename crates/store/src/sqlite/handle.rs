//! The store itself: the writer, the readers and the heads they announce.
//!
//! It only passes work on; an append may be done on the calling thread. Dropping the last clone waits for the
//! writer thread, and so for what was already ordered; after that this handle no longer has the file open.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::{Mutex, watch};

use crate::{
    Append, Appended, CommandKey, Error, Intent, IntentId, Lease, LeaseAnswer, LeaseRequest, LeaseToken,
    ListId, Loaded, Recorded, Seq, Store, StreamName, TakeRow, Verified,
};

use super::append::{FIND_COMMAND, find_answer};
use super::failure::Place;
use super::open::{OpenMode, open_writer};
use super::readers::Readers;
use super::signs::Signs;
use super::transaction::{Order, raise};
use super::waiting::Waiting;
use super::writer::Writer;
use super::{leases, lists, load, verify};

/// How long to wait for the locks of other processes: far more than a group takes, less than a user's patience.
const BUSY_WAIT_MAX: Duration = Duration::from_secs(10);

/// A store in a SQLite file; clones share one handle, other handles and processes may share the file.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    shared: Arc<Shared>,
}

/// The readers stand first: they close before the writer, whose close brings the WAL into the file.
#[derive(Debug)]
struct Shared {
    readers: Readers,
    writer: Writer,
    heads: Arc<watch::Sender<Seq>>,
    /// Held by the one caller of `wait_past` that polls for all.
    polling: Mutex<Signs>,
}

impl SqliteStore {
    /// Opens a database, and makes or migrates it first when needed. Blocks while it does.
    pub fn open(path: impl AsRef<Path>, mode: OpenMode) -> Result<Self, Error> {
        Self::open_waiting(path.as_ref(), mode, BUSY_WAIT_MAX)
    }

    /// Opens a database with another patience for locks.
    pub(super) fn open_waiting(path: &Path, mode: OpenMode, busy_wait_max: Duration) -> Result<Self, Error> {
        let place = Arc::new(Place { path: path.to_owned(), busy_wait_max });
        let connection = open_writer(&place, mode)?;
        let heads = Arc::new(watch::Sender::new(Seq(0)));
        let writer = Writer::new(connection, Arc::clone(&place), Arc::clone(&heads));
        let polling = Mutex::new(Signs::new(path));
        let readers = Readers::new(place);
        Ok(Self { shared: Arc::new(Shared { readers, writer, heads, polling }) })
    }

    /// Looks at the file again and again until its head is past `after`, and announces what it sees.
    async fn poll_past(&self, after: Seq) -> Result<Seq, Error> {
        let mut signs = self.shared.polling.lock().await;
        let mut is_first = true;
        loop {
            if signs.have_changed() || is_first {
                is_first = false;
                let head = self.head().await?;
                self.shared.heads.send_if_modified(|known| raise(known, head));
                if head > after {
                    return Ok(head);
                }
            }
            signs.rest().await;
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn append(&self, append: Append) -> Result<Appended, Error> {
        append.check()?;
        self.shared.writer.append(append).await
    }

    async fn find_answer(&self, command: &CommandKey) -> Result<Option<String>, Error> {
        let command = command.clone();
        let find = move |connection: &rusqlite::Connection| {
            find_answer(&mut connection.prepare(FIND_COMMAND)?, &command)
        };
        self.shared.readers.read("find an answer", find).await
    }

    async fn load(&self, stream: &StreamName, format: u32) -> Result<Loaded, Error> {
        let streams = [stream.clone()];
        let load = move |connection: &rusqlite::Connection| {
            let mut loaded = load::load_many(connection, &streams, format)?;
            Ok(loaded.remove(0))
        };
        self.shared.readers.read("load a stream", load).await
    }

    async fn load_prefix(&self, prefix: &str, format: u32) -> Result<Vec<Loaded>, Error> {
        let prefix = prefix.to_owned();
        let load = move |connection: &rusqlite::Connection| load::load_prefix(connection, &prefix, format);
        self.shared.readers.read("load streams", load).await
    }

    async fn load_many(&self, streams: &[StreamName], format: u32) -> Result<Vec<Loaded>, Error> {
        let streams = streams.to_vec();
        let load = move |connection: &rusqlite::Connection| load::load_many(connection, &streams, format);
        self.shared.readers.read("load streams", load).await
    }

    async fn read(&self, after: Seq, limit: usize) -> Result<Vec<Recorded>, Error> {
        self.shared.readers.read("read the log", move |connection| load::read(connection, after, limit)).await
    }

    async fn head(&self) -> Result<Seq, Error> {
        self.shared.readers.read("read its head", load::head).await
    }

    async fn wait_past(&self, after: Seq, limit: Duration) -> Result<Seq, Error> {
        let mut heads = self.shared.heads.subscribe();
        let past = async {
            tokio::select! {
                // A head that was announced needs no look at the file.
                biased;
                Ok(head) = heads.wait_for(|head| *head > after) => Ok(*head),
                head = self.poll_past(after) => head,
            }
        };
        match tokio::time::timeout(limit, past).await {
            Ok(head) => head,
            Err(_) => self.head().await,
        }
    }

    async fn has_list(&self, list: ListId) -> Result<bool, Error> {
        self.shared.readers.read("find a list", move |connection| lists::is_built(connection, list)).await
    }

    async fn read_list(&self, list: ListId, from: u64, mut take: TakeRow) -> Result<Option<Seq>, Error> {
        let read = move |connection: &rusqlite::Connection| lists::read(connection, list, from, &mut take);
        self.shared.readers.read("read a list", read).await
    }

    async fn build_list(&self, list: ListId, head: Seq, rows: Vec<(u64, String)>) -> Result<bool, Error> {
        self.shared.writer.order(|reply| Order::BuildList(list, head, rows, reply)).await
    }

    async fn open_intents(&self) -> Result<Vec<Intent>, Error> {
        self.shared.readers.read("read open intents", load::open_intents).await
    }

    async fn is_open(&self, intent: IntentId) -> Result<bool, Error> {
        let find = move |connection: &rusqlite::Connection| {
            load::is_open(connection, &Waiting::read(connection)?, intent)
        };
        self.shared.readers.read("find an intent", find).await
    }

    async fn take_lease(&self, request: LeaseRequest) -> Result<LeaseAnswer, Error> {
        self.shared.writer.order(|reply| Order::TakeLease(request, reply)).await
    }

    async fn renew_lease(&self, token: &LeaseToken, now: Timestamp, ttl: Duration) -> Result<(), Error> {
        self.shared.writer.order(|reply| Order::RenewLease(*token, now, ttl, reply)).await
    }

    async fn release_lease(&self, token: &LeaseToken) -> Result<(), Error> {
        self.shared.writer.order(|reply| Order::ReleaseLease(*token, reply)).await
    }

    async fn find_lease(&self, name: &str) -> Result<Option<Lease>, Error> {
        let name = name.to_owned();
        self.shared.readers.read("find a lease", move |connection| leases::find(connection, &name)).await
    }

    async fn verify(&self) -> Result<Verified, Error> {
        self.shared.readers.read("verify the log", verify::verify).await
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::Appended;

    #[tokio::test]
    async fn a_lock_held_too_long_is_an_error_and_the_next_append_goes_on() {
        wait_for_a_lock().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_append_on_the_thread_of_its_caller_waits_for_a_lock_all_the_same() {
        let meant = tokio::spawn(wait_for_a_lock());
        meant.await.unwrap();
    }

    async fn wait_for_a_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.db");
        let patience = Duration::from_millis(20);
        let store = SqliteStore::open_waiting(&path, OpenMode::Create, patience).unwrap();
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let error = store.append(Append::default()).await.unwrap_err();
        assert_eq!(error.to_string(), format!("the database {} stayed locked for 20ms", path.display()));
        assert_eq!(store.head().await.unwrap(), Seq(0));

        other.execute_batch("ROLLBACK").unwrap();
        let stored = store.append(Append::default()).await.unwrap();
        assert_eq!(stored, Appended::Stored { first: None, last: Seq(0), intents: vec![] });
    }
}
