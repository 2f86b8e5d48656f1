//! The pages of the board: objects of the engine's view in, HTML out, and the assets that the pages load.
//!
//! It reads no file, calls no engine and knows no request; the server does that and hands the objects in. Everything that an
//! agent, a repository or a person wrote is hostile text here, and is escaped by the templates.
//!
//! Start reading at [`shell`], which every page extends, then [`ball`]: the one line that says who has the next move.

pub mod act;
pub mod assets;
pub mod ball;
pub mod cards;
pub mod dialogs;
pub mod diff;
pub mod error_page;
pub mod filter;
pub mod inbox;
pub mod log;
pub mod markdown;
pub mod markup;
pub mod moves;
pub mod parts;
pub mod problem;
pub mod recovery;
pub mod review;
pub mod run;
#[cfg(test)]
mod sample;
pub mod session;
pub mod shell;
pub mod signal;
pub mod soon;
pub mod start;
pub mod task;
pub mod timeline;
pub mod words;

pub use markup::Markup;
