//! `regatta token`.

use crate::arguments::Place;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::Problem;
use regatta_server::Keys;
use serde_json::json;

/// Print the token with which programs use the API of `regatta up`
///
/// Send it as `Authorization: Bearer TOKEN`. Whoever has it can do everything that you can do in this project.
#[derive(Args)]
pub(crate) struct Token {
    /// Print the token of your own agent instead: it opens /mcp alone, where nobody can approve or merge
    #[arg(long, conflicts_with = "webhook")]
    mcp: bool,
    /// Print the secret that webhooks are signed with instead
    #[arg(long)]
    webhook: bool,
}

impl Token {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let keys = Keys::ensure(&project)?;
        let token = match (self.mcp, self.webhook) {
            (true, _) => keys.mcp_token(),
            (_, true) => keys.webhook_secret(),
            _ => keys.token(),
        };
        place.screen.data(&json!({ "token": token }), |_| format!("{token}\n"));
        Ok(Exit::Done)
    }
}
