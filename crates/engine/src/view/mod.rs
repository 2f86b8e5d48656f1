//! What is shown of a project: the objects of `--json`, made once for every reader, and whose move is next.
//!
//! Does not print and does not change anything. Start reading at `task`, then `run`.

pub(crate) mod cards;
pub(crate) mod collision;
pub mod cost;
pub(crate) mod diff;
pub(crate) mod document_view;
pub(crate) mod drawing;
pub(crate) mod history;
pub(crate) mod inbox;
pub(crate) mod next_move;
pub(crate) mod question;
pub mod reading;
pub mod recovery;
pub(crate) mod rejections;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod session_log;
pub(crate) mod signals;
pub(crate) mod steps;
pub(crate) mod task;
pub(crate) mod task_page;
pub(crate) mod version;
pub(crate) mod work_diff;
pub(crate) mod workflow;
