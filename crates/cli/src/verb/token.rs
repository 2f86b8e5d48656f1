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
pub(crate) struct Token {}

impl Token {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let token = Keys::ensure(&project).map_err(|error| error.explain())?.token();
        place.screen.data(&json!({ "token": token }), |_| format!("{token}\n"));
        Ok(Exit::Done)
    }
}
