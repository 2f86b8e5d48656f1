//! Notes from people to the agents that work on tasks: messages to the task, delivered once.
//!
//! A session that may change the task has the unread messages of its task in its prompt, and they are marked as read
//! when it has started. While it runs, they come with what its agent asks for over MCP. A session that only reads
//! the worktree leaves them for the next that writes.

use crate::commands::messages::{self, MessageView};
use crate::commands::orders::{self, Caller};
use crate::core::message::{self, NOTE, Party};
use crate::core::{MessageId, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::view::session_log::find_session_log;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeSet;

/// More than this many messages wait for the session after.
const AT_ONCE_MAX: usize = 20;

/// How many notes are shown with a task, the newest.
const SHOWN_MAX: usize = 50;

/// A note as it is shown with its task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct NoteView {
    pub message_id: MessageId,
    pub from: Party,
    pub text: String,
    pub sent_at: Timestamp,
    /// Whether a session had it.
    pub delivered: bool,
    pub delivered_at: Option<Timestamp>,
}

/// Sends a note to whoever works on a task, now or next.
pub async fn send(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    text: String,
) -> Result<MessageId, Error> {
    let task = orders::get_task(project, task).await?;
    let from = messages::party_of(&caller.actor);
    let draft = message::note(&task, from, text).map_err(Error::Refused)?;
    messages::send(project, caller, draft, BTreeSet::new()).await
}

/// Returns the newest notes of a task, oldest first.
pub async fn list(project: &Project, task: TaskId) -> Result<Vec<NoteView>, Error> {
    let found = messages::list_for(project, &[Party::Task(task).into()]).await?;
    let mut notes: Vec<NoteView> = found.into_iter().filter(|view| view.kind == NOTE).map(note_of).collect();
    notes.drain(..notes.len().saturating_sub(SHOWN_MAX));
    Ok(notes)
}

/// Returns the messages to a task that no session has had yet, oldest first.
pub(crate) async fn list_unread(project: &Project, task: TaskId) -> Result<Vec<MessageView>, Error> {
    let mut unread = messages::list_for(project, &[Party::Task(task).into()]).await?;
    unread.retain(|view| !view.read);
    unread.truncate(AT_ONCE_MAX);
    Ok(unread)
}

/// Returns the messages for the prompt of a session. One that is run again after a crash gets those again that it had:
/// its conversation is lost.
pub(crate) async fn list_for_prompt(
    project: &Project,
    task: TaskId,
    session: &str,
) -> Result<Vec<MessageView>, Error> {
    let mut found = messages::list_for(project, &[Party::Task(task).into()]).await?;
    let begun = match found.iter().any(|view| view.read) {
        true => find_session_log(project, session).await?.map(|log| log.opened_at),
        false => None,
    };
    let had = |view: &MessageView| begun.is_some_and(|begun| view.read_at.is_some_and(|read| read >= begun));
    found.retain(|view| !view.read || had(view));
    found.truncate(AT_ONCE_MAX);
    Ok(found)
}

/// Records that a session has had these messages to its task.
pub(crate) async fn mark_delivered(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    notes: &[MessageId],
) -> Result<(), Error> {
    let by = messages::party_of(&caller.actor);
    messages::mark_read(project, caller, &Party::Task(task).into(), notes, &by).await
}

fn note_of(view: MessageView) -> NoteView {
    NoteView {
        message_id: view.message_id,
        from: view.from,
        text: view.body,
        sent_at: view.sent_at,
        delivered: view.read,
        delivered_at: view.read_at,
    }
}
