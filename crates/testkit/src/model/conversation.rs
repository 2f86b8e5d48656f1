//! A request of any wire format as one thing: what was said, by whom, and which tools are offered.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::script::Script;
use super::tool::Tool;

/// What a request says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Conversation {
    /// The name of the model that was asked for.
    pub(crate) model: String,
    /// Whether the answer is to come as a stream.
    pub(crate) is_stream: bool,
    /// The instructions.
    pub(crate) system: String,
    /// What was said so far, oldest first.
    pub(crate) turns: Vec<Turn>,
    /// The tools that may be called.
    pub(crate) tools: Vec<Tool>,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Turn {
    /// Who.
    pub(crate) speaker: Speaker,
    /// What; empty for calls and results of tools.
    pub(crate) text: String,
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Speaker {
    /// The person, or the program in their name.
    User,
    /// The model.
    Model,
    /// A tool, with its result.
    Tool,
}

/// Where in which script a conversation stands.
#[derive(Debug)]
pub(crate) struct Place {
    /// The script, or why it cannot be read.
    pub(crate) script: Result<Script, serde_json::Error>,
    /// The step that comes next.
    pub(crate) step: usize,
    /// Names this step of this conversation; the same request has the same key.
    pub(crate) key: String,
}

impl Conversation {
    /// Adds a message.
    pub(crate) fn push(&mut self, speaker: Speaker, text: String) {
        self.turns.push(Turn { speaker, text });
    }

    /// Adds to the instructions.
    pub(crate) fn instruct(&mut self, text: &str) {
        self.system.push_str(text);
        self.system.push('\n');
    }

    /// Finds the last script that a user's message carries, and counts the answers given since.
    pub(crate) fn place(&self) -> Place {
        let scripts = self.turns.iter().enumerate().filter(|(_, turn)| turn.speaker == Speaker::User);
        let found = scripts.filter_map(|(index, turn)| Some((index, Script::find(&turn.text)?))).next_back();
        let (index, script) = found.unwrap_or_else(|| (self.last_of_user(), Ok(Script::plain())));
        let (before, after) = self.turns.split_at((index + 1).min(self.turns.len()));
        let step = count_answers(after);
        let mut hasher = DefaultHasher::new();
        (before, step).hash(&mut hasher);
        Place { script, step, key: format!("{:016x}", hasher.finish()) }
    }

    fn last_of_user(&self) -> usize {
        self.turns.iter().rposition(|turn| turn.speaker == Speaker::User).unwrap_or(0)
    }
}

/// Counts answers of the model; several messages in a row are one answer, such as a text and the calls after it.
fn count_answers(turns: &[Turn]) -> usize {
    let mut count = 0;
    let mut previous = Speaker::User;
    for turn in turns {
        if turn.speaker == Speaker::Model && previous != Speaker::Model {
            count += 1;
        }
        previous = turn.speaker;
    }
    count
}

/// Returns the text in any of the shapes that the services have for content.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Object(part) => part.get("text").map(text_of).unwrap_or_default(),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().map(text_of).filter(|text| !text.is_empty()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// Returns the elements of a list, or none.
pub(crate) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns a text of an object, or an empty one.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::script::prompt;
    use serde_json::json;

    fn of(turns: &[(Speaker, &str)]) -> Conversation {
        let mut conversation = Conversation::default();
        for (speaker, text) in turns {
            conversation.push(*speaker, (*text).to_owned());
        }
        conversation
    }

    #[test]
    fn the_step_is_the_number_of_answers_since_the_script() {
        let first = prompt("Go.", &json!([{"shell": "ls"}, {"say": "a"}]));
        let mut turns = vec![(Speaker::User, "about the folder"), (Speaker::User, first.as_str())];
        assert_eq!(of(&turns).place().step, 0);
        turns.extend([
            (Speaker::Model, "text"),
            (Speaker::Model, ""),
            (Speaker::Tool, ""),
            (Speaker::Tool, ""),
        ]);
        assert_eq!(of(&turns).place().step, 1);
        turns.push((Speaker::Model, "a"));
        assert_eq!(of(&turns).place().step, 2);
        let second = prompt("More.", &json!([{"say": "b"}]));
        turns.push((Speaker::User, &second));
        assert_eq!(of(&turns).place().step, 0);
    }

    #[test]
    fn keys_differ_by_step_and_by_prompt_and_are_the_same_for_a_repetition() {
        let key = |turns: &[(Speaker, &str)]| of(turns).place().key;
        assert_eq!(key(&[(Speaker::User, "a")]), key(&[(Speaker::User, "a")]));
        assert_ne!(key(&[(Speaker::User, "a")]), key(&[(Speaker::User, "b")]));
        assert_ne!(key(&[(Speaker::User, "a")]), key(&[(Speaker::User, "a"), (Speaker::Model, "x")]));
        assert_eq!(of(&[]).place().step, 0);
    }

    #[test]
    fn content_is_a_text_a_part_or_a_list_of_parts() {
        assert_eq!(text_of(&json!("a")), "a");
        assert_eq!(text_of(&json!([{"type": "text", "text": "a"}, {"type": "image"}, "b"])), "a\nb");
        assert_eq!(text_of(&json!(null)), "");
    }
}
