//! The tools of one session over HTTP, for an agent that is given a URL and nothing else.
//!
//! Whoever has the token of a session reaches the tools of that session, by the same endpoint as over its socket. The token
//! ends with the session.

use super::board::fault_from;
use regatta_engine::core::Problem;
use regatta_engine::endpoint;
use regatta_mcp::{Catalogue, Fault, SESSION_INSTRUCTIONS, Tool, list_tools};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The tools of one session.
pub(crate) struct SessionTools {
    /// The private folder of the session.
    folder: PathBuf,
}

impl SessionTools {
    pub(crate) fn new(folder: PathBuf) -> Self {
        SessionTools { folder }
    }
}

impl Catalogue for SessionTools {
    fn instructions(&self) -> &str {
        SESSION_INSTRUCTIONS
    }

    fn list(&self) -> Vec<Tool> {
        list_tools()
    }

    async fn call(&self, name: &str, arguments: Map<String, Value>) -> Result<Value, Fault> {
        let called = endpoint::call(&self.folder, name, Value::Object(arguments)).await;
        called.map_err(|error| {
            let problem = Problem::from(error);
            fault_from(&problem.to_json()["error"])
        })
    }
}
