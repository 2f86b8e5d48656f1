//! HTTP over the engine: translate in, call the engine, translate out.
//!
//! There are no rules here: what may happen is decided in `core`, and the objects that are sent are those of `--json`, made in
//! the engine's `view`. No request replays a log.
//!
//! Start reading at [`Server`], then `routes`.

mod accept;
mod access;
mod answer;
mod app;
mod body;
mod call;
mod connection;
mod error;
mod following;
mod guard;
mod hub;
mod items;
mod joined;
mod keys;
mod limits;
mod listen;
mod log_page;
mod mcp;
mod open_files;
mod openapi;
mod page;
mod page_of;
mod pages;
mod panics;
mod public_url;
mod query;
mod reference;
mod reviews;
mod route;
mod routes;
mod rows;
mod schema;
mod server;
mod sessions;
mod status;
mod stream_body;
mod streams;
mod viewed;
mod waiting;

pub use error::Error;
pub use keys::Keys;
pub use limits::Limits;
pub use mcp::serve_board;
pub use panics::find_request;
pub use public_url::PublicUrl;
pub use routes::list_routes;
pub use schema::type_of;
pub use server::{Server, Settings};
pub use status::status_of;
