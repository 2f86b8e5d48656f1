//! A small MCP server on standard input and output, with one tool.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

/// Answers until its input ends.
pub(crate) fn serve() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(asked) = serde_json::from_str::<Value>(&line) else { continue };
        let Some(id) = asked.get("id") else { continue };
        let reply = match answer(&asked) {
            Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            None => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}})
            }
        };
        let mut out = std::io::stdout().lock();
        if writeln!(out, "{reply}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

fn answer(asked: &Value) -> Option<Value> {
    let text = |text: String| json!({"content": [{"type": "text", "text": text}]});
    match asked["method"].as_str()? {
        "initialize" => Some(json!({
            "protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "board", "version": "1.0.0"},
        })),
        "ping" => Some(json!({})),
        "tools/list" => {
            let schema = json!({
                "type": "object",
                "properties": {"criterion": {"type": "integer"}},
                "required": ["criterion"],
            });
            let description = "Ticks a criterion of the task.";
            Some(json!({"tools": [{"name": "tick", "description": description, "inputSchema": schema}]}))
        }
        "tools/call" => {
            Some(text(format!("criterion {} is ticked", asked["params"]["arguments"]["criterion"])))
        }
        _ => None,
    }
}
