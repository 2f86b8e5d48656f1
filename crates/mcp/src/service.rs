//! From calls of tools to calls of the tools, and back.
//!
//! What a tools says no to is the result of the call, marked as an error, so that the agent reads it. Protocol errors are
//! left to what is none of ours: a method that MCP does not have.

use crate::argument::{Argument, Faults, Nothing, OfTask};
use crate::catalogue::{Catalogue, Offered};
use crate::fault::{Fault, FieldFault};
use crate::tool;
use crate::tools::{Call, Refused, Tools};
use rmcp::model::{JsonObject, Tool};
use serde_json::Value;
use std::sync::Arc;

/// The largest arguments of one call, as JSON: a result is at most about a megabyte.
pub const ARGUMENT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// What an agent learns about the tools of its session.
pub const INSTRUCTIONS: &str = "These tools serve one session of one piece of work. Start with read_task; look at \
    check_signals between two pieces of work; log progress before you end. You cannot approve, merge, assign or \
    configure anything, and only your own task can be changed.";

/// The verbs of one session as a list of tools.
#[derive(Debug)]
pub struct Service<D> {
    tools: Arc<D>,
}

impl<D: Tools> Service<D> {
    /// Puts the tools of a session into service.
    pub fn new(tools: Arc<D>) -> Offered<Self> {
        Offered::new(Arc::new(Service { tools }))
    }

    /// Refuses arguments that name a task which is not the session's, however they name it.
    async fn check_task(&self, tool: &'static str, arguments: &JsonObject) -> Result<(), Fault> {
        let named = ["taskId", "task_id", "task"].iter().find_map(|key| arguments.get(*key));
        let Some(named) = named.filter(|named| !named.is_null()) else { return Ok(()) };
        let task = named.as_str().map_or_else(|| named.to_string(), str::to_owned);
        // Its own task as text is only mistyped, and the schema explains that.
        if task.trim_start_matches('#').parse().ok() == self.tools.task() && self.tools.task().is_some() {
            return Ok(());
        }
        Err(self.tools.refuse(Refused::Task { tool, task }).await)
    }

    async fn parse<A: Argument>(&self, tool: &'static str, arguments: JsonObject) -> Result<A, Fault> {
        let whole = |problem: String| vec![FieldFault { field: "", problem }];
        let bytes = serde_json::to_string(&arguments).map_or(usize::MAX, |text| text.len());
        let parsed = if bytes > ARGUMENT_BYTES_MAX {
            Err(whole(format!("must have at most {ARGUMENT_BYTES_MAX} bytes as JSON, not {bytes}")))
        } else {
            match serde_json::from_value::<A>(Value::Object(arguments)) {
                Ok(parsed) => check(parsed),
                Err(error) => Err(whole(format!("cannot be understood: {error}"))),
            }
        };
        match parsed {
            Ok(parsed) => Ok(parsed),
            Err(faults) => Err(self.tools.refuse(Refused::Arguments { tool, faults }).await),
        }
    }
}

fn check<A: Argument>(parsed: A) -> Result<A, Vec<FieldFault>> {
    let mut faults = Faults::default();
    parsed.check(&mut faults);
    if faults.0.is_empty() { Ok(parsed) } else { Err(faults.0) }
}

impl<D: Tools> Catalogue for Service<D> {
    fn instructions(&self) -> &str {
        INSTRUCTIONS
    }

    fn list(&self) -> Vec<Tool> {
        tool::list_tools()
    }

    async fn call(&self, name: &str, arguments: JsonObject) -> Result<Value, Fault> {
        let Some(tool) = tool::NAMES.iter().copied().find(|known| *known == name) else {
            return Err(self.tools.refuse(Refused::Tool { name: name.to_owned() }).await);
        };
        self.check_task(tool, &arguments).await?;
        let call = match tool {
            "read_task" => self.parse::<OfTask>(tool, arguments).await.map(|_| Call::ReadTask)?,
            "read_inputs" => Call::ReadInputs(self.parse(tool, arguments).await?),
            "read_prd" => Call::ReadPrd(self.parse(tool, arguments).await?),
            "read_epic" => Call::ReadEpic(self.parse(tool, arguments).await?),
            "read_archive" => self.parse::<OfTask>(tool, arguments).await.map(|_| Call::ReadArchive)?,
            "tick_criterion" => Call::TickCriterion(self.parse(tool, arguments).await?),
            "append_progress" => Call::AppendProgress(self.parse(tool, arguments).await?),
            "write_chain_output" => Call::WriteChainOutput(self.parse(tool, arguments).await?),
            "send_message" => Call::SendMessage(self.parse(tool, arguments).await?),
            "send_signal" => Call::SendSignal(self.parse(tool, arguments).await?),
            "read_messages" => Call::ReadMessages(self.parse(tool, arguments).await?),
            "check_signals" => self.parse::<Nothing>(tool, arguments).await.map(|_| Call::CheckSignals)?,
            _ => Call::SubmitResult(self.parse(tool, arguments).await?),
        };
        self.tools.call(call).await
    }
}
