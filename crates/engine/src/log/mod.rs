//! The log as the engine uses it: names of streams, events as rows, folded streams with snapshots, and the list of tasks.
//!
//! Does not decide anything. Start reading at `stream`; `journal` reads the log in order.

pub(crate) mod event_filter;
pub(crate) mod filter;
pub(crate) mod journal;
pub(crate) mod list;
pub(crate) mod row_text;
mod stream;
pub(crate) mod task_row;

pub(crate) use stream::*;
