//! Changing: the whole life of a task, keys, versions and refusals.

use crate::client::Served;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn a_task_goes_from_the_backlog_to_the_branch() {
    let served = Served::start().await;
    let added = served.post("/api/tasks", &json!({ "title": "one", "priority": "high" }));
    assert_eq!((added.status, added.headers["location"].as_str()), (201, "/api/tasks/1"));
    assert_eq!(added.json()["priority"], "high");
    let assigned = served.post("/api/tasks/1/assign", &json!({ "agentId": "worker" }));
    assert_eq!(assigned.status, 202, "{assigned:?}");
    assert!(assigned.headers["regatta-seq"].parse::<u64>().unwrap() > 0);
    regatta_testkit::wait::until("the task waits for approval", || {
        served.get("/api/tasks/1").json()["waitsFor"] == "you"
    });
    let task = served.get("/api/tasks/1").json();
    assert_eq!(task["column"], "waiting_approval");
    let diff = served.get("/api/tasks/1/diff").json();
    assert!(diff["patch"].as_str().unwrap().contains("task-1.txt"));
    assert!(served.get("/api/tasks/1/diff?stat").json().get("patch").is_none());
    let files = served.get("/api/tasks/1/diff/files?limit=1").json();
    assert_eq!(files["items"][0]["path"], "task-1.txt");
    assert!(files["items"][0]["patch"].as_str().unwrap().starts_with("diff --git"));
    let head = json!({ "head": "0".repeat(40) });
    assert_eq!(served.post("/api/tasks/1/approve", &head).code(), "APPROVAL_STALE");
    let approved = served.post("/api/tasks/1/approve?wait=60", &json!({ "head": task["diff"]["head"] }));
    assert_eq!((approved.status, &approved.json()["column"]), (200, &json!("verified")), "{approved:?}");
    let refused = served.post("/api/tasks/1/cancel", &json!({}));
    assert_eq!((refused.status, refused.code().as_str()), (409, "TASK_INVALID_TRANSITION"));
    let hidden = served.call("POST", "/api/tasks/1/hide", &[], None);
    assert_eq!((hidden.status, &hidden.json()["hidden"]), (200, &json!(true)), "a body is not needed");
    assert_eq!(served.get("/api/tasks").json()["items"], json!([]));
    assert_eq!(served.get("/api/tasks?all").json()["items"].as_array().unwrap().len(), 1);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_sent_back_with_comments_on_lines() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one", "description": "Write it.\nTest it." }));
    served.post("/api/tasks/1/assign", &json!({ "agentId": "worker" }));
    let waits = || served.get("/api/tasks/1").json()["waitsFor"] == "you";
    regatta_testkit::wait::until("the task waits for approval", waits);
    let seq = served.get("/healthz").json()["seq"].clone();
    let bad = json!([
        { "path": "task-1.txt", "line": 99, "text": "x" },
        { "path": "never.txt", "line": 1, "text": "x" },
        { "path": "../secret", "line": 1, "text": "x" },
    ]);
    let refused = served.post("/api/tasks/1/reject", &json!({ "comments": bad }));
    assert_eq!((refused.status, refused.code().as_str()), (422, "VALIDATION_ERROR"));
    let said = refused.json()["error"].to_string();
    assert!(said.contains("number 3: `path` must be relative"), "{said}");
    let two = json!([bad[0], bad[1]]);
    let said = served.post("/api/tasks/1/reject", &json!({ "comments": two })).json()["error"].to_string();
    assert!(
        said.contains("number 1: `line` is 99") && said.contains("number 2: `path` names never.txt"),
        "{said}"
    );
    assert_eq!(served.get("/healthz").json()["seq"], seq, "nothing changed");
    let comments = json!([
        { "path": "task-1.txt", "line": 1, "endLine": 7, "text": "Say more." },
        { "part": "plan", "line": 2, "text": "Is that all?" },
        { "path": "task-1.txt", "text": "A better name?" },
    ]);
    let sent = served.post("/api/tasks/1/reject", &json!({ "comments": comments }));
    assert!(matches!(sent.status, 200 | 202), "{sent:?}");
    let rejection = served.get("/api/tasks/1").json()["rejections"][0].clone();
    assert_eq!((&rejection["number"], &rejection["reason"]), (&json!(1), &json!("See the 3 comments.")));
    let kept = &rejection["comments"];
    assert_eq!((&kept[0]["endLine"], &kept[1]["quote"]), (&json!(1), &json!("Test it.")), "{kept}");
    assert!(kept[0]["quote"].as_str().is_some_and(|quote| !quote.is_empty()), "{kept}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_makes_a_change_happen_once() {
    let served = Served::start().await;
    let key = [("idempotency-key", "order 7")];
    let add = |title: &str| served.call("POST", "/api/tasks", &key, Some(&json!({ "title": title })));
    let (first, second) = (add("one"), add("one"));
    assert_eq!((first.status, second.status), (201, 201));
    assert_eq!(first.json()["id"], second.json()["id"]);
    let other = add("two");
    assert_eq!((other.status, other.code().as_str()), (409, "COMMAND_REUSED"));
    assert_eq!(served.get("/api/tasks").json()["items"].as_array().unwrap().len(), 1);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_what_has_moved_is_refused() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one" }));
    let tag = served.get("/api/tasks/1").headers["etag"].clone();
    let edit = |title: &str, tag: &str| {
        served.call("PATCH", "/api/tasks/1", &[("if-match", tag)], Some(&json!({ "title": title })))
    };
    assert_eq!(edit("two", &tag).status, 200);
    let refused = edit("three", &tag);
    assert_eq!((refused.status, refused.code().as_str()), (412, "PRECONDITION_FAILED"));
    assert_eq!(served.get("/api/tasks/1").json()["title"], "two");
    let tag = served.get("/api/tasks/1").headers["etag"].clone();
    assert_eq!(edit("three", &tag).status, 200, "the new one is good");
    assert_eq!(edit("four", "*").status, 200);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_and_bad_fields_are_named_and_nothing_changes() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one", "criteria": ["it works"] }));
    let before = served.get("/healthz").json()["seq"].clone();
    let cases: [(&str, Value, &str); 8] = [
        ("/api/tasks", json!({ "title": "x", "colour": "red" }), "colour"),
        ("/api/tasks", json!({}), "title"),
        ("/api/tasks", json!({ "title": "x", "priority": "urgent" }), "priority"),
        ("/api/tasks", json!({ "title": "x", "dependencies": [0] }), "dependencies"),
        ("/api/tasks/1/assign", json!({ "agentId": "worker", "me": true }), "me"),
        ("/api/tasks/1/reject", json!({}), "reason"),
        ("/api/tasks/1/complete", json!({ "x": 1 }), "x"),
        ("/api/runs", json!({ "workflow": "../x" }), "workflow"),
    ];
    for (path, body, field) in cases {
        let refused = served.post(path, &body);
        assert_eq!((refused.status, refused.code().as_str()), (422, "VALIDATION_ERROR"), "{path} {body}");
        assert_eq!(refused.json()["error"]["details"]["fields"][0]["field"], field, "{path} {body}");
    }
    assert_eq!(served.post("/api/tasks/1/assign", &json!({ "agentId": "nobody" })).code(), "AGENT_NOT_FOUND");
    assert_eq!(served.get("/healthz").json()["seq"], before, "the log has not moved");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_other_verbs_of_a_task_and_of_documents_and_messages() {
    let served = Served::start().await;
    served.post("/api/prds", &json!({ "slug": "shop", "title": "Shop", "text": "# Shop\n" }));
    let epic = served.post("/api/epics", &json!({ "title": "Till", "prd": "shop" }));
    assert_eq!((epic.status, epic.headers["location"].as_str()), (201, "/api/epics/1"));
    let task = json!({ "title": "one", "criteria": ["it works"], "epicId": 1 });
    assert_eq!(served.post("/api/tasks", &task).json()["prd"], "shop");
    served.post("/api/tasks", &json!({ "title": "two" }));
    assert_eq!(
        served.post("/api/tasks/2/depends", &json!({ "add": [1] })).json()["dependencies"],
        json!([1])
    );
    assert_eq!(served.post("/api/tasks/1/depends", &json!({ "add": [2] })).code(), "DEPENDENCY_CYCLE");
    assert_eq!(
        served.post("/api/tasks/1/criteria", &json!({ "check": [1] })).json()["criteria"][0]["checked"],
        true
    );
    let progress = json!({ "did": "half of it", "next": "the rest" });
    assert_eq!(served.post("/api/tasks/1/progress", &progress).status, 200);
    assert!(served.get("/api/tasks/1/file").body.contains("half of it"));
    assert_eq!(served.post("/api/tasks/1/output", &json!({ "text": "use the till" })).status, 200);
    assert!(
        served.get("/api/tasks/1/chain-output").json()["output"].as_str().unwrap().contains("use the till")
    );
    let edited = served.call("PATCH", "/api/tasks/1", &[], Some(&json!({ "epicId": null })));
    assert_eq!((edited.status, &edited.json()["epicId"]), (200, &Value::Null), "{edited:?}");
    let changed = served.call("PATCH", "/api/prds/shop", &[], Some(&json!({ "title": "The shop" })));
    assert_eq!((changed.status, &changed.json()["title"]), (200, &json!("The shop")));
    assert_eq!(
        served.call("PATCH", "/api/epics/1", &[], Some(&json!({ "title": "Tills" }))).json()["title"],
        "Tills"
    );
    let sent = served.post("/api/messages", &json!({ "to": "task:1", "body": "hello" }));
    assert_eq!(sent.status, 201, "{sent:?}");
    let unread = served.get("/api/messages?task=1&unread=true").json();
    assert_eq!(unread["items"][0]["body"], "hello");
    assert_eq!(served.post(&format!("{}/read", sent.headers["location"]), &json!({})).json()["read"], true);
    let deleted = served.call("DELETE", "/api/tasks/2", &[], None);
    assert_eq!((deleted.status, &deleted.json()["deleted"]), (200, &json!(true)));
    assert_eq!(served.get("/api/tasks/2").code(), "TASK_NOT_FOUND");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_with_a_wrong_parameter_is_not_made() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one" }));
    for wait in ["61", "x", "-1", "", "1&wait=1"] {
        let refused =
            served.post(&format!("/api/tasks/1/assign?wait={wait}"), &json!({ "agentId": "worker" }));
        assert_eq!((refused.status, refused.code().as_str()), (422, "VALIDATION_ERROR"), "{wait}");
    }
    assert_eq!(served.get("/api/tasks/1").json()["column"], "backlog", "nothing was done");
    served.stop().await;
}

/// A version that no object has.
const STALE: (&str, &str) = ("if-match", "\"999999-0\"");

#[tokio::test(flavor = "multi_thread")]
async fn every_change_of_an_object_is_refused_if_the_object_has_moved() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one", "criteria": ["it works"] }));
    served.post("/api/epics", &json!({ "title": "Till" }));
    served.post("/api/prds", &json!({ "slug": "shop", "title": "Shop", "text": "# Shop\n" }));
    served.post("/api/runs", &json!({ "workflow": "speckit", "prd": "shop", "board": false }));
    let document = served.get("/api/openapi.json").json();
    let before = served.get("/api/tasks/1").json();
    let mut tried = 0;
    for (path, methods) in document["paths"].as_object().expect("there are paths") {
        for (method, operation) in methods.as_object().expect("there are methods") {
            let mut parameters = operation["parameters"].as_array().expect("a list").iter();
            if !parameters.any(|parameter| parameter["name"] == "If-Match") {
                continue;
            }
            let (address, method) =
                (path.replace("{id}", "1").replace("{slug}", "shop"), method.to_uppercase());
            let content = &operation["requestBody"]["content"];
            let answer = match content["text/markdown"]["example"].as_str() {
                Some(text) => served.send_text(&method, &address, "text/markdown", STALE.1, text),
                None => {
                    let body = &content["application/json"]["example"];
                    served.call(&method, &address, &[STALE], Some(body).filter(|body| body.is_object()))
                }
            };
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (412, "PRECONDITION_FAILED"),
                "{method} {address}"
            );
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried} were tried");
    assert_eq!(served.get("/api/tasks/1").json(), before, "nothing was done");
    served.stop().await;
}
