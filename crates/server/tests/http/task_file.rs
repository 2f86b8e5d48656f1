//! Replacing the file of a task.

use crate::client::{Response, Served};
use serde_json::json;

fn put(served: &Served, tag: Option<&str>, media: &str, text: &str) -> Response {
    let (token, length) = (served.keys.token(), text.len());
    let tag = tag.map(|tag| format!("if-match: {tag}\r\n")).unwrap_or_default();
    served.send(&format!(
        "PUT /api/tasks/1/file HTTP/1.1\r\nhost: localhost:{}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
         {tag}content-type: {media}\r\ncontent-length: {length}\r\n\r\n{text}",
        served.port
    ))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_replaced_and_what_differs_becomes_events() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one", "criteria": ["it works", "it is fast"] }));
    let file = served.get("/api/tasks/1/file");
    let (tag, text) = (file.headers["etag"].clone(), file.body);
    let media = "text/markdown; charset=utf-8";
    let ticked = text.replacen("- [ ] it works", "- [x] it works", 1);
    assert_ne!(ticked, text);
    let unnamed = put(&served, None, media, &ticked);
    assert_eq!((unnamed.status, unnamed.code().as_str()), (422, "VALIDATION_ERROR"), "{unnamed:?}");
    assert_eq!(put(&served, Some(&tag), "application/json", &ticked).code(), "MEDIA_TYPE_UNSUPPORTED");
    let changed = put(&served, Some(&tag), media, &ticked);
    assert_eq!((changed.status, changed.body.as_str()), (200, ticked.as_str()), "{changed:?}");
    let seq: u64 = changed.headers["regatta-seq"].parse().unwrap();
    let task = served.get("/api/tasks/1").json();
    assert_eq!(task["criteria"][0]["checked"], true);
    let events = served.call("GET", "/api/events?after=0", &[("accept", "application/json")], None).json();
    let checked =
        events["items"].as_array().unwrap().iter().find(|event| event["type"] == "criterion:checked");
    let checked = checked.unwrap_or_else(|| panic!("{events}"));
    assert_eq!(checked["actor"], "tester");
    assert!(checked["seq"].as_u64().unwrap() <= seq);

    let stale = put(&served, Some(&tag), media, &text);
    assert_eq!((stale.status, stale.code().as_str()), (412, "PRECONDITION_FAILED"));
    for bad in ["", "# Something else\n", &text[..text.len() / 3]] {
        let refused = put(&served, Some("*"), media, bad);
        assert_eq!((refused.status, refused.code().as_str()), (422, "VALIDATION_ERROR"), "{bad:?}");
    }
    assert_eq!(served.get("/api/tasks/1/file").body, ticked, "nothing changed");
    let title = ticked.replacen("one", "first", 1);
    assert_eq!(put(&served, Some("*"), media, &title).status, 200);
    assert_eq!(served.get("/api/tasks/1").json()["title"], "first");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_of_the_file_happen_once_under_a_key() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one", "criteria": ["it works"] }));
    let key = [("idempotency-key", "entry 1")];
    let progress = json!({ "did": "half of it", "next": "the rest" });
    for _ in 0..2 {
        assert_eq!(served.call("POST", "/api/tasks/1/progress", &key, Some(&progress)).status, 200);
    }
    assert_eq!(served.get("/api/tasks/1/file").body.matches("half of it").count(), 1);
    let tag = served.get("/api/tasks/1").headers["etag"].clone();
    let both = [("idempotency-key", "tick 1"), ("if-match", tag.as_str())];
    for _ in 0..2 {
        let ticked = served.call("POST", "/api/tasks/1/criteria", &both, Some(&json!({ "check": [1] })));
        assert_eq!(ticked.status, 200, "a repetition is no change of something else: {ticked:?}");
    }
    let message = served.post("/api/messages", &json!({ "to": "task:1", "body": "hello" }));
    let path = format!("{}/read", message.headers["location"]);
    for _ in 0..2 {
        assert_eq!(served.call("POST", &path, &[("idempotency-key", "read 1")], None).status, 200);
    }
    let other =
        served.call("POST", "/api/tasks/1/progress", &[("idempotency-key", "read 1")], Some(&progress));
    assert_eq!((other.status, other.code().as_str()), (409, "COMMAND_REUSED"));
    served.stop().await;
}
