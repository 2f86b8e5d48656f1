//! `regatta messages read`.

use super::render;
use crate::arguments::Place;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::{MessageId, Problem};
use regatta_engine::messages;

/// Show messages and mark them as read.
#[derive(Args)]
pub(crate) struct Read {
    /// Message numbers.
    #[arg(value_name = "NUMBER", required = true)]
    messages: Vec<MessageId>,
}

impl Read {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let caller = crate::caller::caller(None);
        let by = messages::party_of(&caller.actor);
        let mut shown = Vec::new();
        for id in &self.messages {
            let view = messages::get(&project, *id).await?;
            messages::mark_read(&project, &caller, &view.address(), &[*id], &by).await?;
            shown.push(messages::get(&project, *id).await?);
        }
        place.screen.data(&shown, |shown| render(shown));
        Ok(Exit::Done)
    }
}
