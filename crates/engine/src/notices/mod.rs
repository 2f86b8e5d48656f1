//! Tells people outside: a command or a webhook of the config learns when something waits for them, fails or is done.
//!
//! ```text
//! log ─▶ what was touched ─▶ look at it as it is now ─▶ a notice, if that is new ─▶ outbox on disk ─▶ command, webhook
//! ```
//!
//! It follows the log beside the engine, does not decide anything and never holds the engine up. What was noticed and what is still to be sent is in one file,
//! written before anything is sent: a restart neither repeats a notice nor loses one. Only a crash between a delivery and the
//! note of it sends a notice twice, with the same ID. Start reading at `notifier`, then `look`.

mod deliver;
mod look;
mod memory;
mod notice;
mod notifier;
mod signature;

pub(crate) use deliver::is_loopback;
pub use notice::{Notice, NoticeKind};
pub use notifier::{Notices, NoticesSetup, Timing};
