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
mod doctor;
mod document_view;
pub mod documents;
mod engine;
mod error;
mod file_size;
mod filter;
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
mod project;
mod prompt;
mod questions;
pub mod reading;
mod restore;
mod revision;
mod round;
mod row_text;
pub mod runs;
mod salvage;
mod sample;
mod sandbox;
mod submission;
mod transfer;
mod trial;
mod understood;
mod view;
mod worktree_place;

pub use carry::{Carried, Helm, Progress};
pub use config::{AgentEntry, Config, ConfigError, Program, SandboxSettings, Sandboxed};
pub use crash::POINTS as CRASH_POINTS;
pub use diff::{DiffView, FileView, show_diff};
pub use doctor::{Finding, examine, find_foreign_files, mend};
pub use document_view::{EpicView, MemberView, PrdView, list_epics, list_prds, show_epic, show_prd};
pub use engine::{Engine, Stop};
pub use error::Error;
pub use file_size::{FileSize, SectionSize};
pub use filter::{Filter, Row};
pub use holder::Holder;
pub use installed::{InstalledView, add_to_config, find_installed};
pub use journal::{Entry, Journal};
pub use list::{TaskRow, list_rows};
pub use project::Project;
pub use questions::{answer_question, list_questions};
pub use regatta_core as core;
pub use regatta_git::BranchName;
pub use salvage::{Brought, KeptSubmodule, Listed, bring_back, list_salvages};
pub use sample::{SampleTask, add_sample_tasks, create_sample, create_speckit_sample};
pub use transfer::{Exported, Imported, MissingWork, export_state, import_state};
pub use trial::{begin_trial, create_trial};
pub use understood::{Understood, understand};
pub use view::{AgentView, CriterionView, TaskView, list_agents, list_tasks, show_task, show_task_with_file};
