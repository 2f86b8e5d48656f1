//! Every way out of every error: its button sends a request that the server has and whose body it reads, or opens a page.

use crate::client::Served;
use regatta_engine::core::machine::Column;
use regatta_engine::core::run::Status;
use regatta_engine::core::{Code, Evidence, Failure, RunId, TaskId, WaitsFor};
use regatta_engine::recovery::{ActionView, Means, RecoveryView, recover_from, recover_run, recover_task};
use regatta_engine::{Project, TaskView, runs, show_task};
use regatta_testkit::wait::until;
use serde_json::json;
use std::collections::BTreeMap;

const CONFIG: &str = r#"
[board]
editor = ["true", "{path}"]

[agents.worker]
kind = "scripted"
script = ".regatta/scripts/worker.toml"

[agents.other]
kind = "scripted"
script = ".regatta/scripts/worker.toml"
"#;

const WORKFLOW: &str = r#"
name = "ask"
start = "question"
state = "state.schema.json"

[nodes.question]
kind = "approval"
question = "'Continue?'"

[nodes.done]
kind = "end"

[[edges]]
id = "on"
from = "question"
to = "done"
"#;

/// What an answer may not be: the request is then not one of the server's.
const UNREAD: [&str; 5] =
    ["ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED", "VALIDATION_ERROR", "MEDIA_TYPE_UNSUPPORTED", "INTERNAL"];

fn failure(code: Code) -> Failure {
    let details = json!({
        "files": ["task-1.txt"], "scope": "task", "measure": "cost", "limit": 2.0, "taskId": 1, "edge": "on",
        "checkouts": [{ "files": ["task-1.txt"] }],
    });
    let details = details.as_object().cloned().expect("it is an object");
    Failure { code, message: "it was not done: why".to_owned(), hint: "do it".to_owned(), details }
}

/// Returns what is offered for each code, wherever the task stands.
fn of_tasks(task: &TaskView, means: &Means) -> Vec<RecoveryView> {
    let mut found = Vec::new();
    for column in Column::ALL {
        for queue_position in [None, Some(1)] {
            let task = TaskView { column, queue_position, waits_for: WaitsFor::You, ..task.clone() };
            found.extend(Code::ALL.iter().map(|code| recover_from(&task, &failure(*code), means)));
        }
    }
    let check = Evidence {
        name: "test".to_owned(),
        passed: false,
        exit: Some(1),
        milliseconds: 5,
        tail: "1 failed".to_owned(),
    };
    let task = TaskView { checks: vec![check], waits_for: WaitsFor::You, ..task.clone() };
    found.extend(recover_task(&task, means));
    found
}

fn of_runs(run: &runs::RunView) -> Vec<RecoveryView> {
    let mut found = Vec::new();
    for (status, phase) in
        [(Status::Running, "waiting"), (Status::Running, "landing"), (Status::Failed, "over")]
    {
        for code in Code::ALL {
            let mut run = run.clone();
            (run.status, run.phase, run.waits_for) = (status, phase, WaitsFor::You);
            run.error = Some(failure(*code));
            found.extend(recover_run(&run));
        }
    }
    found
}

/// Does what a button does, and says what is wrong with that.
fn press(served: &Served, action: &ActionView) -> Option<String> {
    let Some(request) = &action.request else {
        let Some(page) = &action.page else {
            return (!action.command.starts_with("regatta ")).then(|| "there is nothing to copy".to_owned());
        };
        let shown = served.get(page);
        return (shown.status != 200).then(|| format!("{page} is {}", shown.status));
    };
    let mut body = request.body.clone();
    if let Some(field) = request.choose {
        let Some(choice) = request.choices.first() else { return Some("nothing can be chosen".to_owned()) };
        body[field] = json!(choice);
    }
    let posts = [(request.path.clone(), body)]
        .into_iter()
        .chain(request.then.iter().map(|path| (path.clone(), json!({}))));
    for (path, body) in posts {
        let answer = served.post(&path, &body);
        if UNREAD.contains(&answer.code().as_str()) || answer.status >= 500 {
            return Some(format!("{path} {body}: {} {}", answer.status, answer.body));
        }
    }
    None
}

#[tokio::test(flavor = "multi_thread")]
async fn every_button_sends_what_the_server_reads() {
    let files = [
        (".regatta/workflows/ask/workflow.toml", WORKFLOW),
        (".regatta/workflows/ask/state.schema.json", "{\"type\":\"object\"}"),
    ];
    let served = Served::start_in(CONFIG, &files).await;
    served.post("/api/tasks", &json!({ "title": "one" }));
    served.post("/api/tasks/1/assign?wait=60", &json!({ "agentId": "worker" }));
    served.post("/api/runs", &json!({ "workflow": "ask", "board": false }));
    until("the run asks", || served.get("/api/runs/1").json()["waitsFor"] == "you");
    let project = Project::open(served.repo.path()).await.expect("the project opens");
    let task = show_task(&project, TaskId::FIRST).await.expect("the task is there");
    let run = runs::show_run_only(&project, RunId::FIRST).await.expect("the run is there");
    let mut all = of_tasks(&task, &Means::of(&project));
    all.extend(of_runs(&run));
    let mut actions: BTreeMap<String, ActionView> = BTreeMap::new();
    for recovery in all {
        assert!(!recovery.actions.is_empty(), "{}: nothing can be done", recovery.code);
        assert!(!recovery.safe.is_empty() && !recovery.headline.is_empty(), "{}", recovery.code);
        for action in recovery.actions {
            // One of each kind is enough: the same address with the same fields.
            let kind = action.request.as_ref().map(|request| {
                let fields: Vec<&String> =
                    request.body.as_object().into_iter().flat_map(|body| body.keys()).collect();
                json!([request.path, fields, request.choose, request.then])
            });
            actions.entry(json!([kind, action.page]).to_string()).or_insert(action);
        }
    }
    let wrong: Vec<String> = actions.values().filter_map(|action| press(&served, action)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let paths: Vec<&str> =
        actions.values().filter_map(|action| Some(&*action.request.as_ref()?.path)).collect();
    for verb in [
        "assign", "approve", "reject", "resume", "reassign", "submit", "open", "cancel", "dequeue", "limits",
        "fork", "stop",
    ] {
        assert!(paths.iter().any(|path| path.ends_with(&format!("/{verb}"))), "{verb} is offered nowhere");
    }
    served.stop().await;
}
