//! Sessions as something that costs: what each was allowed, and what it used.
//!
//! A session is opened before its agent starts and closed after the agent is gone. Both facts join every account that
//! the session is charged to (its task, its run, its day, the project), so that a limit on any of them is decided
//! against one version of it: what is set aside for one session cannot be spent by another. What a session does to its
//! task is no matter here.

mod account;
mod allowance;
mod ask;
mod close;
mod event;
mod open;
mod usage;

pub use account::{Account, Asked, Parked, Resumable, Scope};
pub use allowance::{Allowance, Budget, Measure};
pub use ask::{answer, ask, note};
pub use close::close;
pub use event::{Ending, Event, Grant, Subject};
pub use open::{Charged, find_reserved, open};
pub use usage::{Spent, Usage};
