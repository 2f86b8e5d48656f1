//! The one thread of a handle that writes.
//!
//! It takes what is waiting, does it all in one transaction, and answers when that is on disk: one fsync for
//! many appends. Each order has a savepoint, so that a refused one leaves no trace and hurts no other. Other
//! processes write to the same file; the transaction is begun with the write lock, so numbers have no gaps.

use std::sync::{Arc, mpsc as ready};
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot, watch};

use crate::{Append, Appended, Error, LeaseAnswer, LeaseRequest, LeaseToken, Seq};

use super::append::AppendSql;
use super::failure::{Failure, Place};
use super::leases;
use super::schema::{SCHEMA_KNOWN, schema_version};

/// How many orders may wait; more make their callers wait, so that memory stays bounded.
const QUEUE_ORDERS_MAX: usize = 256;

/// How many orders one transaction takes; it bounds how long other processes wait for the lock.
const GROUP_ORDERS_MAX: usize = 128;

/// What the thread is asked to do.
pub(super) enum Order {
    Append(Box<Append>, Reply<Appended>),
    TakeLease(LeaseRequest, Reply<LeaseAnswer>),
    RenewLease(LeaseToken, Timestamp, Duration, Reply<()>),
    ReleaseLease(LeaseToken, Reply<()>),
}

/// Where the answer to an order goes.
pub(super) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// An answer that waits for the commit, and is replaced by the commit's failure.
type Held = Box<dyn FnOnce(Result<(), Error>)>;

/// The handle of the thread; dropping it ends the thread, and waits until the file is closed.
#[derive(Debug)]
pub(super) struct Writer {
    place: Arc<Place>,
    orders: Option<mpsc::Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread on a connection; it announces every new head to `heads`.
    pub(super) fn start(
        connection: Connection,
        place: Arc<Place>,
        heads: Arc<watch::Sender<Seq>>,
    ) -> Result<Self, Error> {
        let (orders, queue) = mpsc::channel(QUEUE_ORDERS_MAX);
        let (started, is_started) = ready::channel();
        let thread_place = Arc::clone(&place);
        let thread = std::thread::Builder::new().name("regatta-store".to_owned()).spawn(move || {
            match AppendSql::prepare(&connection) {
                Ok(sql) => {
                    let _ = started.send(Ok(()));
                    Loop { connection: &connection, sql, place: &thread_place, heads, is_alone: true }
                        .run(queue);
                }
                Err(error) => {
                    let _ = started.send(Err(thread_place.explain("prepare", error)));
                }
            }
        });
        let thread =
            thread.map_err(|error| Place::explain_file("start the writer thread of", &place.path, error))?;
        let writer = Self { place, orders: Some(orders), thread: Some(thread) };
        match is_started.recv() {
            Ok(started) => started.map(|()| writer),
            Err(_) => Err(writer.stopped()),
        }
    }

    /// Sends an order and waits for its answer.
    pub(super) async fn order<T>(&self, make: impl FnOnce(Reply<T>) -> Order) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let orders = self.orders.as_ref().ok_or_else(|| self.stopped())?;
        orders.send(make(reply)).await.map_err(|_| self.stopped())?;
        answer.await.map_err(|_| self.stopped())?
    }

    fn stopped(&self) -> Error {
        Error::Stopped { path: self.place.path.clone() }
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

struct Loop<'c> {
    connection: &'c Connection,
    sql: AppendSql<'c>,
    place: &'c Place,
    heads: Arc<watch::Sender<Seq>>,
    /// Whether the transaction has one order only.
    is_alone: bool,
}

impl Loop<'_> {
    fn run(mut self, mut queue: mpsc::Receiver<Order>) {
        let mut group = Vec::with_capacity(GROUP_ORDERS_MAX);
        while let Some(first) = queue.blocking_recv() {
            group.push(first);
            while group.len() < GROUP_ORDERS_MAX
                && let Ok(next) = queue.try_recv()
            {
                group.push(next);
            }
            self.commit(&mut group);
        }
    }

    /// Does a group of orders in one transaction, then answers them all.
    fn commit(&mut self, group: &mut Vec<Order>) {
        self.is_alone = group.len() == 1;
        let mut lost = self.begin().err();
        let held: Vec<Held> = group.drain(..).map(|order| self.perform(order, &mut lost)).collect();
        let committed = match lost {
            Some(error) => Err(error),
            None => self.finish(),
        };
        if committed.is_err() && !self.connection.is_autocommit() {
            // When even this fails the connection refuses the next BEGIN, and says why.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        let result = committed.clone().map(|_| ());
        // Answered first: whoever waits for an answer is held up, whoever follows the head is only told of it.
        for answer in held {
            answer(result.clone());
        }
        if let Ok(head) = committed {
            self.heads.send_if_modified(|known| raise(known, head));
        }
    }

    fn begin(&mut self) -> Result<(), Error> {
        self.execute("BEGIN IMMEDIATE").map_err(|error| self.place.explain("begin", error))?;
        // A newer version may have migrated the file while this process was running.
        let found = schema_version(self.connection);
        let found = found.map_err(|error| self.place.explain("read its schema", error))?;
        if found > SCHEMA_KNOWN {
            return Err(Error::SchemaTooNew { found, known: SCHEMA_KNOWN, path: self.place.path.clone() });
        }
        self.sql.begin().map_err(|failure| self.place.explain("read its head", failure))
    }

    fn finish(&mut self) -> Result<Seq, Error> {
        // The one order was refused, and is rolled back already.
        if self.is_alone && self.connection.is_autocommit() {
            return Ok(self.sql.head());
        }
        let head = self.sql.finish().map_err(|failure| self.place.explain("write its head", failure))?;
        self.execute("COMMIT").map(|()| head).map_err(|error| self.place.explain("commit", error))
    }

    fn perform(&mut self, order: Order, lost: &mut Option<Error>) -> Held {
        let connection = self.connection;
        match order {
            Order::Append(append, reply) => self.apart(reply, lost, |own| own.sql.append(&append)),
            Order::TakeLease(request, reply) => {
                self.apart(reply, lost, |_| leases::take(connection, &request))
            }
            Order::RenewLease(token, now, ttl, reply) => {
                self.apart(reply, lost, |_| leases::renew(connection, token, now, ttl))
            }
            Order::ReleaseLease(token, reply) => {
                self.apart(reply, lost, |_| leases::release(connection, token))
            }
        }
    }

    /// Does one order so that a refusal hurts no other, unless the transaction is lost already.
    fn apart<T: 'static>(
        &mut self,
        reply: Reply<T>,
        lost: &mut Option<Error>,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Held {
        if lost.is_some() {
            return hold(reply, None);
        }
        match self.attempt(work) {
            Ok(outcome) => hold(reply, Some(outcome)),
            Err(error) => {
                *lost = Some(error);
                hold(reply, None)
            }
        }
    }

    /// Returns the outcome of the order alone, or the error by which the whole transaction is lost.
    ///
    /// An order that has the transaction to itself needs no savepoint, which would copy every page that it changes.
    fn attempt<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<Result<T, Error>, Error> {
        if !self.is_alone {
            self.mark("SAVEPOINT apart")?;
        }
        let outcome = work(self).map_err(|failure| self.place.explain("append", failure));
        match &outcome {
            Ok(_) if self.is_alone => {}
            Ok(_) => self.mark("RELEASE apart")?,
            // SQLite has rolled everything back by itself: a full disk, a failed read.
            Err(error) if self.connection.is_autocommit() => return Err(error.clone()),
            Err(_) if self.is_alone => self.mark("ROLLBACK")?,
            Err(_) => {
                self.mark("ROLLBACK TO apart")?;
                self.mark("RELEASE apart")?;
            }
        }
        Ok(outcome)
    }

    fn mark(&self, savepoint: &'static str) -> Result<(), Error> {
        self.execute(savepoint).map_err(|error| self.place.explain("mark its place", error))
    }

    /// Carries out one of the few statements around the orders, compiled once.
    fn execute(&self, statement: &'static str) -> Result<(), rusqlite::Error> {
        self.connection.prepare_cached(statement)?.execute([]).map(|_| ())
    }
}

/// Keeps an answer until the commit; `None` when there will be no commit.
fn hold<T: 'static>(reply: Reply<T>, outcome: Option<Result<T, Error>>) -> Held {
    Box::new(move |committed| {
        let answer = match (committed, outcome) {
            (Err(error), _) => Err(error),
            (Ok(()), Some(outcome)) => outcome,
            (Ok(()), None) => return,
        };
        // The caller may have gone; the append stands all the same.
        let _ = reply.send(answer);
    })
}

/// Raises a known head; it never goes back.
pub(super) fn raise(known: &mut Seq, head: Seq) -> bool {
    let is_higher = head > *known;
    if is_higher {
        *known = head;
    }
    is_higher
}
