//! A stub model: one loopback server in place of the services that agent programs ask.
//!
//! It speaks the wire formats of four services (Chat Completions, Responses, Messages, Gemini) as far as
//! agent programs need, and plays a script that travels in the prompt: see [`Script`] for its words. The
//! place in the script is found by counting the model's answers in the request, so the server keeps no
//! sessions: any number of programs may share one, and a resumed session continues its script. It must not
//! judge the requests; tests look at [`StubModel::requests`].
//!
//! Start reading at `server`, then `conversation` and `answer`; each wire format has a file of its own.

mod answer;
mod body;
mod chat;
mod conversation;
mod folder;
mod gemini;
mod messages;
mod refusal;
mod reply;
mod request;
mod responses;
mod route;
mod script;
mod server;
mod tool;

pub use request::Request;
pub use script::{Script, prompt};
pub use server::StubModel;
