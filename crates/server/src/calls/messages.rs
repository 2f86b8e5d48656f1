//! Calls about messages.

use super::{explain, faulty};
use regatta_engine::Project;
use regatta_engine::core::message::{Draft, Party};
use regatta_engine::core::{MessageId, Problem, TaskId};
use regatta_engine::messages::{self, MessageView};
use regatta_engine::orders::Caller;
use std::collections::BTreeSet;

/// What a new message is made of.
pub(crate) struct NewMessage {
    pub(crate) to: String,
    pub(crate) kind: String,
    pub(crate) subject: Option<String>,
    pub(crate) body: String,
    pub(crate) task: Option<TaskId>,
    pub(crate) reply_to: Option<MessageId>,
}

/// Lists messages, oldest first.
pub(crate) async fn list(
    project: &Project,
    caller: &Caller,
    to: Option<&str>,
    task: Option<TaskId>,
    unread: bool,
) -> Result<Vec<MessageView>, Problem> {
    let to = to.map(|to| find_party(project, caller, to)).transpose()?;
    let mut found = messages::list(project).await.map_err(explain)?;
    found.retain(|view| {
        let is_about = |task| view.task_id == Some(task) || view.to == Party::Task(task);
        to.as_ref().is_none_or(|to| view.to == *to) && task.is_none_or(is_about) && !(unread && view.read)
    });
    Ok(found)
}

pub(crate) async fn get(project: &Project, id: MessageId) -> Result<MessageView, Problem> {
    messages::get(project, id).await.map_err(explain)
}

pub(crate) async fn send(project: &Project, caller: &Caller, new: NewMessage) -> Result<MessageId, Problem> {
    let to = find_party(project, caller, &new.to)?;
    let from = messages::party_of(&caller.actor);
    let draft = Draft::new(from, to, &new.kind, new.subject, new.body).map_err(faulty)?;
    let draft = draft.about(new.task, None, None).replying_to(new.reply_to);
    messages::send(project, caller, draft, BTreeSet::new()).await.map_err(explain)
}

pub(crate) async fn mark_read(project: &Project, caller: &Caller, id: MessageId) -> Result<(), Problem> {
    let view = get(project, id).await?;
    let by = messages::party_of(&caller.actor);
    messages::mark_read(project, caller, &view.to, &[id], &by).await.map_err(explain)
}

/// Finds whom a text means; `me` is whoever asks.
fn find_party(project: &Project, caller: &Caller, text: &str) -> Result<Party, Problem> {
    if text == "me" {
        return Ok(messages::party_of(&caller.actor));
    }
    messages::find_party(project, text).map_err(explain)
}
