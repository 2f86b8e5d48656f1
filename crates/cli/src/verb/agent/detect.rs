//! `regatta agent detect`.

use crate::arguments::Place;
use crate::columns;
use crate::exit::Exit;
use crate::screen::{DIM, GREEN, clean};
use clap::Args;
use regatta_engine::core::Problem;
use regatta_engine::{InstalledView, add_to_config, find_installed, known_agents};

/// Find installed agents and add those that are missing to the config.
#[derive(Args)]
pub(crate) struct Detect {
    /// Show them without changing the config.
    #[arg(long)]
    dry_run: bool,
}

impl Detect {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let found = find_installed(&project).await;
        let is_new = found.iter().any(|agent| !agent.is_known);
        if is_new && !self.dry_run {
            add_to_config(&project, &found)?;
        }
        place.screen.data(&found, |found| render(found, self.dry_run));
        Ok(Exit::Done)
    }
}

fn render(found: &[InstalledView], dry_run: bool) -> String {
    if found.is_empty() {
        return format!("{DIM}none of {} is on your PATH{DIM:#}\n", known_agents().join(", "));
    }
    let row = |agent: &InstalledView| {
        let state = match (agent.is_known, dry_run) {
            (true, _) => "configured",
            (false, true) => "not yet",
            (false, false) => "added",
        };
        let version = agent.version.as_deref().unwrap_or("unknown");
        [agent.id.clone(), agent.kind.to_owned(), clean(version), state.to_owned(), clean(&agent.program)]
    };
    let table = columns::table(["AGENT", "KIND", "VERSION", "CONFIG", "PROGRAM"], found.iter().map(row));
    let next = found.first().map_or("", |agent| agent.id.as_str());
    format!("{table}\n{GREEN}try one{GREEN:#}: regatta agent try {next}\n")
}
