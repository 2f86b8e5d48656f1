//! A transaction: a group of orders, done in one commit and then answered.
//!
//! A refused order leaves no trace and affects no other. Other processes write to the same file; the
//! transaction takes the write lock when it begins, so numbers have no gaps.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use crate::{Append, Appended, Error, LeaseAnswer, LeaseRequest, LeaseToken, ListId, Seq};

use super::append::{AppendSql, Begun};
use super::failure::{Failure, Place};
use super::known::Known;
use super::leases;
use super::lists;
use super::schema::{SCHEMA_KNOWN, schema_version};

/// What the writer is asked to do.
pub(super) enum Order {
    Append(Box<Append>, Reply<Appended>),
    TakeLease(LeaseRequest, Reply<LeaseAnswer>),
    RenewLease(LeaseToken, Timestamp, Duration, Reply<()>),
    ReleaseLease(LeaseToken, Reply<()>),
    BuildList(ListId, Seq, Vec<(u64, String)>, Reply<bool>),
}

/// Where the answer to an order goes.
pub(super) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// An answer that waits for the commit, and is replaced by the commit's failure.
type Held = Box<dyn FnOnce(Result<(), Error>)>;

/// One transaction of the connection that writes.
pub(super) struct Transaction<'c> {
    connection: &'c Connection,
    sql: AppendSql<'c>,
    place: &'c Place,
    heads: &'c watch::Sender<Seq>,
    /// Whether the transaction has one order only.
    is_alone: bool,
}

impl<'c> Transaction<'c> {
    /// Makes a transaction that is yet to begin.
    pub(super) fn new(
        connection: &'c Connection,
        place: &'c Place,
        heads: &'c watch::Sender<Seq>,
        known: Known,
        is_alone: bool,
    ) -> Self {
        Self { connection, sql: AppendSql::new(connection, known), place, heads, is_alone }
    }

    /// Does a group of orders, once it was tried to begin, and answers them all; returns what is known after it.
    pub(super) fn commit(mut self, begun: Result<(), Error>, group: &mut Vec<Order>) -> Known {
        let mut lost = begun.err();
        let held: Vec<Held> = group.drain(..).map(|order| self.perform(order, &mut lost)).collect();
        let committed = match lost {
            Some(error) => Err(error),
            None => self.finish(),
        };
        self.roll_back_if_lost(&committed);
        let result = committed.clone().map(|_| ());
        // Answered first: callers that wait for an answer are blocked, followers of the head are only
        // notified.
        for answer in held {
            answer(result.clone());
        }
        self.end(committed)
    }

    /// Does one append that has the transaction to itself; returns the answer, and what is known after it.
    pub(super) fn commit_one(
        mut self,
        begun: Result<(), Error>,
        append: &Append,
    ) -> (Result<Appended, Error>, Known) {
        let outcome = begun.and_then(|()| self.attempt(|own| own.sql.append(append)));
        let (answer, committed) = match outcome {
            Err(lost) => (Err(lost.clone()), Err(lost)),
            Ok(answer) => match self.finish() {
                Ok(head) => (answer, Ok(head)),
                Err(lost) => (Err(lost.clone()), Err(lost)),
            },
        };
        self.roll_back_if_lost(&committed);
        (answer, self.end(committed))
    }

    fn roll_back_if_lost(&self, committed: &Result<Seq, Error>) {
        if committed.is_err() && !self.connection.is_autocommit() {
            // When even this fails the connection refuses the next BEGIN, and says why.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    fn end(self, committed: Result<Seq, Error>) -> Known {
        match committed {
            Ok(head) => {
                self.heads.send_if_modified(|known| raise(known, head));
                self.sql.into_known()
            }
            Err(_) => Known::default(),
        }
    }

    /// Takes the lock of the file, and makes sure that its schema is still known.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        self.execute("BEGIN IMMEDIATE").map_err(|error| self.place.explain("begin", error))?;
        let begun = self.sql.begin().map_err(|failure| self.place.explain("read its head", failure))?;
        if begun == Begun::AsLeft {
            return Ok(());
        }
        // A newer version may have migrated the file while this process was running.
        let found = schema_version(self.connection);
        let found = found.map_err(|error| self.place.explain("read its schema", error))?;
        if found > SCHEMA_KNOWN {
            return Err(Error::SchemaTooNew { found, known: SCHEMA_KNOWN, path: self.place.path.clone() });
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Seq, Error> {
        // The one order was refused, and is rolled back already.
        if self.is_alone && self.connection.is_autocommit() {
            return Ok(self.sql.head());
        }
        let entered = self.sql.enter_if_due(!self.is_alone);
        entered.map_err(|failure| self.place.explain("enter what waits in", failure))?;
        self.execute("COMMIT").map_err(|error| self.place.explain("commit", error))?;
        Ok(self.sql.head())
    }

    fn perform(&mut self, order: Order, lost: &mut Option<Error>) -> Held {
        let connection = self.connection;
        if !matches!(order, Order::Append(..)) {
            self.sql.forget_lease();
        }
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
            Order::BuildList(list, head, rows, reply) => self.apart(reply, lost, |own| {
                if own.sql.head() != head {
                    return Ok(false);
                }
                lists::build(connection, list, head, &rows).map(|()| true)
            }),
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
            // SQLite has already rolled everything back: a full disk, a failed read.
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
