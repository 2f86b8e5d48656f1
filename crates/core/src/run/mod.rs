//! Runs: a workflow played step by step, by the same three functions as everything else.
//!
//! [`decide`] evaluates: it takes what a node returned, lets the workflow choose an edge, and records that in
//! one event. [`Run::evolve`] folds that event and evaluates nothing. [`effects`] asks for the next node.

mod begin;
mod board;
mod children;
mod decide;
mod edit;
mod effect;
mod event;
mod evolve;
mod failure;
mod files;
mod import;
mod index;
mod items;
mod known;
mod land;
mod mail;
mod mapping;
mod nesting;
mod outcome;
mod parallel;
mod signal;
mod soundness;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod turn;

pub use begin::{Order, Taken, begin, find_first, fork};
pub use board::{find_board_items, task_of};
pub use decide::{Command, Inputs, decide, decide_again};
pub use edit::{EditContent, EditMark, Edits, FoundEdit, FreshEdit, KeptEdit};
pub use effect::effects;
pub use event::{Begin, ChildEnd, Choice, Counts, Event, Fork, Item, Next, Parent, RecordingMode};
pub use failure::explain_node;
pub use files::{find_paths, folder_of, place_files};
pub use import::{Import, ImportNote, ImportedFile, import};
pub use index::Index;
pub use known::{Known, Shown, ShownFault, first_facts};
pub use mail::{Mail, find_reader, post};
pub use mapping::{Child, Mapping};
pub use outcome::{Conflict, Outcome};
pub use parallel::{Member, MemberCame, MemberReport, MemberState};
pub use signal::{Given as SignalGiven, takes_signal};
pub use state::{Hold, Phase, Run, Situation, Status, Working};
pub use turn::{Turn, waits_for_person};
