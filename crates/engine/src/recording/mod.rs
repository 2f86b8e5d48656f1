//! Records a run, and plays it back without agents.
//!
//! Does not decide how a run continues. Start reading at `recording`.

pub(crate) mod compare;
pub(crate) mod difference;
pub(crate) mod edits;
pub(crate) mod entry;
pub(crate) mod files;
pub(crate) mod fit;
pub(crate) mod head;
pub(crate) mod people;
pub(crate) mod recorded_task;
pub(crate) mod recorder;
pub(crate) mod replay_branch;
pub(crate) mod signals;
