//! The verbs of a session that is for a task.

use crate::client::Client;
use crate::world::{World, caller};
use regatta_engine::core::message::{Draft, Party};
use regatta_engine::core::{Code, TaskId};
use regatta_engine::{Error, edits, endpoint, messages};
use regatta_testkit::wait::WAIT_MAX;
use serde_json::json;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

#[tokio::test]
async fn what_an_agent_does_at_its_endpoint_is_in_the_file_and_in_the_log() {
    let mut world = World::with("[limits]\nsessions = 1\n").await;
    let task = world.add("Add a parser", &["It reads dates", "It is documented"], &[]).await;
    world.assign(task).await;
    let mut client = Client::begin(&world.folder().await).await.unwrap();
    let found = client.call("read_task", json!({ "taskId": task.number() })).await;
    assert_eq!((&found["title"], &found["session"]), (&json!("Add a parser"), &json!(1)));
    assert_eq!(found["file"], edits::file_path(&world.project, task).display().to_string());
    client.call("tick_criterion", json!({ "criterion": "It reads dates" })).await;
    client.call("tick_criterion", json!({ "criterion": 2 })).await;
    let ticked = client.call("tick_criterion", json!({ "criterion": 2, "checked": false })).await;
    let boxes: Vec<&serde_json::Value> =
        ticked["criteria"].as_array().unwrap().iter().map(|criterion| &criterion["checked"]).collect();
    assert_eq!(boxes, [&json!(true), &json!(false)]);
    let missing = client.fail("tick_criterion", json!({ "criterion": "It reads date" })).await;
    assert_eq!(missing["code"], "VALIDATION_ERROR");
    assert!(missing["hint"].as_str().unwrap().contains("did you mean `It reads dates`?"), "{missing}");
    let entry = client.call("append_progress", json!({ "did": "- read it", "next": "write it" })).await;
    assert_eq!(entry, json!({ "entry": 1 }));
    let more = json!({ "did": "- \u{1b}[1mtested\u{1b}[0m it\u{7}", "issues": "slow", "next": "ship it" });
    let entry = client.call("append_progress", more).await;
    assert_eq!(entry, json!({ "entry": 1 }), "one session, one entry");
    let output =
        client.call("write_chain_output", json!({ "text": "There is a parser.\n\nSee parser.rs." })).await;
    assert_eq!(output, json!({ "summary": "There is a parser." }));
    let signals = client.call("check_signals", json!({})).await;
    assert_eq!((&signals["signal"], &signals["budgetLeft"]), (&json!("none"), &json!(null)));
    assert!(signals["secondsLeft"].as_u64().is_some_and(|left| left > 0), "{signals}");
    let taken = client.call("submit_result", json!({ "result": { "summary": "first" } })).await;
    assert_eq!(taken, json!({ "isValid": true, "replaced": false }));
    let fault = client.fail("submit_result", json!({ "result": { "summary": 7 } })).await;
    assert_eq!(fault["details"]["faults"], json!(["`summary` must be a text, and is 7"]), "{fault}");
    client.call("submit_result", json!({ "result": { "summary": "what was submitted" } })).await;
    let text = std::fs::read_to_string(edits::file_path(&world.project, task)).unwrap();
    for part in [
        "- [x] It reads dates",
        "- [ ] It is documented",
        "- read it\n- tested it\n",
        "slow",
        "ship it",
        "There is a parser.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("write it") && !text.chars().any(|one| one != '\n' && one.is_control()), "{text}");
    for kind in ["criterion:checked", "criterion:unchecked", "progress:logged", "output:written"] {
        let events = world.events(kind).await;
        assert!(
            !events.is_empty() && events.iter().all(|event| event["actor"] == "agent waiter"),
            "{events:?}"
        );
    }
    let done = world.finish(task).await;
    assert_eq!(done.memory.entries, 1, "no entry is made up for an agent that wrote one");
    let completed = world.events("task:completed").await;
    assert_eq!(completed[0]["summary"], "what was submitted");
    world.leave().await;
}

#[tokio::test]
async fn an_agent_is_told_what_is_left_of_what_was_set_aside_for_it() {
    let budget =
        "[budget.session]\ntokens = 5000\n[budget.task]\ntokens = 8000\ncost = 2.0\nwall = \"20m\"\n";
    let mut world = World::with(budget).await;
    let task = world.add("Spend some", &[], &[]).await;
    world.assign_to(task, "spender").await;
    let mut client = Client::begin(&world.folder().await).await.unwrap();
    // Usage arrives beside the agent's calls, and may come slightly later.
    let signals = tokio::time::timeout(WAIT_MAX, async {
        loop {
            let signals = client.call("check_signals", json!({})).await;
            if signals["budgetLeft"]["tokens"] != 5000 {
                return signals;
            }
        }
    });
    let signals = signals.await.expect("what was used is counted");
    assert_eq!(signals["budgetLeft"], json!({ "tokens": 4000, "cost": 1.75 }));
    assert!(signals["secondsLeft"].as_u64().is_some_and(|left| left <= 20 * 60), "{signals}");
    world.finish(task).await;
    let closed = world.events("session:closed").await;
    assert_eq!(closed[0]["usage"]["costMicros"], 250_000, "{closed:?}");
    world.leave().await;
}

#[tokio::test]
async fn what_is_not_the_agents_to_do_is_refused_and_in_the_log() {
    let mut world = World::new().await;
    let task = world.add("One", &[], &[]).await;
    let other = world.add("Another", &["It holds"], &[]).await;
    world.assign(task).await;
    let folder = world.folder().await;
    let mut client = Client::begin(&folder).await.unwrap();
    for tool in ["approve_task", "merge", "assign", "set_config"] {
        let error = client.fail(tool, json!({ "taskId": task.number() })).await;
        assert_eq!(
            (&error["code"], &error["details"]["recorded"]),
            (&json!("FORBIDDEN"), &json!(true)),
            "{error}"
        );
    }
    let error = client.fail("tick_criterion", json!({ "criterion": 1, "taskId": other.number() })).await;
    assert_eq!(error["code"], "FORBIDDEN");
    let error = client.fail("send_message", json!({ "to": "task:2", "body": "hello" })).await;
    assert_eq!(error["code"], "FORBIDDEN", "it is not next to the agent's own task");
    let mistyped = client.fail("append_progress", json!({ "did": "x" })).await;
    assert_eq!(mistyped["code"], "VALIDATION_ERROR");
    let refused = world.events("agent:refused").await;
    let what: Vec<&str> = refused.iter().filter_map(|event| event["what"].as_str()).collect();
    let tools = ["the tool approve_task", "the tool merge", "the tool assign", "the tool set_config"];
    assert_eq!(what, [&tools[..], &["task 2 in tick_criterion"]].concat());
    let first = &refused[0];
    assert_eq!(
        (&first["agentId"], &first["session"], &first["actor"]),
        (&json!("waiter"), &json!(1), &json!("agent waiter"))
    );
    assert!(!world.task(other).await.criteria[0].checked);
    world.finish(task).await;
    world.leave().await;
}

#[tokio::test]
async fn a_endpoint_is_for_its_own_session_and_ends_with_it() {
    let mut world = World::new().await;
    let task = world.add("One", &[], &[]).await;
    world.assign(task).await;
    let folder = world.folder().await;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(&folder), mode(&folder.join("token")), mode(&folder.join("desk.sock"))),
        (0o700, 0o600, 0o600)
    );
    let token = std::fs::read_to_string(folder.join("token")).unwrap();
    std::fs::write(folder.join("token"), "0".repeat(64)).unwrap();
    assert_code(endpoint::join(&folder).await, Code::Forbidden, "another token");
    std::fs::write(folder.join("token"), token).unwrap();
    let mut open = Vec::new();
    for _ in 0..16 {
        open.push(Client::begin(&folder).await.unwrap());
    }
    assert_code(Client::begin(&folder).await, Code::Forbidden, "one too many");
    world.finish(task).await;
    assert!(!folder.exists(), "the private folder is gone");
    assert_code(endpoint::join(&folder).await, Code::SessionEnded, "the session is over");
    world.leave().await;
}

#[tokio::test]
async fn json_that_would_overflow_the_stack_is_refused_and_the_engine_lives() {
    let mut world = World::new().await;
    let task = world.add("One", &[], &[]).await;
    world.assign(task).await;
    let folder = world.folder().await;
    let mut inside = "0".to_owned();
    for _ in 0..200 {
        // Escapes by number, so that a level adds a few characters and does not double what is inside.
        let text = inside.replace('\\', "\\u005c").replace('"', "\\u0022");
        let object = format!("{{\"$serde_json::private::RawValue\":\"{text}\"}}");
        inside = format!("{}{object}{}", "[".repeat(100), "]".repeat(100));
    }
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{{"name":"submit_result","arguments":{{"x":{inside}}}}}}}"#
    );
    Client::begin(&folder).await.unwrap().be_refused(&call).await;
    Client::begin(&folder).await.unwrap().call("read_task", json!({})).await;
    world.finish(task).await;
    world.leave().await;
}

fn assert_code<T>(joined: Result<T, Error>, code: Code, why: &str) {
    match joined {
        Ok(_) => panic!("it was opened: {why}"),
        Err(error) => assert_eq!(error.explain().code, code, "{why}"),
    }
}

#[tokio::test]
async fn messages_reach_the_task_and_are_read_once() {
    let mut world = World::new().await;
    let first = world.add("First", &[], &[]).await;
    let second = world.add("Second", &[], &[first]).await;
    let send = async |to: Party, body: &str| {
        let draft = Draft::new("person:local".parse().unwrap(), to, "note", None, body.to_owned()).unwrap();
        messages::send(&world.project, &caller(), draft, BTreeSet::new()).await.unwrap()
    };
    world.assign(first).await;
    let mut client = Client::begin(&world.folder().await).await.unwrap();
    // Those sent before the session are in its prompt.
    send(Party::Task(first), "mind the leap years").await;
    send(Party::Agent("waiter".parse().unwrap()), "and the time zones").await;
    send(Party::Task(second), "not for the first").await;
    let read = client.call("read_messages", json!({ "limit": 1 })).await;
    assert_eq!((&read["messages"][0]["body"], &read["more"]), (&json!("mind the leap years"), &json!(1)));
    let read = client.call("read_messages", json!({})).await;
    assert_eq!(read["messages"].as_array().unwrap().len(), 1, "{read}");
    assert_eq!(read["messages"][0]["body"], "and the time zones");
    assert_eq!(client.call("read_messages", json!({})).await["messages"], json!([]));
    let all = client.call("read_messages", json!({ "includeRead": true })).await;
    assert_eq!(all["messages"].as_array().unwrap().len(), 2, "{all}");
    let sent = client
        .call("send_message", json!({ "to": "task:2", "body": "it is ready", "kind": "READY", "replyTo": 1 }))
        .await;
    assert_eq!(sent, json!({ "messageId": 4 }));
    let views = messages::list(&world.project).await.unwrap();
    let last = views.last().unwrap();
    assert_eq!((last.from.to_string(), last.to.clone()), ("agent:waiter".to_owned(), Party::Task(second)));
    assert_eq!((last.task_id, last.kind.as_str(), last.read), (Some(first), "READY", false));
    assert_eq!(views.iter().filter(|view| view.read).count(), 2);
    world.finish(first).await;
    world.leave().await;
}

#[tokio::test]
async fn inputs_are_what_earlier_tasks_wrote() {
    let mut world = World::new().await;
    let first = world.add("First", &[], &[]).await;
    let second = world.add("Second", &[], &[first]).await;
    world.assign(first).await;
    let mut client = Client::begin(&world.folder().await).await.unwrap();
    assert_eq!(client.call("read_inputs", json!({})).await, json!({ "inputs": [] }));
    client.call("write_chain_output", json!({ "text": "There is a grammar.\n\nSee grammar.md." })).await;
    assert_eq!(world.finish(first).await.column(), regatta_engine::core::machine::Column::Verified);
    let path = world.project.root().join(".regatta");
    std::fs::remove_file(path.join("go")).unwrap();
    std::fs::remove_file(path.join("folder")).unwrap();
    world.assign(second).await;
    let mut client = Client::begin(&world.folder().await).await.unwrap();
    let inputs = client.call("read_inputs", json!({})).await;
    let expected = json!({
        "taskId": TaskId::FIRST.number(), "title": "First", "summary": "There is a grammar.",
        "output": "There is a grammar.\n\nSee grammar.md.", "isCut": false, "stale": false
    });
    assert_eq!(inputs["inputs"], json!([expected]));
    world.finish(second).await;
    world.leave().await;
}
