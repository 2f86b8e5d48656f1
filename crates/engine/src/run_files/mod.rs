//! Keeps the files of runs in step with the log.
//!
//! ```text
//!   log ──▶ family in memory ──▶ which files are out of date? ──▶ values ──▶ texts ──▶ disk
//! ```
//!
//! Files are written apart from the steps ([`follow`]), and once when a run is created and when it rests. A value that cannot
//! be computed or does not fit its schema is not written: the last valid content stays, with the error in the [memory].
//! Nothing here is stored as an intent, because comparing the log with what was last written shows at any time what is
//! missing; so any process can bring the files of a run up to date, one at a time. This does not decide anything, starts no
//! session, and never replaces a text that it did not write itself. Start reading at [`family`], then `write` and `append`.

pub(crate) mod append;
mod aside;
mod content;
mod elsewhere;
mod evaluate;
mod family;
mod follow;
pub(crate) mod memory;
pub(crate) mod place;
mod shown;
mod target;
pub(crate) mod write;

pub use elsewhere::{WrittenFile, write_elsewhere};
pub use shown::RunFileView;

pub(crate) use family::{RunFiles, ensure_first, settle};
pub(crate) use follow::follow;
pub(crate) use shown::{find_errors, show};
