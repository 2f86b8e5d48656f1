//! The desk: the verbs of one session, hosted where only its agent finds them.
//!
//! ```text
//!   agent ─▶ `regatta mcp` ─▶ socket in the private folder ─▶ host ─▶ clerk ─▶ commands in the log
//!                             first line: the token
//! ```
//!
//! A desk opens before its session starts and closes after the last process of it is dead. The token is worth that one
//! session: the clerk knows for which task, run and agent it speaks, and refuses what is not theirs. It does not decide
//! anything; edits of the task go the way of edits of its file. Start reading at `open`, then `clerk`.

mod answers;
mod budget;
mod clerk;
mod host;
mod join;
mod place;
mod report;
mod signals;
mod subject;
mod token;

pub use join::{Joined, join, join_streams};
pub use place::FOLDER_VARIABLE;
pub(crate) use place::sweep;
pub use report::{call, report_refused};
pub(crate) use signals::is_called_off;
pub(crate) use subject::{OfRun, Subject};

use crate::error::Error;
use crate::project::Project;
use clerk::Clerk;
use regatta_agents::{Limits, SessionId, ToolServer, Usage};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// What an agent calls the server of its tools.
const SERVER_NAME: &str = "regatta";

/// What a desk is opened for.
pub(crate) struct Opening<'a> {
    /// The project.
    pub(crate) project: &'a Arc<Project>,
    /// The session's id, which names its private folder.
    pub(crate) session: &'a SessionId,
    /// How the ids of the same session begin, whichever engine ran it.
    pub(crate) mark: &'a str,
    /// Whom it speaks for.
    pub(crate) subject: Subject,
    /// What the session may use, narrowed to what was set aside for it.
    pub(crate) limits: &'a Limits,
    /// Becomes true when the engine is about to leave.
    pub(crate) leaving: watch::Receiver<bool>,
}

/// An open desk; dropping it closes it.
pub(crate) struct OpenDesk {
    place: place::Place,
    clerk: Arc<Clerk>,
    stop: CancellationToken,
    host: JoinHandle<()>,
}

/// Makes the private folder of a session and opens its desk there.
pub(crate) fn open(opening: Opening<'_>) -> Result<OpenDesk, Error> {
    let place = place::Place::make(opening.project, opening.session, opening.mark)?;
    let token = place.keep_token()?;
    place.offer_program()?;
    let listener = place.listen()?;
    let clerk = Arc::new(Clerk::new(opening));
    let stop = CancellationToken::new();
    let host = tokio::spawn(host::host(listener, token, Arc::clone(&clerk), stop.clone()));
    Ok(OpenDesk { place, clerk, stop, host })
}

impl OpenDesk {
    /// Returns the folder that only this session uses.
    pub(crate) fn private(&self) -> &Path {
        self.place.folder()
    }

    /// Returns the server of tools that the agent is given.
    pub(crate) fn tool_server(&self) -> ToolServer {
        ToolServer { name: SERVER_NAME.to_owned(), command: self.command() }
    }

    /// Returns the variables by which a session knows its desk.
    pub(crate) fn names(&self) -> Vec<(String, String)> {
        let command = self.command();
        let words = shlex::try_join(command.iter().map(String::as_str)).unwrap_or_default();
        let mut names = vec![
            (FOLDER_VARIABLE.to_owned(), self.private().display().to_string()),
            (place::COMMAND_VARIABLE.to_owned(), words),
        ];
        names.extend(self.place.find_path().map(|path| ("PATH".to_owned(), path)));
        names
    }

    /// Takes down what the session has used so far, for an agent that asks what is left.
    pub(crate) fn note_usage(&self, usage: Usage) {
        self.clerk.note_usage(usage);
    }

    /// Writes down that the agent was refused something.
    pub(crate) async fn note_refused(&self, what: String) {
        // What cannot be written down is no reason to lose the work.
        let _ = self.clerk.note(what).await;
    }

    /// Closes the desk, removes the folder, and returns the result that was submitted.
    pub(crate) async fn close(mut self) -> Option<Value> {
        let submitted = self.clerk.end();
        self.stop.cancel();
        // It fails only when the runtime is going down.
        let _ = (&mut self.host).await;
        submitted
    }

    fn command(&self) -> Vec<String> {
        let program = std::env::current_exe()
            .map_or_else(|_| SERVER_NAME.to_owned(), |path| path.display().to_string());
        vec![program, "mcp".to_owned(), "--session".to_owned(), self.private().display().to_string()]
    }
}

impl Drop for OpenDesk {
    fn drop(&mut self) {
        self.clerk.end();
        self.stop.cancel();
        self.place.remove();
    }
}
