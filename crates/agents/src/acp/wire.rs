//! Messages of JSON-RPC 2.0, as the Agent Client Protocol uses them: one a line, in both directions.
//!
//! Pure. The protocol's own Rust library is not used: it queues without a bound, is strict where agents are not, and its
//! connection cannot be played from a recording. What is needed here is five requests.

use serde_json::{Value, json};

/// The code of JSON-RPC for a method that is not offered.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

/// The code of JSON-RPC for parameters that are refused.
pub(crate) const INVALID_PARAMETERS: i64 = -32602;

/// A message of the agent.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming<'a> {
    /// It asks for something, and waits for an answer to that id.
    Request { id: &'a Value, method: &'a str, parameters: &'a Value },
    /// It tells something.
    Notice { method: &'a str, parameters: &'a Value },
    /// It answers a request of ours.
    Answer { id: u64, result: Result<&'a Value, &'a Value> },
}

/// Reads a message; nothing if it is none.
pub(crate) fn parse(message: &Value) -> Option<Incoming<'_>> {
    let parameters = message.get("params").unwrap_or(&Value::Null);
    let id = message.get("id").filter(|id| !id.is_null());
    match (message.get("method").and_then(Value::as_str), id) {
        (Some(method), Some(id)) => Some(Incoming::Request { id, method, parameters }),
        (Some(method), None) => Some(Incoming::Notice { method, parameters }),
        (None, Some(id)) => {
            let result = match message.get("error") {
                Some(error) if !error.is_null() => Err(error),
                _ => Ok(message.get("result").unwrap_or(&Value::Null)),
            };
            Some(Incoming::Answer { id: id.as_u64()?, result })
        }
        (None, None) => None,
    }
}

/// Makes a request of ours.
pub(crate) fn request(id: u64, method: &str, parameters: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters })
}

/// Makes a message of ours that is not answered.
pub(crate) fn notice(method: &str, parameters: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": parameters })
}

/// Answers a request of the agent.
pub(crate) fn answer(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// Refuses a request of the agent.
pub(crate) fn refuse(id: &Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let request = json!({ "id": "a", "method": "m", "params": { "x": 1 } });
        let parameters = json!({ "x": 1 });
        let id = json!("a");
        assert_eq!(
            parse(&request),
            Some(Incoming::Request { id: &id, method: "m", parameters: &parameters })
        );
        let notice = json!({ "id": null, "method": "m" });
        assert_eq!(parse(&notice), Some(Incoming::Notice { method: "m", parameters: &Value::Null }));
        let answer = json!({ "id": 3, "result": 7, "error": null });
        assert_eq!(parse(&answer), Some(Incoming::Answer { id: 3, result: Ok(&json!(7)) }));
        let refusal = json!({ "id": 3, "error": { "code": 1 } });
        assert_eq!(parse(&refusal), Some(Incoming::Answer { id: 3, result: Err(&json!({ "code": 1 })) }));
        for nonsense in
            [json!({}), json!({ "id": "text", "result": 1 }), json!({ "id": -1 }), json!({ "method": 1 })]
        {
            assert_eq!(parse(&nonsense), None, "{nonsense}");
        }
    }
}
