//! Leases: the named right of one process to act, until it releases it or lets it expire.
//!
//! Times come from the caller. An expired lease is still held until another process takes it, so that its
//! holder may renew it and a fenced append never depends on a clock.

use std::fmt;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The proof of holding a lease; each process makes its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeaseToken(pub Uuid);

/// A request to hold a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRequest {
    /// The lease, such as `engine`.
    pub name: String,
    /// A description of the process, as JSON text.
    pub holder: String,
    /// The proof it will hold the lease by.
    pub token: LeaseToken,
    /// The time of the request.
    pub now: Timestamp,
    /// How long the lease lasts unless it is renewed.
    pub ttl: Duration,
    /// A holder the caller has found dead: its lease may be taken before it runs out.
    pub replaces: Option<LeaseToken>,
}

/// The answer to a request for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseAnswer {
    /// The caller holds the lease.
    Taken,
    /// Another holds it.
    Held(Lease),
}

/// A lease as it is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The lease.
    pub name: String,
    /// The description of the process that holds it, as JSON text.
    pub holder: String,
    /// The proof it is held by.
    pub token: LeaseToken,
    /// When this holder took it.
    pub since: Timestamp,
    /// When another may take it.
    pub expires: Timestamp,
}

impl LeaseRequest {
    /// Decides what the request makes of the lease as it is: the lease to be kept, or the one in the way.
    pub(crate) fn decide(&self, current: Option<Lease>) -> Result<Lease, Lease> {
        let since = match current {
            Some(lease) if lease.token == self.token => lease.since,
            Some(lease) if lease.expires > self.now && self.replaces != Some(lease.token) => {
                return Err(lease);
            }
            _ => self.now,
        };
        let (name, holder) = (self.name.clone(), self.holder.clone());
        Ok(Lease { name, holder, token: self.token, since, expires: expiry(self.now, self.ttl) })
    }
}

/// Returns the end of a lease; one too long for the calendar lasts to the calendar's end.
pub(crate) fn expiry(now: Timestamp, ttl: Duration) -> Timestamp {
    let ttl = SignedDuration::try_from(ttl).unwrap_or(SignedDuration::MAX);
    now.checked_add(ttl).unwrap_or(Timestamp::MAX)
}

impl fmt::Display for LeaseToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
