//! Everything the client says, word for word, and its answers to what agents do wrong.

use expect_test::expect;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::conversation::{Act, Conversation};
use crate::folder::Folder;
use crate::heard::Heard;
use crate::limits::Limits;
use crate::permission::Permissions;
use crate::question::Answer;
use crate::start::{Start, ToolServer};
use crate::testing::start_for;

struct Client {
    conversation: Conversation,
    heard: Heard,
    folder: tempfile::TempDir,
}

impl Client {
    fn new(change: impl Fn(&mut Start)) -> Client {
        let folder = tempfile::tempdir().unwrap();
        let mut start = start_for(folder.path());
        change(&mut start);
        let conversation = Conversation::new(&start, Folder::new(folder.path()).unwrap());
        let now = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
        let heard = Heard::new(folder.path(), &Limits::default(), None, now);
        Client { conversation, heard, folder }
    }

    fn begin(&mut self) -> Value {
        sent(vec![self.conversation.begin()])
    }

    fn hear(&mut self, message: Value) -> Vec<Act> {
        self.conversation.hear(&message, &mut self.heard)
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
fn sent(acts: Vec<Act>) -> Value {
    match <[Act; 1]>::try_from(acts) {
        Ok([Act::Send(message)]) => {
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
    let options = json!([{ "id": "brain", "category": "model", "currentValue": "small" }]);
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
        {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false},"clientInfo":{"name":"regatta","version":"0.0.0"}}}
        {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/project","mcpServers":[{"name":"regatta","command":"regatta","args":["mcp"],"env":[]}]}}
        {"jsonrpc":"2.0","id":3,"method":"session/set_config_option","params":{"configId":"brain","value":"big","sessionId":"s"}}
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
    expect![[r#"{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"cwd":"/project","mcpServers":[],"sessionId":"old"}}"#]].assert_eq(&show(&client, &message));
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
    assert_eq!(outcome(&sent(client.conversation.answer(1, &denied, &mut client.heard))), cancelled);
    assert_eq!(client.conversation.answer(1, &denied, &mut client.heard), []);

    client.hear(question("/etc/passwd"));
    let acts = client.conversation.cancel();
    assert!(matches!(&acts[..], [Act::Send(_), Act::Send(open)] if outcome(open) == cancelled), "{acts:?}");
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
    assert_eq!(client.heard.take_pieces(), []);
    assert!(!client.conversation.is_over());
    let refusal = sent(client.hear(json!({ "id": 5, "method": "terminal/create", "params": {} })));
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(5), &json!(-32601)));
}
