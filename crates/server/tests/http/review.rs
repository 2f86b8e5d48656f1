//! The review: its page, the pieces that it fetches, and what was viewed.

use crate::client::Served;
use serde_json::{Value, json};

async fn with_a_review() -> (Served, Value) {
    let served = Served::start().await;
    let title = "<script>alert(1)</script>";
    served.post(
        "/api/tasks",
        &json!({ "title": title, "description": "Write it.", "criteria": ["<b>it works</b>"] }),
    );
    assert_eq!(served.get("/tasks/1/review").status, 200, "a task without a diff has a page, too");
    served.post("/api/tasks/1/assign", &json!({ "agentId": "worker" }));
    let waits = || served.get("/api/tasks/1").json()["waitsFor"] == "you";
    regatta_testkit::wait::until("the task waits for approval", waits);
    let task = served.get("/api/tasks/1").json();
    (served, task)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_has_the_diff_and_the_decision_and_nothing_that_acts() {
    let (served, task) = with_a_review().await;
    let head = task["diff"]["head"].as_str().unwrap();
    let page = served.get("/tasks/1/review");
    assert_eq!((page.status, page.headers["content-type"].as_str()), (200, "text/html; charset=utf-8"));
    for wanted in [
        "data-path=\"task-1.txt\"",
        "session 1",
        "id=\"approve\"",
        "id=\"send-back\"",
        &format!("data-head=\"{head}\""),
        "&#60;script&#62;alert(1)",
        "1 criterion is open",
    ] {
        assert!(page.body.contains(wanted), "{wanted}: {}", page.body);
    }
    assert!(!page.body.contains("<script>alert") && !page.body.contains("<b>it works"), "{}", page.body);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pieces_are_fetched_by_commit_and_bad_ones_are_refused() {
    let (served, task) = with_a_review().await;
    let (base, head) = (task["diff"]["base"].as_str().unwrap(), task["diff"]["head"].as_str().unwrap());
    let ends = format!("base={base}&head={head}");
    for path in [
        format!("/fragments/tasks/1/files/0?{ends}"),
        format!("/fragments/tasks/1/files/0?{ends}&split"),
        format!("/fragments/tasks/1/lines/0?{ends}&from=1&count=20"),
        format!("/fragments/tasks/1/decision?head={head}"),
    ] {
        let piece = served.get(&path);
        assert_eq!(piece.status, 200, "{path} {piece:?}");
        assert!(piece.body.starts_with('<') && !piece.body.contains("<html"), "{path} {}", piece.body);
    }
    let stale = served.get(&format!("/fragments/tasks/1/decision?head={base}")).body;
    assert!(stale.contains("id=\"stale\"") && stale.contains("data-can-approve=\"false\""), "{stale}");
    for (path, code) in [
        (format!("/fragments/tasks/1/files/9?{ends}"), 422),
        (format!("/fragments/tasks/1/files/-1?{ends}"), 422),
        ("/fragments/tasks/1/files/0".to_owned(), 422),
        (format!("/fragments/tasks/1/files/0?base=--help&head={head}"), 422),
        (format!("/fragments/tasks/9/files/0?{ends}"), 404),
        (format!("/fragments/tasks/1/lines/0?{ends}&from=99999999999"), 422),
    ] {
        assert_eq!(served.get(&path).status, code, "{path}");
    }
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_viewed_is_kept_by_content() {
    let (served, _) = with_a_review().await;
    let state = |answer: &Value| (answer["all"].clone(), answer["viewed"].clone(), answer["changed"].clone());
    let first = served.get("/api/tasks/1/viewed").json();
    assert_eq!(state(&first), (json!(1), json!(0), json!(0)));
    let hunk = first["files"][0]["hunks"][0]["hunk"].clone();
    let body = json!({ "path": "task-1.txt", "hunks": [hunk] });
    assert_eq!(state(&served.post("/api/tasks/1/viewed", &body).json()), (json!(1), json!(1), json!(0)));
    assert!(served.get("/tasks/1/review").body.contains("data-seen=\"viewed\""));
    for bad in [json!({ "path": "never" }), json!({ "path": "task-1.txt", "hunks": ["x"] }), json!({})] {
        assert_eq!(served.post("/api/tasks/1/viewed", &bad).status, 422, "{bad}");
    }
    served.post("/api/tasks/1/reject?wait=60", &json!({ "reason": "once more" }));
    let is_second = || {
        let task = served.get("/api/tasks/1").json();
        task["waitsFor"] == "you" && task["rejectionCount"] == 1 && task["phase"] == "ready"
    };
    regatta_testkit::wait::until("the second attempt is up", is_second);
    assert_eq!(
        state(&served.get("/api/tasks/1/viewed").json()),
        (json!(1), json!(0), json!(1)),
        "it has changed since"
    );
    let undo = json!({ "path": "task-1.txt", "viewed": false });
    served.post("/api/tasks/1/viewed", &json!({ "path": "task-1.txt" }));
    assert_eq!(state(&served.post("/api/tasks/1/viewed", &undo).json()), (json!(1), json!(0), json!(1)));
    served.stop().await;
}
