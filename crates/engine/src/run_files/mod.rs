//! Keeps the files of runs in step with the log.
//!
//! ```text
//!   log ──▶ family in memory ──▶ which files are out of date? ──▶ values ──▶ texts ──▶ disk
//! ```
//!
//! Files are written apart from the steps ([`mod@follow`]), and once when a run is created and when it rests. A value that cannot
//! be computed or does not fit its schema is not written: the last valid content stays, with the error in the [memory](mod@memory).
//! Nothing here is stored as an intent, because comparing the log with what was last written shows at any time what is
//! missing; so any process can bring the files of a run up to date, one at a time. What somebody else wrote is taken into the log
//! first ([`edits`]). This does not decide anything, starts no session, and never replaces a text that is neither ours nor in the
//! log or kept beside the file. Start reading at [`mod@family`], then `write` and `append`; for the other direction at `edits`.

pub(crate) mod append;
mod aside;
mod content;
mod edits;
mod elsewhere;
mod evaluate;
mod family;
mod follow;
mod found;
mod glance;
mod kept;
pub(crate) mod memory;
pub(crate) mod place;
mod shown;
mod target;
mod watch;
pub(crate) mod write;

pub use elsewhere::{WrittenFile, write_elsewhere};
pub use shown::{KeptEditView, RunFileView};

pub(crate) use edits::read_before_prompt;
pub(crate) use family::{RunFiles, ensure_first, settle};
pub(crate) use follow::follow;
pub(crate) use shown::{find_errors, find_kept, show};
pub(crate) use watch::watch;
