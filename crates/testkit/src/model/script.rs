//! The script that travels in a prompt: what the model answers, step by step.
//!
//! ```text
//! Fix it. [[stub: [{"write": {"path": "a.txt", "content": "hi\n"}}, {"shell": "git status"}, {"say": "done"}] ]]
//! ```
//!
//! Each element is one answer of the model: an object, or a list of objects that make one answer together. A word
//! that is not known makes the whole script unreadable, so that a mistyped one is not passed over.

use serde::Deserialize;
use serde_json::{Map, Value};

/// What a script begins with in a prompt.
const MARK: &str = "[[stub:";

/// The steps of a script, one for each answer of the model.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Script {
    steps: Vec<Step>,
}

/// One answer of the model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Step {
    One(Box<Part>),
    Several(Vec<Part>),
}

/// A part of an answer; an object may use several words at once.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Part {
    /// Text that the model says.
    pub(crate) say: Option<String>,
    /// Text that the model thinks before it answers.
    pub(crate) think: Option<String>,
    /// A file to be written, by whichever tool the program offers.
    pub(crate) write: Option<Write>,
    /// A command to be run, by whichever tool the program offers.
    pub(crate) shell: Option<String>,
    /// A call of a named tool.
    pub(crate) tool: Option<ToolUse>,
    /// Asks to leave the sandbox for a write or a command, where the tool knows of one.
    pub(crate) escalate: bool,
    /// The HTTP status of an error.
    pub(crate) error: Option<u16>,
    /// The message of an error, if not the usual one.
    pub(crate) message: Option<String>,
    /// Answers with a rate limit as the service would.
    pub(crate) rate_limit: Option<RateLimit>,
    /// How often an error or a rate limit is answered before the step continues; always, if not given.
    pub(crate) times: Option<u32>,
    /// Seconds for the header `retry-after` of an error.
    pub(crate) retry_after: Option<u64>,
    /// Seconds before the answer.
    pub(crate) delay: Option<f64>,
    /// Never answers.
    pub(crate) hang: bool,
    /// Sends half of the answer, and then nothing more.
    pub(crate) stall: bool,
    /// Sends half of the answer, and closes the connection.
    pub(crate) drop: bool,
    /// The tokens that the answer is said to have cost.
    pub(crate) usage: Option<Usage>,
}

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    /// Where, from the folder that the program works in.
    pub(crate) path: String,
    /// What.
    pub(crate) content: String,
}

/// A call of a named tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolUse {
    /// The tool's name, without what the program puts before it.
    pub(crate) name: String,
    /// Its arguments.
    #[serde(default)]
    pub(crate) args: Map<String, Value>,
}

/// A limit that was reached, and when it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RateLimit {
    /// Seconds until it is over.
    pub(crate) seconds: u64,
    /// Which limit.
    #[serde(default)]
    pub(crate) of: Limited,
}

/// Which limit was reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Limited {
    /// Requests in a short time.
    #[default]
    Requests,
    /// What a subscription allows in hours or days.
    Usage,
}

/// Tokens of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Usage {
    /// Tokens that went in.
    pub(crate) input: u64,
    /// Tokens that came out, those of thinking among them.
    pub(crate) output: u64,
    /// Tokens that went in and were known already.
    pub(crate) cached: u64,
    /// Tokens of thinking.
    pub(crate) reasoning: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Usage { input: 1000, output: 50, cached: 0, reasoning: 0 }
    }
}

impl Script {
    /// Returns the script of prompts that carry none: it says `stub: ok`.
    pub(crate) fn plain() -> Self {
        let part = Part { say: Some("stub: ok".to_owned()), ..Part::default() };
        Script { steps: vec![Step::One(Box::new(part))] }
    }

    /// Finds the last script in a text; the error is why none of its scripts can be read.
    pub(crate) fn find(text: &str) -> Option<Result<Self, serde_json::Error>> {
        let mut found = None;
        for (offset, _) in text.match_indices(MARK) {
            let read = parse(&text[offset + MARK.len()..]);
            if read.is_ok() || !matches!(found, Some(Ok(_))) {
                found = Some(read);
            }
        }
        found
    }

    /// Returns the parts of a step, or nothing when the script is over.
    pub(crate) fn parts(&self, step: usize) -> Option<&[Part]> {
        match self.steps.get(step)? {
            Step::One(part) => Some(std::slice::from_ref(part)),
            Step::Several(parts) => Some(parts),
        }
    }

    /// Tells whether any step calls a tool.
    pub(crate) fn uses_tools(&self) -> bool {
        let uses = |part: &Part| part.write.is_some() || part.shell.is_some() || part.tool.is_some();
        (0..self.steps.len()).filter_map(|step| self.parts(step)).flatten().any(uses)
    }
}

/// Returns a prompt that carries a script, given as a JSON list of steps.
pub fn prompt(text: &str, steps: &Value) -> String {
    format!("{text} {MARK} {steps} ]]")
}

/// Reads the script at the beginning of a text; some programs hand the prompt on as an escaped string.
fn parse(text: &str) -> Result<Script, serde_json::Error> {
    let first = |text: &str| match serde_json::Deserializer::from_str(text).into_iter::<Script>().next() {
        Some(read) => read,
        None => serde_json::from_str(""),
    };
    first(text).or_else(|error| first(&unescape(text)).map_err(|_| error))
}

fn unescape(text: &str) -> String {
    text.replace("\\\"", "\"").replace("\\\\", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> Script {
        Script::find(text).unwrap().unwrap()
    }

    #[test]
    fn the_last_script_of_a_text_counts() {
        let text =
            format!("{}\n{}", prompt("a", &json!([{"say": "1"}])), prompt("b", &json!([{"say": "2"}])));
        assert_eq!(read(&text).parts(0).unwrap()[0].say.as_deref(), Some("2"));
        assert!(Script::find("no script").is_none());
    }

    #[test]
    fn several_objects_make_one_answer() {
        let script =
            read(&prompt("", &json!([[{"drop": true}, {"say": "a"}], {"shell": "ls", "escalate": true}])));
        assert_eq!(script.parts(0).unwrap().len(), 2);
        assert!(script.parts(1).unwrap()[0].escalate);
        assert!(script.parts(2).is_none());
        assert!(script.uses_tools());
        assert!(!Script::plain().uses_tools());
    }

    #[test]
    fn a_script_inside_an_escaped_string_is_read() {
        let text = serde_json::to_string(&prompt("x", &json!([{"say": "a\nb"}]))).unwrap();
        assert_eq!(read(&text).parts(0).unwrap()[0].say.as_deref(), Some("a\nb"));
    }

    #[test]
    fn a_mistyped_word_is_an_error_unless_another_script_is_whole() {
        assert!(Script::find("[[stub: [{\"sya\": \"a\"}] ]]").unwrap().is_err());
        assert!(Script::find("[[stub: ]]").unwrap().is_err());
        assert!(Script::find("[[stub: [{\"say\": \"a\"}] ]] and [[stub: …").unwrap().is_ok());
    }
}
