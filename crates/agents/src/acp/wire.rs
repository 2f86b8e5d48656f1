//! Messages of JSON-RPC 2.0, one a line: told apart here, made and read by the types of the protocol's own crate.
//!
//! The one rule for what those types cannot read:
//! - a notice is passed over, and the session continues without it;
//! - a request of the agent is refused: `INVALID_PARAMS` with the reason, or `METHOD_NOT_FOUND`;
//! - an answer to a request of ours ends the session as `invalid_output`, with the reason in its message; an answer of which
//!   nothing is needed is not read;
//! - an object that is no message is passed over, and any other line is text.
//!
//! The types are lenient: an optional field that does not read is absent, and so is such an element of most lists. The
//! envelope is our own, because the crate's forgets the id of what it cannot read, and an answer would be waited for in vain.

use agent_client_protocol::v1::schema::{ClientResponse, RawValue, RequestId};
use agent_client_protocol::{Error, ErrorCode, JsonRpcNotification, JsonRpcRequest, RawJsonRpcMessage};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::json;
use crate::text::cut_length;

/// How much of a reason is kept: it may quote the whole message.
const REASON_BYTES_MAX: usize = 500;

/// A message of the agent.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// It asks for something, and waits for an answer to that id.
    Request { id: RequestId, method: String, parameters: &'a RawValue },
    /// It tells something.
    Notice { method: String, parameters: &'a RawValue },
    /// It answers a request of ours.
    Answer { id: RequestId, result: Result<&'a RawValue, &'a RawValue> },
    /// It is JSON, and no message.
    Nonsense,
}

/// What does not read as what it should be.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct Unreadable {
    reason: String,
}

impl From<Unreadable> for Error {
    fn from(unreadable: Unreadable) -> Error {
        refusal(&unreadable.reason)
    }
}

#[derive(Debug, Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    id: Option<RequestId>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

/// Reads a line; nothing if it is text.
pub(crate) fn parse(line: &[u8]) -> Option<Incoming<'_>> {
    // A list would be taken for the fields in their order.
    if !line.trim_ascii_start().starts_with(b"{") || json::is_deceptive(line) {
        return None;
    }
    match serde_json::from_slice::<Envelope<'_>>(line) {
        Ok(envelope) => Some(tell_apart(envelope)),
        Err(error) if error.is_data() => Some(Incoming::Nonsense),
        Err(_) => None,
    }
}

/// Reads what a message holds.
pub(crate) fn read<T: DeserializeOwned>(part: &RawValue) -> Result<T, Unreadable> {
    serde_json::from_str(part.get()).map_err(|error| {
        let mut reason = error.to_string();
        reason.truncate(cut_length(&reason, REASON_BYTES_MAX));
        Unreadable { reason }
    })
}

/// Makes a request of ours; it cannot be made if it names a path that is not UTF-8.
pub(crate) fn request(id: i64, request: &impl JsonRpcRequest) -> Result<RawJsonRpcMessage, Error> {
    let (method, parameters) = request.to_untyped_message()?.into_parts();
    RawJsonRpcMessage::request(method, parameters, id)
}

/// Makes a message of ours that is not answered.
pub(crate) fn notice(notice: &impl JsonRpcNotification) -> Result<RawJsonRpcMessage, Error> {
    let (method, parameters) = notice.to_untyped_message()?.into_parts();
    RawJsonRpcMessage::notification(method, parameters)
}

/// Answers a request of the agent, or refuses it.
pub(crate) fn answer(id: RequestId, answer: Result<ClientResponse, Error>) -> RawJsonRpcMessage {
    RawJsonRpcMessage::response(
        id,
        answer.and_then(|answer| serde_json::to_value(answer).map_err(Error::into_internal_error)),
    )
}

/// Makes the error that refuses a request by its parameters, with the reason as its message: agents show that to their model.
pub(crate) fn refusal(reason: &str) -> Error {
    Error::new(ErrorCode::INVALID_PARAMS.value(), reason)
}

/// Returns the line of a message of ours.
pub(crate) fn render(message: &RawJsonRpcMessage) -> String {
    serde_json::to_string(message).expect("texts and JSON values can be written as JSON")
}

fn tell_apart(envelope: Envelope<'_>) -> Incoming<'_> {
    let Envelope { id, method, params, result, error } = envelope;
    let parameters = params.unwrap_or(RawValue::NULL);
    match (method, id) {
        (Some(method), Some(id)) => Incoming::Request { id, method, parameters },
        (Some(method), None) => Incoming::Notice { method, parameters },
        (None, Some(id)) => {
            Incoming::Answer { id, result: error.map_or(Ok(result.unwrap_or(RawValue::NULL)), Err) }
        }
        (None, None) => Incoming::Nonsense,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(line: &str) -> String {
        match parse(line.as_bytes()) {
            Some(Incoming::Request { id, method, parameters }) => {
                format!("request {id:?} {method} {parameters}")
            }
            Some(Incoming::Notice { method, parameters }) => format!("notice {method} {parameters}"),
            Some(Incoming::Answer { id, result: Ok(result) }) => format!("answer {id:?} {result}"),
            Some(Incoming::Answer { id, result: Err(error) }) => format!("refusal {id:?} {error}"),
            Some(Incoming::Nonsense) => "nonsense".to_owned(),
            None => "text".to_owned(),
        }
    }

    #[test]
    fn messages_are_told_apart() {
        for (line, shown) in [
            (r#"{"id":"a","method":"m","params":{"x":1}}"#, r#"request Str("a") m {"x":1}"#),
            (r#" {"id":null,"method":"m"}"#, "notice m null"),
            (r#"{"id":3,"result":7,"error":null}"#, "answer Number(3) 7"),
            (r#"{"id":3}"#, "answer Number(3) null"),
            (r#"{"id":3,"error":{"code":1}}"#, r#"refusal Number(3) {"code":1}"#),
            ("{}", "nonsense"),
            (r#"{"id":1.5,"result":1}"#, "nonsense"),
            (r#"{"method":1}"#, "nonsense"),
            (r#"[1,"m"]"#, "text"),
            ("7", "text"),
            (r#"{"id":1"#, "text"),
            (r#"{"id":1,"result":{"$serde_json::private::RawValue":"1"}}"#, "text"),
        ] {
            assert_eq!(show(line), shown, "{line}");
        }
    }

    #[test]
    fn a_reason_does_not_quote_without_end() {
        let long = RawValue::from_string(format!("\"{}\"", "x".repeat(100_000))).unwrap();
        let reason = read::<u64>(&long).unwrap_err().to_string();
        assert!(reason.starts_with("invalid type: string") && reason.len() <= REASON_BYTES_MAX, "{reason}");
    }
}
