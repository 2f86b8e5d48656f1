//! What happened in a session, as its transcript tells it: the one shape for every kind of agent and for every reader.
//!
//! A line of a transcript is read into at most one [`TimedItem`]. Whatever stands in the line does no harm: texts hold no
//! control characters but line ends and tabs, and what is not understood is passed over. Pure; [`Follower`] reads files.
//!
//! [`Follower`]: crate::Follower

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::change::Change;
use crate::json;
use crate::output::{Output, PermissionAnswer, PlanStep};
use crate::text::{cut_length, neutralize};
use crate::usage::Usage;

/// How much of what a tool returned is kept in an item: a reader wants to know why it failed.
const RETURNED_BYTES_MAX: usize = 600;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[allow(missing_docs, reason = "the names of the fields say it")]
pub enum Item {
    /// The agent was given its prompt, or a part of a long one.
    Prompted { text: String },
    /// The agent said something, or a program printed it; a piece may end within a line.
    Said { text: String },
    /// The agent thought something; a piece may end within a line.
    Thought { text: String },
    /// Standard error; a piece may end within a line.
    Complained { text: String },
    /// A tool was called. The path is that of the file or folder it is about.
    ToolCalled {
        id: String,
        tool: String,
        about: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// A tool came back.
    ToolReturned { id: String, is_error: bool, text: String },
    /// A file of the working folder was changed.
    Edited {
        path: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        change: Option<Change>,
    },
    /// A commit was made.
    Committed { message: String },
    /// The agent's plan, whole, as it now is.
    Planned { steps: Vec<PlanStep> },
    /// The agent asked for permission, and was answered.
    PermissionAsked { what: String, answer: PermissionAnswer, by: String },
    /// What the session has used so far, in all.
    Used {
        input_tokens: u64,
        cached_tokens: u64,
        output_tokens: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_micros: Option<u64>,
    },
    /// The provider asks to come back later.
    RateLimited {
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// Output that was too long to be read.
    Skipped { bytes: u64 },
    /// A remark of Regatta.
    Noted { text: String },
    /// The session is over.
    Ended { outcome: String },
}

/// An item with its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedItem {
    /// When it was written down.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub item: Item,
}

/// A line of a transcript, as far as it can be read.
#[derive(Deserialize)]
struct Line {
    at: Timestamp,
    stream: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    item: Option<Value>,
    /// Whether an item says the same.
    #[serde(default)]
    kept: bool,
    #[serde(default)]
    end: bool,
}

impl TimedItem {
    /// Reads one line of a transcript; nothing if it says nothing to a person, or cannot be read.
    pub fn parse(line: &[u8]) -> Option<TimedItem> {
        if json::is_deceptive(line) || json::is_heavy(line) {
            return None;
        }
        let Line { at, stream, text, item, kept, end } = serde_json::from_slice(line).ok()?;
        let item = match item {
            Some(item) => serde_json::from_value(item).ok()?,
            None => Item::of_stream(&stream, text, kept, end)?,
        };
        Some(TimedItem { at, item: item.neutralized() })
    }
}

impl Item {
    fn of_stream(stream: &str, text: String, kept: bool, end: bool) -> Option<Item> {
        match stream {
            "prompt" => Some(Item::Prompted { text }),
            "out" if !kept => Some(Item::Said { text }),
            "err" => Some(Item::Complained { text }),
            "note" if end => Some(Item::Ended { outcome: text }),
            "note" => Some(Item::Noted { text }),
            "edit" => Some(Item::Edited { path: text, change: None }),
            "commit" => Some(Item::Committed { message: text }),
            _ => None,
        }
    }

    /// Makes every text safe to show.
    fn neutralized(self) -> Item {
        let safe = |text: String| neutralize(&text);
        match self {
            Item::Prompted { text } => Item::Prompted { text: safe(text) },
            Item::Said { text } => Item::Said { text: safe(text) },
            Item::Thought { text } => Item::Thought { text: safe(text) },
            Item::Complained { text } => Item::Complained { text: safe(text) },
            Item::ToolCalled { id, tool, about, path } => {
                Item::ToolCalled { id: safe(id), tool: safe(tool), about: safe(about), path: path.map(safe) }
            }
            Item::ToolReturned { id, is_error, text } => {
                Item::ToolReturned { id: safe(id), is_error, text: safe(text) }
            }
            Item::Edited { path, change } => {
                let change = change.map(|mut change| {
                    change.lines = change.lines.into_iter().map(safe).collect();
                    change
                });
                Item::Edited { path: safe(path), change }
            }
            Item::Committed { message } => Item::Committed { message: safe(message) },
            Item::Planned { steps } => {
                let step = |step: PlanStep| PlanStep { text: neutralize(&step.text), ..step };
                Item::Planned { steps: steps.into_iter().map(step).collect() }
            }
            Item::PermissionAsked { what, answer, by } => {
                Item::PermissionAsked { what: safe(what), answer, by: safe(by) }
            }
            Item::RateLimited { message, until } => Item::RateLimited { message: safe(message), until },
            Item::Noted { text } => Item::Noted { text: safe(text) },
            Item::Ended { outcome } => Item::Ended { outcome: safe(outcome) },
            Item::Used { .. } | Item::Skipped { .. } => self,
        }
    }
}

impl From<&Output> for Item {
    fn from(output: &Output) -> Item {
        match output.clone() {
            Output::Text(text) => Item::Said { text },
            Output::Thinking(text) => Item::Thought { text },
            Output::Error(text) => Item::Complained { text },
            Output::ToolCalled { id, name, about, path } => Item::ToolCalled { id, tool: name, about, path },
            Output::ToolReturned { id, is_error, text } => {
                let text = text[..cut_length(&text, RETURNED_BYTES_MAX)].to_owned();
                Item::ToolReturned { id, is_error, text }
            }
            Output::Edited { path, change } => Item::Edited { path, change },
            Output::Committed { message } => Item::Committed { message },
            Output::Planned(steps) => Item::Planned { steps },
            Output::PermissionAsked { what, answer, by } => Item::PermissionAsked { what, answer, by },
            Output::Used(Usage { input_tokens, cached_tokens, output_tokens, cost_micros }) => {
                Item::Used { input_tokens, cached_tokens, output_tokens, cost_micros }
            }
            Output::RateLimited { message, until } => Item::RateLimited { message, until },
            Output::Skipped { bytes } => Item::Skipped { bytes },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use proptest::prelude::*;

    #[test]
    fn every_kind_of_line_is_read() {
        let lines = [
            r#""stream":"prompt","text":"do it""#,
            r#""stream":"in","text":"{}""#,
            r#""stream":"out","text":"{\"type\":\"system\"}","kept":true"#,
            r#""stream":"out","text":"\u001b[31mred\u001b[0m""#,
            r#""stream":"err","text":"warning""#,
            r#""stream":"item","item":{"kind":"toolCalled","id":"1","tool":"Bash","about":"ls"}"#,
            r#""stream":"item","item":{"kind":"edited","path":"a","change":{"added":1,"lines":["+\u0007x"]}}"#,
            r#""stream":"item","item":{"kind":"used","inputTokens":1,"cachedTokens":0,"outputTokens":2}"#,
            r#""stream":"item","item":{"kind":"of tomorrow"}"#,
            r#""stream":"edit","text":"b""#,
            r#""stream":"commit","text":"message""#,
            r#""stream":"note","text":"in a sandbox""#,
            r#""stream":"note","text":"finished","end":true"#,
            r#""stream":"of tomorrow","text":"x""#,
        ];
        let read = |line: &str| {
            let line = format!("{{\"at\":\"2026-01-01T00:00:00Z\",{line}}}");
            TimedItem::parse(line.as_bytes())
                .map_or("nothing".to_owned(), |timed| format!("{:?}", timed.item))
        };
        let shown: Vec<String> = lines.into_iter().map(read).collect();
        expect![[r#"
            Prompted { text: "do it" }
            nothing
            nothing
            Said { text: "red" }
            Complained { text: "warning" }
            ToolCalled { id: "1", tool: "Bash", about: "ls", path: None }
            Edited { path: "a", change: Some(Change { added: 1, removed: 0, lines: ["+\\u{7}x"], left_out: 0 }) }
            Used { input_tokens: 1, cached_tokens: 0, output_tokens: 2, cost_micros: None }
            nothing
            Edited { path: "b", change: None }
            Committed { message: "message" }
            Noted { text: "in a sandbox" }
            Ended { outcome: "finished" }
            nothing
        "#]].assert_eq(&(shown.join("\n") + "\n"));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let item = Item::ToolCalled {
            id: "1".into(),
            tool: "Edit".into(),
            about: "a".into(),
            path: Some("a".into()),
        };
        let line = serde_json::json!({ "at": "2026-01-01T00:00:00Z", "stream": "item", "item": item });
        assert_eq!(TimedItem::parse(line.to_string().as_bytes()).unwrap().item, item);
    }

    fn is_safe(value: &Value) -> bool {
        match value {
            Value::String(text) => {
                text.chars().all(|character| matches!(character, '\n' | '\t') || !character.is_control())
            }
            Value::Array(values) => values.iter().all(is_safe),
            Value::Object(fields) => fields.values().all(is_safe),
            _ => true,
        }
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            TimedItem::parse(&bytes);
        }

        #[test]
        fn no_text_brings_a_control_character(text in "(\\PC|[\u{0}-\u{1f}\u{7f}-\u{9f}\u{202e}]){0,60}", kind in 0..4) {
            let at = "2026-01-01T00:00:00Z";
            let line = match kind {
                0 => serde_json::json!({ "at": at, "stream": "out", "text": text }),
                1 => serde_json::json!({ "at": at, "stream": "item", "item": { "kind": "toolCalled", "id": text, "tool": text, "about": text, "path": text } }),
                2 => serde_json::json!({ "at": at, "stream": "item", "item": { "kind": "edited", "path": text, "change": { "lines": [text] } } }),
                _ => serde_json::json!({ "at": at, "stream": "item", "item": { "kind": "planned", "steps": [{ "text": text, "state": "done" }] } }),
            };
            let timed = TimedItem::parse(line.to_string().as_bytes()).unwrap();
            prop_assert!(is_safe(&serde_json::to_value(&timed).unwrap()), "{timed:?}");
        }
    }
}
