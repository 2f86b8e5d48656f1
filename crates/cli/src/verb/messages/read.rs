//! `regatta messages read`.

use super::render;
use super::send::message_id;
use crate::arguments::Place;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::{MessageId, Problem};
use regatta_engine::{Error, messages};

/// Show messages and mark them as read.
#[derive(Args)]
pub(crate) struct Read {
    /// Message numbers.
    #[arg(value_name = "NUMBER", required = true, value_parser = message_id)]
    messages: Vec<MessageId>,
}

impl Read {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let read = async {
            let caller = crate::caller::caller(None);
            let by = messages::party_of(&caller.actor);
            let mut shown = Vec::new();
            for id in &self.messages {
                let view = messages::get(&project, *id).await?;
                messages::mark_read(&project, &caller, &view.to, &[*id], &by).await?;
                shown.push(messages::get(&project, *id).await?);
            }
            Ok(shown)
        };
        let shown = read.await.map_err(|error: Error| error.explain())?;
        place.screen.data(&shown, |shown| render(shown));
        Ok(Exit::Done)
    }
}
