//! Reading: pages, filters, tags, and clear errors.

use crate::client::Served;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_list_comes_in_pages_and_by_filter() {
    let served = Served::start().await;
    for number in 1..=5 {
        let body = json!({ "title": format!("task {number}"), "description": if number == 4 { "a needle" } else { "" } });
        assert_eq!(served.post("/api/tasks", &body).status, 201);
    }
    let ids = |path: &str| -> (Vec<u64>, Option<String>) {
        let page = served.get(path).json();
        let ids = page["items"].as_array().unwrap().iter().map(|task| task["id"].as_u64().unwrap()).collect();
        (ids, page["next"].as_str().map(str::to_owned))
    };
    assert_eq!(ids("/api/tasks?limit=2"), (vec![1, 2], Some("2".to_owned())));
    assert_eq!(ids("/api/tasks?limit=2&after=2"), (vec![3, 4], Some("4".to_owned())));
    assert_eq!(ids("/api/tasks?limit=2&after=4"), (vec![5], None));
    assert_eq!(ids("/api/tasks?text=needle"), (vec![4], None));
    assert_eq!(ids("/api/tasks?column=verified"), (vec![], None));
    for (path, field) in [
        ("/api/tasks?colour=red", "colour"),
        ("/api/tasks?limit=0", "limit"),
        ("/api/tasks?limit=1001", "limit"),
        ("/api/tasks?column=done", "column"),
        ("/api/tasks?after=x", "after"),
        ("/api/tasks?all=perhaps", "all"),
        ("/api/tasks/x", "id"),
        ("/api/cost?by=moon", "by"),
        ("/api/workflows/..%2f..%2fetc", "workflow"),
    ] {
        let refused = served.get(path);
        assert_eq!((refused.status, refused.code().as_str()), (422, "VALIDATION_ERROR"), "{path}");
        assert_eq!(refused.json()["error"]["details"]["fields"][0]["field"], field, "{path}");
    }
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_read_answers_and_what_is_missing_is_said() {
    let served = Served::start().await;
    served.post("/api/tasks", &json!({ "title": "one", "criteria": ["it works"] }));
    for path in [
        "/api/tasks/1",
        "/api/tasks/1/file",
        "/api/tasks/1/criteria",
        "/api/tasks/1/checks",
        "/api/tasks/1/salvages",
        "/api/tasks/1/chain-output",
        "/api/tasks/1/archive",
        "/api/tasks/1/sessions",
        "/api/epics",
        "/api/prds",
        "/api/runs",
        "/api/workflows",
        "/api/workflows/speckit",
        "/api/workflows/speckit/check",
        "/api/messages",
        "/api/agents",
        "/api/questions",
        "/api/cost",
        "/api/doctor",
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let tag = &answer.headers["etag"];
        let again = served.call("GET", path, &[("if-none-match", tag)], None);
        assert_eq!((again.status, again.body.as_str()), (304, ""), "{path}");
    }
    for (path, code) in [
        ("/api/tasks/9", "TASK_NOT_FOUND"),
        ("/api/tasks/9/file", "TASK_NOT_FOUND"),
        ("/api/epics/9", "EPIC_NOT_FOUND"),
        ("/api/prds/nine", "PRD_NOT_FOUND"),
        ("/api/runs/9", "RUN_NOT_FOUND"),
        ("/api/runs/9/steps", "RUN_NOT_FOUND"),
        ("/api/workflows/nine", "WORKFLOW_NOT_FOUND"),
        ("/api/nothing", "ROUTE_NOT_FOUND"),
    ] {
        let refused = served.get(path);
        assert_eq!((refused.status, refused.code().as_str()), (404, code), "{path}");
    }
    let refused = served.call("PUT", "/api/tasks", &[], Some(&json!({})));
    assert_eq!((refused.status, refused.code().as_str()), (405, "METHOD_NOT_ALLOWED"));
    assert_eq!(refused.headers["allow"], "GET, POST");
    let head = served.call("HEAD", "/api/tasks/1", &[], None);
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_address_leads_out_of_the_api_in_any_encoding() {
    let served = Served::start().await;
    served.write(".regatta/secret.txt", "a secret");
    let ups = [
        "../",
        "..%2f",
        "%2e%2e/",
        "%2e%2e%2f",
        "..%5c",
        "%2e%2e%5c",
        "..%252f",
        "..%c0%af",
        "..;/",
        "..%00/",
    ];
    for up in ups.map(|up| up.repeat(6)) {
        for begin in [
            "/",
            "/assets/",
            "/assets/x/",
            "/api/sessions/",
            "/streams/sessions/",
            "/api/prds/",
            "/api/workflows/",
            "/errors/",
        ] {
            for end in
                ["secret.txt", ".regatta/secret.txt", "etc/passwd", "etc/passwd/output", "etc/passwd/graph"]
            {
                let path = format!("{begin}{up}{end}");
                let answer = served.get(&path);
                assert!(matches!(answer.status, 400 | 404 | 422), "{path}: {answer:?}");
                assert!(
                    !answer.body.contains("a secret") && !answer.body.contains("root:"),
                    "{path}: {answer:?}"
                );
            }
        }
    }
    served.stop().await;
}
