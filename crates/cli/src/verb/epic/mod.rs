//! `regatta epic …`: groups of tasks.

mod add;
mod edit;
mod list;
mod show;

use crate::arguments::Place;
use crate::exit::Exit;
use clap::Subcommand;
use regatta_engine::core::{EpicId, Id, Problem};

/// The verbs of an epic; the help of each is that of its type.
#[derive(Subcommand)]
pub(crate) enum Epic {
    Add(add::Add),
    List(list::List),
    Show(show::Show),
    Edit(edit::Edit),
}

impl Epic {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        match self {
            Epic::Add(verb) => verb.run(place).await,
            Epic::List(verb) => verb.run(place).await,
            Epic::Show(verb) => verb.run(place).await,
            Epic::Edit(verb) => verb.run(place).await,
        }
    }
}

/// Reads the number of an epic as people write it.
pub(crate) fn epic_id(text: &str) -> Result<EpicId, String> {
    text.parse().map_err(|error: Id| error.to_string())
}
