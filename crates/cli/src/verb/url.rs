//! `regatta url`.

use super::browser;
use crate::arguments::Place;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::{Code, Problem};
use regatta_engine::find_running;
use regatta_server::Keys;
use serde_json::json;

/// Print an address that opens the running project in a browser
///
/// The address has a code that can be used once, within ten minutes.
#[derive(Args)]
pub(crate) struct Url {
    /// Open it in your browser too
    #[arg(long)]
    open: bool,
    /// Print the address on this machine, even if a proxy shows the project to others
    #[arg(long)]
    local: bool,
}

impl Url {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let holder = find_running(&project).await?;
        let keys = Keys::ensure(&project)?;
        let is_up = holder.is_some_and(|holder| holder.own.is_none());
        let Some(port) = keys.find_port().filter(|_| is_up) else {
            return Err(Problem::new(
                Code::ServerNotRunning,
                "there is no address to open",
                "`regatta up` is not running for this project",
                "start it with `regatta up`, which prints the address",
            ));
        };
        let public = keys.find_public().filter(|_| !self.local);
        let issued = public.map_or_else(|| keys.issue_url(port), |public| keys.issue_public_url(&public));
        let url = issued?;
        place.screen.data(&json!({ "url": url, "port": port }), |_| format!("{url}\n"));
        if self.open {
            browser::open(place.screen, &url);
        }
        Ok(Exit::Done)
    }
}
