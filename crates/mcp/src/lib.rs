//! The verbs of an agent, as an MCP service.
//!
//! [`Service`] turns tool calls into typed calls of a [`Tools`], with arguments that were checked. It keeps nothing between two calls and knows nothing of tasks, files or a log;
//! the implementation of the tools does. [`Catalogue`] is any list of tools, with arguments and answers as JSON. [`serve`] carries a service over any pair
//! of byte streams, [`answer_http`] over streamable HTTP.
//!
//! Start reading at [`Tools`], then [`Service`].

mod argument;
mod catalogue;
mod fault;
mod gate;
mod http;
mod serve;
mod service;
mod tool;
mod tools;

pub use argument::{
    AppendProgress, ReadEpic, ReadInputs, ReadMessages, ReadPrd, SendMessage, SendSignal, SubmitResult,
    TickCriterion, Which, WriteChainOutput,
};
pub use catalogue::{Catalogue, Offered, Touch, describe};
pub use fault::{Fault, FieldFault};
pub use http::answer_http;
pub use rmcp::model::{JsonObject, Tool};
pub use serve::{Broken, serve};
pub use service::{ARGUMENT_BYTES_MAX, INSTRUCTIONS as SESSION_INSTRUCTIONS, Service};
pub use tool::{NAMES as TOOL_NAMES, list_tools};
pub use tools::{Call, Refused, Tools};
