//! The loop that carries decisions out: load, decide, append, perform.
//!
//! The only room where the others meet. Any process may [give](orders) a command; one [`Engine`] per project
//! performs the effects, holds the lease, and finishes what a crash left undone. Rules live in `regatta-core`,
//! and printing lives in the binary.
//!
//! Start reading at [`Project`], then [`Engine`].

pub mod accounts;
mod archive;
mod carry;
mod clock;
mod config;
pub mod cost;
mod crash;
pub mod desk;
mod diff;
mod disk_use;
mod doctor;
mod document_view;
pub mod documents;
mod engine;
mod error;
mod file_size;
mod filter;
mod git_names;
mod holder;
mod installed;
mod journal;
mod keeper;
mod lanes;
mod list;
mod location;
mod log;
pub mod memory;
pub mod messages;
pub mod obeyed;
mod old_place;
pub mod orders;
mod pace;
mod perform;
mod planted;
mod project;
mod prompt;
mod questions;
mod queue;
mod reach;
mod readiness;
pub mod reading;
mod restore;
mod revision;
mod round;
mod row_text;
pub mod runs;
mod salvage;
mod sample;
mod sandbox;
mod scope;
mod seen;
mod session_log;
mod submission;
mod transfer;
mod trial;
mod trust;
mod understood;
mod variables;
mod view;
mod work_diff;
mod worktree_place;

pub use carry::{Carried, Heard, Helm, Progress};
pub use config::{AgentEntry, Config, ConfigError, Program, SandboxSettings, Sandboxed, Source, Variable};
pub use crash::POINTS as CRASH_POINTS;
pub use diff::{DiffView, FileView, UncommittedView, show_diff};
pub use disk_use::{Kept, Pruned, Weight, parse_age, prune, weigh};
pub use doctor::{Finding, examine, find_foreign_files, mend};
pub use document_view::{EpicView, MemberView, PrdView, list_epics, list_prds, show_epic, show_prd};
pub use engine::{Engine, Stop};
pub use error::Error;
pub use file_size::{FileSize, SectionSize};
pub use filter::{Filter, Row};
pub use holder::Holder;
pub use installed::{InstalledView, add_to_config, find_installed, known_agents};
pub use journal::{Entry, Journal};
pub use list::{TaskRow, find_rows, list_rows};
pub use project::{Project, find_root};
pub use questions::{answer_question, list_questions};
pub use reach::{Reach, find_missing_sandbox, find_reach, list_reaches};
pub use regatta_agents::list_environments_above;
pub use regatta_agents::{Change, Follower, Item, PermissionAnswer, PlanState, TimedItem};
#[cfg(target_os = "linux")]
pub use regatta_agents::{set_supervisor, supervise};
pub use regatta_core as core;
pub use regatta_git::BranchName;
pub use salvage::{Brought, KeptSubmodule, Listed, bring_back, list_salvages};
pub use sample::{SampleTask, add_sample_tasks, create_sample, create_speckit_sample};
pub use scope::Own;
pub use session_log::{ActivityView, SessionEnd, SessionLog, list_session_logs};
pub use transfer::{Exported, Imported, MissingWork, export_state, import_state};
pub use trial::{begin_trial, create_trial};
pub use trust::{Starts, find_untrusted, trust};
pub use understood::{Understood, understand};
pub use view::{
    AgentView, CriterionView, QueuedView, TaskView, is_left_alone, list_agents, list_tasks, show_task,
    show_task_with_file,
};
