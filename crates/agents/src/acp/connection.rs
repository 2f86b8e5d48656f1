//! Where the bytes of the agent, the answers of people and the conversation meet, one at a time.
//!
//! It owns the state of the session. What has to wait (people, disks, the agent's input) is given to tasks of its own, and
//! their number is bounded by what the agent may have open.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_client_protocol::RawJsonRpcMessage;
use agent_client_protocol::v1::schema::{
    ClientResponse, ReadTextFileResponse, RequestId, WriteTextFileResponse,
};
use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::conversation::{Act, Conversation};
use super::files;
use super::wire;
use crate::agent_output::AgentOutput;
use crate::failure::{Failure, FailureClass};
use crate::folder::Folder;
use crate::headless::{Line, Lines};
use crate::json;
use crate::process::Stream;
use crate::question::{Answer, Asker};
use crate::record::Recorder;
use crate::session_id::SessionId;

/// Messages that may wait for the agent to read them; one that reads nothing has no claim to more.
pub(crate) const WAITING_MESSAGES_MAX: usize = 256;

/// How many bytes these may have together: a few files that it asked for, and the prompt.
const WAITING_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Files that may be read or written for the agent at a time.
const OPEN_FILES_MAX: usize = 4;

/// What came of reading or writing a file: the answer to the agent, and the path that changed.
type FileWork = (Result<ClientResponse, files::FileError>, Option<String>);

/// What comes back from a task.
#[derive(Debug)]
pub(crate) enum Event {
    /// A person answered, or nobody did.
    Answered { question: u64, answer: Answer },
    /// A file was read or written for the agent: the message that says so, and the path that changed.
    FileDone { message: RawJsonRpcMessage, edited: Option<String> },
}

/// The state of a session.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) conversation: Conversation,
    pub(crate) output: AgentOutput,
    pub(crate) recorder: Recorder,
    pub(crate) last_heard: Instant,
    pub(crate) broken: Option<Failure>,
    /// Where messages to the agent go; without it, its input is closed.
    pub(crate) input: Option<mpsc::Sender<String>>,
    /// How many bytes of messages wait for the agent.
    pub(crate) waiting_bytes: Arc<AtomicUsize>,
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) asker: Option<Asker>,
    pub(crate) session: SessionId,
    pub(crate) folder: PathBuf,
    pub(crate) lines: Lines,
    pub(crate) open_files: usize,
    /// What is being asked; it ends with the session.
    pub(crate) asking: JoinSet<()>,
}

impl Connection {
    /// Says the first word.
    pub(crate) fn begin(&mut self) {
        let acts = self.conversation.begin(&mut self.output);
        self.act(acts);
    }

    /// The agent has been silent for a while.
    pub(crate) fn settle(&mut self) {
        let acts = self.conversation.settle(&mut self.output);
        self.act(acts);
    }

    /// Asks the agent to stop.
    pub(crate) fn cancel(&mut self) {
        let acts = self.conversation.cancel();
        self.act(acts);
    }

    /// Takes what the agent printed.
    pub(crate) fn take(&mut self, stream: Stream, bytes: &[u8]) {
        self.last_heard = Instant::now();
        if stream == Stream::Error {
            return self.recorder.print(stream, bytes);
        }
        self.recorder.keep(bytes);
        self.output.set_now(Timestamp::now());
        let mut lines = std::mem::take(&mut self.lines);
        lines.push(bytes, |line| self.hear(line));
        self.lines = lines;
        self.pass_pieces();
    }

    /// Carries out what the conversation asks for.
    pub(crate) fn act(&mut self, acts: Vec<Act>) {
        for act in acts {
            match act {
                Act::Send(message) => self.send(&message),
                Act::Ask { question, what, paths } => self.ask(question, what, paths),
                Act::Read { id, path, from, lines_max } => self.with_file(id, move |folder| {
                    let read = files::read(folder, &path, from, lines_max).map(ReadTextFileResponse::new);
                    (read.map(ClientResponse::ReadTextFileResponse), None)
                }),
                Act::Write { id, path, text } => self.with_file(id, move |folder| {
                    let written = files::write(folder, &path, &text);
                    let edited = written.is_ok().then(|| path.to_string_lossy().into_owned());
                    let answer = WriteTextFileResponse::new();
                    (written.map(|()| ClientResponse::WriteTextFileResponse(answer)), edited)
                }),
            }
        }
        self.pass_pieces();
    }

    /// Takes what came back from a task.
    pub(crate) fn receive(&mut self, event: Event) {
        match event {
            Event::Answered { question, answer } => {
                let acts = self.conversation.answer(question, &answer, &mut self.output);
                self.act(acts);
            }
            Event::FileDone { message, edited } => {
                self.open_files -= 1;
                if let Some(path) = edited {
                    self.output.edit(&path, None);
                }
                self.send(&message);
                self.pass_pieces();
            }
        }
    }

    fn hear(&mut self, line: Line<'_>) {
        match line {
            Line::TooLong(bytes) => self.output.skip(bytes),
            Line::Whole(bytes) if json::is_heavy(bytes) => self.output.skip(bytes.len() as u64),
            Line::Whole(bytes) => match wire::parse(bytes) {
                Some(message) => {
                    let acts = self.conversation.hear(message, &mut self.output);
                    self.act(acts);
                }
                None if bytes.iter().all(u8::is_ascii_whitespace) => {}
                None => self.output.print(&format!("{}\n", String::from_utf8_lossy(bytes))),
            },
        }
    }

    fn send(&mut self, message: &RawJsonRpcMessage) {
        let line = wire::render(message);
        self.recorder.sent(&line);
        let Some(input) = &self.input else { return };
        let waiting = self.waiting_bytes.fetch_add(line.len() + 1, Ordering::Relaxed);
        let sent = input.try_send(line + "\n");
        if waiting > WAITING_BYTES_MAX || matches!(sent, Err(mpsc::error::TrySendError::Full(_))) {
            let said = "the agent does not read its input";
            self.broken = Some(Failure::new(FailureClass::InvalidOutput, said));
        }
    }

    fn ask(&mut self, question: u64, what: String, paths: Vec<String>) {
        let (asker, events, session) = (self.asker.clone(), self.events.clone(), self.session.clone());
        while self.asking.try_join_next().is_some() {}
        self.asking.spawn(async move {
            let answer = match asker {
                Some(asker) => asker.ask(question, session, what, paths).await,
                None => Answer::denied("nobody can be asked"),
            };
            let _ = events.send(Event::Answered { question, answer }).await;
        });
    }

    fn with_file(&mut self, id: RequestId, work: impl FnOnce(&Folder) -> FileWork + Send + 'static) {
        if self.open_files == OPEN_FILES_MAX {
            return self.send(&wire::answer(id, Err(wire::refusal("too many files at a time"))));
        }
        self.open_files += 1;
        let (events, root) = (self.events.clone(), self.folder.clone());
        tokio::task::spawn_blocking(move || {
            let (done, edited) = match Folder::new(&root) {
                Ok(folder) => work(&folder),
                Err(source) => (Err(files::FileError::Failed { path: root, source }), None),
            };
            let message = wire::answer(id, done.map_err(|error| wire::refusal(&error.to_string())));
            let _ = events.blocking_send(Event::FileDone { message, edited });
        });
    }

    fn pass_pieces(&mut self) {
        for piece in self.output.take_pieces() {
            self.recorder.pass(piece);
        }
    }
}
