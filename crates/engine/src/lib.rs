//! The loop that carries decisions out: load, decide, append, perform.
//!
//! The only crate where the others meet. Any process may [give](orders) a command; one [`Engine`] per
//! project performs the effects, holds the lease, and finishes what a crash left undone. Rules live in
//! `regatta-core`, and printing lives in the binary.
//!
//! Start reading at [`Project`], then [`Engine`].

mod clock;
mod commands;
mod crash;
mod digest;
mod disk_use;
mod doctor;
mod error;
mod forecast;
mod log;
mod meters;
mod notices;
mod on_heap;
mod perform;
mod project;
mod recording;
mod run_files;
pub mod runs;
mod runtime;
mod session;
mod takeover;
mod task_files;
mod transfer;
mod validate;
mod view;
mod worktree;

pub use commands::questions::{answer_question, list_questions};
pub use commands::{accounts, documents, messages, notes, orders};
pub use crash::POINTS as CRASH_POINTS;
pub use disk_use::{Kept, Pruned, Weight, parse_age, prune, weigh};
pub use doctor::{Finding, examine, find_foreign_files, repair};
pub use error::Error;
pub use log::event_filter::EventFilter;
pub use log::filter::{Filter, Row};
pub use log::journal::{Entry, Journal};
pub use log::list::{find_rows, list_rows};
pub use log::task_row::TaskRow;
pub use meters::{Histogram, Meters};
pub use notices::{Notice, NoticeKind, Notices, NoticesSetup, Timing};
pub use project::config::change::Waiting;
pub use project::config::{
    AgentEntry, Config, ConfigError, NotifySettings, Program, SandboxSettings, Sandboxed, Source, Variable,
};
pub use project::current::ConfigState;
pub use project::editor::open_in_editor;
pub use project::installed::{InstalledView, add_to_config, find_installed, known_agents};
pub use project::limit::{Limit, raise_limit};
pub use project::obeyed;
pub use project::reach::{Reach, find_missing_sandbox, find_reach, list_reaches};
pub use project::sample::{
    SampleTask, add_sample_tasks, create_sample, create_speckit_sample, create_team_sample,
};
pub use project::sample_cycle::{CYCLE_EXTENSION, CYCLE_TITLE, create_cycle_sample};
pub use project::trial::{begin_trial, create_trial};
pub use project::trust::{Starts, find_untrusted, trust};
pub use project::{Project, find_root};
pub use regatta_agents::{Change, Follower, Item, PermissionAnswer, PlanState, TimedItem, TranscriptPage};
pub use regatta_agents::{list_environments_above, parse_guarded};
#[cfg(target_os = "linux")]
pub use regatta_agents::{set_supervisor, supervise};
pub use regatta_core as core;
pub use regatta_git::BranchName;
pub use run_files::{KeptEditView, RunFileView, WrittenFile, write_elsewhere};
pub use runtime::engine::{Engine, Stop, find_running};
pub use runtime::holder::Holder;
pub use runtime::scope::Own;
pub use runtime::supervisor::{Followed, Progress, Supervisor, Update};
pub use session::endpoint;
pub use takeover::{
    Applied, AppliedItem, Counts, EpicFound, Found, KeptFile, Kind as TakeoverKind, MessageFound, Oddity,
    PrdFound, Rebuilding, Rebuilt, RunFound, TaskFound, apply as apply_takeover, become_of, is_foreign,
    look as look_takeover, rebuild,
};
pub use task_files::edits;
pub use task_files::file_size::{FileSize, SectionSize};
pub use task_files::understood::{Understood, understand, understand_text};
pub use transfer::{Exported, export_state};
pub use transfer::{Imported, MissingWork, import_state};
pub use validate::{FileFault, FileKind, Validated, validate, validate_all};
pub use view::cards::list_cards;
pub use view::collision::CollisionView;
pub use view::diff::{DiffView, FileView, UncommittedView, show_diff};
pub use view::document_view::{EpicView, MemberView, PrdView, list_epics, list_prds, show_epic, show_prd};
pub use view::history::list_task_events;
pub use view::inbox::{InboxItem, InboxKind, WaitingRun, list_inbox};
pub use view::question::QuestionView;
pub use view::rejections::{AnswerView, RejectionView, list_rejections};
pub use view::review::{ReadablePatch, ReviewView, read_patch, read_text, show_review};
pub use view::session_log::{ActivityView, SessionEnd, SessionLog, find_session_log, list_session_logs};
pub use view::task::{
    AgentView, CriterionView, QueuedView, TaskView, is_left_alone, list_agents, list_tasks, show_task,
    show_task_with_file,
};
pub use view::task_page::list_task_page;
pub use view::version::{Unchanged, Versioned, find_version};
pub use view::{cost, reading, recovery};
pub use worktree::salvage::{Brought, KeptSubmodule, Listed, bring_back, list_salvages};
