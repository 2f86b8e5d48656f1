//! The one connection of a handle that writes, and its thread.
//!
//! The thread takes what is waiting, does it all in one transaction, and answers when that is on disk: one fsync for
//! many appends.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot, watch};

use crate::{Append, Appended, Error, Seq};

use super::failure::Place;
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
    desk: Arc<Desk>,
    orders: Option<mpsc::Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread and its handle share.
#[derive(Debug)]
struct Desk {
    place: Arc<Place>,
    heads: Arc<watch::Sender<Seq>>,
    connection: Mutex<Connection>,
}

impl Writer {
    /// Starts the thread on a connection; every new head is announced to `heads`.
    pub(super) fn start(
        connection: Connection,
        place: Arc<Place>,
        heads: Arc<watch::Sender<Seq>>,
    ) -> Result<Self, Error> {
        connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        let (orders, queue) = mpsc::channel(QUEUE_ORDERS_MAX);
        let desk = Arc::new(Desk { place, heads, connection: Mutex::new(connection) });
        let own = Arc::clone(&desk);
        let named = std::thread::Builder::new().name("regatta-store".to_owned());
        let thread = named
            .spawn(move || own.serve(queue))
            .map_err(|error| Place::explain_file("start the writer thread of", &desk.place.path, error))?;
        Ok(Self { desk, orders: Some(orders), thread: Some(thread) })
    }

    /// Stores an append.
    pub(super) async fn append(&self, append: Append) -> Result<Appended, Error> {
        self.order(|reply| Order::Append(Box::new(append), reply)).await
    }

    /// Sends an order to the thread and waits for its answer.
    pub(super) async fn order<T>(&self, make: impl FnOnce(Reply<T>) -> Order) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let stopped = || self.desk.stopped();
        let orders = self.orders.as_ref().ok_or_else(stopped)?;
        let permit = orders.reserve().await.map_err(|_| stopped())?;
        permit.send(make(reply));
        answer.await.map_err(|_| stopped())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was seen by those who waited for its answers.
            let _ = thread.join();
        }
    }
}

impl Desk {
    /// Does what comes through the queue, until nobody can send any more.
    fn serve(&self, mut queue: mpsc::Receiver<Order>) {
        let mut group = Vec::with_capacity(GROUP_ORDERS_MAX);
        while let Some(first) = queue.blocking_recv() {
            group.push(first);
            let Ok(connection) = self.connection.lock() else { return };
            while group.len() < GROUP_ORDERS_MAX
                && let Ok(next) = queue.try_recv()
            {
                group.push(next);
            }
            let mut transaction = self.transaction(&connection, group.len() == 1);
            let begun = transaction.begin();
            transaction.commit(begun, &mut group);
        }
    }

    fn transaction<'c>(&'c self, connection: &'c Connection, is_alone: bool) -> Transaction<'c> {
        Transaction::new(connection, &self.place, &self.heads, is_alone)
    }

    fn stopped(&self) -> Error {
        Error::Stopped { path: self.place.path.clone() }
    }
}
