//! Starts, feeds, watches and stops coding agents.
//!
//! A [`Session`] is one start of one agent: a prompt goes in, [`Output`] comes out, and [`Ended`] says how it
//! went once no process of the session is left. Every kind of agent has a file (or folder) of its own and speaks
//! this one vocabulary. The room knows nothing of tasks, git worktrees or the store. Start reading at
//! [`start`], then `process` for how a whole tree of processes is found and ended.

mod acp;
mod agent_output;
mod call;
mod change;
mod classify;
mod command;
mod detect;
mod failure;
mod feed;
mod folder;
mod follower;
mod headless;
mod home;
mod item;
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
mod transcript_page;
mod usage;

pub use change::Change;
pub use detect::{Detected, detect};
pub use failure::{Failure, FailureClass};
pub use follower::{Activity, Follower};
pub use home::{Home, HomePlan, LoginState, OpenHome, open_caches, recover_logins, remove_folder};
pub use item::{Item, TimedItem};
pub use json::{GuardedReader, parse_guarded};
pub use kind::{HeadlessKind, Kind};
pub use limits::Limits;
pub use outcome::{Ended, Outcome, ResultFrom};
pub use output::{Output, PermissionAnswer, PlanState, PlanStep};
pub use permission::Permissions;
pub use process::{Leftover, MARKER, StillAlive, end_leftovers, find_leftovers, list_environments_above};
#[cfg(target_os = "linux")]
pub use process::{set_supervisor, supervise};
pub use question::{Asker, Question, Questions};
pub use report::{check_report, read_answers};
pub use result_file::RESULT_FILE;
pub use run::{RunReport, run_to_end, run_with_input};
pub use sandbox::{Replacement, Sandbox, Sandboxing, Workplace, probe};
pub use scripted::{Fault, FaultKind, Script, ScriptError, TemplateFault};
pub use session::Session;
pub use session_id::{InvalidSessionId, SessionId};
pub use start::{Program, ResultIs, Start, StartError, ToolServer, start};
pub use stop::{StopReason, Stopper};
pub use transcript_page::TranscriptPage;
pub use usage::Usage;
