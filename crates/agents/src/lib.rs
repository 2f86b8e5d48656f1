//! Starts, feeds, watches and stops coding agents.
//!
//! A [`Session`] is one start of one agent: a prompt goes in, [`Output`] comes out, and [`Ended`] says how it
//! went once no process of the session is left. Every kind of agent has a file (or folder) of its own and speaks
//! this one vocabulary. The room knows nothing of tasks, git worktrees or the store. Start reading at
//! [`start`], then `process` for how a whole tree of processes is found and ended.

mod acp;
mod classify;
mod command;
mod detect;
mod failure;
mod feed;
mod folder;
mod headless;
mod heard;
mod json;
mod judge;
mod kind;
mod limits;
mod outcome;
mod output;
mod permission;
mod process;
mod question;
mod record;
mod report;
mod reset_clock;
mod result_file;
mod run;
mod sandbox;
mod scripted;
mod secrets;
mod session;
mod session_id;
mod start;
mod stop;
mod tail;
#[cfg(test)]
mod testing;
mod text;
mod transcript;
mod usage;

pub use detect::{Detected, detect};
pub use failure::{Failure, FailureClass};
pub use json::GuardedReader;
pub use kind::{HeadlessKind, Kind};
pub use limits::Limits;
pub use outcome::{Ended, Outcome, ResultFrom};
pub use output::{Output, PermissionAnswer, PlanState, PlanStep};
pub use permission::Permissions;
pub use process::{Leftover, MARKER, StillAlive, end_leftovers, find_leftovers};
pub use question::{Asker, Question, Questions};
pub use report::check_report;
pub use result_file::RESULT_FILE;
pub use run::{RunReport, run_to_end};
pub use sandbox::{Replacement, Sandbox, Sandboxing, Workplace, find_own_folders, probe};
pub use scripted::{Fault, FaultKind, Script, ScriptError, TemplateFault};
pub use session::Session;
pub use session_id::{InvalidSessionId, SessionId};
pub use start::{Program, ResultIs, Start, StartError, ToolServer, start};
pub use stop::{StopReason, Stopper};
pub use usage::Usage;
