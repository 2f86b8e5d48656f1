//! Carrying the state of a project to another clone: one file with the log and all that belongs to it.
//!
//! ```text
//!   log.db               a copy of the log as it stood at one moment, whoever is at work
//!   sessions/            transcripts
//!   task-states/         task files, with what was set aside beside them
//!   archives/            what was taken out of them
//!   refs.bundle          review and salvage refs, and the branches of tasks in work, as a git bundle
//!   manifest.json        all of these with their digests, and the refs
//!   manifest.sha256      the digest of the manifest; last, so that what is cut off is seen
//! ```
//!
//! An export does not hold the config and workflows, which are meant for git, nor uncommitted files in worktrees. An export may be a
//! stranger's, so an import checks all of it before anything changes: names, digests, the tables of the log, where its tasks
//! say that their worktrees are.

mod container;
mod export;
mod import;
mod manifest;

pub use export::{Exported, export_state};
pub use import::{Imported, MissingWork, import_state};
