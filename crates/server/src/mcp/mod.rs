//! The services for agents over MCP: a person's own agent, and the agent of a session that speaks HTTP alone.
//!
//! The tools of a person's agent are routes of the API under another name: the same arguments, the same objects, the same
//! errors. Approving is not among them.

mod board;
mod offers;
mod schema;
mod session;

pub(crate) use board::BoardTools;
pub use board::serve_board;
pub(crate) use session::SessionTools;
