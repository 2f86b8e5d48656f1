//! Task files: one Markdown document per task, turned into values and back without losing a byte.
//!
//! Start with [`TaskFile`]: it owns the text and knows where the parts of it are. An edit is a splice of that
//! text, never a re-render, so whatever a person or an agent wrote beside the part stays as it was. [`merge`]
//! brings two edits of one file together, [`changes`] says what an editor did, [`disk`] writes so that a crash
//! leaves the old file or the new one, and [`exchange`] so that nobody's edit is lost unseen.
//!
//! The files of a run have other formats: [`run_file`] has their texts.
//!
//! This crate knows the formats and nothing of the rules of tasks. It reads no clock and keeps no state.

mod align;
mod archive;
mod archived_summary;
pub mod beneath;
mod chain_input;
mod chain_output;
mod changes;
mod commit_names;
mod contain;
mod context_line;
mod criterion;
mod damage;
pub mod disk;
mod edit;
mod error;
pub mod exchange;
mod fault;
mod label;
mod line;
mod merge;
mod merge_metadata;
mod metadata;
mod new_file;
mod outline;
mod parse;
pub mod run_file;
mod section;
mod session;
pub mod size;
mod task_file;
mod tile;
pub mod writers;

pub use archive::{ArchiveRequest, Archived};
pub use archived_summary::ArchivedSummary;
pub use chain_input::{ChainInput, NewChainInput};
pub use changes::{Change, changes};
pub use commit_names::{CommitName, find_commit_names};
pub use criterion::{Criterion, NewCriterion};
pub use damage::{Damage, find_damage};
pub use error::{EditError, InvalidUtf8};
pub use fault::{Fault, FaultKind, Unknown, UnknownKind};
pub use merge::{CONFLICTS_TITLE, Conflict, Merge, merge};
pub use new_file::{NewEpic, NewPrd, NewTaskFile, render_new};
pub use section::{Section, SectionSpan};
pub use session::{NewSession, SessionEntry};
pub use task_file::{TaskFile, Title};
