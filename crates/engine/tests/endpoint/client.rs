//! A client that speaks MCP by hand: one JSON-RPC message a line.

use regatta_engine::{Error, endpoint};
use serde_json::{Value, json};
use std::path::Path;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, Lines};

/// A conversation with one endpoint.
pub(crate) struct Client {
    lines: Lines<BufReader<Box<dyn AsyncRead + Send + Unpin>>>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    last: u64,
}

impl Client {
    /// Opens the endpoint of a private folder and begins as MCP asks.
    pub(crate) async fn begin(folder: &Path) -> Result<Self, Error> {
        let (reader, writer) = endpoint::join(folder).await?.into_parts();
        let reader: Box<dyn AsyncRead + Send + Unpin> = Box::new(reader);
        let mut client = Client { lines: BufReader::new(reader).lines(), writer: Box::new(writer), last: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
        });
        let answer = client.ask("initialize", hello).await;
        assert_eq!(answer["result"]["serverInfo"]["name"], "regatta", "{answer}");
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        Ok(client)
    }

    /// Calls a tool that must succeed.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let (is_error, answer) = self.try_call(tool, arguments).await;
        assert!(!is_error, "{tool}: {answer}");
        answer
    }

    /// Calls a tool that must fail, and returns its error.
    pub(crate) async fn fail(&mut self, tool: &str, arguments: Value) -> Value {
        let (is_error, answer) = self.try_call(tool, arguments).await;
        assert!(is_error, "{tool}: {answer}");
        answer["error"].clone()
    }

    /// Says a line that is answered with an error of the protocol.
    pub(crate) async fn be_refused(mut self, line: &str) {
        // It may answer before it has read all of it.
        let _ = self.writer.write_all(format!("{line}\n").as_bytes()).await;
        let answer = self.lines.next_line().await.unwrap().expect("the endpoint answers");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(answer["error"]["code"].is_i64(), "{answer}");
    }

    async fn try_call(&mut self, tool: &str, arguments: Value) -> (bool, Value) {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        let result = &answer["result"];
        (result["isError"] == true, result["structuredContent"].clone())
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params })).await;
        let line = self.lines.next_line().await.unwrap().expect("the endpoint answers");
        serde_json::from_str(&line).unwrap()
    }

    async fn say(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        self.writer.flush().await.unwrap();
    }
}
