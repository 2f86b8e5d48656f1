//! `regatta workflow …`: graphs of roles, the project's own and those in the program.

mod check;
mod find;
mod graph;
mod list;
mod new;
mod show;

pub(crate) use find::find_workflow;

use crate::arguments::Place;
use crate::exit::Exit;
use clap::Subcommand;
use regatta_engine::core::Problem;

/// The verbs of a workflow; the help of each is that of its type.
#[derive(Subcommand)]
pub(crate) enum Workflow {
    List(list::List),
    Show(show::Show),
    Check(check::Check),
    New(new::New),
    Graph(graph::Graph),
}

impl Workflow {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        match self {
            Workflow::List(verb) => verb.run(place).await,
            Workflow::Show(verb) => verb.run(place).await,
            Workflow::Check(verb) => verb.run(place).await,
            Workflow::New(verb) => verb.run(place).await,
            Workflow::Graph(verb) => verb.run(place).await,
        }
    }
}
