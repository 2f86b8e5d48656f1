//! Events and output as they come.

use crate::client::Served;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// One subscriber.
struct Reader {
    lines: BufReader<TcpStream>,
}

impl Reader {
    fn open(served: &Served, path: &str, headers: &str) -> Self {
        let mut stream = served.connect();
        let token = served.keys.token();
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: localhost:{}\r\nauthorization: Bearer {token}\r\n{headers}\r\n",
            served.port
        );
        stream.write_all(request.as_bytes()).expect("it can be sent");
        let mut reader = Reader { lines: BufReader::new(stream) };
        assert!(reader.line().starts_with("HTTP/1.1 200"));
        while !reader.line().is_empty() {}
        reader
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line comes in time");
        line.trim_end().to_owned()
    }

    /// Reads on to the next event, with its number; what frames the pieces is skipped.
    fn next(&mut self) -> (u64, Value) {
        let mut id = 0;
        loop {
            let line = self.line();
            if let Some(number) = line.strip_prefix("id: ") {
                id = number.parse().expect("an ID is a number");
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return (id, serde_json::from_str(data).expect("data is JSON"));
            }
        }
    }

    fn until(&mut self, last: u64) -> Vec<u64> {
        let mut seen = Vec::new();
        while seen.last() != Some(&last) {
            seen.push(self.next().0);
        }
        seen
    }
}

fn head(served: &Served) -> u64 {
    served.get("/healthz").json()["seq"].as_u64().expect("the log has a position")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_subscriber_sees_the_same_sequence_without_a_gap() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one" }));
    let mut early = Reader::open(&served, "/api/events?after=0", "");
    let mut resumed = Reader::open(&served, "/api/events", "last-event-id: 1\r\n");
    let before = head(&served);
    let mut now = Reader::open(&served, "/api/events", "");
    for title in ["two", "three"] {
        served.post("/api/tasks", &json!({ "title": title }));
    }
    let last = head(&served);
    assert!(last > before);
    assert_eq!(early.until(last), (1..=last).collect::<Vec<_>>());
    assert_eq!(resumed.until(last), (2..=last).collect::<Vec<_>>());
    assert_eq!(now.until(last), (before + 1..=last).collect::<Vec<_>>());
    let (mut all, mut after) = (Vec::new(), Some("0".to_owned()));
    while let Some(from) = after {
        let page = served.call(
            "GET",
            &format!("/api/events?after={from}&limit=2"),
            &[("accept", "application/json")],
            None,
        );
        let page = page.json();
        all.extend(page["items"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()));
        after = page["next"].as_str().map(str::to_owned);
    }
    assert_eq!(all, (1..=last).collect::<Vec<_>>(), "and so do the pages");
    let begin = Instant::now();
    served.stop().await;
    assert!(
        begin.elapsed() < Duration::from_secs(5),
        "open streams do not hold it up: {:?}",
        begin.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_let_through_what_is_asked_for() {
    let served = Served::start().await;
    let mut of_task = Reader::open(&served, "/api/events?after=0&task=2", "");
    let mut of_type = Reader::open(&served, "/api/events?after=0&type=task:created", "");
    served.post("/api/tasks", &json!({ "title": "one" }));
    served.post("/api/tasks", &json!({ "title": "two" }));
    let (_, event) = of_task.next();
    assert_eq!((event["type"].as_str(), &event["taskId"]), (Some("task:created"), &json!(2)), "{event}");
    assert_eq!(
        [of_type.next().1["taskId"].clone(), of_type.next().1["taskId"].clone()],
        [json!(1), json!(2)]
    );
    for path in ["/api/events?type=task:exploded", "/api/events?after=100000", "/api/events?after=x"] {
        assert_eq!(served.get(path).status, 422, "{path}");
    }
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_output_of_a_session_comes_in_pages_and_as_a_stream() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one" }));
    let assigned = served.post("/api/tasks/1/assign?wait=60", &json!({ "agentId": "worker" }));
    assert_eq!(assigned.json()["column"], "waiting_approval", "{assigned:?}");
    let sessions = served.get("/api/tasks/1/sessions").json();
    let name = sessions["items"][0]["session"].as_str().unwrap();
    assert_eq!(served.get(&format!("/api/sessions/{name}")).json()["number"], 1);
    let path = format!("/api/sessions/{name}/output");
    let all = served.get(&path).json()["items"].as_array().unwrap().clone();
    assert!(all.len() > 1, "{all:?}");
    let page = served.get(&format!("{path}?limit=1&after=1")).json();
    assert_eq!(page["items"][0], all[1]);
    assert_eq!(served.get(&format!("{path}?tail=1")).json()["items"], json!([all[all.len() - 1]]));
    let mut follower = Reader::open(&served, &format!("{path}?follow"), "");
    let followed: Vec<Value> = all.iter().map(|_| follower.next().1).collect();
    assert_eq!(followed, all);
    assert!(follower.next().1["end"].is_object(), "then it says how the session ended");
    assert_eq!(served.get("/api/sessions/p0-task-1-9").code(), "SESSION_NOT_FOUND");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_connection_carries_events_and_outputs() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one" }));
    served.post("/api/tasks/1/assign?wait=60", &json!({ "agentId": "worker" }));
    let sessions = served.get("/api/tasks/1/sessions").json();
    let name = sessions["items"][0]["session"].as_str().unwrap();
    let mut live =
        Reader::open(&served, &format!("/api/live?after=0&type=task:created&sessions={name}:1"), "");
    let (mut numbers, mut events, mut has_ended) = (Vec::new(), Vec::new(), false);
    while events.is_empty() || !has_ended {
        let (_, data) = live.next();
        has_ended |= data.get("end").is_some();
        numbers.extend(data["number"].as_u64());
        events.extend(data["type"].as_str().map(str::to_owned));
    }
    assert_eq!((numbers[0], events), (2, vec!["task:created".to_owned()]));
    assert!(
        served
            .plain("GET", "/metrics", &[], None)
            .body
            .contains("regatta_tasks{column=\"waiting_approval\"} 1")
    );
    assert_eq!(served.get("/api/live?sessions=p0-task-1-9").code(), "SESSION_NOT_FOUND");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_describes_every_address() {
    let served = Served::start().await;
    let document = served.get("/api/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    let assign = &document["paths"]["/api/tasks/{id}/assign"]["post"];
    let schema = &assign["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(schema["additionalProperties"], false, "unknown fields are refused: {assign}");
    assert!(schema["properties"]["agentId"].is_object());
    let mut names = std::collections::BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            assert!(
                names.insert(operation["operationId"].to_string()),
                "{method} {path} has a name of its own"
            );
            assert!(operation["responses"]["401"].is_object());
        }
    }
    assert!(names.len() > 50, "{}", names.len());
    served.stop().await;
}
