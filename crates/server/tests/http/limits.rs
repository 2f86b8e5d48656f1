//! What a client may cost.

use crate::client::{Served, read};
use regatta_server::Limits;
use serde_json::json;
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
