//! Notes, ways out of an error, and long output, over HTTP.

use crate::client::Served;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn a_note_is_sent_and_listed_until_it_is_delivered() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one" }));
    let sent = served.post("/api/tasks/1/notes", &json!({ "text": "Keep it small" }));
    assert_eq!((sent.status, &sent.json()["from"]), (201, &json!("person:tester")));
    assert_eq!(served.get("/api/tasks/1/notes").json()["items"][0]["delivered"], false);
    assert_eq!(served.get("/api/tasks/1").json()["notes"][0]["text"], "Keep it small");
    served.post("/api/tasks/1/assign?wait=60", &json!({}));
    assert_eq!(served.get("/api/tasks/1/notes").json()["items"][0]["delivered"], true);
    for body in [
        json!({}),
        json!({ "text": "" }),
        json!({ "text": "x".repeat(4001) }),
        json!({ "text": "x", "to": "y" }),
    ] {
        assert_eq!(served.post("/api/tasks/1/notes", &body).code(), "VALIDATION_ERROR", "{body}");
    }
    assert_eq!(served.post("/api/tasks/9/notes", &json!({ "text": "x" })).code(), "TASK_NOT_FOUND");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn output_is_paged_backwards_from_its_end() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one" }));
    served.post("/api/tasks/1/assign?wait=60", &json!({}));
    let session =
        served.get("/api/tasks/1/sessions").json()["items"][0]["session"].as_str().unwrap().to_owned();
    let all = served.get(&format!("/api/sessions/{session}/output")).json()["items"].clone();
    let mut back: Vec<Value> = Vec::new();
    let mut place = "end".to_owned();
    loop {
        let page = served.get(&format!("/api/sessions/{session}/output?limit=2&before={place}")).json();
        back.splice(0..0, page["items"].as_array().unwrap().iter().cloned());
        match page["previous"].as_str() {
            Some(previous) => place = previous.to_owned(),
            None => break,
        }
    }
    assert_eq!(Value::from(back), all);
    assert_eq!(served.get(&format!("/api/sessions/{session}/output?before=x")).code(), "VALIDATION_ERROR");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_comes_with_requests_that_can_be_sent() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one" }));
    served.post("/api/tasks/1/assign?wait=60", &json!({}));
    assert_eq!(served.get("/api/tasks/1").json().get("recovery"), None);
    served.write("task-1.txt", "my own\n");
    served.post("/api/tasks/1/approve?wait=60", &json!({}));
    let recovery = served.get("/api/tasks/1").json()["recovery"].clone();
    assert_eq!(
        (&recovery["code"], &recovery["files"]),
        (&json!("CHECKOUT_IN_THE_WAY"), &json!(["task-1.txt"]))
    );
    let first = recovery["actions"][0].clone();
    assert_eq!((&first["action"], &first["command"]), (&json!("retry"), &json!("regatta task approve 1")));
    served.remove("task-1.txt");
    let path = format!("{}?wait=60", first["request"]["path"].as_str().unwrap());
    assert_eq!(served.post(&path, &first["request"]["body"]).json()["column"], "verified");
    assert_eq!(served.post("/api/tasks/1/open", &json!({})).code(), "VALIDATION_ERROR");
    let limit = json!({ "scope": "task", "measure": "cost", "limit": 4 });
    assert_eq!(served.post("/api/limits", &limit).status, 200);
    assert!(served.read(".regatta/config.toml").contains("[budget.task]\ncost = 4.00\n"));
    assert_eq!(
        served.post("/api/limits", &json!({ "scope": "x", "measure": "cost", "limit": 4 })).status,
        422
    );
    served.stop().await;
}
