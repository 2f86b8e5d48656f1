//! From calls of tools to calls of the tools, and back.
//!
//! What a tools says no to is the result of the call, marked as an error, so that the agent reads it. Protocol errors are
//! left to what is none of ours: a method that MCP does not have.

use crate::argument::{
    AppendProgress, Argument, Faults, Nothing, OfTask, ReadEpic, ReadInputs, ReadMessages, ReadPrd,
    SendMessage, SubmitResult, TickCriterion, WriteChainOutput,
};
use crate::catalogue::{info, result_of};
use crate::fault::{Fault, FieldFault};
use crate::tool;
use crate::tools::{Refused, Tools};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, JsonObject, ListToolsResult, PaginatedRequestParams,
    ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// The largest arguments of one call, as JSON: a result is at most about a megabyte.
pub const ARGUMENT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// What an agent learns about the tools of its session.
pub const INSTRUCTIONS: &str = "These tools serve one session of one piece of work. Start with read_task; look at \
    check_signals between two pieces of work; log progress before you end. You cannot approve, merge, assign or \
    configure anything, and only your own task can be changed.";

/// The verbs of one session as an MCP service; cloning it costs nothing.
#[derive(Debug)]
pub struct Service<D> {
    tools: Arc<D>,
}

impl<D> Clone for Service<D> {
    fn clone(&self) -> Self {
        Service { tools: Arc::clone(&self.tools) }
    }
}

impl<D: Tools> Service<D> {
    /// Puts a tools into service.
    pub fn new(tools: Arc<D>) -> Self {
        Service { tools }
    }

    async fn dispatch(&self, name: &str, arguments: JsonObject) -> Result<Value, Fault> {
        let Some(tool) = tool::NAMES.iter().copied().find(|known| *known == name) else {
            return Err(self.tools.refuse(Refused::Tool { name: name.to_owned() }).await);
        };
        self.check_task(tool, &arguments).await?;
        let tools = &*self.tools;
        match tool {
            "read_task" => {
                self.parse::<OfTask>(tool, arguments).await?;
                tools.read_task().await.map(render)
            }
            "read_inputs" => {
                let which: ReadInputs = self.parse(tool, arguments).await?;
                match which.from {
                    Some(from) => tools.read_output(from).await,
                    None => tools.read_inputs().await.map(render),
                }
            }
            "read_prd" => {
                let which: ReadPrd = self.parse(tool, arguments).await?;
                tools.read_prd(which.slug).await
            }
            "read_epic" => {
                let which: ReadEpic = self.parse(tool, arguments).await?;
                tools.read_epic(which.epic_id).await
            }
            "read_archive" => {
                self.parse::<OfTask>(tool, arguments).await?;
                tools.read_archive().await
            }
            "tick_criterion" => {
                let tick: TickCriterion = self.parse(tool, arguments).await?;
                tools.tick_criterion(tick).await.map(render)
            }
            "append_progress" => {
                let entry: AppendProgress = self.parse(tool, arguments).await?;
                tools.append_progress(entry).await.map(render)
            }
            "write_chain_output" => {
                let output: WriteChainOutput = self.parse(tool, arguments).await?;
                tools.write_chain_output(output.text).await.map(render)
            }
            "send_message" => {
                let message: SendMessage = self.parse(tool, arguments).await?;
                tools.send_message(message).await.map(render)
            }
            "read_messages" => {
                let which: ReadMessages = self.parse(tool, arguments).await?;
                tools.read_messages(which).await.map(render)
            }
            "check_signals" => {
                self.parse::<Nothing>(tool, arguments).await?;
                tools.check_signals().await.map(render)
            }
            _ => {
                let submitted: SubmitResult = self.parse(tool, arguments).await?;
                tools.submit_result(submitted.result).await.map(render)
            }
        }
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

fn render<T: Serialize>(answer: T) -> Value {
    serde_json::to_value(answer).expect("an answer is plain data")
}

impl<D: Tools> ServerHandler for Service<D> {
    fn get_info(&self) -> ServerConfig {
        info(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tool::list_tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tool::list_tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answered = self.dispatch(&request.name, request.arguments.unwrap_or_default()).await;
        Ok(result_of(answered))
    }
}
