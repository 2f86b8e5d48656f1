//! The stub model over a real connection: what arrives, what does not, and what it remembers.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use regatta_testkit::model::{StubModel, prompt};
use serde_json::{Value, json};

/// Bounds a test that fails.
const READ_MAX: Duration = Duration::from_secs(60);

fn body(steps: &Value, is_stream: bool) -> String {
    let messages = json!([{"role": "user", "content": prompt("Go.", steps)}]);
    json!({"model": "m", "stream": is_stream, "messages": messages}).to_string()
}

fn send(model: &StubModel, path: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", model.port())).expect("the stub listens");
    stream.set_read_timeout(Some(READ_MAX)).expect("a limit can be set");
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: stub\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).expect("the stub reads");
    stream
}

/// Sends a request and returns all that comes until the connection closes.
fn ask(model: &StubModel, path: &str, body: &str) -> String {
    let mut text = String::new();
    send(model, path, body).read_to_string(&mut text).expect("the stub writes text");
    text
}

#[test]
fn every_format_is_spoken_on_one_port() {
    let model = StubModel::start_blocking();
    let steps = json!([{"say": "ahoy"}]);
    assert!(ask(&model, "/v1/chat/completions", &body(&steps, true)).contains(r#"{"content":"ahoy"}"#));
    assert!(
        ask(&model, "/v1/messages?beta=true", &body(&steps, false))
            .contains(r#"{"type":"text","text":"ahoy"}"#)
    );
    let input = json!({"input": prompt("Go.", &steps)}).to_string();
    assert!(ask(&model, "/v1/responses", &input).contains(r#""type":"output_text","text":"ahoy""#));
    let contents =
        json!({"contents": [{"role": "user", "parts": [{"text": prompt("Go.", &steps)}]}]}).to_string();
    let gemini = ask(&model, "/v1beta/models/m:streamGenerateContent?alt=sse", &contents);
    assert!(gemini.contains(r#"{"text":"ahoy"}"#), "{gemini}");
    assert!(ask(&model, "/elsewhere", "{}").starts_with("HTTP/1.1 404 "));
}

#[test]
fn requests_are_kept_with_method_path_headers_and_body() {
    let model = StubModel::start_blocking();
    ask(&model, "/v1/messages?beta=true", &body(&json!([{"say": "a"}]), false));
    let requests = model.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!((requests[0].method.as_str(), requests[0].path.as_str()), ("POST", "/v1/messages?beta=true"));
    assert_eq!(requests[0].header("host"), Some("stub"));
    assert_eq!(requests[0].json()["model"], "m");
}

#[test]
fn a_rate_limit_has_its_headers_and_goes_away() {
    let model = StubModel::start_blocking();
    let body = body(&json!([[{"rate_limit": {"seconds": 9}, "times": 1}, {"say": "back"}]]), false);
    let first = ask(&model, "/v1/messages", &body);
    assert!(first.starts_with("HTTP/1.1 429 "), "{first}");
    assert!(first.contains("\r\nretry-after: 9\r\n"), "{first}");
    assert!(first.contains("\r\ncontent-length: "), "{first}");
    assert!(first.contains("\r\nanthropic-ratelimit-requests-remaining: 0\r\n"), "{first}");
    assert!(ask(&model, "/v1/messages", &body).contains(r#""text":"back""#));
}

#[test]
fn a_dropped_stream_arrives_in_part_and_has_no_end() {
    let model = StubModel::start_blocking();
    let steps = json!([[{"drop": true}, {"say": "one two three four five six"}]]);
    let whole = ask(&model, "/v1/chat/completions", &body(&json!([{"say": "one"}]), true));
    assert!(whole.ends_with("0\r\n\r\n"), "{whole}");
    let text = ask(&model, "/v1/chat/completions", &body(&steps, true));
    assert!(text.starts_with("HTTP/1.1 200 ") && text.contains(r#"{"content":"one "}"#), "{text}");
    assert!(!text.contains("six") && !text.ends_with("0\r\n\r\n"), "{text}");
}

#[test]
fn a_stalled_stream_stays_open_after_its_first_half() {
    let model = StubModel::start_blocking();
    let steps = json!([[{"stall": true}, {"say": "one two three four"}]]);
    let mut stream = send(&model, "/v1/chat/completions", &body(&steps, true));
    let mut text = Vec::new();
    while !String::from_utf8_lossy(&text).contains(r#"{"content":"two "}"#) {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).unwrap();
        assert_ne!(count, 0, "closed after {}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&piece[..count]);
    }
    stream.set_nonblocking(true).unwrap();
    assert_eq!(stream.read(&mut [0; 16]).unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn it_stops_when_dropped_and_hanging_requests_end_with_it() {
    let model = StubModel::start_blocking();
    let port = model.port();
    let mut stream = send(&model, "/v1/messages", &body(&json!([{"hang": true}]), true));
    regatta_testkit::wait::until("the request came", || model.requests().len() == 1);
    drop(model);
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    assert_eq!(text, "");
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[tokio::test]
async fn it_answers_while_the_test_blocks_its_runtime() {
    let model = StubModel::start().await;
    assert!(model.url().ends_with(&format!(":{}", model.port())));
    assert!(ask(&model, "/v1/messages", &body(&json!([{"delay": 0.01}]), false)).contains("end_turn"));
}
