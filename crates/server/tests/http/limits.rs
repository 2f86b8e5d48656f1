//! What a client may cost.

use crate::client::{Served, read};
use regatta_server::Limits;
use serde_json::{Value, json};
use std::io::Write;
use std::time::{Duration, Instant};

fn short() -> Limits {
    Limits {
        head_time: Duration::from_millis(300),
        body_time: Duration::from_millis(300),
        ..Limits::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_heads_slow_bodies_and_idle_connections_are_dropped() {
    let served = Served::start_with(short()).await;
    let begin = Instant::now();
    let mut idle = served.connect();
    let mut slow = served.connect();
    slow.write_all(b"GET /healthz HTTP/1.1\r\nhost: ").unwrap();
    read(&mut idle);
    read(&mut slow);
    let mut kept = served.connect();
    let host = format!("localhost:{}", served.port);
    kept.write_all(format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes()).unwrap();
    assert_eq!(read(&mut kept).status, 200, "and then it is closed, because no other request follows");
    let mut body = served.connect();
    let token = served.keys.token();
    let head = format!(
        "POST /api/tasks HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         content-length: 100\r\n\r\n{{"
    );
    body.write_all(head.as_bytes()).unwrap();
    let refused = read(&mut body);
    assert_eq!((refused.status, refused.code().as_str()), (422, "VALIDATION_ERROR"), "{refused:?}");
    assert!(begin.elapsed() < Duration::from_secs(30), "each took about a third of a second");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_heads_and_json_are_limited() {
    let served = Served::start_with(Limits { body_bytes_max: 10_000, ..Limits::default() }).await;
    let refused = served.post("/api/tasks", &json!({ "title": "x".repeat(10_001) }));
    assert_eq!((refused.status, refused.code().as_str()), (413, "BODY_TOO_LARGE"));
    let token = served.keys.token();
    let head =
        format!("host: localhost:{}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n", served.port);
    let chunk = format!("2000\r\n{}\r\n", "x".repeat(0x2000));
    let chunked = format!(
        "POST /api/tasks HTTP/1.1\r\n{head}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n{chunk}{chunk}0\r\n\r\n"
    );
    assert_eq!(served.send(&chunked).code(), "BODY_TOO_LARGE", "a body without a length");
    let many = "x: y\r\n".repeat(1_000);
    let answer = served.send(&format!("GET /healthz HTTP/1.1\r\n{head}{many}\r\n"));
    assert!((400..500).contains(&answer.status), "{answer:?}");
    let post = |media: &str, body: &str| {
        let length = body.len();
        served.send(&format!("POST /api/tasks HTTP/1.1\r\n{head}content-type: {media}\r\ncontent-length: {length}\r\n\r\n{body}"))
    };
    let form = post("application/x-www-form-urlencoded", "title=one");
    assert_eq!((form.status, form.code().as_str()), (415, "MEDIA_TYPE_UNSUPPORTED"));
    let deep = format!("{}{}", "[".repeat(4_000), "]".repeat(4_000));
    for body in [
        "",
        "nothing",
        "[]",
        "{\"title\": 1}",
        deep.as_str(),
        "{\"title\":\"x\",\"$serde_json::private::RawValue\":\"1\"}",
    ] {
        let refused = post("application/json", body);
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (422, "VALIDATION_ERROR"),
            "{}",
            &body[..body.len().min(40)]
        );
    }
    assert_eq!(served.get("/api/tasks").json()["items"], json!([]), "nothing was added");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_too_many_are_refused_and_others_go_on() {
    let served = Served::start_with(Limits { connections_max: 3, ..Limits::default() }).await;
    let open: Vec<_> = (0..3).map(|_| served.connect()).collect();
    let mut refused = served.connect();
    let refused = read(&mut refused);
    assert_eq!((refused.status, refused.code().as_str()), (503, "TOO_MANY_CONNECTIONS"), "{refused:?}");
    assert!(refused.headers.contains_key("retry-after"));
    drop(open);
    regatta_testkit::wait::until("there is room again", || served.get("/healthz").status == 200);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_open_connections_stops_soon_and_keeps_its_port() {
    let served = Served::start().await;
    assert_eq!(served.keys.find_port(), Some(served.port));
    let _open: Vec<_> = (0..5).map(|_| served.connect()).collect();
    let begin = Instant::now();
    served.stop().await;
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

/// Longer than any text or list may be, and shorter than a body.
const TOO_LONG: usize = 2 << 20;
const TOO_MANY: usize = 20_000;

/// A run that waits for an answer.
const ASK: &str = r#"
name = "ask"
start = "question"
nodes.question = { kind = "approval", question = "'Is it good?'" }
nodes.done = { kind = "end" }
edges = [{ id = "answered", from = "question", to = "done" }]
"#;

/// Every variant of a value in which one text, list or object of texts is far too long.
fn enlarge(value: &Value) -> Vec<Value> {
    let inside: Vec<Value> = match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, field)| enlarge(field).into_iter().map(move |large| (name, large)))
            .map(|(name, large)| {
                let mut whole = value.clone();
                whole[name] = large;
                whole
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(enlarge).map(|large| json!([large])).collect(),
        _ => Vec::new(),
    };
    let own = match value {
        Value::String(_) => Some(Value::String("x".repeat(TOO_LONG))),
        Value::Array(items) => items.first().map(|first| Value::Array(vec![first.clone(); TOO_MANY])),
        _ => None,
    };
    inside.into_iter().chain(own).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_text_and_every_list_of_a_body_is_limited() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one", "criteria": ["it works"] }));
    served.post("/api/epics", &json!({ "title": "Till" }));
    served.post("/api/prds", &json!({ "slug": "shop", "title": "Shop", "text": "# Shop\n" }));
    served.write(".regatta/workflows/ask/workflow.toml", ASK);
    served.write(".regatta/workflows/ask/state.schema.json", "{\"type\": \"object\", \"properties\": {}}");
    served.post("/api/runs", &json!({ "workflow": "ask", "board": false }));
    regatta_testkit::wait::until("it asks", || served.get("/api/runs/1").json()["waitsFor"] == "you");
    let document = served.get("/api/openapi.json").json();
    let head = || served.get("/healthz").json()["seq"].clone();
    let (before, mut accepted) = (head(), Vec::new());
    let large = json!({ "workflow": "ask", "input": { "text": "x".repeat(TOO_LONG) } });
    assert_eq!(served.post("/api/runs", &large).code(), "VALIDATION_ERROR");
    for (path, methods) in document["paths"].as_object().expect("there are paths") {
        for (method, operation) in methods.as_object().expect("there are methods") {
            let example = &operation["requestBody"]["content"]["application/json"]["example"];
            let address = path.replace("{id}", "1").replace("{slug}", "shop");
            for body in enlarge(example) {
                let answer = served.call(&method.to_uppercase(), &address, &[], Some(&body));
                if !matches!(answer.status, 400..500) {
                    let shown: String = body.to_string().chars().take(60).collect();
                    accepted.push(format!("{method} {address} {shown}: {}", answer.status));
                }
            }
        }
    }
    assert!(accepted.is_empty(), "{accepted:#?}");
    assert_eq!(head(), before, "nothing was added to the log");
    served.stop().await;
}
