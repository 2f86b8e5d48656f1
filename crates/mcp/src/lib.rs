//! The verbs of an agent, as an MCP service.
//!
//! [`Service`] turns tool calls into calls of a [`Tools`], with arguments that were checked, and answers and
//! faults into what MCP sends. It keeps nothing between two calls and knows nothing of tasks, files or a log;
//! the implementation of the tools does. [`serve`] carries it over any pair of byte streams; the same service
//! can be carried by HTTP.
//!
//! Start reading at [`Tools`], then [`Service`].

mod answer;
mod argument;
mod fault;
mod gate;
mod serve;
mod service;
mod tool;
mod tools;

pub use answer::{
    BudgetLeft, CommentAnswer, CriterionAnswer, EvidenceAnswer, InputAnswer, InputsAnswer, MessageAnswer,
    MessagesAnswer, OutputAnswer, ProgressAnswer, ResultAnswer, ReviewAnswer, SentAnswer, Signal,
    SignalsAnswer, TaskAnswer,
};
pub use argument::{
    AppendProgress, ReadEpic, ReadInputs, ReadMessages, ReadPrd, SendMessage, SubmitResult, TickCriterion,
    Which, WriteChainOutput,
};
pub use fault::{Fault, FieldFault};
pub use serve::{Broken, serve};
pub use service::{ARGUMENT_BYTES_MAX, Service};
pub use tool::{NAMES as TOOL_NAMES, list_tools};
pub use tools::{Refused, Tools};
