//! `regatta prd …`: requirements documents.

mod add;
mod edit;
mod list;
mod show;

use crate::arguments::Place;
use crate::exit::Exit;
use clap::Subcommand;
use regatta_engine::core::{Id, PrdSlug, Problem};

/// The verbs of a PRD; the help of each is that of its type.
#[derive(Subcommand)]
pub(crate) enum Prd {
    Add(add::Add),
    List(list::List),
    Show(show::Show),
    Edit(edit::Edit),
}

impl Prd {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        match self {
            Prd::Add(verb) => verb.run(place).await,
            Prd::List(verb) => verb.run(place).await,
            Prd::Show(verb) => verb.run(place).await,
            Prd::Edit(verb) => verb.run(place).await,
        }
    }
}

/// Reads the slug of a PRD.
pub(crate) fn prd_slug(text: &str) -> Result<PrdSlug, String> {
    text.parse().map_err(|error: Id| error.to_string())
}
