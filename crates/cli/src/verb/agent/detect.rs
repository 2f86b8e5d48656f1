//! `regatta agent detect`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{DIM, GREEN, clean};
use clap::Args;
use comfy_table::{Table, presets};
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
            add_to_config(&project, &found).map_err(|error| error.explain())?;
        }
        place.screen.data(&found, |found| render(found, self.dry_run));
        Ok(Exit::Done)
    }
}

fn render(found: &[InstalledView], dry_run: bool) -> String {
    if found.is_empty() {
        return format!("{DIM}none of {} is on your PATH{DIM:#}\n", known_agents().join(", "));
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["AGENT", "KIND", "VERSION", "CONFIG", "PROGRAM"]);
    for agent in found {
        let state = match (agent.is_known, dry_run) {
            (true, _) => "configured",
            (false, true) => "not yet",
            (false, false) => "added",
        };
        let version = agent.version.as_deref().unwrap_or("unknown");
        table.add_row([&agent.id, agent.kind, &clean(version), state, &clean(&agent.program)]);
    }
    let next = found.first().map_or("", |agent| agent.id.as_str());
    format!("{}\n\n{GREEN}try one{GREEN:#}: regatta agent try {next}\n", table.trim_fmt())
}
