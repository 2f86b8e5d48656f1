//! `regatta trust`: agrees to the programs of a config that came with a clone.

use super::follow::interruption;
use super::person::Person;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::screen::{BOLD, DIM, GREEN, YELLOW, clean};
use clap::Args;
use regatta_engine::core::{Code, Problem};
use regatta_engine::{Starts, find_untrusted, trust};

/// Allow the programs that this clone's config starts
///
/// A config created here by `regatta init` needs no consent. For one that came with a clone you are asked once, before any
/// of its programs runs: its setup, its checks, the commands of its agents.
#[derive(Args)]
pub(crate) struct Trust {
    /// Allow without asking.
    #[arg(long)]
    yes: bool,
}

impl Trust {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let folder = place.folder()?;
        let starts = find_untrusted(folder).await?;
        if let Some(starts) = &starts {
            show(place, starts);
            if !self.yes {
                agree(place).await?;
            }
            trust(folder)?;
        }
        let said = if starts.is_some() { "trusted from now on" } else { "trusted already" };
        let answer = serde_json::json!({ "trusted": true, "starts": starts.unwrap_or_default() });
        place.screen.data(&answer, |_| format!("{GREEN}this clone is {said}{GREEN:#}\n"));
        Ok(Exit::Done)
    }
}

/// Asks the person at a terminal when a project is opened that nobody has agreed to; elsewhere it is refused.
pub(crate) async fn ask_if_untrusted(place: &Place) -> Result<(), Problem> {
    if !place.screen.can_ask() {
        return Ok(());
    }
    let folder = place.folder()?;
    // What else is wrong with the project is said when it is opened.
    let Ok(Some(starts)) = find_untrusted(folder).await else { return Ok(()) };
    show(place, &starts);
    agree(place).await?;
    trust(folder).map_err(|error| error.explain())
}

fn show(place: &Place, starts: &[Starts]) {
    place
        .screen
        .say(&format!("{YELLOW}the config of this project came with the clone{YELLOW:#}; it starts:"));
    for Starts { key, command } in starts {
        place.screen.say(&format!("  {DIM}{:<20}{DIM:#} {BOLD}{}{BOLD:#}", clean(key), clean(command)));
    }
    if starts.is_empty() {
        place.screen.say("  nothing");
    }
}

async fn agree(place: &Place) -> Result<(), Problem> {
    if place.screen.can_ask() {
        let mut progress = Progress::new(place.screen, "");
        progress.pause();
        if Person::who_may_leave(interruption()).trusts(&progress).await? {
            return Ok(());
        }
    }
    Err(Problem::new(
        Code::ProjectNotTrusted,
        "the project was not opened",
        "nobody has allowed what its config starts",
        "answer `y` in a terminal, or run `regatta trust --yes` after reading the config",
    ))
}
