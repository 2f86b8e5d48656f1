//! The client's side of the Agent Client Protocol for one prompt, as a machine without a clock or a pipe.
//!
//! It hears the agent's messages one by one and answers with [`Act`]s: what is to be sent, asked or done. Whether the agent
//! really did its work is judged elsewhere; that it ended its turn means nothing by itself.

use std::path::PathBuf;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    self, CancelNotification, ClientResponse, Implementation, InitializeRequest, InitializeResponse,
    LoadSessionRequest, LoadSessionResponse, McpServer, McpServerStdio, NewSessionRequest,
    NewSessionResponse, PromptRequest, PromptResponse, RawValue, ReadTextFileRequest, RequestId,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome,
    SessionConfigOption, SessionId, SessionNotification, StopReason, WriteTextFileRequest,
};
use agent_client_protocol::{Error, JsonRpcMessage as _, JsonRpcRequest, RawJsonRpcMessage};
use serde_json::Value;

use super::model;
use super::permission::{Choices, Decision, decide, describe, find_paths, is_whole};
use super::updates::Updates;
use super::wire::{self, Incoming, read};
use crate::agent_output::AgentOutput;
use crate::classify::Verdict;
use crate::failure::FailureClass;
use crate::folder::Folder;
use crate::headless::event::{count, text};
use crate::output::PermissionAnswer;
use crate::permission::Permissions;
use crate::question::Answer;
use crate::start::{Start, ToolServer};
use crate::usage::Usage;

/// Requests for permission that may be open at a time; an agent asks one after the other.
const OPEN_QUESTIONS_MAX: usize = 32;

/// Longest id of a request that is kept for a person: agents use a few words.
const ID_BYTES_MAX: usize = 1000;

/// What the conversation asks to be done.
#[derive(Debug, PartialEq)]
pub(crate) enum Act {
    /// A message goes to the agent.
    Send(RawJsonRpcMessage),
    /// A person is asked; the answer comes back by [`Conversation::answer`].
    Ask { question: u64, what: String, paths: Vec<String> },
    /// A file is read for the agent, and its request answered.
    Read { id: RequestId, path: PathBuf, from: Option<u32>, lines_max: Option<u32> },
    /// A file is written for the agent, and its request answered.
    Write { id: RequestId, path: PathBuf, text: String },
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
    is_shut_in: bool,
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

/// A request for permission that a person has not answered yet.
#[derive(Debug)]
struct Open {
    question: u64,
    id: RequestId,
    what: String,
    choices: Choices,
}

/// The conversation.
#[derive(Debug)]
pub(crate) struct Conversation {
    subject: Subject,
    folder: Folder,
    stage: Stage,
    last_id: i64,
    /// The agent's name for the session; empty until it has one.
    session: SessionId,
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
            is_shut_in: start.sandbox.is_some(),
        };
        Conversation {
            subject,
            folder,
            stage: Stage::Initialize,
            last_id: 0,
            session: SessionId::new(""),
            can_load: false,
            updates: Updates::default(),
            open: Vec::new(),
            last_question: 0,
            last_denied: None,
            is_cancelled: false,
        }
    }

    /// Says the first word.
    pub(crate) fn begin(&mut self, output: &mut AgentOutput) -> Vec<Act> {
        // No capability is offered: an agent in a sandbox does better with its own tools.
        let client = Implementation::new("regatta", env!("CARGO_PKG_VERSION"));
        let request = InitializeRequest::new(ProtocolVersion::V1).client_info(client);
        self.request(Stage::Initialize, &request, output)
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
    pub(crate) fn settle(&mut self, output: &mut AgentOutput) -> Vec<Act> {
        if self.is_settling() { self.prompt(output) } else { Vec::new() }
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
    pub(crate) fn hear(&mut self, message: Incoming<'_>, output: &mut AgentOutput) -> Vec<Act> {
        match message {
            Incoming::Answer { id, result } if id == RequestId::Number(self.last_id) => {
                self.hear_answer(result, output)
            }
            Incoming::Notice { method, parameters } => {
                // Updates that come while a session is loaded are of the past.
                if self.stage == Stage::Prompt
                    && SessionNotification::matches_method(&method)
                    && let Ok(notice) = read::<SessionNotification>(parameters)
                {
                    self.updates.read(notice.update, output);
                }
                Vec::new()
            }
            Incoming::Request { id, method, parameters } => {
                vec![self.hear_request(id, &method, parameters, output)]
            }
            Incoming::Answer { .. } | Incoming::Nonsense => Vec::new(),
        }
    }

    /// Passes on what a person answered.
    pub(crate) fn answer(&mut self, question: u64, answer: &Answer, output: &mut AgentOutput) -> Vec<Act> {
        let Some(place) = self.open.iter().position(|open| open.question == question) else {
            return Vec::new();
        };
        let Open { id, what, choices, .. } = self.open.remove(place);
        vec![self.reply(id, &what, &choices, answer, output)]
    }

    /// Asks the agent to stop; what it asked and nobody answered is cancelled.
    pub(crate) fn cancel(&mut self) -> Vec<Act> {
        if self.is_cancelled || self.stage != Stage::Prompt {
            return Vec::new();
        }
        self.is_cancelled = true;
        let notice = wire::notice(&CancelNotification::new(self.session.clone()));
        let open = self.open.drain(..).map(|open| cancelled(open.id));
        notice.map(Act::Send).into_iter().chain(open).collect()
    }

    fn request(&mut self, stage: Stage, request: &impl JsonRpcRequest, output: &mut AgentOutput) -> Vec<Act> {
        self.last_id += 1;
        self.stage = stage;
        match wire::request(self.last_id, request) {
            Ok(message) => vec![Act::Send(message)],
            Err(error) => {
                self.give_up(Verdict::crash(&format!("the agent cannot be asked: {error}")), output)
            }
        }
    }

    /// Hears the answer to our last request: an error, or what the stage waits for.
    fn hear_answer(&mut self, result: Result<&RawValue, &RawValue>, output: &mut AgentOutput) -> Vec<Act> {
        let acts = match (self.stage, result) {
            (Stage::Settle | Stage::Over, _) => Ok(Vec::new()),
            (_, Err(error)) => read(error).map(|error| self.hear_error(&error, output)),
            (Stage::Initialize, Ok(result)) => read(result).map(|answer| self.open_session(&answer, output)),
            (Stage::NewSession, Ok(result)) => read(result).map(|answer: NewSessionResponse| {
                self.session = answer.session_id;
                self.enter_session(answer.config_options.as_deref(), result, output)
            }),
            (Stage::LoadSession, Ok(result)) => read(result).map(|answer: LoadSessionResponse| {
                self.enter_session(answer.config_options.as_deref(), result, output)
            }),
            (Stage::SetModel, Ok(_)) => Ok(self.prepare_prompt(output)),
            (Stage::Prompt, Ok(result)) => read(result).map(|answer| self.hear_end(&answer, output)),
        };
        acts.unwrap_or_else(|unreadable| {
            let said = format!("an answer of the agent cannot be read: {unreadable}");
            self.give_up(Verdict::new(FailureClass::InvalidOutput, &said), output)
        })
    }

    fn open_session(&mut self, answer: &InitializeResponse, output: &mut AgentOutput) -> Vec<Act> {
        if answer.protocol_version != ProtocolVersion::V1 {
            let said = format!("the agent does not speak version {} of the protocol", ProtocolVersion::V1);
            return self.give_up(Verdict::new(FailureClass::InvalidOutput, &said), output);
        }
        self.can_load = answer.agent_capabilities.load_session;
        match self.subject.resume.clone() {
            None => self.new_session(output),
            Some(_) if !self.can_load => self.start_afresh(output),
            Some(id) => {
                self.session = SessionId::new(id);
                let request = LoadSessionRequest::new(self.session.clone(), self.subject.cwd.clone())
                    .mcp_servers(self.servers());
                self.request(Stage::LoadSession, &request, output)
            }
        }
    }

    fn new_session(&mut self, output: &mut AgentOutput) -> Vec<Act> {
        let request = NewSessionRequest::new(self.subject.cwd.clone()).mcp_servers(self.servers());
        self.request(Stage::NewSession, &request, output)
    }

    /// The session that was to be resumed is gone. The prompt says all that is needed, so a new one does as well.
    fn start_afresh(&mut self, output: &mut AgentOutput) -> Vec<Act> {
        output.lose_session();
        self.subject.resume = None;
        self.new_session(output)
    }

    fn servers(&self) -> Vec<McpServer> {
        self.subject.tools.iter().map(server_entry).collect()
    }

    /// The session is open; `answer` is the one that said so, with the options that were read of it.
    fn enter_session(
        &mut self,
        options: Option<&[SessionConfigOption]>,
        answer: &RawValue,
        output: &mut AgentOutput,
    ) -> Vec<Act> {
        if self.can_load {
            output.name_session(&self.session.0);
        }
        let model = self.subject.model.as_deref();
        match model.and_then(|model| model::choose(model, &self.session, options, answer)) {
            Some(request) => self.request(Stage::SetModel, &request, output),
            None => self.prepare_prompt(output),
        }
    }

    fn prepare_prompt(&mut self, output: &mut AgentOutput) -> Vec<Act> {
        if self.subject.resume.is_some() {
            self.stage = Stage::Settle;
            return Vec::new();
        }
        self.prompt(output)
    }

    fn prompt(&mut self, output: &mut AgentOutput) -> Vec<Act> {
        let request = PromptRequest::new(self.session.clone(), vec![self.subject.prompt.as_str().into()]);
        self.request(Stage::Prompt, &request, output)
    }

    fn hear_error(&mut self, error: &schema::Error, output: &mut AgentOutput) -> Vec<Act> {
        let data = error.data.as_ref().unwrap_or(&Value::Null);
        let details = [data.as_str().unwrap_or_default(), text(data, "/details"), text(data, "/message")];
        let details = details.into_iter().find(|details| !details.is_empty());
        let said =
            [Some(error.message.as_str()), details].into_iter().flatten().collect::<Vec<_>>().join(": ");
        match self.stage {
            Stage::LoadSession => return self.start_afresh(output),
            Stage::SetModel => {
                output.fail_as(Verdict::new(FailureClass::Refused, &format!("the model: {said}")))
            }
            _ => output.fail(&said),
        }
        self.stage = Stage::Over;
        Vec::new()
    }

    fn hear_end(&mut self, answer: &PromptResponse, output: &mut AgentOutput) -> Vec<Act> {
        self.stage = Stage::Over;
        if let Some(usage) = read_usage(answer) {
            output.use_total(Usage { cost_micros: output.usage().cost_micros, ..usage });
        }
        if let Some(error) = self.updates.find_told_error() {
            output.fail(error);
            return Vec::new();
        }
        match answer.stop_reason {
            StopReason::MaxTokens => output.fail_as(own_limit("max_tokens")),
            StopReason::MaxTurnRequests => output.fail_as(own_limit("max_turn_requests")),
            StopReason::Refusal => {
                output.fail_as(Verdict::new(FailureClass::Refused, "the agent declines to continue"))
            }
            StopReason::Cancelled if !self.is_cancelled => {
                let said = match &self.last_denied {
                    Some(what) => format!("the agent gave up because it was denied: {what}"),
                    None => "the agent says that it was cancelled".to_owned(),
                };
                output.fail_as(Verdict::new(FailureClass::Refused, &said));
            }
            _ => output.finish(),
        }
        Vec::new()
    }

    fn give_up(&mut self, verdict: Verdict, output: &mut AgentOutput) -> Vec<Act> {
        self.stage = Stage::Over;
        output.fail_as(verdict);
        Vec::new()
    }

    fn hear_request(
        &mut self,
        id: RequestId,
        method: &str,
        parameters: &RawValue,
        output: &mut AgentOutput,
    ) -> Act {
        let done = if RequestPermissionRequest::matches_method(method) {
            read(parameters).map(|request| self.hear_question(&id, &request, parameters, output))
        } else if ReadTextFileRequest::matches_method(method) {
            read(parameters).map(|request: ReadTextFileRequest| Act::Read {
                id: id.clone(),
                path: request.path,
                from: request.line,
                lines_max: request.limit,
            })
        } else if WriteTextFileRequest::matches_method(method) {
            read(parameters).map(|request| self.hear_write(&id, request, output))
        } else {
            return refused(id, Error::method_not_found());
        };
        done.unwrap_or_else(|unreadable| refused(id, unreadable.into()))
    }

    fn hear_write(&self, id: &RequestId, request: WriteTextFileRequest, output: &mut AgentOutput) -> Act {
        if self.subject.permissions == Permissions::Deny {
            let what = format!("write {}", request.path.display());
            output.ask(&what, PermissionAnswer::Denied, "policy");
            return refused(id.clone(), wire::refusal("writing is denied"));
        }
        Act::Write { id: id.clone(), path: request.path, text: request.content }
    }

    /// Answers a request for permission by the policy, or keeps it until a person answers.
    fn hear_question(
        &mut self,
        id: &RequestId,
        request: &RequestPermissionRequest,
        parameters: &RawValue,
        output: &mut AgentOutput,
    ) -> Act {
        let call = &request.tool_call;
        let what = describe(call);
        self.updates.read_call(call, output);
        let choices = Choices::find(&request.options);
        if self.is_cancelled || self.stage != Stage::Prompt {
            return cancelled(id.clone());
        }
        let Subject { permissions, is_shut_in, .. } = self.subject;
        let answer = match decide(permissions, is_shut_in, &self.folder, call, is_whole(parameters, call)) {
            Decision::Answer(answer) => Answer { answer, by: "policy".to_owned() },
            Decision::Ask if self.open.len() == OPEN_QUESTIONS_MAX || id.to_string().len() > ID_BYTES_MAX => {
                Answer::denied("policy")
            }
            Decision::Ask => {
                self.last_question += 1;
                let question = self.last_question;
                self.open.push(Open { question, id: id.clone(), what: what.clone(), choices });
                let paths = find_paths(call).into_iter().map(|path| path.display().to_string()).collect();
                return Act::Ask { question, what, paths };
            }
        };
        self.reply(id.clone(), &what, &choices, &answer, output)
    }

    fn reply(
        &mut self,
        id: RequestId,
        what: &str,
        choices: &Choices,
        answer: &Answer,
        output: &mut AgentOutput,
    ) -> Act {
        output.ask(what, answer.answer, &answer.by);
        if answer.answer == PermissionAnswer::Denied {
            self.last_denied = Some(what.to_owned());
        }
        match choices.get(answer.answer) {
            Some(option) => {
                let selected = SelectedPermissionOutcome::new(option.clone());
                permit(id, RequestPermissionOutcome::Selected(selected))
            }
            None => cancelled(id),
        }
    }
}

fn permit(id: RequestId, outcome: RequestPermissionOutcome) -> Act {
    let answer = RequestPermissionResponse::new(outcome);
    Act::Send(wire::answer(id, Ok(ClientResponse::RequestPermissionResponse(answer))))
}

fn cancelled(id: RequestId) -> Act {
    permit(id, RequestPermissionOutcome::Cancelled)
}

fn refused(id: RequestId, error: Error) -> Act {
    Act::Send(wire::answer(id, Err(error)))
}

fn own_limit(reason: &str) -> Verdict {
    Verdict::new(FailureClass::Budget, &format!("the agent stopped by its own limit (`{reason}`)"))
}

fn server_entry(server: &ToolServer) -> McpServer {
    let (program, arguments) = server.command.split_first().map_or(("", &[][..]), |(one, rest)| (one, rest));
    McpServer::Stdio(McpServerStdio::new(&server.name, program).args(arguments.to_vec()))
}

/// Reads what the prompt used; the input is what is left of the total, because agents count cached tokens differently.
fn read_usage(answer: &PromptResponse) -> Option<Usage> {
    if let Some(usage) = &answer.usage {
        let (total, output) = (usage.total_tokens, usage.output_tokens);
        return Some(Usage {
            input_tokens: if total > output { total - output } else { usage.input_tokens },
            cached_tokens: usage.cached_read_tokens.unwrap_or_default(),
            output_tokens: output,
            cost_micros: None,
        });
    }
    // Gemini tells it in a place of its own.
    let tokens =
        answer.meta.as_ref()?.get("quota")?.get("token_count").filter(|tokens| tokens.is_object())?;
    Some(Usage {
        input_tokens: count(tokens, "/input_tokens"),
        cached_tokens: 0,
        output_tokens: count(tokens, "/output_tokens"),
        cost_micros: None,
    })
}
