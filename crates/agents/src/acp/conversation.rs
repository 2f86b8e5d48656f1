//! The client's side of the Agent Client Protocol for one prompt, as a machine without a clock or a pipe.
//!
//! It hears the agent's messages one by one and answers with [`Act`]s: what is to be sent, asked or done. Whether the agent
//! really did its work is judged elsewhere; that it ended its turn means nothing by itself.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::permission::{Decision, decide, find_option, find_paths};
use super::updates::Updates;
use super::wire::{self, Incoming};
use crate::classify::Verdict;
use crate::failure::FailureClass;
use crate::folder::Folder;
use crate::headless::event::{count, is_set, list, text};
use crate::heard::Heard;
use crate::output::PermissionAnswer;
use crate::permission::Permissions;
use crate::question::Answer;
use crate::start::{Start, ToolServer};
use crate::text::cut_length;
use crate::usage::Usage;

/// The version of the protocol that is spoken; all agents seen speak it.
const VERSION: u64 = 1;

/// Requests for leave that may be open at a time; an agent asks one after the other.
const OPEN_QUESTIONS_MAX: usize = 32;

/// Longest id of a request, and longest option, of a question that is kept for a person: agents use a few words.
const KEPT_BYTES_MAX: usize = 1000;

/// Most options of a question that are looked at; agents offer four.
const OPTIONS_MAX: usize = 32;

/// Longest description of what is asked for.
const WHAT_BYTES_MAX: usize = 500;

/// What the conversation asks to be done.
#[derive(Debug, PartialEq)]
pub(crate) enum Act {
    /// A message goes to the agent.
    Send(Value),
    /// A person is asked; the answer comes back by [`Conversation::answer`].
    Ask { question: u64, what: String, paths: Vec<String> },
    /// A file is read for the agent, and its request answered.
    Read { id: Value, path: String, from: Option<u64>, lines_max: Option<u64> },
    /// A file is written for the agent, and its request answered.
    Write { id: Value, path: String, text: String },
}

/// What it is about.
#[derive(Debug)]
struct Subject {
    prompt: String,
    cwd: PathBuf,
    resume: Option<String>,
    tools: Option<ToolServer>,
    model: Option<String>,
    permissions: Permissions,
}

/// The answer that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Initialize,
    NewSession,
    LoadSession,
    SetModel,
    /// Nothing is waited for but silence: some agents tell the history of a session only after they have loaded it.
    Settle,
    Prompt,
    Over,
}

/// A request for leave that a person has not answered yet.
#[derive(Debug)]
struct Open {
    question: u64,
    id: Value,
    what: String,
    options: Vec<Value>,
}

/// The conversation.
#[derive(Debug)]
pub(crate) struct Conversation {
    subject: Subject,
    folder: Folder,
    stage: Stage,
    last_id: u64,
    session: Option<String>,
    can_load: bool,
    updates: Updates,
    open: Vec<Open>,
    last_question: u64,
    last_denied: Option<String>,
    is_cancelled: bool,
}

impl Conversation {
    /// Prepares the conversation for a session in a folder.
    pub(crate) fn new(start: &Start, folder: Folder) -> Conversation {
        let subject = Subject {
            prompt: start.prompt.clone(),
            cwd: folder.root().to_owned(),
            resume: start.resume.clone(),
            tools: start.tools.clone(),
            model: start.model.clone(),
            permissions: start.permissions,
        };
        Conversation {
            subject,
            folder,
            stage: Stage::Initialize,
            last_id: 0,
            session: None,
            can_load: false,
            updates: Updates::default(),
            open: Vec::new(),
            last_question: 0,
            last_denied: None,
            is_cancelled: false,
        }
    }

    /// Returns the first message.
    pub(crate) fn begin(&mut self) -> Act {
        let capabilities =
            json!({ "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false });
        let client = json!({ "name": "regatta", "version": env!("CARGO_PKG_VERSION") });
        let parameters =
            json!({ "protocolVersion": VERSION, "clientCapabilities": capabilities, "clientInfo": client });
        self.request(Stage::Initialize, "initialize", parameters)
    }

    /// Tells whether the prompt was answered, or cannot be any more.
    pub(crate) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Tells whether the prompt is held back until the agent has nothing more to tell.
    pub(crate) fn is_settling(&self) -> bool {
        self.stage == Stage::Settle
    }

    /// The agent has been silent for a while: gives it the prompt.
    pub(crate) fn settle(&mut self) -> Vec<Act> {
        if self.is_settling() { vec![self.prompt()] } else { Vec::new() }
    }

    /// Tells whether the agent has been given its prompt.
    pub(crate) fn is_prompted(&self) -> bool {
        matches!(self.stage, Stage::Prompt | Stage::Over)
    }

    /// Tells whether a person is being asked.
    pub(crate) fn is_asking(&self) -> bool {
        !self.open.is_empty()
    }

    /// Hears a message of the agent.
    pub(crate) fn hear(&mut self, message: &Value, heard: &mut Heard) -> Vec<Act> {
        match wire::parse(message) {
            Some(Incoming::Answer { id, result }) if id == self.last_id => self.hear_answer(result, heard),
            Some(Incoming::Notice { method: "session/update", parameters }) => {
                // What is told while a session is loaded happened before.
                if self.stage == Stage::Prompt {
                    self.updates.read(&parameters["update"], heard);
                }
                Vec::new()
            }
            Some(Incoming::Request { id, method, parameters }) => {
                vec![self.hear_request(id, method, parameters, heard)]
            }
            _ => Vec::new(),
        }
    }

    /// Passes on what a person answered.
    pub(crate) fn answer(&mut self, question: u64, answer: &Answer, heard: &mut Heard) -> Vec<Act> {
        let Some(place) = self.open.iter().position(|open| open.question == question) else {
            return Vec::new();
        };
        let Open { id, what, options, .. } = self.open.remove(place);
        vec![self.reply(&id, &what, &options, answer, heard)]
    }

    /// Asks the agent to stop; what it asked and nobody answered is cancelled.
    pub(crate) fn cancel(&mut self) -> Vec<Act> {
        if self.is_cancelled || self.stage != Stage::Prompt {
            return Vec::new();
        }
        self.is_cancelled = true;
        let parameters = json!({ "sessionId": self.session });
        let mut acts = vec![Act::Send(wire::notice("session/cancel", parameters))];
        acts.extend(self.open.drain(..).map(|open| Act::Send(wire::answer(&open.id, cancelled()))));
        acts
    }

    fn request(&mut self, stage: Stage, method: &str, parameters: Value) -> Act {
        self.stage = stage;
        self.last_id += 1;
        Act::Send(wire::request(self.last_id, method, parameters))
    }

    fn hear_answer(&mut self, result: Result<&Value, &Value>, heard: &mut Heard) -> Vec<Act> {
        match result {
            Err(error) => {
                self.hear_error(error, heard);
                Vec::new()
            }
            Ok(result) => match self.stage {
                Stage::Initialize => self.open_session(result, heard),
                Stage::NewSession => {
                    let id = text(result, "/sessionId").to_owned();
                    self.enter_session(id, result, heard)
                }
                Stage::LoadSession => {
                    let id = self.subject.resume.clone().unwrap_or_default();
                    self.enter_session(id, result, heard)
                }
                Stage::SetModel => self.prepare_prompt(),
                Stage::Prompt => {
                    self.hear_end(result, heard);
                    Vec::new()
                }
                Stage::Settle | Stage::Over => Vec::new(),
            },
        }
    }

    fn open_session(&mut self, result: &Value, heard: &mut Heard) -> Vec<Act> {
        if count(result, "/protocolVersion") != VERSION {
            let said = format!("the agent does not speak version {VERSION} of the protocol");
            return self.give_up(Verdict::new(FailureClass::InvalidOutput, &said), heard);
        }
        self.can_load = is_set(result, "/agentCapabilities/loadSession");
        let servers: Vec<Value> = self.subject.tools.iter().map(server_entry).collect();
        let mut parameters = json!({ "cwd": self.subject.cwd, "mcpServers": servers });
        match self.subject.resume.clone() {
            None => vec![self.request(Stage::NewSession, "session/new", parameters)],
            Some(_) if !self.can_load => {
                self.give_up(Verdict::crash("the agent cannot take up a session again"), heard)
            }
            Some(id) => {
                parameters["sessionId"] = json!(id);
                vec![self.request(Stage::LoadSession, "session/load", parameters)]
            }
        }
    }

    fn enter_session(&mut self, id: String, result: &Value, heard: &mut Heard) -> Vec<Act> {
        if self.can_load {
            heard.name_session(&id);
        }
        self.session = Some(id);
        match self.subject.model.clone().and_then(|model| choose_model(result, &model)) {
            Some((method, mut parameters)) => {
                parameters["sessionId"] = json!(self.session);
                vec![self.request(Stage::SetModel, method, parameters)]
            }
            None => self.prepare_prompt(),
        }
    }

    fn prepare_prompt(&mut self) -> Vec<Act> {
        if self.subject.resume.is_some() {
            self.stage = Stage::Settle;
            return Vec::new();
        }
        vec![self.prompt()]
    }

    fn prompt(&mut self) -> Act {
        let prompt = json!([{ "type": "text", "text": self.subject.prompt }]);
        let parameters = json!({ "sessionId": self.session, "prompt": prompt });
        self.request(Stage::Prompt, "session/prompt", parameters)
    }

    fn hear_error(&mut self, error: &Value, heard: &mut Heard) {
        let data = &error["data"];
        let details = [data.as_str().unwrap_or_default(), text(data, "/details"), text(data, "/message")];
        let details = details.into_iter().find(|details| !details.is_empty());
        let said =
            [Some(text(error, "/message")), details].into_iter().flatten().collect::<Vec<_>>().join(": ");
        match self.stage {
            Stage::LoadSession => {
                heard.lose_session();
                heard.fail(&format!("the agent's session is gone: {said}"));
            }
            Stage::SetModel => {
                heard.fail_as(Verdict::new(FailureClass::Refused, &format!("the model: {said}")))
            }
            _ => heard.fail(&said),
        }
        self.stage = Stage::Over;
    }

    fn hear_end(&mut self, result: &Value, heard: &mut Heard) {
        self.stage = Stage::Over;
        if let Some(usage) = read_usage(result) {
            heard.use_total(Usage { cost_micros: heard.usage().cost_micros, ..usage });
        }
        if let Some(error) = self.updates.find_told_error() {
            return heard.fail(error);
        }
        let reason = text(result, "/stopReason");
        match reason {
            "max_tokens" | "max_turn_requests" => {
                let said = format!("the agent stopped by its own limit (`{reason}`)");
                heard.fail_as(Verdict::new(FailureClass::Budget, &said));
            }
            "refusal" => heard.fail_as(Verdict::new(FailureClass::Refused, "the agent declines to go on")),
            "cancelled" if !self.is_cancelled => {
                let said = match &self.last_denied {
                    Some(what) => format!("the agent gave up because it was denied: {what}"),
                    None => "the agent says that it was cancelled".to_owned(),
                };
                heard.fail_as(Verdict::new(FailureClass::Refused, &said));
            }
            _ => heard.finish(),
        }
    }

    fn give_up(&mut self, verdict: Verdict, heard: &mut Heard) -> Vec<Act> {
        self.stage = Stage::Over;
        heard.fail_as(verdict);
        Vec::new()
    }

    fn hear_request(&mut self, id: &Value, method: &str, parameters: &Value, heard: &mut Heard) -> Act {
        let path = text(parameters, "/path").to_owned();
        match method {
            "session/request_permission" => self.hear_question(id, parameters, heard),
            "fs/read_text_file" => Act::Read {
                id: id.clone(),
                path,
                from: parameters["line"].as_u64(),
                lines_max: parameters["limit"].as_u64(),
            },
            "fs/write_text_file" if self.subject.permissions == Permissions::Deny => {
                heard.ask(&format!("write {path}"), PermissionAnswer::Denied, "policy");
                Act::Send(wire::refuse(id, wire::INVALID_PARAMETERS, "writing is denied"))
            }
            "fs/write_text_file" => {
                Act::Write { id: id.clone(), path, text: text(parameters, "/content").to_owned() }
            }
            _ => Act::Send(wire::refuse(id, wire::METHOD_NOT_FOUND, "this is not offered")),
        }
    }

    /// Answers a request for leave by the policy, or keeps it until a person answers.
    fn hear_question(&mut self, id: &Value, parameters: &Value, heard: &mut Heard) -> Act {
        let call = &parameters["toolCall"];
        let what = describe(call);
        self.updates.read_call(call, heard);
        let is_short = |value: &&Value| value.to_string().len() <= KEPT_BYTES_MAX;
        let options: Vec<Value> =
            list(parameters, "/options").iter().take(OPTIONS_MAX).filter(is_short).cloned().collect();
        if self.is_cancelled || self.stage != Stage::Prompt {
            return Act::Send(wire::answer(id, cancelled()));
        }
        let answer = match decide(self.subject.permissions, &self.folder, call) {
            Decision::Answer(answer) => Answer { answer, by: "policy".to_owned() },
            Decision::Ask if self.open.len() == OPEN_QUESTIONS_MAX || !is_short(&id) => {
                Answer::denied("policy")
            }
            Decision::Ask => {
                self.last_question += 1;
                let question = self.last_question;
                self.open.push(Open { question, id: id.clone(), what: what.clone(), options });
                let paths = find_paths(call).into_iter().map(str::to_owned).collect();
                return Act::Ask { question, what, paths };
            }
        };
        self.reply(id, &what, &options, &answer, heard)
    }

    fn reply(
        &mut self,
        id: &Value,
        what: &str,
        options: &[Value],
        answer: &Answer,
        heard: &mut Heard,
    ) -> Act {
        heard.ask(what, answer.answer, &answer.by);
        if answer.answer == PermissionAnswer::Denied {
            self.last_denied = Some(what.to_owned());
        }
        let outcome = match find_option(options, answer.answer) {
            Some(option) => json!({ "outcome": { "outcome": "selected", "optionId": option } }),
            None => cancelled(),
        };
        Act::Send(wire::answer(id, outcome))
    }
}

fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

fn server_entry(server: &ToolServer) -> Value {
    let (program, arguments) = server.command.split_first().map_or(("", &[][..]), |(one, rest)| (one, rest));
    json!({ "name": server.name, "command": program, "args": arguments, "env": [] })
}

/// Returns the request that chooses a model, in whichever of the two ways the agent offers it.
fn choose_model(session: &Value, model: &str) -> Option<(&'static str, Value)> {
    let is_model = |option: &&Value| option["category"] == "model" || option["id"] == "model";
    if let Some(option) = list(session, "/configOptions").iter().find(is_model) {
        return Some(("session/set_config_option", json!({ "configId": option["id"], "value": model })));
    }
    session["models"].is_object().then(|| ("session/set_model", json!({ "modelId": model })))
}

/// Says in one line what an agent asks for.
fn describe(call: &Value) -> String {
    let title = text(call, "/title");
    let command = text(call, "/rawInput/command");
    let what = [title, command, text(call, "/kind")].into_iter().find(|text| !text.is_empty());
    let what = what.unwrap_or("something").lines().next().unwrap_or_default();
    let named = |path: &&str| !what.contains(*path);
    let paths = find_paths(call).into_iter().filter(named).collect::<Vec<_>>().join(", ");
    let mut what = if paths.is_empty() { what.to_owned() } else { format!("{what} ({paths})") };
    what.truncate(cut_length(&what, WHAT_BYTES_MAX));
    what
}

/// Reads what the prompt used; the input is what is left of the total, because agents count cached tokens differently.
fn read_usage(result: &Value) -> Option<Usage> {
    let usage = &result["usage"];
    if usage.is_object() {
        let output = count(usage, "/outputTokens");
        let total = count(usage, "/totalTokens");
        return Some(Usage {
            input_tokens: if total > output { total - output } else { count(usage, "/inputTokens") },
            cached_tokens: count(usage, "/cachedReadTokens"),
            output_tokens: output,
            cost_micros: None,
        });
    }
    // Gemini tells it in a place of its own.
    let tokens = result.pointer("/_meta/quota/token_count").filter(|tokens| tokens.is_object())?;
    Some(Usage {
        input_tokens: count(tokens, "/input_tokens"),
        cached_tokens: 0,
        output_tokens: count(tokens, "/output_tokens"),
        cost_micros: None,
    })
}
