//! The one connection of a handle that writes, and its thread.
//!
//! The thread takes what is waiting, does it all in one transaction, and answers when that is on disk: one
//! fsync for many appends. For a single append the trip to another thread and back is not worth it, as it
//! costs about as much as the SQL. Such an append is committed on the calling thread, under three conditions:
//! nobody else is waiting, the lock of the file is free at once, and the runtime has another worker to
//! continue with. So at most one worker is ever blocked, for the time of one commit. There is no await within
//! it, so a caller that goes away cannot leave it half done; a panic within it poisons the lock, and from
//! then on the store answers that it has stopped.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{mpsc, oneshot, watch};

use crate::{Append, Appended, Error, Seq};

use super::failure::Place;
use super::known::Known;
use super::runway::Runway;
use super::transaction::{Order, Reply, Transaction};

/// How many orders may wait; more make their callers wait, so that memory stays bounded.
const QUEUE_ORDERS_MAX: usize = 256;

/// How many orders one transaction takes; it bounds how long other processes wait for the lock.
const GROUP_ORDERS_MAX: usize = 128;

/// How many compiled statements are kept: more than there are.
const STATEMENTS_MAX: usize = 64;

/// The handle of the thread; dropping it ends the thread, and waits until the file is closed.
#[derive(Debug)]
pub(super) struct Writer {
    shared: Arc<Shared>,
    /// Started by the first order: a process that only reads never needs it.
    thread: OnceLock<Thread>,
    starting: Mutex<()>,
}

/// A thread that was started.
#[derive(Debug)]
struct Thread {
    orders: mpsc::Sender<Order>,
    handle: JoinHandle<()>,
}

/// What the thread and its handle share.
#[derive(Debug)]
struct Shared {
    place: Arc<Place>,
    heads: Arc<watch::Sender<Seq>>,
    file: Mutex<File>,
    /// How many orders are on their way to the thread.
    waiting: AtomicUsize,
    /// Whether orders have been coming one at a time.
    is_quiet: AtomicBool,
}

/// The connection, and what it knows of the file.
#[derive(Debug)]
struct File {
    connection: Connection,
    known: Known,
    runway: Runway,
}

impl Writer {
    /// Takes the connection; every new head is announced to `heads`.
    pub(super) fn new(connection: Connection, place: Arc<Place>, heads: Arc<watch::Sender<Seq>>) -> Self {
        connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        let shared = Arc::new(Shared {
            place,
            heads,
            file: Mutex::new(File { connection, known: Known::default(), runway: Runway::default() }),
            waiting: AtomicUsize::new(0),
            is_quiet: AtomicBool::new(true),
        });
        Self { shared, thread: OnceLock::new(), starting: Mutex::new(()) }
    }

    /// Returns the queue of the thread, which is started if it does not run yet.
    fn ensure_thread(&self) -> Result<&mpsc::Sender<Order>, Error> {
        if let Some(thread) = self.thread.get() {
            return Ok(&thread.orders);
        }
        let _turn = self.starting.lock().map_err(|_| self.shared.stopped())?;
        if let Some(thread) = self.thread.get() {
            return Ok(&thread.orders);
        }
        let (orders, queue) = mpsc::channel(QUEUE_ORDERS_MAX);
        let own = Arc::clone(&self.shared);
        let named = std::thread::Builder::new().name("regatta-store".to_owned());
        let path = &self.shared.place.path;
        let handle = named
            .spawn(move || own.serve(queue))
            .map_err(|error| Place::explain_file("start the writer thread of", path, error))?;
        Ok(&self.thread.get_or_init(|| Thread { orders, handle }).orders)
    }

    /// Stores an append, on this thread if it can be.
    pub(super) async fn append(&self, append: Append) -> Result<Appended, Error> {
        match self.shared.append_here(append) {
            Ok(answer) => answer,
            Err(append) => self.order(|reply| Order::Append(append, reply)).await,
        }
    }

    /// Sends an order to the thread and waits for its answer.
    pub(super) async fn order<T>(&self, make: impl FnOnce(Reply<T>) -> Order) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let stopped = || self.shared.stopped();
        let permit = self.ensure_thread()?.reserve().await.map_err(|_| stopped())?;
        self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        permit.send(make(reply));
        answer.await.map_err(|_| stopped())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(Thread { orders, handle }) = self.thread.take() {
            drop(orders);
            // A panic of the thread was seen by those who waited for its answers.
            let _ = handle.join();
        }
    }
}

impl Shared {
    /// Does what comes through the queue, until nobody can send any more.
    fn serve(&self, mut queue: mpsc::Receiver<Order>) {
        let mut group = Vec::with_capacity(GROUP_ORDERS_MAX);
        while let Some(first) = queue.blocking_recv() {
            group.push(first);
            // A caller that commits on its own thread may hold it; meanwhile more orders may come.
            let Ok(mut file) = self.file.lock() else { return };
            while group.len() < GROUP_ORDERS_MAX
                && let Ok(next) = queue.try_recv()
            {
                group.push(next);
            }
            self.waiting.fetch_sub(group.len(), Ordering::Relaxed);
            self.is_quiet.store(group.len() == 1, Ordering::Relaxed);
            let File { connection, known, runway } = &mut *file;
            let mut transaction = self.transaction(connection, std::mem::take(known), group.len() == 1);
            let begun = transaction.begin();
            *known = transaction.commit(begun, &mut group);
            runway.count(connection, &self.place);
        }
    }

    /// Commits an append on this thread, or returns it when it must go through the queue.
    fn append_here(&self, append: Append) -> Result<Result<Appended, Error>, Box<Append>> {
        let is_quiet = self.is_quiet.load(Ordering::Relaxed) && self.waiting.load(Ordering::Relaxed) == 0;
        if !is_quiet || !can_spare_this_thread() {
            return Err(Box::new(append));
        }
        let mut file = match self.file.try_lock() {
            Ok(file) => file,
            Err(TryLockError::WouldBlock) => return Err(Box::new(append)),
            Err(TryLockError::Poisoned(_)) => return Ok(Err(self.stopped())),
        };
        let File { connection, known, runway } = &mut *file;
        let mut transaction = self.transaction(connection, std::mem::take(known), true);
        let begun = match self.without_waiting(connection, || transaction.begin()) {
            Err(Error::Busy { .. }) if connection.is_autocommit() => return Err(Box::new(append)),
            begun => begun,
        };
        let (answer, left) = transaction.commit_one(begun, &append);
        *known = left;
        runway.count(connection, &self.place);
        Ok(answer)
    }

    /// Returns at once when another process holds the lock: a worker of the runtime must not wait for it.
    fn without_waiting<T>(
        &self,
        connection: &Connection,
        work: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let wait = |patience: Duration| {
            connection
                .busy_timeout(patience)
                .map_err(|error| self.place.explain("set the patience of", error))
        };
        wait(Duration::ZERO)?;
        let done = work();
        wait(self.place.busy_wait_max)?;
        done
    }

    fn transaction<'c>(
        &'c self,
        connection: &'c Connection,
        known: Known,
        is_alone: bool,
    ) -> Transaction<'c> {
        Transaction::new(connection, &self.place, &self.heads, known, is_alone)
    }

    fn stopped(&self) -> Error {
        Error::Stopped { path: self.place.path.clone() }
    }
}

/// Tells whether this thread belongs to a runtime that has another worker to continue with.
fn can_spare_this_thread() -> bool {
    Handle::try_current().is_ok_and(|runtime| {
        runtime.runtime_flavor() == RuntimeFlavor::MultiThread && runtime.metrics().num_workers() > 1
    })
}
