//! Positions: the place of an event in the whole log, and in one of its streams.
//!
//! Both count 1, 2, 3… without a gap; 0 means "nothing yet". They are different types so that a version is
//! never passed where a place in the log is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The place of an event in the whole log; 0 stands before the first event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// The place of an event in one stream, and so the number of events in it; 0 is the empty stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(pub u64);

impl fmt::Display for Seq {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
