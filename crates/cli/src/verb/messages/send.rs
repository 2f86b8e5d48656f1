//! `regatta messages send`.

use super::find_party;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::DIM;
use clap::Args;
use regatta_engine::core::message::Draft;
use regatta_engine::core::{MessageId, Problem, RunId, TaskId};
use regatta_engine::{messages, orders};
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
    /// Run whose role gets it, or a role of a run above.
    #[arg(long, value_name = "ID")]
    run: Option<RunId>,
    /// Task that it is about.
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
    /// Message that it answers.
    #[arg(long, value_name = "NUMBER")]
    reply_to: Option<MessageId>,
    /// Command ID; repeating the command with the same ID does nothing more.
    #[arg(long, value_name = "UUID")]
    command_id: Option<Uuid>,
}

impl Send {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let caller = crate::caller::caller(self.command_id);
        let to = find_party(&project, &self.to)?;
        let from = messages::party_of(&caller.actor);
        let draft = Draft::new(from, to, &self.kind, self.subject, self.body).map_err(orders::invalid)?;
        let draft = draft.about(self.task, self.run, None).replying_to(self.reply_to);
        let (draft, roles) = match self.run {
            Some(run) => messages::in_run(&project, draft, run).await?,
            None => (draft, BTreeSet::new()),
        };
        let id = messages::send(&project, &caller, draft, roles).await?;
        let view = messages::get(&project, id).await?;
        place
            .screen
            .data(&view, |view| format!("message {} to {} {DIM}is sent{DIM:#}\n", view.message_id, view.to));
        Ok(Exit::Done)
    }
}
