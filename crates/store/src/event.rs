//! Events: the facts of the log, before and after they have their place in it.
//!
//! The store never looks inside `data`; what an event means is the caller's business.

use jiff::Timestamp;
use uuid::Uuid;

use crate::{Seq, StreamName};

/// An event to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The identity given by the caller; the store keeps it and does not compare it with others.
    pub id: Uuid,
    /// When it happened, by the caller's clock.
    pub at: Timestamp,
    /// What happened, such as `task:created`.
    pub kind: String,
    /// Who caused it.
    pub actor: String,
    /// The streams it joins, at least one, each once.
    pub streams: Vec<StreamName>,
    /// Its content as JSON text.
    pub data: String,
}

/// An event of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Its place in the log.
    pub seq: Seq,
    /// The identity given by the caller.
    pub id: Uuid,
    /// When it happened, by the caller's clock.
    pub at: Timestamp,
    /// What happened.
    pub kind: String,
    /// Who caused it.
    pub actor: String,
    /// The streams it belongs to, in the order the caller gave.
    pub streams: Vec<StreamName>,
    /// Its content as JSON text, byte for byte as given.
    pub data: String,
    /// The command that led to it, when the append named one.
    pub command: Option<Uuid>,
}
