//! Turns the updates of a session (`session/update`) into the one vocabulary. Pure.
//!
//! Some agents tell an error of the provider as if they said it, and then end their turn as if all was well. Such words
//! are known by their form, or by a sign of the agent (codex marks its thread with `systemError`).

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Cost, Diff, Meta, PlanEntry, PlanEntryStatus, SessionUpdate, ToolCallContent,
    ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use serde_json::Value;

use crate::agent_output::AgentOutput;
use crate::call::About;
use crate::change::Change;
use crate::headless::event::{micros_of, text};
use crate::output::{PlanState, PlanStep};
use crate::text::cut_length;
use crate::usage::Usage;

/// Tool calls that are remembered until they end; an agent has few open at a time.
const OPEN_CALLS_MAX: usize = 256;

/// Longest path that is kept: no system allows longer ones.
const PATH_BYTES_MAX: usize = 4096;

/// How much of the last words is kept to tell an error from a message.
const LAST_WORDS_BYTES_MAX: usize = 4096;

/// How an error of the provider begins that comes as a message.
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
    about: About,
    has_input: bool,
    is_shown: bool,
    is_edit: bool,
    paths: Vec<PathBuf>,
    /// What changes in the file, as a diff says, or else the input.
    change: Option<Change>,
    has_diff: bool,
}

impl Updates {
    /// Reads one update.
    pub(crate) fn read(&mut self, update: SessionUpdate, output: &mut AgentOutput) {
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.read_message(&chunk, output),
            SessionUpdate::AgentThoughtChunk(chunk) => {
                self.begin_turn(output);
                output.think(text_of(&chunk.content));
            }
            SessionUpdate::ToolCall(call) => self.read_call(&call.into(), output),
            SessionUpdate::ToolCallUpdate(call) => self.read_call(&call, output),
            SessionUpdate::Plan(plan) => output.plan(plan.entries.into_iter().map(read_step).collect()),
            SessionUpdate::UsageUpdate(usage) => read_cost(usage.cost.as_ref(), output),
            SessionUpdate::SessionInfoUpdate(session) => {
                let status = vendor_text(session.meta.as_ref(), "codex", "/threadStatus/type");
                self.is_system_error |= status == "systemError";
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
    fn begin_turn(&mut self, output: &mut AgentOutput) {
        if !std::mem::replace(&mut self.is_in_turn, true) {
            output.begin_turn();
        }
    }

    fn read_message(&mut self, chunk: &ContentChunk, output: &mut AgentOutput) {
        self.begin_turn(output);
        let id = chunk.message_id.as_ref().map_or("", |id| &*id.0);
        if id != self.message {
            self.message = id.to_owned();
            output.end_message();
        }
        let words = text_of(&chunk.content);
        words[..cut_length(words, LAST_WORDS_BYTES_MAX)].clone_into(&mut self.last_words);
        output.say(words);
    }

    /// Reads what is said of a call. Many are announced before their input is known, some only by a request for
    /// permission.
    pub(crate) fn read_call(&mut self, update: &ToolCallUpdate, output: &mut AgentOutput) {
        let id = &*update.tool_call_id.0;
        if id.is_empty() {
            return;
        }
        self.begin_turn(output);
        let place = match self.open.iter().position(|call| call.id == id) {
            Some(place) => place,
            None => self.open_call(id),
        };
        let is_failed = update.fields.status == Some(ToolCallStatus::Failed);
        let is_over = is_failed || update.fields.status == Some(ToolCallStatus::Completed);
        let call = &mut self.open[place];
        call.learn(update, output);
        if !call.is_shown && (is_over || call.has_input) {
            call.is_shown = true;
            output.call_about(&call.id, &call.name, call.shown());
        }
        if is_over {
            self.is_in_turn = false;
            self.open.remove(place).close(is_failed, &read_answer(&update.fields), output);
        }
    }

    fn open_call(&mut self, id: &str) -> usize {
        if self.open.len() == OPEN_CALLS_MAX {
            self.open.remove(0);
        }
        self.open.push(Call {
            id: id.to_owned(),
            name: String::new(),
            about: About::default(),
            has_input: false,
            is_shown: false,
            is_edit: false,
            paths: Vec::new(),
            change: None,
            has_diff: false,
        });
        self.open.len() - 1
    }
}

impl Call {
    /// Takes over what an update says: a diff, or a place of an edit, names the file that changes.
    fn learn(&mut self, update: &ToolCallUpdate, output: &AgentOutput) {
        let fields = &update.fields;
        match fields.title.as_deref().filter(|title| !title.is_empty()) {
            Some(title) => title.clone_into(&mut self.name),
            None if self.name.is_empty() => self.name = fields.kind.map(kind_name).unwrap_or_default(),
            None => {}
        }
        if let Some(input) = fields.raw_input.as_ref().filter(|input| !is_empty(input)) {
            self.about = output.about(input);
            self.has_input = true;
            if !self.has_diff {
                self.change = Change::of_input(input);
            }
        }
        let diffs: Vec<&Diff> = fields.content.iter().flatten().filter_map(find_diff).collect();
        if let Some(diff) = diffs.first() {
            self.has_diff = true;
            self.change = Change::between(diff.old_text.as_deref().unwrap_or_default(), &diff.new_text);
        }
        self.is_edit |= !diffs.is_empty()
            || matches!(fields.kind, Some(ToolKind::Edit | ToolKind::Delete | ToolKind::Move))
            || matches!(vendor_text(update.meta.as_ref(), "goose", "/toolCall/toolName"), "write" | "edit");
        let places = fields.locations.iter().flatten().map(|location| &location.path);
        let changed = diffs.into_iter().map(|diff| &diff.path);
        for path in changed.chain(places).filter(|path| is_path(path)) {
            if self.paths.len() < OPEN_CALLS_MAX && !self.paths.contains(path) {
                self.paths.push(path.clone());
            }
        }
    }

    /// Returns what is shown of the call: a title that says it already is not repeated.
    fn shown(&self) -> About {
        let About { text, path } = self.about.clone();
        About { text: if self.name.contains(&text) { String::new() } else { text }, path }
    }

    /// Reports the edits; what changed is known of one file, and is not reported of others.
    fn close(mut self, is_error: bool, answer: &str, output: &mut AgentOutput) {
        output.return_tool(&self.id, is_error, answer);
        let paths = std::mem::take(&mut self.paths);
        for path in paths.iter().filter(|_| self.is_edit && !is_error) {
            let change = self.change.take().filter(|_| paths.len() == 1 || self.has_diff);
            output.edit(&path.to_string_lossy(), change);
        }
    }
}

/// Returns the name of a kind of tools, as the protocol writes it.
pub(crate) fn kind_name(kind: ToolKind) -> String {
    serde_json::to_value(kind).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

fn text_of(content: &ContentBlock) -> &str {
    match content {
        ContentBlock::Text(content) => &content.text,
        _ => "",
    }
}

/// Returns what a vendor adds to a message in its own part of `_meta`.
fn vendor_text<'a>(meta: Option<&'a Meta>, vendor: &str, pointer: &str) -> &'a str {
    meta.and_then(|meta| meta.get(vendor)).map_or("", |part| text(part, pointer))
}

fn find_diff(content: &ToolCallContent) -> Option<&Diff> {
    match content {
        ToolCallContent::Diff(diff) => Some(diff),
        _ => None,
    }
}

fn is_path(path: &Path) -> bool {
    !path.as_os_str().is_empty() && path.as_os_str().len() <= PATH_BYTES_MAX
}

fn is_empty(input: &Value) -> bool {
    match input {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

fn read_answer(fields: &ToolCallUpdateFields) -> String {
    let blocks = fields.content.iter().flatten().map(|content| match content {
        ToolCallContent::Content(content) => text_of(&content.content),
        _ => "",
    });
    let texts: Vec<&str> = blocks.filter(|text| !text.is_empty()).collect();
    match &fields.raw_output {
        Some(Value::String(output)) if texts.is_empty() => output.clone(),
        _ => texts.join("\n"),
    }
}

fn read_step(entry: PlanEntry) -> PlanStep {
    let state = match entry.status {
        PlanEntryStatus::Completed => PlanState::Done,
        PlanEntryStatus::InProgress => PlanState::UnderWay,
        _ => PlanState::Pending,
    };
    PlanStep { text: entry.content, state }
}

/// Reads a cost, which counts from the beginning of the session, also before it was taken up again.
fn read_cost(cost: Option<&Cost>, output: &mut AgentOutput) {
    if let Some(cost) = cost.filter(|cost| cost.currency == "USD") {
        let cost = output.cost_of_this_start(micros_of(cost.amount));
        output.use_total(Usage { cost_micros: Some(cost), ..output.usage() });
    }
}
