//! Calls of an endpoint by the binary itself, from inside the session: a verb that reads, and a command that was
//! refused.
//!
//! They work like any call of the agent: with the token of the session, so that nobody can speak for somebody
//! else, and through the engine, since a session may not be able to reach the log.

use crate::core::{Code, Problem};
use crate::error::Error;
use crate::session::endpoint::join::join;
use serde_json::{Value, json};
use std::path::Path;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

/// The MCP version in use; any would do for one call.
const PROTOCOL: &str = "2025-06-18";
/// The largest answer is a PRD of a megabyte, sent twice, with every character escaped at worst.
const ANSWER_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Reports to the endpoint of a session that its agent gave a command that agents may not give; tells whether it
/// is in the log.
pub async fn report_refused(folder: &Path, command: &str) -> Result<bool, Error> {
    let answer = say(folder, command, json!({})).await?;
    Ok(answer["error"]["details"]["recorded"] == true)
}

/// Calls a tool of the session's endpoint, and returns what it answers.
pub async fn call(folder: &Path, tool: &str, arguments: Value) -> Result<Value, Error> {
    let mut answer = say(folder, tool, arguments).await?;
    match answer.get_mut("error").map(Value::take) {
        Some(error) if error.is_object() => Err(refused(&error)),
        _ => Ok(answer),
    }
}

async fn say(folder: &Path, tool: &str, arguments: Value) -> Result<Value, Error> {
    let (reader, mut writer) = join(folder).await?.into_parts();
    let mut reader = BufReader::new(reader);
    let client = json!({ "name": "regatta", "version": env!("CARGO_PKG_VERSION") });
    let hello = json!({ "protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client });
    let said = async {
        let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
        writer.write_all(format!("{begin}\n").as_bytes()).await?;
        read_answer(&mut reader).await?;
        let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let named = json!({ "name": tool, "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": named });
        writer.write_all(format!("{begun}\n{call}\n").as_bytes()).await?;
        read_answer(&mut reader).await
    };
    let answer: std::io::Result<Value> = said.await;
    let mut answer = answer.map_err(|_| Error::SessionEnded { folder: folder.to_owned() })?;
    Ok(answer["result"]["structuredContent"].take())
}

async fn read_answer(reader: &mut (impl AsyncBufReadExt + Unpin)) -> std::io::Result<Value> {
    let mut line = String::new();
    reader.take(ANSWER_BYTES_MAX).read_line(&mut line).await?;
    Ok(serde_json::from_str(&line)?)
}

/// Shows the answer of an endpoint in the endpoint's own words.
pub(super) fn refused(answer: &Value) -> Error {
    let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    let code = serde_json::from_value(answer["code"].clone()).unwrap_or(Code::Internal);
    Problem { why: Vec::new(), ..Problem::new(code, text("message"), "", text("hint")) }.into()
}
