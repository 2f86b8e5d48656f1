//! The task machine as one table, and the drawings made from it.
//!
//! [`TRANSITIONS`] is the only list of what is legal: `decide` looks a command up in it and runs the guards that it
//! names, and the Mermaid drawing, the XState document, the SVG and the reference page are made from it.

mod guard;
mod markdown;
mod mermaid;
mod svg;
mod table;
mod xstate;

pub use guard::Guard;
pub(crate) use guard::{Attempt, Stop};
pub use markdown::render_markdown;
pub use mermaid::render_mermaid;
pub use svg::render_svg;
pub use table::{Action, Column, CommandKind, TRANSITIONS, Transition, find};
pub use xstate::render_xstate;
