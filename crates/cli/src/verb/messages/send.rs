//! `regatta messages send`.

use super::{find_party, task_id};
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::DIM;
use clap::Args;
use regatta_engine::core::message::Draft;
use regatta_engine::core::{Id, MessageId, Problem, TaskId};
use regatta_engine::{Error, messages, orders};
use std::collections::BTreeSet;
use uuid::Uuid;

/// Send a message.
#[derive(Args)]
pub(crate) struct Send {
    /// Text of the message.
    #[arg(value_name = "TEXT")]
    body: String,
    /// Recipient: `agent:NAME`, `role:NAME`, `task:NUMBER`, `person:NAME` or a bare name.
    #[arg(long, value_name = "WHOM")]
    to: String,
    /// Kind, a word that the recipient knows.
    #[arg(long, value_name = "WORD", default_value = "note")]
    kind: String,
    /// Subject, one line.
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,
    /// Task that it is about.
    #[arg(long, value_name = "ID", value_parser = task_id)]
    task: Option<TaskId>,
    /// Message that it answers.
    #[arg(long, value_name = "NUMBER", value_parser = message_id)]
    reply_to: Option<MessageId>,
    /// Command ID; repeating the command with the same ID does nothing more.
    #[arg(long, value_name = "UUID")]
    command_id: Option<Uuid>,
}

impl Send {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let sent = async {
            let caller = crate::caller::caller(self.command_id);
            let to = find_party(&project, &self.to)?;
            let from = messages::party_of(&caller.actor);
            let draft = Draft::new(from, to, &self.kind, self.subject, self.body).map_err(orders::invalid)?;
            let draft = draft.about(self.task, None, None).replying_to(self.reply_to);
            let id = messages::send(&project, &caller, draft, BTreeSet::new()).await?;
            messages::get(&project, id).await
        };
        let view = sent.await.map_err(|error: Error| error.explain())?;
        place
            .screen
            .data(&view, |view| format!("message {} to {} {DIM}is sent{DIM:#}\n", view.message_id, view.to));
        Ok(Exit::Done)
    }
}

/// Reads a message's number as people write it.
pub(super) fn message_id(text: &str) -> Result<MessageId, String> {
    text.parse().map_err(|error: Id| error.to_string())
}
