//! The private home of a session in a sandbox, and of some agents without one.
//!
//! The home of a session is a folder of ours, mounted where the user's home is; without a sandbox, a variable of the agent
//! names it. Into it go the login and the settings
//! that its agent's [`Home`] describes, field by field; out of it comes nothing but a login that was renewed. What the
//! agent needs to be resumed stays in the folder, everything else is swept away before and after each session. So
//! nothing that an agent writes is ever run, read or obeyed by the user's own programs.
//!
//! Start reading at `open`; `logins` keeps logins in step, `toolchains` says what of the real home can be seen, `caches`
//! what build tools share.

mod added;
mod caches;
mod description;
mod fields;
mod inside;
mod logins;
mod open;
mod rotation;
mod sweep;
mod toolchains;

pub use caches::open_caches;
pub use description::Home;
pub use open::{HomePlan, LoginState, OpenHome, recover_logins};
pub use sweep::remove_folder;

pub(crate) use added::add_settings;
pub(crate) use caches::environment as cache_environment;
pub(crate) use description::{Format, Given, Rotation};
pub(crate) use toolchains::find_shown;
