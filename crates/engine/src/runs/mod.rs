//! What only runs need: workflow definitions, the run that is kept in memory from step to step, families, and replay.
//!
//! Does not start a session and does not decide: the rules are in `core::run`. Each step is one append. Start reading at
//! `driver`, then `drive`.

pub(crate) mod cancelled;
pub(crate) mod claim;
pub(crate) mod conflicts;
mod copy;
pub(crate) mod definitions;
pub(crate) mod driver;
pub(crate) mod drivers;
pub(crate) mod facts;
pub(crate) mod family;
mod files;
pub(crate) mod findings;
pub(crate) mod path;
pub(crate) mod post;
mod replay;
mod scope;
mod shipped;
pub(crate) mod trouble;

pub use crate::commands::run_orders::{
    NewRun, answer, create, create_many, fork, get_run, pause, resume, stop,
};
pub use crate::commands::signals::{find_signal_schema, signal};
pub(crate) use crate::perform::runs::is_performed;
pub use crate::recording::difference::Difference;
pub use crate::recording::head::{RecordedRun, RecordedStep, RecordingHead};
pub use crate::recording::people::{RecordedAnswer, RecordedDecision};
pub(crate) use crate::recording::recorded_task::find_recorded_settings;
pub use crate::recording::recorder::{Recording, close_recording};
pub use crate::recording::signals::RecordedSignal;
pub use crate::session::role::{Playing, RoleOutcome, RoleRequest, Roles};
pub use crate::session::roles::AgentRoles;
pub use crate::view::drawing::{Drawing, DrawingView, check_files, draw_workflow};
pub(crate) use crate::view::next_move::{awaits_person, find_paused, find_paused_above, find_way_on, rests};
pub use crate::view::run::{
    MemberView, RunView, describe_next, list_children, list_runs, list_runs_before, show_run, show_run_only,
    show_state_at,
};
pub use crate::view::signals::SignalView;
pub use crate::view::steps::{StepView, TriedView};
pub use crate::view::workflow::{
    EdgeView, WorkflowRow, WorkflowView, list_faults, show_fault, show_origin, show_workflow,
};
pub use copy::copy_workflow;
pub use definitions::{DefinitionError, Listed, Origin, find_workflow, list_workflows};
pub(crate) use driver::find_within;
pub(crate) use family::find_above;
pub use path::Stage;
pub use replay::{Replayed, replay};
pub use scope::{Scope, load_scope};
