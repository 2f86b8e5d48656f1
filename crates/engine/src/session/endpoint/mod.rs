//! The endpoint: the verbs of one session, hosted where only its agent finds them.
//!
//! ```text
//!   agent ─▶ `regatta mcp` ─▶ socket in the private folder ─▶ host ─▶ session_tools ─▶ commands in the log
//!                             first line: the token
//! ```
//!
//! An endpoint opens before its session starts and closes after the session's last process is dead. The token is
//! valid for that one session: the session_tools knows for which task, run and agent it speaks, and refuses what is
//! not theirs. It does not decide anything; edits of the task are handled like edits of its file. Start
//! reading at `open`, then `session_tools`.

mod answers;
mod budget;
mod host;
mod join;
mod place;
mod report;
mod session_tools;
mod signals;
mod subject;
mod token;

pub use join::{Joined, join, join_streams};
pub(crate) use place::sweep;
pub use place::{FOLDER_VARIABLE, find_by_token};
pub use report::{call, report_refused};
pub(crate) use signals::is_called_off;
pub(crate) use subject::{OfRun, Subject};

use crate::error::Error;
use crate::project::Project;
use regatta_agents::{Limits, SessionId, ToolServer, Usage};
use serde_json::Value;
use session_tools::SessionTools;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The agent's name for its tool server.
const SERVER_NAME: &str = "regatta";

/// What an endpoint is opened for.
pub(crate) struct Opening<'a> {
    /// The project.
    pub(crate) project: &'a Arc<Project>,
    /// The session's id, which names its private folder.
    pub(crate) session: &'a SessionId,
    /// The prefix of the ids of the same session, whichever engine ran it.
    pub(crate) mark: &'a str,
    /// Whom it speaks for.
    pub(crate) subject: Subject,
    /// Whether it gets the messages to its task with what it asks for: it changes the work.
    pub(crate) gets_notes: bool,
    /// What the session may use, narrowed to what was set aside for it.
    pub(crate) limits: &'a Limits,
    /// Becomes true when the engine is about to exit.
    pub(crate) leaving: watch::Receiver<bool>,
}

/// An open endpoint; dropping it closes it.
pub(crate) struct Endpoint {
    place: place::Place,
    /// Where the tools are over HTTP, if this process serves the project.
    url: Option<String>,
    session_tools: Arc<SessionTools>,
    stop: CancellationToken,
    host: JoinHandle<()>,
}

/// Makes the private folder of a session and opens its endpoint there.
pub(crate) fn open(opening: Opening<'_>) -> Result<Endpoint, Error> {
    let place = place::Place::make(opening.project, opening.session, opening.mark)?;
    let token = place.keep_token()?;
    let served_at = opening.project.served_at();
    let url = served_at.map(|address| format!("{address}/mcp/session/{}", token.as_str()));
    place.offer_program()?;
    let listener = place.listen()?;
    let session_tools = Arc::new(SessionTools::new(opening));
    let stop = CancellationToken::new();
    let host = tokio::spawn(host::host(listener, token, Arc::clone(&session_tools), stop.clone()));
    Ok(Endpoint { place, url, session_tools, stop, host })
}

impl Endpoint {
    /// Returns the folder that only this session uses.
    pub(crate) fn private(&self) -> &Path {
        self.place.folder()
    }

    /// Returns the tool server for the agent.
    pub(crate) fn tool_server(&self) -> ToolServer {
        ToolServer { name: SERVER_NAME.to_owned(), command: self.command() }
    }

    /// Returns the variables that tell a session its endpoint.
    pub(crate) fn names(&self) -> Vec<(String, String)> {
        let command = self.command();
        let words = shlex::try_join(command.iter().map(String::as_str)).unwrap_or_default();
        let mut names = vec![
            (FOLDER_VARIABLE.to_owned(), self.private().display().to_string()),
            (place::COMMAND_VARIABLE.to_owned(), words),
        ];
        names.extend(self.url.iter().map(|url| (place::URL_VARIABLE.to_owned(), url.clone())));
        names.extend(self.place.find_path().map(|path| ("PATH".to_owned(), path)));
        names
    }

    /// Records what the session has used so far, for an agent that asks what is left.
    pub(crate) fn note_usage(&self, usage: Usage) {
        self.session_tools.note_usage(usage);
    }

    /// Records that something was refused to the agent.
    pub(crate) async fn note_refused(&self, what: String) {
        // A failure to record it is no reason to lose the work.
        let _ = self.session_tools.note(what).await;
    }

    /// Closes the endpoint, removes the folder, and returns the result that was submitted.
    pub(crate) async fn close(mut self) -> Option<Value> {
        let submitted = self.session_tools.end();
        self.stop.cancel();
        // It fails only when the runtime shuts down.
        let _ = (&mut self.host).await;
        submitted
    }

    fn command(&self) -> Vec<String> {
        let program = std::env::current_exe()
            .map_or_else(|_| SERVER_NAME.to_owned(), |path| path.display().to_string());
        vec![program, "mcp".to_owned(), "--session".to_owned(), self.private().display().to_string()]
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.session_tools.end();
        self.stop.cancel();
        self.place.remove();
    }
}
