//! Whatever an agent says does no harm: recorded messages with fields dropped and replaced, at every stage.
//!
//! What a message may do is the rule of [`wire`](super::wire). Whether an answer reads is asked of the crate itself.

use std::sync::LazyLock;

use agent_client_protocol::v1::schema::{
    self, InitializeResponse, LoadSessionResponse, NewSessionResponse, PromptResponse, RawValue,
};
use proptest::prelude::*;
use proptest::sample::Index;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::conversation::Act;
use super::recorded::agent_messages;
use super::spoken::{Client, sent};
use super::wire::{self, Incoming};
use crate::failure::FailureClass;
use crate::permission::Permissions;

const CASES: u32 = 1000;

/// Stands for a number that no type holds; JSON values cannot.
const HUGE: &str = "@huge@";

/// Stands for lists in lists, deeper than anything is read.
const DEEP: &str = "@deep@";

static RECORDED: LazyLock<Vec<Value>> = LazyLock::new(agent_messages);

/// One change to a message: where, and what is put there instead of what was; nothing drops it.
#[derive(Debug, Clone)]
struct Change {
    place: Index,
    value: Option<Value>,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let values = vec![
        None,
        Some(json!(null)),
        Some(json!(true)),
        Some(json!(-1)),
        Some(json!(1.5)),
        Some(json!(u64::MAX)),
        Some(json!("")),
        Some(json!("/etc/passwd")),
        Some(json!([])),
        Some(json!({})),
        Some(json!([{ "path": "/etc/passwd" }])),
        Some(json!(HUGE)),
        Some(json!(DEEP)),
    ];
    let change = (any::<Index>(), proptest::sample::select(values));
    proptest::collection::vec(change.prop_map(|(place, value)| Change { place, value }), 0..4)
}

/// Returns the pointers to all parts of a value but itself.
fn places(value: &Value) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut at = 0;
    while at < all.len() {
        let place = all[at].clone();
        match value.pointer(&place) {
            Some(Value::Object(fields)) => {
                let escaped = fields.keys().map(|key| key.replace('~', "~0").replace('/', "~1"));
                all.extend(escaped.map(|key| format!("{place}/{key}")));
            }
            Some(Value::Array(parts)) => all.extend((0..parts.len()).map(|part| format!("{place}/{part}"))),
            _ => {}
        }
        at += 1;
    }
    all.split_off(1)
}

fn apply(message: &mut Value, change: &Change) {
    let places = places(message);
    if places.is_empty() {
        return;
    }
    let place = change.place.get(&places);
    match &change.value {
        Some(value) => *message.pointer_mut(place).unwrap() = value.clone(),
        None => {
            let (parent, key) = place.rsplit_once('/').unwrap();
            match message.pointer_mut(parent).unwrap() {
                Value::Object(fields) => drop(fields.remove(&key.replace("~1", "/").replace("~0", "~"))),
                Value::Array(parts) => drop(parts.remove(key.parse().unwrap())),
                other => panic!("{other} has no parts"),
            }
        }
    }
}

fn line_of(message: &Value) -> String {
    let deep = "[".repeat(5000) + &"]".repeat(5000);
    message.to_string().replace(&format!("\"{HUGE}\""), "1e999").replace(&format!("\"{DEEP}\""), &deep)
}

/// Leads a client to a stage; returns the id and the method that an answer is awaited to.
fn lead(stage: usize) -> (Client, i64, &'static str) {
    let is_loaded = matches!(stage, 2 | 4);
    let mut client = Client::new(|start| {
        start.permissions = Permissions::Ask;
        start.resume = is_loaded.then(|| "old".to_owned());
        start.model = (stage == 3).then(|| "big".to_owned());
    });
    client.begin();
    let opened = json!({ "protocolVersion": 1, "agentCapabilities": { "loadSession": true } });
    let entered = json!({ "sessionId": "s", "models": { "currentModelId": "small" } });
    let (answers, method) = match stage {
        0 => (vec![], "initialize"),
        1 => (vec![opened], "session/new"),
        2 => (vec![opened], "session/load"),
        3 => (vec![opened, entered], "session/set_model"),
        4 => (vec![opened, entered], "settling"),
        5 => (vec![opened, entered], "session/prompt"),
        _ => (vec![opened, entered, json!({ "stopReason": "end_turn" })], "over"),
    };
    let last_id = 1 + i64::try_from(answers.len()).unwrap() - i64::from(matches!(stage, 4 | 6));
    for (id, answer) in (1..).zip(answers) {
        client.hear(json!({ "id": id, "result": answer }));
    }
    (client, last_id, method)
}

fn stage_of(client: &Client) -> (bool, bool, bool) {
    let conversation = &client.conversation;
    (conversation.is_over(), conversation.is_settling(), conversation.is_prompted())
}

fn read_as<T: DeserializeOwned>(part: &RawValue) -> bool {
    serde_json::from_str::<T>(part.get()).is_ok()
}

/// Tells whether an answer to a method reads; one of which nothing is needed always does.
fn reads(method: &str, result: &RawValue) -> bool {
    match method {
        "initialize" => read_as::<InitializeResponse>(result),
        "session/new" => read_as::<NewSessionResponse>(result),
        "session/load" => read_as::<LoadSessionResponse>(result),
        "session/prompt" => read_as::<PromptResponse>(result),
        _ => true,
    }
}

/// Hears one line, and tells whether what came of it is within the rule.
fn check(line: &str, stage: usize) {
    let (mut client, awaited, method) = lead(stage);
    let before = stage_of(&client);
    let Some(message) = wire::parse(line.as_bytes()) else { return };
    match message {
        Incoming::Notice { .. } | Incoming::Nonsense => {
            assert_eq!(client.hear_line(line), []);
            assert_eq!(stage_of(&client), before);
        }
        Incoming::Request { id, .. } => {
            let id = serde_json::to_value(id).unwrap();
            let acts = client.hear_line(line);
            assert_eq!(stage_of(&client), before);
            match &acts[..] {
                [Act::Send(_)] => assert_eq!(sent(acts)["id"], id),
                [Act::Ask { .. } | Act::Read { .. } | Act::Write { .. }] => {}
                other => panic!("one thing is done about a request, not {other:?}"),
            }
        }
        Incoming::Answer { id, result } => {
            let reads = match result {
                _ if id.to_string() != awaited.to_string() || matches!(method, "settling" | "over") => None,
                Err(error) => Some(read_as::<schema::Error>(error)),
                Ok(result) => Some(reads(method, result)),
            };
            client.hear_line(line);
            match reads {
                None => assert_eq!(stage_of(&client), before),
                Some(true) => assert!(client.conversation.is_over() || client.output.failure().is_none()),
                Some(false) => {
                    let class = client.output.failure().map(|failure| failure.class);
                    assert_eq!(class, Some(FailureClass::InvalidOutput));
                    assert!(client.conversation.is_over());
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_message_does_what_the_rule_says(
        message in any::<Index>(),
        is_awaited: bool,
        changes in changes(),
        stage in 0usize..7,
    ) {
        let mut message = message.get(&RECORDED).clone();
        if is_awaited && message["method"].is_null() {
            message["id"] = json!(lead(stage).1);
        }
        for change in &changes {
            apply(&mut message, change);
        }
        check(&line_of(&message), stage);
    }

    #[test]
    fn no_line_is_too_odd(line in "[\\[{:\",}0-9a-z\\\\\\]. ]{0,40}") {
        check(&line, 5);
    }
}
