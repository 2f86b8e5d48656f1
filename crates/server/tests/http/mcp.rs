//! MCP over HTTP: what a person's own agent may do, and whom each token lets in.

use crate::client::{Response, Served};
use serde_json::{Value, json};

/// Asks the service at `/mcp` with the token of a person's agent.
fn ask(served: &Served, method: &str, params: Value) -> Value {
    let answered = ask_with(served, "/mcp", &served.keys.mcp_token(), method, params);
    assert_eq!(answered.status, 200, "{answered:?}");
    answered.json()["result"].take()
}

fn ask_with(served: &Served, path: &str, token: &str, method: &str, params: Value) -> Response {
    let token = format!("Bearer {token}");
    let headers = [("authorization", token.as_str()), ("accept", "application/json, text/event-stream")];
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    served.plain("POST", path, &headers, Some(&body))
}

fn call(served: &Served, tool: &str, arguments: Value) -> (bool, Value) {
    let mut result = ask(served, "tools/call", json!({ "name": tool, "arguments": arguments }));
    (result["isError"] == true, result["structuredContent"].take())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_works_on_the_board_and_cannot_approve() {
    let served = Served::start().await;
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    });
    let begun = ask(&served, "initialize", hello);
    assert_eq!(begun["serverInfo"]["name"], "regatta");
    let tools = ask(&served, "tools/list", json!({}));
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(
        names.contains(&"assign_task") && !names.iter().any(|name| name.contains("approve")),
        "{names:?}"
    );
    let (is_error, added) = call(&served, "add_task", json!({ "title": "one", "criteria": ["it works"] }));
    assert_eq!((is_error, &added["id"]), (false, &json!(1)), "{added}");
    let shown = call(&served, "show_task", json!({ "id": 1 })).1;
    assert_eq!(shown, served.get("/api/tasks/1").json(), "it is the object of the API");
    let edited = call(&served, "edit_task", json!({ "id": 1, "title": "first" })).1;
    assert_eq!(edited["title"], "first");
    let assigned = call(&served, "assign_task", json!({ "id": 1, "agentId": "worker", "wait": 60 }));
    assert_eq!((assigned.0, &assigned.1["column"]), (false, &json!("waiting_approval")), "{assigned:?}");
    let diff = call(&served, "read_diff", json!({ "id": "1" })).1;
    assert!(diff["patch"].as_str().unwrap().contains("task-1.txt"), "{diff}");
    let sessions = call(&served, "list_sessions", json!({ "id": 1 })).1;
    let name = sessions["items"][0]["session"].as_str().unwrap();
    let log = call(&served, "read_log", json!({ "name": name, "tail": 5 })).1;
    assert!(!log["items"].as_array().unwrap().is_empty(), "{log}");
    for tool in ["approve_task", "merge_task", "answer_question", "nothing"] {
        let (is_error, answer) = call(&served, tool, json!({ "id": 1 }));
        assert_eq!((is_error, &answer["error"]["code"]), (true, &json!("FORBIDDEN")), "{tool}");
    }
    assert_eq!(served.get("/api/tasks/1").json()["column"], "waiting_approval");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_arguments_are_named_and_change_nothing() {
    let served = Served::start().await;
    for (tool, arguments, code, named) in [
        ("show_task", json!({}), "VALIDATION_ERROR", "id"),
        ("show_task", json!({ "id": [1] }), "VALIDATION_ERROR", "id"),
        ("show_task", json!({ "id": 1, "colour": "red" }), "VALIDATION_ERROR", "colour"),
        ("show_task", json!({ "id": 9 }), "TASK_NOT_FOUND", "#9"),
        ("add_task", json!({ "title": "one", "colour": "red" }), "VALIDATION_ERROR", "colour"),
        ("add_task", json!({ "title": "" }), "VALIDATION_ERROR", "title"),
        ("list_tasks", json!({ "column": "nowhere" }), "VALIDATION_ERROR", "column"),
    ] {
        let (is_error, answer) = call(&served, tool, arguments.clone());
        assert_eq!((is_error, &answer["error"]["code"]), (true, &json!(code)), "{tool} {arguments}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(named), "{answer}");
    }
    assert_eq!(served.get("/api/tasks").json()["items"], json!([]));
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let text = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{deep}}}"#);
    for body in [text.as_str(), "{", "[]", ""] {
        let refused = served.send(&format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost:{}\r\nauthorization: Bearer {}\r\nconnection: close\r\n\
             accept: application/json, text/event-stream\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            served.port, served.keys.mcp_token(), body.len()
        ));
        assert_eq!(refused.status, 400, "{refused:?}");
        assert!(refused.json()["error"]["code"].is_i64(), "{refused:?}");
    }
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_token_opens_its_own_service_and_no_more() {
    let served = Served::start().await;
    let list = |path: &str, token: &str| ask_with(&served, path, token, "tools/list", json!({})).status;
    assert_eq!(list("/mcp", &served.keys.token()), 200, "a person has all rights");
    assert_eq!(list("/mcp", &served.keys.mcp_token()), 200);
    for token in ["", "wrong", &served.keys.host()] {
        assert_eq!(list("/mcp", token), 401, "{token}");
        assert_eq!(list("/mcp/session", token), 401, "{token}");
    }
    for token in [served.keys.token(), served.keys.mcp_token()] {
        assert_eq!(list("/mcp/session", &token), 401, "it is no session's");
        assert_eq!(list(&format!("/mcp/session/{token}"), ""), 401, "it is no session's");
    }
    let bearer = format!("Bearer {}", served.keys.mcp_token());
    for path in ["/api/tasks", "/", "/api/events", "/streams/log"] {
        let refused = served.plain("GET", path, &[("authorization", &bearer)], None);
        assert_eq!((refused.status, refused.code().as_str()), (401, "UNAUTHORIZED"), "{path}");
    }
    let refused = served.plain("GET", "/mcp", &[("authorization", &bearer)], None);
    assert_eq!((refused.status, refused.headers["allow"].as_str()), (405, "POST"));
    // Clients ask whether there is a stream, and give up on the connection if the answer is 401.
    for (method, path) in
        [("GET", "/mcp/session"), ("GET", "/mcp/session/token"), ("DELETE", "/mcp/session/token")]
    {
        let refused = served.plain(method, path, &[], None);
        assert_eq!((refused.status, refused.headers["allow"].as_str()), (405, "POST"), "{method} {path}");
    }
    let foreign = [("authorization", bearer.as_str()), ("origin", "http://evil.test")];
    assert_eq!(served.plain("POST", "/mcp", &foreign, Some(&json!({}))).code(), "ORIGIN_REFUSED");
    served.stop().await;
}
