//! Everything the client says, word for word, and its answers to what agents do wrong.

use expect_test::expect;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::conversation::{Act, Conversation};
use super::wire;
use crate::agent_output::AgentOutput;
use crate::folder::Folder;
use crate::limits::Limits;
use crate::permission::Permissions;
use crate::question::Answer;
use crate::start::{Start, ToolServer};
use crate::testing::start_for;

pub(super) struct Client {
    pub(super) conversation: Conversation,
    pub(super) output: AgentOutput,
    folder: tempfile::TempDir,
}

impl Client {
    pub(super) fn new(change: impl Fn(&mut Start)) -> Client {
        let folder = tempfile::tempdir().unwrap();
        let mut start = start_for(folder.path());
        change(&mut start);
        let conversation = Conversation::new(&start, Folder::new(folder.path()).unwrap());
        let now = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
        let output = AgentOutput::new(folder.path(), &Limits::default(), None, now);
        Client { conversation, output, folder }
    }

    pub(super) fn begin(&mut self) -> Value {
        sent(self.conversation.begin(&mut self.output))
    }

    pub(super) fn hear(&mut self, message: Value) -> Vec<Act> {
        self.hear_line(&message.to_string())
    }

    pub(super) fn hear_line(&mut self, line: &str) -> Vec<Act> {
        self.conversation.hear(wire::parse(line.as_bytes()).unwrap(), &mut self.output)
    }

    fn prompted(change: impl Fn(&mut Start)) -> Client {
        let mut client = Client::new(change);
        client.begin();
        client.hear(json!({ "id": 1, "result": { "protocolVersion": 1 } }));
        let prompt = sent(client.hear(json!({ "id": 2, "result": { "sessionId": "s" } })));
        assert_eq!(prompt["method"], "session/prompt");
        client
    }
}

/// Returns the one message among the acts.
pub(super) fn sent(acts: Vec<Act>) -> Value {
    match <[Act; 1]>::try_from(acts) {
        Ok([Act::Send(message)]) => {
            let message = serde_json::to_value(message).unwrap();
            assert_eq!(message["jsonrpc"], "2.0");
            message
        }
        other => panic!("expected one message, got {other:?}"),
    }
}

fn question(path: &str) -> Value {
    let options = json!([{ "optionId": "y", "name": "y", "kind": "allow_once" }]);
    let call = json!({ "toolCallId": "c", "title": "Write", "locations": [{ "path": path }] });
    let parameters = json!({ "sessionId": "s", "toolCall": call, "options": options });
    json!({ "id": "q", "method": "session/request_permission", "params": parameters })
}

/// Shows a message without what depends on the machine.
fn show(client: &Client, message: &Value) -> String {
    let folder = client.folder.path().canonicalize().unwrap();
    message
        .to_string()
        .replace(folder.to_str().unwrap(), "/project")
        .replace(env!("CARGO_PKG_VERSION"), "0.0.0")
}

#[test]
fn every_message_from_the_first_to_a_cancel() {
    let mut client = Client::new(|start| {
        start.model = Some("big".to_owned());
        let command = ["regatta", "mcp"].map(str::to_owned).to_vec();
        start.tools = Some(ToolServer { name: "regatta".to_owned(), command });
    });
    let option = json!({ "id": "brain", "name": "Brain", "category": "model", "type": "select", "currentValue": "small", "options": [] });
    let options = json!([{ "id": "new", "type": "new kind" }, option]);
    let mut messages = vec![client.begin()];
    for result in
        [json!({ "protocolVersion": 1 }), json!({ "sessionId": "s", "configOptions": options }), json!({})]
    {
        let id = messages.len();
        messages.push(sent(client.hear(json!({ "id": id, "result": result }))));
    }
    messages.push(sent(client.conversation.cancel()));
    let shown: Vec<String> = messages.iter().map(|message| show(&client, message)).collect();
    expect![[r#"
        {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false,"auth":{"terminal":false}},"clientInfo":{"name":"regatta","version":"0.0.0"}}}
        {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/project","mcpServers":[{"name":"regatta","command":"regatta","args":["mcp"],"env":[]}]}}
        {"jsonrpc":"2.0","id":3,"method":"session/set_config_option","params":{"sessionId":"s","configId":"brain","value":"big"}}
        {"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"do it"}]}}
        {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}
    "#]].assert_eq(&(shown.join("\n") + "\n"));
    assert_eq!(client.conversation.cancel(), []);
}

#[test]
fn a_session_is_loaded_by_its_name() {
    let mut client = Client::new(|start| start.resume = Some("old".to_owned()));
    client.begin();
    let result = json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true } });
    let message = sent(client.hear(json!({ "id": 1, "result": result })));
    expect![[r#"{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"mcpServers":[],"cwd":"/project","sessionId":"old"}}"#]].assert_eq(&show(&client, &message));
}

#[test]
fn requests_for_leave_are_answered_by_policy_or_by_a_person() {
    let outcome = |message: &Value| {
        assert_eq!(message["id"], "q");
        message["result"]["outcome"].clone()
    };
    let cancelled = json!({ "outcome": "cancelled" });
    let mut client = Client::prompted(|_| ());
    let selected = json!({ "outcome": "selected", "optionId": "y" });
    assert_eq!(outcome(&sent(client.hear(question("inside.txt")))), selected);
    // Without an option that says no, all that is left is to cancel.
    assert_eq!(outcome(&sent(client.hear(question("/etc/passwd")))), cancelled);

    let mut client = Client::prompted(|start| start.permissions = Permissions::Ask);
    let acts = client.hear(question("/etc/passwd"));
    assert!(matches!(acts[..], [Act::Ask { question: 1, .. }]), "{acts:?}");
    assert!(client.conversation.is_asking());
    let denied = Answer::denied("user");
    assert_eq!(outcome(&sent(client.conversation.answer(1, &denied, &mut client.output))), cancelled);
    assert_eq!(client.conversation.answer(1, &denied, &mut client.output), []);

    client.hear(question("/etc/passwd"));
    let acts = client.conversation.cancel();
    let [_, open] = <[Act; 2]>::try_from(acts).unwrap();
    assert_eq!(outcome(&sent(vec![open])), cancelled);
}

#[test]
fn questions_without_end_are_denied() {
    let mut client = Client::prompted(|start| start.permissions = Permissions::Ask);
    let asked = (0..1000).filter(|_| matches!(client.hear(question("/x"))[..], [Act::Ask { .. }])).count();
    assert_eq!(asked, 32);
}

#[test]
fn nonsense_is_passed_over() {
    let mut client = Client::prompted(|_| ());
    for nonsense in [
        json!({}),
        json!({ "id": 99, "result": {} }),
        json!({ "id": 1, "result": {} }),
        json!({ "method": "session/update" }),
        json!({ "method": "session/update", "params": { "update": { "sessionUpdate": "new_kind" } } }),
        json!({ "method": "session/update", "params": { "update": { "sessionUpdate": "tool_call_update", "content": 7 } } }),
        json!({ "method": "_vendor/thing", "params": [1] }),
    ] {
        assert_eq!(client.hear(nonsense), []);
    }
    assert_eq!(client.output.take_pieces(), []);
    assert!(!client.conversation.is_over());
}

#[test]
fn a_request_that_is_not_offered_or_does_not_read_is_refused() {
    let mut client = Client::prompted(|_| ());
    let question = json!({ "sessionId": "s", "toolCall": { "toolCallId": "c" }, "options": [{ "optionId": "y", "name": "y", "kind": "maybe" }] });
    let requests = [
        json!({ "id": 5, "method": "terminal/create", "params": {} }),
        json!({ "id": "a", "method": "_vendor/thing" }),
        json!({ "id": 6, "method": "session/request_permission", "params": question }),
        json!({ "id": 7, "method": "fs/read_text_file", "params": { "sessionId": "s", "path": "a", "line": -1 } }),
        json!({ "id": 8, "method": "fs/write_text_file", "params": [] }),
    ];
    let refusals: Vec<String> =
        requests.into_iter().map(|request| sent(client.hear(request)).to_string()).collect();
    expect![[r#"
        {"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Method not found"}}
        {"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found"}}
        {"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"unknown variant `maybe`, expected one of `allow_once`, `allow_always`, `reject_once`, `reject_always` at line 1 column 99"}}
        {"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"invalid value: integer `-1`, expected u32 at line 1 column 37"}}
        {"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"invalid length 0, expected struct WriteTextFileRequest with 4 elements at line 1 column 2"}}
    "#]].assert_eq(&(refusals.join("\n") + "\n"));
    assert!(!client.conversation.is_over());
    assert_eq!(client.hear(json!({ "id": 1.5, "method": "terminal/create" })), []);
}

#[test]
fn an_input_that_does_not_read_hides_no_path() {
    let mut client = Client::prompted(|_| ());
    for odd in ["1e999".to_owned(), "[".repeat(500) + &"]".repeat(500)] {
        let mut question = question("inside.txt");
        question["params"]["toolCall"]["rawInput"] = json!({ "path": "/etc/passwd", "odd": "@" });
        let refusal = sent(client.hear_line(&question.to_string().replace("\"@\"", &odd)));
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!("q"), &json!(-32602)));
    }
}

#[test]
fn an_answer_that_does_not_read_ends_the_session() {
    let answers = [
        json!({ "result": {} }),
        json!({ "result": { "stopReason": "tired" } }),
        json!({ "result": "end_turn" }),
        json!({}),
        json!({ "error": { "message": "429" } }),
    ];
    let mut shown = Vec::new();
    for mut answer in answers {
        let mut client = Client::prompted(|_| ());
        answer["id"] = json!(3);
        assert_eq!(client.hear(answer), []);
        assert!(client.conversation.is_over());
        shown.push(client.output.failure().unwrap().to_string());
    }
    expect![[r#"
        invalid_output: an answer of the agent cannot be read: missing field `stopReason` at line 1 column 2
        invalid_output: an answer of the agent cannot be read: unknown variant `tired`, expected one of `end_turn`, `max_tokens`, `max_turn_requests`, `refusal`, `cancelled` at line 1 column 21
        invalid_output: an answer of the agent cannot be read: invalid type: string "end_turn", expected struct PromptResponse at line 1 column 10
        invalid_output: an answer of the agent cannot be read: invalid type: null, expected struct PromptResponse at line 1 column 4
        invalid_output: an answer of the agent cannot be read: missing field `code` at line 1 column 17
    "#]].assert_eq(&(shown.join("\n") + "\n"));
}

/// A field that does not read counts as absent; an update that lacks what it must have is passed over as a whole.
#[test]
fn of_a_call_what_reads_is_kept() {
    let mut client = Client::prompted(|_| ());
    let mut tell = |update: Value| {
        let parameters = json!({ "sessionId": "s", "update": update });
        assert_eq!(client.hear(json!({ "method": "session/update", "params": parameters })), []);
        client.output.take_pieces().iter().map(|piece| format!("{piece:?}\n")).collect::<String>()
    };
    let call = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Write", "kind": "edit", "status": "completed",
        "content": [{ "type": "new" }, { "type": "content", "content": { "type": "text", "text": "done" } }],
        "locations": [{ "path": 7 }, { "path": "a.txt" }], "rawInput": { "x": 1 }, "_meta": 7,
    });
    let mut shown = tell(call.clone());
    for (field, value) in
        [("status", json!("odd")), ("content", json!(7)), ("title", json!([])), ("toolCallId", json!(7))]
    {
        let mut call = call.clone();
        call["toolCallId"] = json!(field);
        call[field] = value;
        shown += &format!("{field}:\n{}", tell(call));
    }
    shown += "a call without a title:\n";
    shown += &tell(json!({ "sessionUpdate": "tool_call", "toolCallId": "d", "rawInput": { "x": 1 } }));
    shown += &tell(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "d", "status": "failed" }));
    expect![[r#"
        ToolCalled { id: "c", name: "Write", about: "x=1", path: None }
        ToolReturned { id: "c", is_error: false, text: "done" }
        Edited { path: "a.txt", change: None }
        status:
        ToolCalled { id: "status", name: "Write", about: "x=1", path: None }
        content:
        ToolCalled { id: "content", name: "Write", about: "x=1", path: None }
        ToolReturned { id: "content", is_error: false, text: "" }
        Edited { path: "a.txt", change: None }
        title:
        ToolCalled { id: "title", name: "edit", about: "x=1", path: None }
        ToolReturned { id: "title", is_error: false, text: "done" }
        Edited { path: "a.txt", change: None }
        toolCallId:
        a call without a title:
        ToolCalled { id: "d", name: "", about: "", path: None }
        ToolReturned { id: "d", is_error: true, text: "" }
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_folder_that_cannot_be_named_is_told() {
    use std::os::unix::ffi::OsStrExt as _;
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
    std::fs::create_dir(&folder).unwrap();
    let mut conversation = Conversation::new(&start_for(&folder), Folder::new(&folder).unwrap());
    let now = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
    let mut output = AgentOutput::new(&folder, &Limits::default(), None, now);
    conversation.begin(&mut output);
    let answer = br#"{"id":1,"result":{"protocolVersion":1}}"#;
    assert_eq!(conversation.hear(wire::parse(answer).unwrap(), &mut output), []);
    assert!(conversation.is_over());
    expect![[
        r#"crash: the agent cannot be asked: Invalid params: "path contains invalid UTF-8 characters""#
    ]]
    .assert_eq(&output.failure().unwrap().to_string());
}
