//! What the user sees: the binary run in a sealed home, its output, its exit codes and what it left behind.
//!
//! A case is here to show the wiring; the rules themselves are tested where they live. One target, so that the
//! tests are linked once.

mod agents;
mod behaviour;
mod cells;
mod checkout;
mod checks;
mod doctor;
mod documents;
mod errors;
mod errors_of_agents;
mod errors_of_approval;
mod errors_of_projects;
mod eval;
mod following;
mod idle;
mod inspector;
mod mcp;
mod output;
mod own_work;
mod parked;
mod places;
mod questions;
mod queue;
mod readiness;
mod reading_in_session;
mod roles_that_read;
mod run_support;
mod runs;
mod runs_crashed;
mod runs_of_many;
mod runs_on_the_board;
mod runs_refused;
mod runs_taped;
mod runs_told;
mod session_log;
mod sessions_gone;
mod sessions_in_a_row;
mod state_files;
mod state_transfer;
mod submodules;
mod support;
mod task_file_damage;
mod task_file_entries;
mod task_file_news;
mod task_file_sizes;
mod task_file_words;
mod task_files;
mod terminals;
mod trust;
mod verbs;
mod waiting;
mod whole;
mod workflows;
mod worktree_lost;
