//! Stands between a client and the service: a message that cannot be read is answered with a JSON-RPC error.
//!
//! The library drops such a message without a word, and its sender waits for an answer that never comes. What is bad JSON,
//! too deep, too large or of no known shape is answered here, in plain words and with the id of the request where one can be
//! found. Everything else is passed on as it came.

use crate::service::ARGUMENT_BYTES_MAX;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

/// A longer line is not read; this is far above what a call may hold.
const LINE_BYTES_MAX: usize = 4 * ARGUMENT_BYTES_MAX;

/// How much is read at a time.
const PIECE_BYTES: usize = 64 * 1024;

/// Longest id of a request that is found in a message which cannot be read.
const ID_BYTES_MAX: usize = 200;

/// Answers that may wait to be sent; a client that reads none has no claim to more.
const WAITING_MAX: usize = 16;

/// The codes of JSON-RPC.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const INVALID_PARAMS: i32 = -32602;

/// Passes messages both ways until the service leaves.
pub(crate) async fn pass(
    client: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    service: (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
) {
    let (answers, waiting) = mpsc::channel(WAITING_MAX);
    let inward = async {
        pass_inward(client.0, service.1, &answers).await;
        // The service leaves when it has answered what it was asked.
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = inward => {}
        () = pass_outward(service.0, client.1, waiting) => {}
    }
}

/// Passes on what can be read, and hands out an answer to what cannot.
async fn pass_inward(
    mut client: impl AsyncRead + Unpin,
    mut service: impl AsyncWrite + Unpin,
    answers: &mpsc::Sender<Value>,
) {
    let mut piece = vec![0; PIECE_BYTES];
    let mut line = Incoming::default();
    loop {
        let length = match client.read(&mut piece).await {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) => {
                let _ = answers
                    .send(fault(
                        INVALID_REQUEST,
                        &Value::Null,
                        &format!("the message cannot be read: {error}"),
                    ))
                    .await;
                break;
            }
        };
        let mut rest = &piece[..length];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            line.push(&rest[..=end]);
            rest = &rest[end + 1..];
            let whole = std::mem::take(&mut line);
            if whole.is_blank() {
                continue;
            }
            let passed = match whole.judge() {
                Ok(bytes) => service.write_all(&bytes).await.is_ok() && service.flush().await.is_ok(),
                Err(answer) => answers.send(answer).await.is_ok(),
            };
            if !passed {
                return;
            }
        }
        line.push(rest);
    }
    let _ = service.shutdown().await;
}

/// Sends the service's messages and the answers from here, each as a whole line.
async fn pass_outward(
    service: impl AsyncRead + Unpin,
    mut client: impl AsyncWrite + Unpin,
    mut answers: mpsc::Receiver<Value>,
) {
    let mut service = BufReader::new(service);
    // Kept outside of the loop: a read that is broken off has put here what it read.
    let mut line = Vec::new();
    loop {
        let bytes = tokio::select! {
            biased;
            Some(answer) = answers.recv() => format!("{answer}\n").into_bytes(),
            read = service.read_until(b'\n', &mut line) => match read {
                Ok(0) | Err(_) => return,
                Ok(_) => std::mem::take(&mut line),
            },
        };
        if client.write_all(&bytes).await.is_err() || client.flush().await.is_err() {
            return;
        }
    }
}

/// A line as it comes in.
#[derive(Default)]
struct Incoming {
    held: Vec<u8>,
    length: usize,
    id: IdFinder,
}

impl Incoming {
    fn push(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        self.id.push(bytes);
        if self.length <= LINE_BYTES_MAX {
            self.held.extend_from_slice(bytes);
        } else {
            self.held = Vec::new();
        }
    }

    fn is_blank(&self) -> bool {
        self.length <= LINE_BYTES_MAX && self.held.iter().all(u8::is_ascii_whitespace)
    }

    /// Returns the line, or the answer to who sent it.
    fn judge(self) -> Result<Vec<u8>, Value> {
        if self.length > LINE_BYTES_MAX {
            let said = format!(
                "the message is too large: it has {} bytes, and may have {LINE_BYTES_MAX}",
                self.length
            );
            return Err(fault(INVALID_REQUEST, &self.id.find(), &said));
        }
        let message: Value = match serde_json::from_slice(&self.held) {
            Ok(message) => message,
            Err(error) if error.to_string().starts_with("recursion limit") => {
                let said =
                    "the message is nested too deep: at most 127 lists and objects may lie within each other";
                return Err(fault(INVALID_REQUEST, &self.id.find(), said));
            }
            Err(error) => {
                let said = format!("the message is not JSON: {error}");
                return Err(fault(PARSE_ERROR, &Value::Null, &said));
            }
        };
        match find_fault(&message) {
            None => Ok(self.held),
            Some((code, said)) => Err(fault(code, &id_of(&message), said)),
        }
    }
}

/// Judges a message that came in one piece, over HTTP.
pub(crate) fn check(message: &[u8]) -> Result<(), Value> {
    let mut line = Incoming::default();
    line.push(message);
    line.judge().map(drop)
}

/// Says what is wrong with the shape of a message.
fn find_fault(message: &Value) -> Option<(i32, &'static str)> {
    let Value::Object(fields) = message else {
        return Some((
            INVALID_REQUEST,
            "a message must be a JSON object: one request or notification a line",
        ));
    };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Some((INVALID_REQUEST, "a message must have \"jsonrpc\": \"2.0\""));
    }
    let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    if fields.get("id").is_some_and(|id| !is_id(id)) && fields.contains_key("method") {
        return Some((INVALID_REQUEST, "`id` must be a text or a whole number"));
    }
    let Some(method) = fields.get("method") else {
        let is_answer = fields.contains_key("result") || fields.contains_key("error");
        return (!is_answer).then_some((INVALID_REQUEST, "a message must have a `method`"));
    };
    let Some(method) = method.as_str() else {
        return Some((INVALID_REQUEST, "`method` must be a text, such as \"tools/call\""));
    };
    let params = fields.get("params").filter(|params| !params.is_null());
    if params.is_some_and(|params| !params.is_object()) {
        return Some((INVALID_PARAMS, "`params` must be an object"));
    }
    if method != "tools/call" {
        return None;
    }
    let of = |name: &str| params.and_then(|params| params.get(name)).filter(|value| !value.is_null());
    if !of("name").is_some_and(Value::is_string) {
        return Some((INVALID_PARAMS, "`params.name` must be the name of a tool, such as \"read_task\""));
    }
    let is_wrong = of("arguments").is_some_and(|arguments| !arguments.is_object());
    is_wrong.then_some((INVALID_PARAMS, "`params.arguments` must be an object, such as {\"criterion\": 1}"))
}

fn id_of(message: &Value) -> Value {
    let id = message.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64());
    id.cloned().unwrap_or_default()
}

fn fault(code: i32, id: &Value, said: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": said } })
}

/// Finds the id of a request in a text that cannot be read as a whole: the value of `id` in the outermost object.
#[derive(Default)]
struct IdFinder {
    depth: usize,
    is_string: bool,
    is_escaped: bool,
    /// Whether a name is expected, and not a value.
    is_name: bool,
    /// What is being read in the outermost object.
    token: Vec<u8>,
    name: Vec<u8>,
    found: Option<Vec<u8>>,
}

impl IdFinder {
    fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    fn step(&mut self, byte: u8) {
        let is_outermost = self.depth == 1;
        if self.is_string {
            let is_end = byte == b'"' && !self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            self.is_string = !is_end;
            return self.hold(byte);
        }
        match byte {
            b'"' => {
                self.is_string = true;
                self.hold(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.is_name = self.depth == 1;
                self.token.clear();
            }
            b':' if is_outermost => {
                self.name = std::mem::take(&mut self.token);
                self.is_name = false;
            }
            b',' | b'}' | b']' => {
                if is_outermost {
                    self.end_value();
                }
                if byte != b',' {
                    self.depth = self.depth.saturating_sub(1);
                }
                self.token.clear();
                self.is_name = true;
            }
            byte if byte.is_ascii_whitespace() => {}
            other => self.hold(other),
        }
    }

    fn hold(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < ID_BYTES_MAX {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        if self.name == b"\"id\"" && self.found.is_none() {
            self.found = Some(std::mem::take(&mut self.token));
        }
        self.name.clear();
    }

    fn find(&self) -> Value {
        let found = self.found.as_deref().and_then(|id| serde_json::from_slice::<Value>(id).ok());
        found.filter(|id| id.is_string() || id.is_i64() || id.is_u64()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn judge(line: &str) -> String {
        let mut incoming = Incoming::default();
        for piece in line.as_bytes().chunks(7) {
            incoming.push(piece);
        }
        match incoming.judge() {
            Ok(_) => "passed on".to_owned(),
            Err(answer) => answer.to_string(),
        }
    }

    fn check(lines: &[&str], expected: Expect) {
        let shown: Vec<String> = lines.iter().map(|line| judge(line)).collect();
        expected.assert_eq(&(shown.join("\n") + "\n"));
    }

    #[test]
    fn what_has_no_known_shape_is_answered_in_plain_words() {
        check(
            &[
                "{",
                "[]",
                "7",
                r#"{"id":1,"method":"x"}"#,
                r#"{"jsonrpc":"2.0","id":1}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
                r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#,
                r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":[]}"#,
                r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":7}}"#,
                r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_task","arguments":[1]}}"#,
                r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read_task"}}"#,
                r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                r#"{"jsonrpc":"2.0","id":5,"result":{}}"#,
            ],
            expect![[r#"
                {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not JSON: EOF while parsing an object at line 1 column 1"}}
                {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message must be a JSON object: one request or notification a line"}}
                {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message must be a JSON object: one request or notification a line"}}
                {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a message must have \"jsonrpc\": \"2.0\""}}
                {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"a message must have a `method`"}}
                {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"`method` must be a text, such as \"tools/call\""}}
                {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"`id` must be a text or a whole number"}}
                {"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"`params` must be an object"}}
                {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"`params.name` must be the name of a tool, such as \"read_task\""}}
                {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"`params.arguments` must be an object, such as {\"criterion\": 1}"}}
                passed on
                passed on
                passed on
            "#]],
        );
    }

    #[test]
    fn what_is_too_deep_or_too_large_is_answered_by_its_id() {
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        let large = "x".repeat(LINE_BYTES_MAX);
        let first =
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"id":1,"a":{deep}}}}}"#);
        let last = format!(r#"{{"params":{{"a":"}},\"id\":3,{large}"}},"id":"last one","method":"x"}}"#);
        let none = format!(r#"{{"params":{{"id":{deep}}}}}"#);
        check(
            &[&first, &last, &none],
            expect![[r#"
            {"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"the message is nested too deep: at most 127 lists and objects may lie within each other"}}
            {"jsonrpc":"2.0","id":"last one","error":{"code":-32600,"message":"the message is too large: it has 8388667 bytes, and may have 8388608"}}
            {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message is nested too deep: at most 127 lists and objects may lie within each other"}}
        "#]],
        );
    }
}
