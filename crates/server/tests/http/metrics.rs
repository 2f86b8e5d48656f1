//! The figures for Prometheus, beside what the API says.

use crate::client::Served;
use regatta_testkit::wait::until;
use serde_json::json;
use std::collections::BTreeMap;

const CONFIG: &str = r#"
[project]
max_concurrent_agents = 1

[agents.worker]
kind = "scripted"
script = ".regatta/scripts/worker.toml"

[agents.slow]
kind = "command"
command = ["sh", "-c", "cat > /dev/null; echo slow > slow.txt; while [ ! -e go ]; do sleep 0.02; done"]

[sandbox]
mode = "off"
"#;

fn figures(served: &Served) -> BTreeMap<String, f64> {
    let text = served.plain("GET", "/metrics", &[], None).body;
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').expect("a sample has a value");
            (name.to_owned(), value.parse().expect("it is a number"))
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn figures_are_those_of_the_project() {
    let served = Served::start_in(CONFIG, &[]).await;
    for title in ["one", "two", "three", "four"] {
        served.post("/api/tasks", &json!({ "title": title }));
    }
    served.post("/api/tasks/1/assign?wait=60", &json!({ "agentId": "worker" }));
    served.post("/api/tasks/2/assign", &json!({ "agentId": "slow" }));
    let worktree = || served.get("/api/tasks/2").json()["worktree"].as_str().map(str::to_owned);
    until("the slow one works", || served.get("/api/tasks/2").json()["phase"] == "running");
    served.post("/api/tasks/3/assign", &json!({ "agentId": "worker" }));
    until("the third is queued", || served.get("/api/tasks/3").json()["queuePosition"] == 1);
    let _reader = served.follow_events();
    until("the reader is counted", || figures(&served)["regatta_stream_readers"] >= 1.0);
    let found = figures(&served);
    let health = served.get("/healthz").json();
    for (name, wanted) in [
        ("regatta_tasks{column=\"backlog\"}", 2.0),
        ("regatta_tasks{column=\"in_progress\"}", 1.0),
        ("regatta_tasks{column=\"waiting_approval\"}", 1.0),
        ("regatta_tasks{column=\"verified\"}", 0.0),
        ("regatta_tasks_queued", 1.0),
        // The first to be reviewed, and the fourth to be assigned.
        ("regatta_tasks_for_you", 2.0),
        ("regatta_sessions_total", 2.0),
        ("regatta_sessions_running", 1.0),
        ("regatta_questions", 0.0),
        ("regatta_engine_up", 1.0),
        ("regatta_stream_readers", 1.0),
        ("regatta_log_position", health["seq"].as_f64().expect("a number")),
    ] {
        assert_eq!(found.get(name), Some(&wanted), "{name}: {found:#?}");
    }
    assert!(found["regatta_queue_age_seconds"] < 60.0, "{found:#?}");
    let appended = found["regatta_append_seconds_count"];
    assert!(appended > 0.0 && found["regatta_append_seconds_bucket{le=\"+Inf\"}"] == appended, "{found:#?}");
    assert!(found["regatta_append_seconds_sum"] > 0.0, "{found:#?}");
    let worktree = worktree().expect("the slow one has a worktree");
    std::fs::write(format!("{worktree}/go"), "").expect("the worktree can be written to");
    until("the third follows", || served.get("/api/tasks/3").json()["waitsFor"] == "you");
    let after = figures(&served);
    assert_eq!((after["regatta_tasks_queued"], after["regatta_queue_age_seconds"]), (0.0, 0.0));
    assert_eq!((after["regatta_sessions_running"], after["regatta_sessions_total"]), (0.0, 3.0));
    assert!(after["regatta_append_seconds_count"] > appended);
    served.stop().await;
}
