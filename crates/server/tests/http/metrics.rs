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

/// Speaks the Agent Client Protocol, and says what it used.
const PAID: &str = r#"
say() { printf '%s\n' "$1"; }
update() { say "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":$1}}"; }
read -r initialize
say '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}'
read -r new_session
say '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
read -r prompt
echo paid > paid.txt
update '{"sessionUpdate":"usage_update","used":52000,"size":200000,"cost":{"amount":0.25,"currency":"USD"}}'
update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"{\"summary\":\"done\"}"}}'
say '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn","usage":{"totalTokens":1500,"inputTokens":1200,"outputTokens":300}}}'
cat > /dev/null
"#;

const WORKFLOW: &str = r#"
name = "steps"
start = "first"
nodes.first = { kind = "pass" }
nodes.ask = { kind = "approval", question = "'Is it good?'" }
nodes.done = { kind = "end" }
edges = [{ id = "on", from = "first", to = "ask" }, { id = "answered", from = "ask", to = "done" }]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn tokens_cost_and_steps_are_counted() {
    let config = format!(
        "[sandbox]\nmode = \"off\"\n\n[agents.paid]\nkind = \"acp\"\ncommand = ['sh', '-c', '''{PAID}''']\n"
    );
    let files = [
        (".regatta/workflows/steps/workflow.toml", WORKFLOW),
        (".regatta/workflows/steps/state.schema.json", "{\"type\": \"object\"}"),
    ];
    let served = Served::start_in(&config, &files).await;
    let none = figures(&served);
    for name in ["regatta_tokens_total", "regatta_cost_micros_total", "regatta_step_seconds_count"] {
        assert_eq!(none.get(name), Some(&0.0), "{name}");
    }
    served.post("/api/tasks", &json!({ "title": "one" }));
    served.post("/api/tasks/1/assign?wait=60", &json!({ "agentId": "paid" }));
    until("it is up for review", || served.get("/api/tasks/1").json()["waitsFor"] == "you");
    served.post("/api/runs", &json!({ "workflow": "steps", "board": false }));
    until("the run asks", || served.get("/api/runs/1").json()["question"].is_string());
    served.post("/api/runs/1/answer?wait=60", &json!({ "text": "yes" }));
    until("the run is over", || served.get("/api/runs/1").json()["status"] == "completed");
    let (found, total) = (figures(&served), served.get("/api/cost").json()["total"].clone());
    assert_eq!(found["regatta_tokens_total"], 1_500.0, "{total}");
    assert_eq!(found["regatta_cost_micros_total"], 250_000.0, "{total}");
    assert_eq!(total["costMicros"], 250_000, "the API says the same");
    let steps = found["regatta_step_seconds_count"];
    assert!(steps >= 1.0 && found["regatta_step_seconds_bucket{le=\"+Inf\"}"] == steps, "{found:#?}");
    assert!(found["regatta_step_seconds_sum"] > 0.0, "{found:#?}");
    served.stop().await;
}
