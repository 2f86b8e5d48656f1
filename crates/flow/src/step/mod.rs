//! The functions of a step: what a node is given, what it changes, and which edge is taken.
//!
//! All are pure and look at a state through a [`Look`]. In a step the node's `set` comes first, then the edges are
//! judged on what it left, then the taken edge's `set` follows; [`step`] does all of it in that order.

mod assign;
mod board;
mod choose;
mod evaluate;
mod excerpt;
mod fault;
mod inputs;
mod items;
mod look;
mod say;
mod seen;
mod sequence;
mod signal;

pub use assign::assign;
pub use board::{BoardItem, board_items};
pub use choose::{Choice, choose};
pub use evaluate::{evaluate_count, evaluate_text, find_result};
pub use fault::StepFault;
pub use inputs::{Finding, findings, inputs, prompt};
pub use items::{MapItem, map_items};
pub use look::Look;
pub use say::{Said, say};
pub use seen::{Seen, Tried};
pub use sequence::{follow, step, step_on};
pub use signal::{Heard, hear, may_hear};

pub(crate) use excerpt::tell_value;
pub(crate) use seen::shorten;
