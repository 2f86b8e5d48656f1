//! Durable streams over the log and the outputs of sessions, also with the official client.

use crate::client::{Response, Served};
use regatta_testkit::agent_programs::find_program;
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, BufReader};

fn work(served: &Served) {
    served.post("/api/tasks", &json!({ "title": "one" }));
    let done = served.post("/api/tasks/1/assign?wait=60", &json!({ "agentId": "worker" }));
    assert_eq!(done.json()["column"], "waiting_approval", "{done:?}");
}

/// Reads a stream to its end, and returns its values with the last answer.
fn read_all(served: &Served, path: &str) -> (Vec<Value>, Response) {
    let (mut all, mut offset) = (Vec::new(), "-1".to_owned());
    loop {
        let read = served.get(&format!("{path}?offset={offset}"));
        assert_eq!(read.status, 200, "{read:?}");
        all.extend(read.json().as_array().expect("a list of values").clone());
        offset = read.headers["stream-next-offset"].clone();
        if read.headers.contains_key("stream-up-to-date") {
            return (all, read);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_and_an_output_are_read_to_their_end_and_from_any_offset() {
    let served = Served::start().await;
    work(&served);
    let page = served.call("GET", "/api/events?after=0&limit=1000", &[("accept", "application/json")], None);
    let (log, last) = read_all(&served, "/streams/log");
    let events = page.json()["items"].as_array().unwrap().clone();
    assert_eq!(log[..events.len()], events[..], "the values are the events of the API");
    assert!(!last.headers.contains_key("stream-closed"), "the log has no end: {last:?}");
    let sessions = served.get("/api/tasks/1/sessions").json();
    let name = sessions["items"][0]["session"].as_str().unwrap().to_owned();
    let path = format!("/streams/sessions/{name}");
    let (items, last) = read_all(&served, &path);
    let output = served.get(&format!("/api/sessions/{name}/output")).json();
    assert_eq!(Value::Array(items.clone()), output["items"]);
    assert_eq!(last.headers["stream-closed"], "true");
    let end = &last.headers["stream-next-offset"];
    let rest = served.get(&format!("{path}?offset={:020}", items.len() - 1));
    assert_eq!(rest.json(), json!([items.last().unwrap()]));
    let closed = served.get(&format!("{path}?offset={end}&live=long-poll"));
    assert_eq!(
        (closed.status, closed.headers["stream-closed"].as_str()),
        (204, "true"),
        "nothing to wait for"
    );
    let events = served.get(&format!("{path}?offset=-1&live=sse"));
    assert!(
        events.body.contains("event: data") && events.body.contains("\"streamClosed\":true"),
        "{events:?}"
    );
    let tag = ("if-none-match", last.headers["etag"].as_str());
    assert_eq!(served.call("GET", &format!("{path}?offset=-1"), &[tag], None).status, 304);
    let head = served.call("HEAD", "/streams/log", &[], None);
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert!(head.headers["cache-control"].contains("no-store"), "{head:?}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_understood_is_refused_and_nothing_is_written() {
    let served = Served::start().await;
    for query in [
        "offset=",
        "offset=x",
        "offset=1,2",
        "offset=-1&offset=-1",
        "live=sse",
        "live=long-poll",
        "offset=-1&live=x",
    ] {
        let refused = served.get(&format!("/streams/log?{query}"));
        assert_eq!((refused.status, refused.code().as_str()), (400, "VALIDATION_ERROR"), "{query}");
    }
    assert_eq!(served.get(&format!("/streams/log?offset={:020}", 9_999)).status, 400, "past the end");
    assert_eq!(
        served.get("/streams/log?colour=red").status,
        200,
        "the protocol ignores what it does not know"
    );
    assert_eq!(served.get("/streams/sessions/none").code(), "SESSION_NOT_FOUND");
    for method in ["PUT", "POST", "DELETE"] {
        let refused = served.call(method, "/streams/log", &[], None);
        assert_eq!((refused.status, refused.code().as_str()), (405, "METHOD_NOT_ALLOWED"), "{method}");
    }
    served.stop().await;
}

/// Reads what there is, says so, and follows until it has seen a second task.
const CLIENT: &str = r#"
import { stream } from "@durable-streams/client"
const [url, token, live] = process.argv.slice(2)
const headers = { Authorization: `Bearer ${token}` }
const first = await stream({ url, headers, offset: "-1", live: false })
const events = await first.json()
console.log(JSON.stringify({ count: events.length, offset: first.offset }))
const more = await stream({ url, headers, offset: first.offset, live })
const seen = []
more.subscribeJson(async (batch) => {
  seen.push(...batch.items)
  if (seen.some((event) => event.type === "task:created")) {
    console.log(JSON.stringify({ seqs: seen.map((event) => event.seq) }))
    process.exit(0)
  }
})
"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_reads_and_follows_the_log() {
    let (Some(node), Some(client)) = (find_program("node"), find_program("durable-streams-client")) else {
        return;
    };
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one" }));
    let modules = client.ancestors().find(|folder| folder.ends_with("node_modules")).unwrap();
    let folder = tempfile::tempdir_in(modules.parent().unwrap()).unwrap();
    let script = folder.path().join("client.mjs");
    std::fs::write(&script, CLIENT).unwrap();
    for live in ["long-poll", "sse"] {
        let url = format!("http://127.0.0.1:{}/streams/log", served.port);
        let mut command = tokio::process::Command::new(&node);
        command.arg(&script).args([&url, &served.keys.token(), live]).env_clear().env("HOME", folder.path());
        let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        let count = first["count"].as_u64().unwrap();
        assert_eq!(first["offset"], format!("{count:020}"));
        served.post("/api/tasks", &json!({ "title": "another" }));
        let more: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        let seqs: Vec<u64> = serde_json::from_value(more["seqs"].clone()).unwrap();
        let expected: Vec<u64> = (count + 1..).take(seqs.len()).collect();
        assert_eq!(seqs, expected, "{live}: without a gap and without a repetition");
    }
    served.stop().await;
}
