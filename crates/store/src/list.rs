//! Stored lists: rows that summarize the events, so that a list can be read without a replay.
//!
//! The rows of a list are opaque texts by number. An append writes those that its events change, in the same
//! transaction, so a list is never behind the log. A list has a format; one of another format, or of a log
//! that is older than its list, does not exist until it is [built](crate::Store::build_list) from the log.

use std::ops::ControlFlow;

use crate::Seq;

/// The name of a list, and the format of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListId {
    /// The name.
    pub name: &'static str,
    /// Raised whenever rows are written in another shape.
    pub format: u32,
}

/// A row that an append puts into a list in place of the one before, or takes out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRow {
    /// The list; while it is not built, the row is not kept.
    pub list: ListId,
    /// The number of the row in its list.
    pub key: u64,
    /// What it says; nothing takes the row out.
    pub data: Option<String>,
}

/// A row of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its number.
    pub key: u64,
    /// The head of the log when it was written.
    pub seq: Seq,
    /// What it says.
    pub data: String,
}

/// A row as it is read.
#[derive(Debug, Clone, Copy)]
pub struct RowRead<'a> {
    /// Its number.
    pub key: u64,
    /// The head of the log when it was written.
    pub seq: Seq,
    /// What it says.
    pub data: &'a str,
}

/// Takes the rows of a list one by one, and says whether it wants more.
pub type TakeRow = Box<dyn FnMut(RowRead<'_>) -> ControlFlow<()> + Send>;

/// A list at one point of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// The head of the log at that point.
    pub head: Seq,
    /// The rows by number.
    pub rows: Vec<Row>,
}
