//! `regatta run …`: workflows played step by step.

mod answer;
mod begin;
mod control;
mod flags;
mod follow;
mod foreground;
mod fork;
mod input;
mod list;
mod log;
mod recording;
mod replay;
mod resume;
mod show;
mod signal;

pub(crate) use flags::list as list_flags;
pub(crate) use foreground::{Decides, Foreground};
pub(crate) use input::parse_pair;

use crate::arguments::Place;
use crate::exit::Exit;
use clap::{Args, Subcommand};
use regatta_engine::core::Problem;

/// Run a workflow, and manage runs
///
/// A run works in the foreground until it ends or waits for a person. In a terminal it asks you. Each property of the workflow's
/// input is a flag, such as `--max-iterations 5` for `cycle`; `regatta workflow show NAME` lists them.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(
    after_help = "To run a workflow that has the name of a command, give its folder: .regatta/workflows/list."
)]
pub(crate) struct Run {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    begin: begin::Begin,
}

group! {
    /// The verbs of a run; the help of each is that of its type.
    Verb {
        List in list, Show in show, Log in log, Pause in control, Resume in resume, Stop in control,
        Answer in answer, Signal in signal, Fork in fork, Replay in replay,
    }
}

impl Run {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        match self.verb {
            None => self.begin.run(place).await,
            Some(verb) => verb.run(place).await,
        }
    }

    /// Returns the words that are read once the workflow is known, and may hold options of every verb.
    pub(crate) fn last_words(&self) -> &[String] {
        match &self.verb {
            None => self.begin.last_words(),
            Some(Verb::Signal(signal)) => signal.last_words(),
            Some(_) => &[],
        }
    }
}

/// Tells whether a workflow of this name is run by its folder, because a verb is called so.
pub(crate) fn is_verb(name: &str) -> bool {
    name == "help" || Verb::has_subcommand(name)
}
