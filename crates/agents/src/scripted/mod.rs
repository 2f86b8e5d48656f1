//! The `scripted` kind: plays a TOML script inside this process instead of asking a model.
//!
//! It is what demos and tests run, so it must be repeatable: playing a session again after an interruption gives
//! the same files and no error. It says wherever it appears that no model is behind it (see `Kind::says`).
//! Start reading at `script` for what a script can do, then `play`.

mod commit;
mod edit;
mod fault;
mod parse;
mod play;
mod script;
mod step;
mod template;

pub use fault::{Fault, FaultKind, ScriptError};
pub use script::Script;
pub use template::TemplateFault;

pub(crate) use play::play;
