//! The contract of a store: one log, its streams, intents, snapshots, lists, answers and leases.
//!
//! Every implementation passes the same suite (`contract`). Nothing here may be true of one database only.
//! Cancelling a call is harmless: an append is then either stored whole or not at all.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    Append, Appended, CommandKey, Error, Intent, IntentId, Lease, LeaseAnswer, LeaseRequest, LeaseToken,
    List, ListId, Loaded, Recorded, Row, Seq, StreamName, TakeRow, Verified,
};

/// One append-only log and what belongs to it.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Stores an append whole, on disk before it returns, or refuses it and changes nothing.
    async fn append(&self, append: Append) -> Result<Appended, Error>;

    /// Returns the answer kept for a command that was done; refuses when its digest is another.
    async fn find_answer(&self, command: &CommandKey) -> Result<Option<String>, Error>;

    /// Loads a stream; one that does not exist is empty. A snapshot of another format is ignored.
    async fn load(&self, stream: &StreamName, format: u32) -> Result<Loaded, Error>;

    /// Loads all streams whose name starts with `prefix`, ordered by name, in one consistent read.
    async fn load_prefix(&self, prefix: &str, format: u32) -> Result<Vec<Loaded>, Error>;

    /// Loads several streams in the order given, in one consistent read.
    async fn load_many(&self, streams: &[StreamName], format: u32) -> Result<Vec<Loaded>, Error>;

    /// Returns at most `limit` events after a place in the log, in order.
    async fn read(&self, after: Seq, limit: usize) -> Result<Vec<Recorded>, Error>;

    /// Returns the place of the last event.
    async fn head(&self) -> Result<Seq, Error>;

    /// Returns the head as soon as it is past `after`, no matter who appended, or when `limit` has passed.
    async fn wait_past(&self, after: Seq, limit: Duration) -> Result<Seq, Error>;

    /// Tells whether a list is built in this format.
    async fn has_list(&self, list: ListId) -> Result<bool, Error>;

    /// Passes the rows of a list from a number on to `take`, in order and in one consistent read, and returns the head of the
    /// log at that point; nothing if there is no list of this format.
    async fn read_list(&self, list: ListId, from: u64, take: TakeRow) -> Result<Option<Seq>, Error>;

    /// Returns a list; nothing if there is none of this format.
    async fn find_list(&self, list: ListId) -> Result<Option<List>, Error> {
        let rows = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&rows);
        let take: TakeRow = Box::new(move |row| {
            let row = Row { key: row.key, seq: row.seq, data: row.data.to_owned() };
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(row);
            ControlFlow::Continue(())
        });
        let Some(head) = self.read_list(list, 0, take).await? else { return Ok(None) };
        let rows = std::mem::take(&mut *rows.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Some(List { head, rows }))
    }

    /// Makes a list of these rows, in place of what was there, if the log still ends at `head`; says whether it did.
    async fn build_list(&self, list: ListId, head: Seq, rows: Vec<(u64, String)>) -> Result<bool, Error>;

    /// Returns the intents that are not settled, oldest first.
    async fn open_intents(&self) -> Result<Vec<Intent>, Error>;

    /// Tells whether an intent exists and is not settled.
    async fn is_open(&self, intent: IntentId) -> Result<bool, Error>;

    /// Takes a lease that is free, run out, the caller's own already, or held by the one it replaces.
    async fn take_lease(&self, request: LeaseRequest) -> Result<LeaseAnswer, Error>;

    /// Makes a held lease last until `now + ttl`.
    async fn renew_lease(&self, token: &LeaseToken, now: Timestamp, ttl: Duration) -> Result<(), Error>;

    /// Gives a lease up; giving up one that is no longer held does nothing.
    async fn release_lease(&self, token: &LeaseToken) -> Result<(), Error>;

    /// Returns a lease as it is held, also when it has run out.
    async fn find_lease(&self, name: &str) -> Result<Option<Lease>, Error>;

    /// Walks the whole log and names the first thing that does not add up.
    async fn verify(&self) -> Result<Verified, Error>;
}
