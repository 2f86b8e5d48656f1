//! What the model answers to a conversation: the next step of its script, for the tools that are offered.

use std::collections::HashMap;
use std::time::Duration;

use super::body::End;
use super::conversation::{Conversation, Place};
use super::folder::find_folder;
use super::refusal::Refusal;
use super::script::{Part, Usage};
use super::tool::{Call, named_call, shell_call, write_call};

/// The longest delay that a script can ask for; a test that needs more wants `hang`.
const DELAY_MAX: Duration = Duration::from_secs(600);

/// What becomes of a request.
#[derive(Debug)]
pub(crate) struct Plan {
    /// How long to wait first.
    pub(crate) delay: Duration,
    /// What to do then.
    pub(crate) outcome: Outcome,
}

/// What to do with a request.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Answer it.
    Answer(Answer),
    /// Refuse it, as the service would.
    Refuse(Refusal),
    /// Never answer.
    Hang,
}

/// An answer of the model, before it has a wire format.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// Makes ids that are the same for the same request.
    pub(crate) key: String,
    /// The model that was asked for.
    pub(crate) model: String,
    /// What it thinks first.
    pub(crate) thinking: String,
    /// What it says.
    pub(crate) text: String,
    /// The tools that it calls.
    pub(crate) calls: Vec<Call>,
    /// The tokens.
    pub(crate) usage: Usage,
    /// How the transmission ends.
    pub(crate) end: End,
}

/// How often each step has been refused.
pub(crate) type Refusals = HashMap<String, u32>;

/// Decides what becomes of a request.
pub(crate) fn plan(conversation: &Conversation, refusals: &mut Refusals) -> Plan {
    let Place { script, step, key } = conversation.place();
    let script = match script {
        Ok(script) => script,
        Err(error) => return Plan::at_once(Outcome::Refuse(Refusal::unreadable(&error))),
    };
    if conversation.tools.is_empty() && script.uses_tools() {
        return Plan::at_once(Outcome::Answer(Answer::saying("stub title", key, conversation)));
    }
    let Some(parts) = script.parts(step) else {
        return Plan::at_once(Outcome::Answer(Answer::saying("stub: the script is over", key, conversation)));
    };
    let seconds: f64 = parts.iter().filter_map(|part| part.delay).sum();
    let delay = Duration::try_from_secs_f64(seconds).unwrap_or(DELAY_MAX).min(DELAY_MAX);
    Plan { delay, outcome: decide(parts, key, conversation, refusals) }
}

fn decide(parts: &[Part], key: String, conversation: &Conversation, refusals: &mut Refusals) -> Outcome {
    if parts.iter().any(|part| part.hang) {
        return Outcome::Hang;
    }
    for part in parts {
        let Some(refusal) = Refusal::of(part) else { continue };
        let count = refusals.entry(key.clone()).or_default();
        if part.times.is_none_or(|times| *count < times) {
            *count += 1;
            return Outcome::Refuse(refusal);
        }
    }
    Outcome::Answer(Answer::of(parts, key, conversation))
}

impl Plan {
    fn at_once(outcome: Outcome) -> Self {
        Plan { delay: Duration::ZERO, outcome }
    }
}

impl Answer {
    /// Returns an answer that only says something; side requests for titles and summaries get one too.
    fn saying(text: &str, key: String, conversation: &Conversation) -> Self {
        let part = Part { say: Some(text.to_owned()), ..Part::default() };
        Answer::of(&[part], key, conversation)
    }

    fn of(parts: &[Part], key: String, conversation: &Conversation) -> Self {
        let words = |word: fn(&Part) -> Option<&String>| parts.iter().filter_map(word).cloned().collect();
        let mut answer = Answer {
            key,
            model: conversation.model.clone(),
            thinking: words(|part| part.think.as_ref()),
            text: words(|part| part.say.as_ref()),
            calls: Vec::new(),
            usage: parts.iter().find_map(|part| part.usage).unwrap_or_default(),
            end: end_of(parts),
        };
        for part in parts {
            answer.add_calls(part, conversation);
        }
        answer
    }

    fn add_calls(&mut self, part: &Part, conversation: &Conversation) {
        let tools = &conversation.tools;
        if let Some(write) = &part.write {
            let told: Vec<&str> = conversation.turns.iter().map(|turn| turn.text.as_str()).collect();
            let told = told.join("\n");
            let folder = find_folder(&conversation.system).or_else(|| find_folder(&told));
            self.add_call(write_call(tools, write, folder, part.escalate), "write", conversation);
        }
        if let Some(command) = &part.shell {
            self.add_call(shell_call(tools, command, part.escalate), "shell", conversation);
        }
        if let Some(tool) = &part.tool {
            self.calls.push(named_call(tools, tool));
        }
    }

    /// Adds a call, or says that no tool can do it: the test then sees it in what the program prints.
    fn add_call(&mut self, call: Option<Call>, word: &str, conversation: &Conversation) {
        match call {
            Some(call) => self.calls.push(call),
            None => {
                let names: Vec<&str> = conversation.tools.iter().map(|tool| tool.name.as_str()).collect();
                self.text.push_str(&format!("stub: no tool for `{word}` among {}", names.join(", ")));
            }
        }
    }

    /// Returns the text in small pieces, as a model produces it.
    pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
        text.split_inclusive(char::is_whitespace)
    }
}

fn end_of(parts: &[Part]) -> End {
    if parts.iter().any(|part| part.drop) {
        End::Cut
    } else if parts.iter().any(|part| part.stall) {
        End::Stalled
    } else {
        End::Whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::conversation::Speaker;
    use crate::model::script::prompt;
    use crate::model::tool::Tool;
    use serde_json::{Value, json};

    fn asked(steps: &Value, tools: &[&str]) -> Conversation {
        let tool = |name: &&str| Tool {
            name: (*name).to_owned(),
            schema: json!({}),
            is_free_text: false,
            namespace: None,
        };
        let mut conversation =
            Conversation { tools: tools.iter().map(tool).collect(), ..Conversation::default() };
        conversation.push(Speaker::User, prompt("Go.", steps));
        conversation
    }

    fn answer(plan: Plan) -> Answer {
        match plan.outcome {
            Outcome::Answer(answer) => answer,
            other => panic!("not an answer: {other:?}"),
        }
    }

    #[test]
    fn an_error_goes_away_after_its_times() {
        let conversation = asked(&json!([[{"error": 500, "times": 2}, {"say": "back"}]]), &[]);
        let mut refusals = Refusals::new();
        for _ in 0..2 {
            assert!(matches!(plan(&conversation, &mut refusals).outcome, Outcome::Refuse(_)));
        }
        assert_eq!(answer(plan(&conversation, &mut refusals)).text, "back");
    }

    #[test]
    fn a_side_request_without_tools_gets_a_title() {
        let steps = json!([{"shell": "ls"}]);
        assert_eq!(answer(plan(&asked(&steps, &[]), &mut Refusals::new())).text, "stub title");
        let answer = answer(plan(&asked(&steps, &["Bash"]), &mut Refusals::new()));
        assert_eq!((answer.text.as_str(), answer.calls.len()), ("", 1));
    }

    #[test]
    fn what_no_tool_can_do_is_said() {
        let answer = answer(plan(&asked(&json!([{"shell": "ls"}]), &["Read"]), &mut Refusals::new()));
        assert_eq!(answer.text, "stub: no tool for `shell` among Read");
    }

    #[test]
    fn a_script_that_cannot_be_read_is_refused_with_the_reason() {
        let plan = plan(&asked(&json!([{"sya": "a"}]), &["Bash"]), &mut Refusals::new());
        let Outcome::Refuse(refusal) = plan.outcome else { panic!("{plan:?}") };
        assert!(refusal.message.starts_with("stub: the script cannot be read: "), "{}", refusal.message);
    }

    #[test]
    fn delays_and_ends_come_from_the_step() {
        let conversation = asked(&json!([[{"delay": 0.5, "drop": true}, {"say": "a"}]]), &[]);
        let plan = plan(&conversation, &mut Refusals::new());
        assert_eq!(plan.delay, Duration::from_millis(500));
        assert_eq!(answer(plan).end, End::Cut);
    }

    #[test]
    fn a_prompt_without_a_script_is_answered() {
        let mut conversation = Conversation::default();
        conversation.push(Speaker::User, "Hello.".to_owned());
        assert_eq!(answer(plan(&conversation, &mut Refusals::new())).text, "stub: ok");
    }
}
