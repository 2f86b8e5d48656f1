//! Every recorded conversation, read again, with what is expected beside it: `<case>.jsonl` and `<case>.expected`.
//!
//! Only the agent's side is played: its answers are given the ids of our requests, by the method they answer. What the
//! recorded client did is not compared. `UPDATE_EXPECT=1` writes the expected files again.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{
    AgentNotification, AgentRequest, AgentResponse, ClientNotification, ClientRequest, ClientResponse,
};
use agent_client_protocol::{
    Error, JsonRpcMessage as _, JsonRpcResponse as _, RawJsonRpcMessage, RawJsonRpcParams, RawJsonRpcResponse,
};
use expect_test::expect_file;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::conversation::{Act, Conversation};
use super::wire;
use crate::agent_output::AgentOutput;
use crate::folder::Folder;
use crate::headless::conclude;
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::testing::start_for;

/// The folder in which all was recorded.
const PROJECT: &str = "/project";

/// The folders of the recordings.
const AGENTS: [&str; 5] = ["acp-claude", "acp-codex", "acp-gemini", "acp-goose", "acp-opencode"];

fn cases(agent: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams").join(agent);
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

/// Returns every message that an agent sent in any of the cases.
pub(super) fn agent_messages() -> Vec<Value> {
    let lines = AGENTS.iter().flat_map(|agent| cases(agent)).flat_map(|case| read_lines(&case, PROJECT));
    lines.filter(|line| line["from"] == "agent").map(|mut line| line["message"].take()).collect()
}

fn read_lines(case: &Path, root: &str) -> Vec<Value> {
    let recorded = std::fs::read_to_string(case).unwrap();
    recorded.lines().map(|line| serde_json::from_str(&line.replace(PROJECT, root)).unwrap()).collect()
}

fn check(agent: &str) {
    assert!(AGENTS.contains(&agent));
    for case in cases(agent) {
        expect_file![case.with_extension("expected")].assert_eq(&play(&case));
    }
}

fn play(case: &Path) -> String {
    let temporary = tempfile::tempdir().unwrap();
    let folder = Folder::new(temporary.path()).unwrap();
    let root = folder.root().to_str().unwrap().to_owned();
    let lines = read_lines(case, &root);
    let mut start = start_for(temporary.path());
    start.resume = find_loaded(&lines);
    let now: Timestamp = "2026-11-15T16:00:00Z".parse().unwrap();
    let mut output = AgentOutput::new(folder.root(), &Limits::default(), None, now.to_zoned(TimeZone::UTC));
    let mut conversation = Conversation::new(&start, folder);
    let mut shown = String::new();
    let mut ids = BTreeMap::new();
    let mut methods = BTreeMap::new();
    show_acts(&mut shown, conversation.begin(&mut output), &mut ids);
    for line in &lines {
        let message = &line["message"];
        if line["from"] == "client" {
            note_method(&mut methods, message);
            match message["method"].as_str() {
                Some("session/cancel") => show_acts(&mut shown, conversation.cancel(), &mut ids),
                // The recorded client did not wait: what gemini tells late of its history is taken for news here.
                Some("session/prompt") => show_acts(&mut shown, conversation.settle(&mut output), &mut ids),
                _ => {}
            }
            continue;
        }
        let Some(message) = with_our_id(message, &methods, &ids) else { continue };
        let line = message.to_string();
        let acts = conversation.hear(wire::parse(line.as_bytes()).unwrap(), &mut output);
        for piece in output.take_pieces() {
            writeln!(shown, "{piece:?}").unwrap();
        }
        show_acts(&mut shown, acts, &mut ids);
    }
    finish(&mut shown, &conversation, output, now);
    shown.replace(&root, PROJECT)
}

fn find_loaded(lines: &[Value]) -> Option<String> {
    let load = lines.iter().find(|line| line["message"]["method"] == "session/load")?;
    load["message"]["params"]["sessionId"].as_str().map(str::to_owned)
}

fn note_method(methods: &mut BTreeMap<String, String>, message: &Value) {
    if let (Some(method), false) = (message["method"].as_str(), message["id"].is_null()) {
        methods.insert(message["id"].to_string(), method.to_owned());
    }
}

/// Gives an answer the id of our own request; nothing for an answer to what we do not ask.
fn with_our_id(
    message: &Value,
    methods: &BTreeMap<String, String>,
    ids: &BTreeMap<String, Value>,
) -> Option<Value> {
    let mut message = message.clone();
    if message["method"].is_null() {
        let method = methods.get(&message["id"].to_string())?;
        message["id"] = ids.get(method)?.clone();
    }
    Some(message)
}

fn show_acts(shown: &mut String, acts: Vec<Act>, ids: &mut BTreeMap<String, Value>) {
    for act in &acts {
        show_act(shown, act, ids);
    }
}

fn show_act(shown: &mut String, act: &Act, ids: &mut BTreeMap<String, Value>) {
    let Act::Send(message) = act else { return writeln!(shown, "{act:?}").unwrap() };
    let message: Value = serde_json::to_value(message).unwrap();
    match message["method"].as_str() {
        Some(method) => {
            ids.insert(method.to_owned(), message["id"].clone());
            writeln!(shown, "-> {method}").unwrap();
        }
        None => {
            let answer = if message["error"].is_null() { &message["result"] } else { &message["error"] };
            writeln!(shown, "-> answer {answer}").unwrap();
        }
    }
}

fn finish(shown: &mut String, conversation: &Conversation, output: AgentOutput, now: Timestamp) {
    let outcome = if conversation.is_over() {
        conclude(Outcome::Finished, None, &output, "", now).to_string()
    } else {
        "the conversation is not over".to_owned()
    };
    writeln!(shown, "---\n{outcome}").unwrap();
    let mut totals = output.into_totals();
    writeln!(shown, "session {:?}, turns {:?}", totals.session, totals.turns).unwrap();
    writeln!(shown, "{:?}", totals.usage).unwrap();
    writeln!(shown, "last message {}", json!(String::from_utf8_lossy(totals.message.read().0))).unwrap();
}

#[test]
fn claude() {
    check("acp-claude");
}

#[test]
fn codex() {
    check("acp-codex");
}

#[test]
fn gemini() {
    check("acp-gemini");
}

#[test]
fn goose() {
    check("acp-goose");
}

#[test]
fn opencode() {
    check("acp-opencode");
}

/// Reads a message by the crate's types; `methods` are those of the requests that were seen, with who asked.
fn read_strictly(line: &Value, methods: &mut BTreeMap<(bool, String), String>) -> Result<(), Error> {
    let is_client = line["from"] == "client";
    let message: RawJsonRpcMessage = serde_json::from_value(line["message"].clone())?;
    let value =
        |params: &Option<RawJsonRpcParams>| params.clone().map_or(Value::Null, RawJsonRpcParams::into_value);
    match &message {
        RawJsonRpcMessage::Request(request) => {
            methods.insert((is_client, request.id.to_string()), request.method.to_string());
            let (method, params) = (&*request.method, value(&request.params));
            if is_client {
                ClientRequest::parse_message(method, &params).map(drop)?;
            } else {
                AgentRequest::parse_message(method, &params).map(drop)?;
            }
        }
        RawJsonRpcMessage::Notification(notice) if is_client => {
            ClientNotification::parse_message(&notice.method, &value(&notice.params)).map(drop)?;
        }
        RawJsonRpcMessage::Notification(notice) => {
            AgentNotification::parse_message(&notice.method, &value(&notice.params)).map(drop)?;
        }
        RawJsonRpcMessage::Response(RawJsonRpcResponse::Result { id, result }) => {
            let method = &methods[&(!is_client, id.to_string())];
            if is_client {
                ClientResponse::from_json(method, result.clone()).map(drop)?;
            } else {
                AgentResponse::from_json(method, result.clone()).map(drop)?;
            }
        }
        RawJsonRpcMessage::Response(RawJsonRpcResponse::Error { .. }) => {}
    }
    Ok(())
}

/// A message that does not read would be met by the rule of `wire`, and perhaps not be missed in what is expected.
#[test]
fn every_message_reads() {
    for case in AGENTS.iter().flat_map(|agent| cases(agent)) {
        let mut methods = BTreeMap::new();
        for line in read_lines(&case, PROJECT) {
            if let Err(error) = read_strictly(&line, &mut methods) {
                panic!("{}: {error}: {line}", case.display());
            }
        }
    }
}
