//! The service as a client sees it, over a pair of pipes in memory.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "support/tools.rs"]
mod tools;

use expect_test::{Expect, expect};
use regatta_mcp::{ARGUMENT_BYTES_MAX, Service, TOOL_NAMES, serve};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::task::JoinHandle;
use tools::SampleTools;

/// Small, so that a message does not fit at once and both sides must take turns.
const PIPE_BYTES: usize = 1024;

struct Talk {
    client: RunningService<RoleClient, ()>,
    server: JoinHandle<()>,
    tools: Arc<SampleTools>,
}

impl Talk {
    async fn begin() -> Self {
        let tools = Arc::new(SampleTools::default());
        let (near, far) = tokio::io::duplex(PIPE_BYTES);
        let (reader, writer) = tokio::io::split(far);
        let service = Service::new(Arc::clone(&tools));
        let server = tokio::spawn(async move { serve(service, reader, writer).await.unwrap() });
        let client = ().serve(tokio::io::split(near)).await.unwrap();
        Talk { client, server, tools }
    }

    async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        let arguments = arguments.as_object().cloned().unwrap();
        self.client
            .call_tool(CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments))
            .await
            .unwrap()
    }

    /// Writes down what the tools was asked and what the client got.
    async fn tell(&self, text: &mut String, tool: &str, arguments: Value) {
        let result = self.call(tool, arguments.clone()).await;
        let _ = writeln!(text, "> {tool} {}", cut(&arguments.to_string()));
        for asked in self.tools.take_asked() {
            let _ = writeln!(text, "  tools: {}", cut(&asked));
        }
        let mark = if result.is_error == Some(true) { "error" } else { "answer" };
        let answer = result.structured_content.unwrap_or_default();
        let said = result.content.first().and_then(|block| block.as_text()).map(|block| block.text.clone());
        assert_eq!(said.as_deref(), Some(answer.to_string().as_str()), "text and data say the same");
        let _ = writeln!(text, "  {mark}: {}", cut(&answer.to_string()));
    }

    async fn end(self) {
        self.client.cancel().await.unwrap();
        self.server.await.unwrap();
    }
}

fn cut(text: &str) -> String {
    if text.len() > 400 {
        format!("{}…", text.chars().take(100).collect::<String>())
    } else {
        text.to_owned()
    }
}

async fn check(calls: &[(&str, Value)], expected: Expect) {
    let talk = Talk::begin().await;
    let mut text = String::new();
    for (tool, arguments) in calls {
        talk.tell(&mut text, tool, arguments.clone()).await;
    }
    expected.assert_eq(&text);
    talk.end().await;
}

#[tokio::test]
async fn every_tool_has_a_schema_and_says_what_it_touches() {
    let talk = Talk::begin().await;
    let tools = talk.client.list_all_tools().await.unwrap();
    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), TOOL_NAMES);
    let mut text = String::new();
    for tool in &tools {
        let hints = tool.annotations.as_ref().unwrap();
        let schema = Value::Object((*tool.input_schema).clone());
        assert_eq!(schema["type"], "object", "{}", tool.name);
        assert_eq!(schema["additionalProperties"], false, "{}: unknown fields are refused", tool.name);
        assert!(tool.description.as_ref().is_some_and(|text| text.len() > 40), "{}", tool.name);
        let fields: Vec<&String> =
            schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key).collect();
        let _ = writeln!(
            text,
            "{}: reads {:?}, repeats {:?}, fields {fields:?}, required {}",
            tool.name,
            hints.read_only_hint.unwrap(),
            hints.idempotent_hint.unwrap(),
            schema["required"]
        );
        assert_eq!((hints.destructive_hint, hints.open_world_hint), (Some(false), Some(false)));
    }
    expect![[r#"
        read_task: reads true, repeats true, fields ["taskId"], required null
        read_inputs: reads true, repeats true, fields ["from", "taskId"], required null
        read_prd: reads true, repeats true, fields ["slug"], required null
        read_epic: reads true, repeats true, fields ["epicId"], required null
        read_archive: reads true, repeats true, fields ["taskId"], required null
        tick_criterion: reads false, repeats true, fields ["criterion", "checked", "taskId"], required ["criterion"]
        append_progress: reads false, repeats false, fields ["did", "issues", "next", "taskId"], required ["did","next"]
        write_chain_output: reads false, repeats true, fields ["text", "taskId"], required ["text"]
        send_message: reads false, repeats false, fields ["to", "body", "kind", "subject", "data", "replyTo", "taskId"], required ["to","body"]
        send_signal: reads false, repeats false, fields ["signal", "input"], required ["signal"]
        read_messages: reads false, repeats true, fields ["includeRead", "limit"], required null
        check_signals: reads true, repeats true, fields [], required null
        submit_result: reads false, repeats true, fields ["result"], required ["result"]
    "#]]
    .assert_eq(&text);
    talk.end().await;
}

#[tokio::test]
async fn each_verb_reaches_the_tools_and_is_answered() {
    check(
        &[
            ("read_task", json!({})),
            ("read_inputs", json!({ "taskId": 7 })),
            ("read_inputs", json!({ "from": 3 })),
            ("read_prd", json!({})),
            ("read_prd", json!({ "slug": "dates" })),
            ("read_epic", json!({ "epicId": 2 })),
            ("read_archive", json!({})),
            ("append_progress", json!({ "did": "- it", "issues": "- that", "next": "more" })),
            ("tick_criterion", json!({ "criterion": 1 })),
            ("tick_criterion", json!({ "criterion": "It reads dates", "checked": false })),
            ("append_progress", json!({ "did": "- read", "next": "write" })),
            ("write_chain_output", json!({ "text": "There is a parser." })),
            ("send_message", json!({ "to": "role:qa", "body": "ready", "data": { "commits": ["a"] } })),
            ("read_messages", json!({})),
            ("check_signals", json!({})),
            ("submit_result", json!({ "result": [1, null] })),
            ("submit_result", json!({ "result": { "bad": true } })),
        ],
        expect![[r##"
            > read_task {}
              tools: ReadTask
              answer: {"taskId":7,"title":"Add a parser","description":"Reads dates.","criteria":[{"index":1,"text":"It reads dates","checked":false,"verified":false,"check":"test"}],"evidence":[{"check":"test","passed":false,"commit":"0123456789","tail":"1 failed"}],"branch":"task/7","file":"task-7-state.md","session":1,"runId":null,"role":null,"progressEntries":0,"next":null,"rejectionCount":0}
            > read_inputs {"taskId":7}
              tools: ReadInputs(ReadInputs { from: None, task_id: Some(7) })
              answer: {"inputs":[{"taskId":3,"title":"The grammar","summary":"There is a grammar.","output":"There is a grammar.\n\nSee grammar.md.","isCut":false,"stale":true}]}
            > read_inputs {"from":3}
              tools: ReadInputs(ReadInputs { from: Some(3), task_id: None })
              answer: {"taskId":3,"output":"There is a grammar.","summary":"There is a grammar."}
            > read_prd {}
              tools: ReadPrd(ReadPrd { slug: None })
              answer: {"slug":"dates","text":"# Dates\n"}
            > read_prd {"slug":"dates"}
              tools: ReadPrd(ReadPrd { slug: Some("dates") })
              answer: {"slug":"dates","text":"# Dates\n"}
            > read_epic {"epicId":2}
              tools: ReadEpic(ReadEpic { epic_id: Some(2) })
              answer: {"id":2,"title":"Time","tasks":[]}
            > read_archive {}
              tools: ReadArchive
              answer: {"taskId":7,"text":null}
            > append_progress {"did":"- it","issues":"- that","next":"more"}
              tools: AppendProgress(AppendProgress { did: "- it", issues: Some("- that"), next: "more", task_id: None })
              answer: {"entry":1}
            > tick_criterion {"criterion":1}
              tools: TickCriterion(TickCriterion { criterion: Index(1), checked: true, task_id: None })
              answer: {"taskId":7,"title":"Add a parser","description":"Reads dates.","criteria":[{"index":1,"text":"It reads dates","checked":false,"verified":false,"check":"test"}],"evidence":[{"check":"test","passed":false,"commit":"0123456789","tail":"1 failed"}],"branch":"task/7","file":"task-7-state.md","session":1,"runId":null,"role":null,"progressEntries":0,"next":null,"rejectionCount":0}
            > tick_criterion {"criterion":"It reads dates","checked":false}
              tools: TickCriterion(TickCriterion { criterion: Text("It reads dates"), checked: false, task_id: None })
              answer: {"taskId":7,"title":"Add a parser","description":"Reads dates.","criteria":[{"index":1,"text":"It reads dates","checked":false,"verified":false,"check":"test"}],"evidence":[{"check":"test","passed":false,"commit":"0123456789","tail":"1 failed"}],"branch":"task/7","file":"task-7-state.md","session":1,"runId":null,"role":null,"progressEntries":0,"next":null,"rejectionCount":0}
            > append_progress {"did":"- read","next":"write"}
              tools: AppendProgress(AppendProgress { did: "- read", issues: None, next: "write", task_id: None })
              answer: {"entry":1}
            > write_chain_output {"text":"There is a parser."}
              tools: WriteChainOutput(WriteChainOutput { text: "There is a parser.", task_id: None })
              answer: {"summary":"There is a parser."}
            > send_message {"to":"role:qa","body":"ready","data":{"commits":["a"]}}
              tools: SendMessage(SendMessage { to: "role:qa", body: "ready", kind: None, subject: None, data: Some({"commits": Array [String("a")]}), reply_to: None, task_id: None })
              answer: {"messageId":12}
            > read_messages {}
              tools: ReadMessages(ReadMessages { include_read: false, limit: 20 })
              answer: {"messages":[{"messageId":11,"body":"Mind the leap years."}],"more":0}
            > check_signals {}
              tools: CheckSignals
              answer: {"signal":"pause","reason":null,"secondsLeft":60,"budgetLeft":null}
            > submit_result {"result":[1,null]}
              tools: SubmitResult(SubmitResult { result: Array [Number(1), Null] })
              answer: {"isValid":true,"replaced":false}
            > submit_result {"result":{"bad":true}}
              tools: SubmitResult(SubmitResult { result: Object {"bad": Bool(true)} })
              error: {"error":{"code":"VALIDATION_ERROR","message":"`code` is missing","hint":"continue without it","details":{}}}
        "##]],
    )
    .await;
}

#[tokio::test]
async fn what_an_agent_may_not_do_is_refused_and_noted() {
    check(
        &[
            ("approve_task", json!({ "taskId": 7 })),
            ("read_task", json!({ "taskId": 8 })),
            ("read_task", json!({ "taskId": "7" })),
            ("tick_criterion", json!({ "criterion": 1, "task": 8 })),
            ("send_message", json!({ "to": "person:me", "body": "x", "task_id": 8 })),
        ],
        expect![[r#"
            > approve_task {"taskId":7}
              tools: refused Tool { name: "approve_task" }
              error: {"error":{"code":"FORBIDDEN","message":"there is no tool `approve_task` for an agent","hint":"continue without it","details":{}}}
            > read_task {"taskId":8}
              tools: refused Task { tool: "read_task", task: "8" }
              error: {"error":{"code":"FORBIDDEN","message":"task 8 is not yours","hint":"continue without it","details":{}}}
            > read_task {"taskId":"7"}
              tools: refused Arguments { tool: "read_task", faults: [FieldFault { field: "", problem: "cannot be understood: invalid type: string \"7\", expected u32" }] }
              error: {"error":{"code":"VALIDATION_ERROR","message":": cannot be understood: invalid type: string \"7\", expected u32","hint":"continue without it","details":{}}}
            > tick_criterion {"criterion":1,"task":8}
              tools: refused Task { tool: "tick_criterion", task: "8" }
              error: {"error":{"code":"FORBIDDEN","message":"task 8 is not yours","hint":"continue without it","details":{}}}
            > send_message {"to":"person:me","body":"x","task_id":8}
              tools: refused Task { tool: "send_message", task: "8" }
              error: {"error":{"code":"FORBIDDEN","message":"task 8 is not yours","hint":"continue without it","details":{}}}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn arguments_that_pass_their_limits_are_named() {
    check(
        &[
            ("read_task", json!({ "id": 7 })),
            ("tick_criterion", json!({})),
            ("tick_criterion", json!({ "criterion": "" })),
            ("append_progress", json!({ "did": " ", "next": "x".repeat(20_001) })),
            ("read_messages", json!({ "limit": 101 })),
            ("submit_result", json!({})),
            ("submit_result", json!({ "result": "x".repeat(ARGUMENT_BYTES_MAX) })),
        ],
        expect![[r#"
            > read_task {"id":7}
              tools: refused Arguments { tool: "read_task", faults: [FieldFault { field: "", problem: "cannot be understood: unknown field `id`, expected `taskId`" }] }
              error: {"error":{"code":"VALIDATION_ERROR","message":": cannot be understood: unknown field `id`, expected `taskId`","hint":"continue without it","details":{}}}
            > tick_criterion {}
              tools: refused Arguments { tool: "tick_criterion", faults: [FieldFault { field: "", problem: "cannot be understood: missing field `criterion`" }] }
              error: {"error":{"code":"VALIDATION_ERROR","message":": cannot be understood: missing field `criterion`","hint":"continue without it","details":{}}}
            > tick_criterion {"criterion":""}
              tools: refused Arguments { tool: "tick_criterion", faults: [FieldFault { field: "criterion", problem: "must have 1 to 1000 characters, not 0" }] }
              error: {"error":{"code":"VALIDATION_ERROR","message":"criterion: must have 1 to 1000 characters, not 0","hint":"continue without it","details":{}}}
            > append_progress {"did":" ","next":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
              tools: refused Arguments { tool: "append_progress", faults: [FieldFault { field: "did", problem: "must have 1 to 20000 characters, not 0" }, FieldFault { field: "next", problem: "must have 1 to 20000 characters, not 20001" }] }
              error: {"error":{"code":"VALIDATION_ERROR","message":"did: must have 1 to 20000 characters, not 0; next: must have 1 to 20000 characters, not 20001","hint":"continue without it","details":{}}}
            > read_messages {"limit":101}
              tools: refused Arguments { tool: "read_messages", faults: [FieldFault { field: "limit", problem: "must be 1 to 100, not 101" }] }
              error: {"error":{"code":"VALIDATION_ERROR","message":"limit: must be 1 to 100, not 101","hint":"continue without it","details":{}}}
            > submit_result {}
              tools: refused Arguments { tool: "submit_result", faults: [FieldFault { field: "", problem: "cannot be understood: missing field `result`" }] }
              error: {"error":{"code":"VALIDATION_ERROR","message":": cannot be understood: missing field `result`","hint":"continue without it","details":{}}}
            > submit_result {"result":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
              tools: refused Arguments { tool: "submit_result", faults: [FieldFault { field: "", problem: "must have at most 2097152 bytes as JSON, not 2097165" }] }
              error: {"error":{"code":"VALIDATION_ERROR","message":": must have at most 2097152 bytes as JSON, not 2097165","hint":"continue without it","details":{}}}
        "#]],
    )
    .await;
}

/// The whole conversation as bytes, so that what is on the wire is seen by eyes other than rmcp's.
#[tokio::test]
async fn a_conversation_on_the_wire() {
    let tools = Arc::new(SampleTools::default());
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    let (reader, writer) = tokio::io::split(far);
    let server = tokio::spawn(serve(Service::new(tools), reader, writer));
    let (reader, mut writer) = tokio::io::split(near);
    let mut lines = BufReader::new(reader).lines();
    let begin = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }
    });
    let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call =
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "check_signals" } });
    writer.write_all(format!("{begin}\n").as_bytes()).await.unwrap();
    let answer: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    assert_eq!((&answer["id"], &answer["result"]["protocolVersion"]), (&json!(1), &json!("2025-06-18")));
    assert_eq!(answer["result"]["capabilities"], json!({ "tools": {} }));
    writer.write_all(format!("{begun}\n{call}\n").as_bytes()).await.unwrap();
    writer.shutdown().await.unwrap();
    let answer: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    let expected = json!({ "signal": "pause", "reason": null, "secondsLeft": 60, "budgetLeft": null });
    assert_eq!(answer["result"]["structuredContent"], expected, "{answer}");
    assert_eq!(lines.next_line().await.unwrap(), None, "nothing is said after the answers");
    server.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_leaves_at_once_has_broken_nothing() {
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    drop(near);
    let (reader, writer) = tokio::io::split(far);
    serve(Service::new(Arc::new(SampleTools::default())), reader, writer).await.unwrap();
}
