//! Recording a run, and playing it back without agents.
//!
//! Does not decide how a run continues. Start reading at `tape`.

pub(crate) mod difference;
pub(crate) mod replay_branch;
pub(crate) mod take;
pub(crate) mod tape;
pub(crate) mod tape_compare;
pub(crate) mod tape_files;
pub(crate) mod tape_fit;
pub(crate) mod tape_head;
pub(crate) mod tape_name;
pub(crate) mod tape_people;
pub(crate) mod taped_task;
