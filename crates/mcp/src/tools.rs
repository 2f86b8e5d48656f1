//! What a session's agent may do, as typed calls.
//!
//! An implementation knows which session it speaks for; the service only translates. Every verb may answer
//! with a [`Fault`], which the agent reads as the error of its tool call.

use crate::answer::{
    InputsAnswer, MessagesAnswer, OutputAnswer, ProgressAnswer, ResultAnswer, SentAnswer, SignalsAnswer,
    TaskAnswer,
};
use crate::argument::{AppendProgress, ReadMessages, SendMessage, TickCriterion};
use crate::fault::{Fault, FieldFault};
use serde_json::Value;
use std::future::Future;

/// Why a call was not passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// There is no such tool, or it is not an agent's to call.
    Tool {
        /// What was called.
        name: String,
    },
    /// It names a task that is not the session's.
    Task {
        /// The tool.
        tool: &'static str,
        /// The task, as it was named.
        task: String,
    },
    /// Its arguments cannot be understood, or pass their limits.
    Arguments {
        /// The tool.
        tool: &'static str,
        /// What is wrong, field by field.
        faults: Vec<FieldFault>,
    },
}

/// The verbs of one session.
pub trait Tools: Send + Sync + 'static {
    /// Returns the number of the session's task, if it is for one.
    fn task(&self) -> Option<u32>;

    /// Reads the session's task.
    fn read_task(&self) -> impl Future<Output = Result<TaskAnswer, Fault>> + Send;

    /// Reads the outputs of the tasks before it.
    fn read_inputs(&self) -> impl Future<Output = Result<InputsAnswer, Fault>> + Send;

    /// Reads the whole chain output of one task: the object that `regatta task output --json` prints.
    fn read_output(&self, task: u32) -> impl Future<Output = Result<Value, Fault>> + Send;

    /// Reads a requirements document, or the task's own: the object that `regatta prd show --json` prints.
    fn read_prd(&self, slug: Option<String>) -> impl Future<Output = Result<Value, Fault>> + Send;

    /// Reads an epic, or the task's own: the object that `regatta epic show --json` prints.
    fn read_epic(&self, epic: Option<u32>) -> impl Future<Output = Result<Value, Fault>> + Send;

    /// Reads the sessions that were moved out of the task's file: the object that `regatta task archive --show --json` prints.
    fn read_archive(&self) -> impl Future<Output = Result<Value, Fault>> + Send;

    /// Ticks or unticks a criterion.
    fn tick_criterion(&self, tick: TickCriterion) -> impl Future<Output = Result<TaskAnswer, Fault>> + Send;

    /// Appends an entry to the progress log.
    fn append_progress(
        &self,
        entry: AppendProgress,
    ) -> impl Future<Output = Result<ProgressAnswer, Fault>> + Send;

    /// Writes what later tasks must know.
    fn write_chain_output(&self, text: String) -> impl Future<Output = Result<OutputAnswer, Fault>> + Send;

    /// Sends a message.
    fn send_message(&self, message: SendMessage) -> impl Future<Output = Result<SentAnswer, Fault>> + Send;

    /// Reads messages, and marks them as read.
    fn read_messages(
        &self,
        which: ReadMessages,
    ) -> impl Future<Output = Result<MessagesAnswer, Fault>> + Send;

    /// Tells whether to continue, and how much is left.
    fn check_signals(&self) -> impl Future<Output = Result<SignalsAnswer, Fault>> + Send;

    /// Takes the result of the session; a later one replaces it.
    fn submit_result(&self, result: Value) -> impl Future<Output = Result<ResultAnswer, Fault>> + Send;

    /// Records a call that was not passed on, and returns the error for the agent.
    fn refuse(&self, refused: Refused) -> impl Future<Output = Fault> + Send;
}
