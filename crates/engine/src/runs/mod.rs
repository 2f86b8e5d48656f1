//! Runs of workflows: giving them orders, driving them step by step, and performing what they ask for.
//!
//! The rules are in `core::run`. A run is driven by `perform::node`: it keeps the run in memory from step to step, and
//! each step is one append. Start reading at `orders`, then `seat`.

mod agents;
mod book;
mod cancelled;
mod copy;
mod difference;
mod drive;
mod family;
mod files;
mod findings;
mod fork_point;
pub(crate) mod orders;
mod outlook;
pub(crate) mod perform;
mod prompt;
mod replay;
mod replay_branch;
mod roles;
mod scope;
mod seat;
mod seats;
mod shipped;
mod steps;
mod take;
mod tape;
mod tape_compare;
mod tape_files;
mod tape_fit;
mod tape_head;
mod tape_name;
mod tape_people;
mod taped_task;
mod trouble;
mod view;
mod way;

pub use agents::AgentRoles;
pub(crate) use book::Book;
pub use book::{BookError, Listed, Origin, find_workflow, list_workflows};
pub use copy::copy_workflow;
pub use difference::Difference;
pub(crate) use family::find_above;
pub use orders::{NewRun, answer, create, create_many, fork, get_run, pause, resume, stop};
pub(crate) use outlook::{awaits_person, find_paused, find_paused_above, find_way_on, rests};
pub(crate) use perform::is_performed;
pub use replay::{Replayed, replay};
pub use roles::{Ask, Played, Playing, Roles};
pub use scope::{Scope, load_scope};
pub(crate) use seat::{Seat, Terms, find_within};
pub(crate) use seats::Seats;
pub use steps::{StepView, TriedView};
pub use tape::{Tape, close_tape};
pub use tape_head::{TapeHead, TapeRun, TapeStep};
pub use tape_people::{TapeAnswer, TapeDecision};
pub(crate) use taped_task::find_taped_settings;
pub use view::{RunView, describe_next, list_runs, show_run};
pub use way::Stage;
