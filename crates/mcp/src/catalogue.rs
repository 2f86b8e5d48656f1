//! Any list of tools as an MCP service: what the tools are and do is up to whoever has the list.
//!
//! It passes arguments and answers on as JSON; the list checks them.

use crate::fault::Fault;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;

/// A list of tools.
pub trait Catalogue: Send + Sync + 'static {
    /// Says what the tools are for, to the agent that uses them.
    fn instructions(&self) -> &str;

    /// Lists the tools.
    fn list(&self) -> Vec<Tool>;

    /// Calls a tool.
    fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> impl Future<Output = Result<Value, Fault>> + Send;
}

/// A catalogue in service; cloning it costs nothing.
#[derive(Debug)]
pub struct Offered<C>(Arc<C>);

impl<C> Clone for Offered<C> {
    fn clone(&self) -> Self {
        Offered(Arc::clone(&self.0))
    }
}

impl<C: Catalogue> Offered<C> {
    /// Puts a catalogue into service.
    pub fn new(catalogue: Arc<C>) -> Self {
        Offered(catalogue)
    }
}

impl<C: Catalogue> ServerHandler for Offered<C> {
    fn get_info(&self) -> ServerConfig {
        info(self.0.instructions())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.list()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.list().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answered = self.0.call(&request.name, request.arguments.unwrap_or_default()).await;
        Ok(result_of(answered))
    }
}

/// Says who we are.
fn info(instructions: &str) -> ServerConfig {
    let implementation = Implementation::new("regatta", env!("CARGO_PKG_VERSION")).with_title("Regatta");
    ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        .with_server_info(implementation)
        .with_instructions(instructions)
}

/// Returns the result of a call: what was refused is a result too, so that the agent reads it.
fn result_of(answered: Result<Value, Fault>) -> CallToolResponse {
    match answered {
        Ok(answer) => CallToolResult::structured(answer),
        Err(fault) => CallToolResult::structured_error(fault.to_json()),
    }
    .into()
}

/// What calling a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// Nothing.
    Reads,
    /// Sets something; twice is the same as once.
    Sets,
    /// Adds something each time.
    Adds,
    /// Ends or removes something.
    Ends,
}

/// Describes a tool; the schema is that of its arguments.
pub fn describe(
    name: impl Into<Cow<'static, str>>,
    title: &str,
    description: impl Into<Cow<'static, str>>,
    schema: Arc<JsonObject>,
    touch: Touch,
) -> Tool {
    let hints = ToolAnnotations::with_title(title)
        .read_only(touch == Touch::Reads)
        .destructive(touch == Touch::Ends)
        .idempotent(touch != Touch::Adds)
        .open_world(false);
    Tool::new(name, description, schema).with_title(title).with_annotations(hints)
}
