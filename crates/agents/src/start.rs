//! What a session is started with, and the start itself.
//!
//! All that can be wrong before an agent runs is found here and answered as a [`StartError`]; from then on
//! nothing fails but the session.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use crate::acp;
use crate::command;
use crate::feed::feed_pair;
use crate::headless;
use crate::kind::{HeadlessKind, Kind};
use crate::limits::Limits;
use crate::permission::Permissions;
use crate::question::Asker;
use crate::record::Recorder;
use crate::result_file::{self, RESULT_FILE};
use crate::sandbox::Sandbox;
use crate::scripted::{self, Script};
use crate::session::Session;
use crate::session_id::SessionId;
use crate::stop::stop_pair;
use crate::transcript::{LineStream, Transcript};
use crate::usage::Usage;

/// What to run as the agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Program {
    /// Plays a script inside this process.
    Scripted(Script),
    /// Runs a program: its name or path, then its arguments. A relative path is taken from the working folder.
    Command(Vec<String>),
    /// Runs a known agent without a terminal.
    Headless {
        /// Which one.
        kind: HeadlessKind,
        /// Its program and the user's own arguments; what the session needs is added after them.
        command: Vec<String>,
    },
    /// Runs a program that speaks the Agent Client Protocol: its name or path, then its arguments.
    Acp(Vec<String>),
}

impl Program {
    /// Returns the kind of agent this is.
    pub fn kind(&self) -> Kind {
        match self {
            Program::Scripted(_) => Kind::Scripted,
            Program::Command(_) => Kind::Command,
            Program::Headless { kind, .. } => Kind::Headless(*kind),
            Program::Acp(_) => Kind::Acp,
        }
    }
}

/// What the result of a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultIs {
    /// A report on the session, which may say that it failed.
    #[default]
    Report,
    /// The answer to a question; what it says is between the asker and the agent.
    Answer,
}

/// A server of tools (MCP) that the agent starts by itself and speaks to on standard input and output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolServer {
    /// What the agent calls it.
    pub name: String,
    /// Program and arguments; nothing secret is among them.
    pub command: Vec<String>,
}

/// Everything one session is started with.
#[derive(Debug, Clone)]
pub struct Start {
    /// The id, carried by every process of the session in [`MARKER`](crate::MARKER).
    pub session: SessionId,
    /// The how-manieth session of its piece of work this is, from 1; a script picks its part by it.
    pub number: u32,
    /// The item of a larger piece of work that this is for; a script may have parts for one item.
    pub item: Option<String>,
    /// What the result is.
    pub result_is: ResultIs,
    /// The agent.
    pub program: Program,
    /// The working folder.
    pub folder: PathBuf,
    /// What the agent is asked to do.
    pub prompt: String,
    /// The environment, but for PATH, HOME, TERM, LANG, TMPDIR and TZ, which are passed through unless given here.
    pub environment: Vec<(String, String)>,
    /// Values for `${name}` in scripts.
    pub variables: BTreeMap<String, String>,
    /// The model, in the agent's own words; without it, the agent's default.
    pub model: Option<String>,
    /// The agent's own session that is taken up again.
    pub resume: Option<String>,
    /// What that session had used before: the sum over its earlier starts. Some agents count from its very beginning.
    pub resumed_usage: Option<Usage>,
    /// The server whose tools the agent is given.
    pub tools: Option<ToolServer>,
    /// What the agent is answered when it asks for permission.
    pub permissions: Permissions,
    /// Whom [`Permissions::Ask`] asks; without it, what has to be asked is denied.
    pub asker: Option<Asker>,
    /// Names of variables of the environment whose values are secret although their names do not look like it.
    pub secrets: Vec<String>,
    /// Texts that are secret though no variable has them, such as the tokens of a login, with the names to show instead.
    pub tokens: Vec<(String, String)>,
    /// What the agent sees of the machine; without it, all that the user sees.
    pub sandbox: Option<Sandbox>,
    /// The folder of its private home, if it has one; a sandbox shows it where the user's home is.
    pub home: Option<PathBuf>,
    /// A folder that only this session uses, for what its agent must be given as a file; it exists.
    pub private: PathBuf,
    /// The file to append the transcript to.
    pub transcript: PathBuf,
    /// What the session may use.
    pub limits: Limits,
}

impl Start {
    /// Tells whether a person would have to be asked about every command: nothing else holds them.
    pub(crate) fn asks_about_commands(&self) -> bool {
        self.permissions == Permissions::Ask && self.sandbox.is_none()
    }
}

/// Why a session could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The command has no program.
    #[error("the command is empty")]
    EmptyCommand,
    /// There is no such program.
    #[error("the program `{program}` was not found")]
    ProgramNotFound {
        /// The program as it was given.
        program: String,
    },
    /// The program may not be run.
    #[error("the program `{program}` is not executable")]
    ProgramNotExecutable {
        /// The program as it was given.
        program: String,
    },
    /// The program needs something that the sandbox hides.
    #[error("the program `{program}` needs {}, which the sandbox hides", needs.display())]
    ProgramHidden {
        /// The program as it was given.
        program: String,
        /// What it needs.
        needs: PathBuf,
    },
    /// The system refused to start the program.
    #[error("the program `{program}` could not be started")]
    Spawn {
        /// The program as it was given.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The working folder does not exist, or is not a folder.
    #[error("the working folder {} does not exist", folder.display())]
    FolderMissing {
        /// The folder.
        folder: PathBuf,
    },
    /// A variable cannot be put into an environment.
    #[error("the environment variable `{name}` has a name or a value that cannot be passed on")]
    BadEnvironment {
        /// Its name.
        name: String,
    },
    /// A file that the agent needs cannot be written.
    #[error("the file {} cannot be written", path.display())]
    PrivateFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The transcript cannot be written.
    #[error("the transcript {} cannot be written", path.display())]
    Transcript {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Starts a session. It runs by itself from here on, whether its output is read or not.
pub async fn start(start: Start) -> Result<Session, StartError> {
    if !start.folder.is_dir() {
        return Err(StartError::FolderMissing { folder: start.folder });
    }
    let transcript = open_transcript(&start)?;
    let (feed, reader) = feed_pair();
    let (stopper, signal) = stop_pair();
    let start = with_result_file(start)?;
    let recorder = Recorder::new(feed, transcript, &start);
    let id = start.session.clone();
    let (pid, driver) = match &start.program {
        Program::Command(argv) => {
            let running = command::spawn(&start, argv)?;
            let pid = running.pid();
            (Some(pid), tokio::spawn(command::drive(running, start.limits, recorder, signal)))
        }
        Program::Headless { kind, command } => {
            let (running, reader) = headless::spawn(&start, *kind, command)?;
            let pid = running.pid();
            let driving = headless::drive(running, reader, start.limits, recorder, stopper.clone(), signal);
            (Some(pid), tokio::spawn(driving))
        }
        Program::Acp(command) => {
            let running = acp::spawn(&start, command)?;
            let pid = running.pid();
            (Some(pid), tokio::spawn(acp::drive(running, start, recorder, signal)))
        }
        Program::Scripted(script) => {
            // A node is a variable alone, because only scripts ask for it.
            let node = start.variables.get("node").map(String::as_str);
            let part = script.part(start.number, start.item.as_deref(), node).clone();
            (None, tokio::spawn(scripted::play(part, start, recorder, signal)))
        }
    };
    Ok(Session::new(id, pid, reader, stopper, driver))
}

/// Tells the session where its result file is, and makes sure that none is there yet.
fn with_result_file(mut start: Start) -> Result<Start, StartError> {
    let path = result_file::place(&start.private);
    if let Err(source) = result_file::clear(&path) {
        return Err(StartError::PrivateFile { path, source });
    }
    start.environment.push((RESULT_FILE.to_owned(), path.to_string_lossy().into_owned()));
    Ok(start)
}

fn open_transcript(start: &Start) -> Result<Transcript, StartError> {
    let failed = |source| StartError::Transcript { path: start.transcript.clone(), source };
    let mut transcript =
        Transcript::open(&start.transcript, start.limits.transcript_bytes_max).map_err(failed)?;
    transcript.write(LineStream::Prompt, &start.prompt);
    if let Some(note) = note_sandbox(start) {
        transcript.write(LineStream::Note, note);
    }
    match transcript.take_error() {
        Some(error) => Err(failed(error)),
        None => Ok(transcript),
    }
}

/// Says how far the agent is shut in; a script is played by this process, and does what it says.
fn note_sandbox(start: &Start) -> Option<&'static str> {
    match (&start.program, &start.sandbox) {
        (Program::Scripted(_), _) => None,
        (_, None) => Some("without a sandbox: it may do whatever its user may"),
        (_, Some(sandbox)) if sandbox.has_network => Some("in a sandbox"),
        (_, Some(_)) => Some("in a sandbox without a network"),
    }
}
