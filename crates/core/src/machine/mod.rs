//! The task machine as one table, and the drawings made from it.
//!
//! [`TRANSITIONS`] is the only list of what is legal: `decide` asks it, and the Mermaid drawing, the XState
//! document, the SVG and the reference page are made from it.

mod markdown;
mod mermaid;
mod svg;
mod table;
mod xstate;

pub use markdown::render_markdown;
pub use mermaid::render_mermaid;
pub use svg::render_svg;
pub use table::{Action, Column, CommandKind, Guard, TRANSITIONS, Transition, find};
pub use xstate::render_xstate;
