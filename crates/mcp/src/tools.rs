//! What a session's agent may do, as typed calls.
//!
//! An implementation knows which session it speaks for; the service only translates. Every verb may answer
//! with a [`Fault`], which the agent reads as the error of its tool call.

use crate::argument::{
    AppendProgress, ReadEpic, ReadInputs, ReadMessages, ReadPrd, SendMessage, SendSignal, SubmitResult,
    TickCriterion, WriteChainOutput,
};
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

/// What an agent asks, with arguments that were checked. The answer to what a command shows too is the object that its
/// `--json` prints.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the tools of these names say it")]
pub enum Call {
    ReadTask,
    ReadInputs(ReadInputs),
    ReadPrd(ReadPrd),
    ReadEpic(ReadEpic),
    ReadArchive,
    TickCriterion(TickCriterion),
    AppendProgress(AppendProgress),
    WriteChainOutput(WriteChainOutput),
    SendMessage(SendMessage),
    SendSignal(SendSignal),
    ReadMessages(ReadMessages),
    CheckSignals,
    SubmitResult(SubmitResult),
}

/// The verbs of one session.
pub trait Tools: Send + Sync + 'static {
    /// Returns the number of the session's task, if it is for one.
    fn task(&self) -> Option<u32>;

    /// Does what the agent asks, and returns the object that it reads.
    fn call(&self, call: Call) -> impl Future<Output = Result<Value, Fault>> + Send;

    /// Records a call that was not passed on, and returns the error for the agent.
    fn refuse(&self, refused: Refused) -> impl Future<Output = Fault> + Send;
}
