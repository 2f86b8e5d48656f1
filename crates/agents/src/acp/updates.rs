//! Turns the updates of a session (`session/update`) into the one vocabulary. Pure.
//!
//! Some agents tell an error of the provider as if they said it, and then end their turn as if all was well. Such words
//! are known by their form, or by a sign of the agent (codex marks its thread with `systemError`).

use serde_json::Value;

use crate::headless::event::{flat_text, list, micros, text};
use crate::heard::Heard;
use crate::output::{PlanState, PlanStep};
use crate::text::cut_length;
use crate::usage::Usage;

/// Tool calls that are remembered until they end; an agent has few open at a time.
const OPEN_CALLS_MAX: usize = 256;

/// How much of a call's input is kept until it is told; a call may hold a whole file.
const INPUT_BYTES_MAX: usize = 4096;

/// Longest path that is kept: no system allows longer ones.
const PATH_BYTES_MAX: usize = 4096;

/// How much of the last words is kept to tell an error from a message.
const LAST_WORDS_BYTES_MAX: usize = 4096;

/// How an error of the provider begins that is told as a message.
const ERROR_BEGINNINGS: [&str; 4] =
    ["Ran into this error:", "Network error:", "{\"type\": \"error\"", "{\"type\":\"error\""];

/// What has to be remembered from one update to the next.
#[derive(Debug, Default)]
pub(crate) struct Updates {
    open: Vec<Call>,
    message: String,
    is_in_turn: bool,
    last_words: String,
    is_system_error: bool,
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    input: Value,
    is_told: bool,
    is_edit: bool,
    paths: Vec<String>,
}

impl Updates {
    /// Reads one update.
    pub(crate) fn read(&mut self, update: &Value, heard: &mut Heard) {
        match text(update, "/sessionUpdate") {
            "agent_message_chunk" => self.read_message(update, heard),
            "agent_thought_chunk" => {
                self.begin_turn(heard);
                heard.think(&flat_text(&update["content"]));
            }
            "tool_call" | "tool_call_update" => self.read_call(update, heard),
            "plan" => heard.plan(list(update, "/entries").iter().map(read_step).collect()),
            "usage_update" if update["cost"]["currency"] == "USD" => read_cost(update, heard),
            "session_info_update" => {
                self.is_system_error |= text(update, "/_meta/codex/threadStatus/type") == "systemError";
            }
            _ => {}
        }
    }

    /// Returns the error that the agent told in the form of a message.
    pub(crate) fn find_told_error(&self) -> Option<&str> {
        let words = self.last_words.trim();
        let is_error = ERROR_BEGINNINGS.iter().any(|beginning| words.starts_with(beginning));
        // What follows is advice for a person.
        let words = words.split("\n\nPlease re").next().unwrap_or(words);
        (is_error || (self.is_system_error && !words.is_empty())).then_some(words)
    }

    /// Several calls may belong to one answer of the model; the next answer follows what they return.
    fn begin_turn(&mut self, heard: &mut Heard) {
        if !std::mem::replace(&mut self.is_in_turn, true) {
            heard.begin_turn();
        }
    }

    fn read_message(&mut self, update: &Value, heard: &mut Heard) {
        self.begin_turn(heard);
        let id = text(update, "/messageId");
        if id != self.message {
            self.message = id.to_owned();
            heard.end_message();
        }
        let words = flat_text(&update["content"]);
        words[..cut_length(&words, LAST_WORDS_BYTES_MAX)].clone_into(&mut self.last_words);
        heard.say(&words);
    }

    /// Reads what is said of a call. Many are announced before their input is known, some only by a request for leave.
    pub(crate) fn read_call(&mut self, update: &Value, heard: &mut Heard) {
        let id = text(update, "/toolCallId");
        if id.is_empty() {
            return;
        }
        self.begin_turn(heard);
        let place = match self.open.iter().position(|call| call.id == id) {
            Some(place) => place,
            None => self.open_call(id),
        };
        let status = text(update, "/status");
        let is_over = matches!(status, "completed" | "failed");
        let call = &mut self.open[place];
        call.learn(update);
        if !call.is_told && (is_over || call.has_input()) {
            call.is_told = true;
            heard.call_tool(&call.id, &call.name, &call.input);
        }
        if is_over {
            self.is_in_turn = false;
            self.open.remove(place).close(status == "failed", &read_answer(update), heard);
        }
    }

    fn open_call(&mut self, id: &str) -> usize {
        if self.open.len() == OPEN_CALLS_MAX {
            self.open.remove(0);
        }
        self.open.push(Call {
            id: id.to_owned(),
            name: String::new(),
            input: Value::Null,
            is_told: false,
            is_edit: false,
            paths: Vec::new(),
        });
        self.open.len() - 1
    }
}

impl Call {
    /// Takes over what an update says: a diff, or a place of an edit, names the file that changes.
    fn learn(&mut self, update: &Value) {
        let title = [text(update, "/title"), text(update, "/kind")].into_iter().find(|text| !text.is_empty());
        if let Some(title) = title.filter(|_| self.name.is_empty() || !text(update, "/title").is_empty()) {
            title.clone_into(&mut self.name);
        }
        if let Some(input) = update.get("rawInput").filter(|input| !is_empty(input)) {
            self.input = shorten(input);
        }
        let diffs: Vec<&str> =
            list(update, "/content").iter().map(|content| text(content, "/path")).collect();
        let has_diff = diffs.iter().any(|path| !path.is_empty());
        self.is_edit |= has_diff || matches!(text(update, "/kind"), "edit" | "delete" | "move");
        self.is_edit |= matches!(text(update, "/_meta/goose/toolCall/toolName"), "write" | "edit");
        let places = list(update, "/locations").iter().map(|location| text(location, "/path"));
        for path in diffs.into_iter().chain(places).filter(|path| is_path(path)) {
            if self.paths.len() < OPEN_CALLS_MAX && !self.paths.iter().any(|known| known == path) {
                self.paths.push(path.to_owned());
            }
        }
    }

    fn has_input(&self) -> bool {
        !is_empty(&self.input)
    }

    fn close(self, is_error: bool, answer: &str, heard: &mut Heard) {
        heard.return_tool(&self.id, is_error, answer);
        for path in self.paths.iter().filter(|_| self.is_edit && !is_error) {
            heard.edit(path);
        }
    }
}

fn is_path(path: &str) -> bool {
    !path.is_empty() && path.len() <= PATH_BYTES_MAX
}

/// Keeps an input as it is, or the beginning of its text.
fn shorten(input: &Value) -> Value {
    let text = input.to_string();
    if text.len() <= INPUT_BYTES_MAX {
        return input.clone();
    }
    Value::String(text[..cut_length(&text, INPUT_BYTES_MAX)].to_owned())
}

fn is_empty(input: &Value) -> bool {
    match input {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

fn read_answer(update: &Value) -> String {
    let blocks = list(update, "/content").iter().map(|content| flat_text(&content["content"]));
    let texts: Vec<String> = blocks.filter(|text| !text.is_empty()).collect();
    match &update["rawOutput"] {
        Value::String(output) if texts.is_empty() => output.clone(),
        _ => texts.join("\n"),
    }
}

fn read_step(entry: &Value) -> PlanStep {
    let state = match text(entry, "/status") {
        "completed" => PlanState::Done,
        "in_progress" => PlanState::UnderWay,
        _ => PlanState::Pending,
    };
    PlanStep { text: text(entry, "/content").to_owned(), state }
}

/// Reads a cost, which counts from the beginning of the session, also before it was taken up again.
fn read_cost(update: &Value, heard: &mut Heard) {
    if let Some(cost) = micros(update, "/cost/amount") {
        let cost = heard.cost_of_this_start(cost);
        heard.use_total(Usage { cost_micros: Some(cost), ..heard.usage() });
    }
}
