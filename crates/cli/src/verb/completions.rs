//! `regatta completions`.

use crate::arguments::{Arguments, Place};
use crate::exit::Exit;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print a completion script for a shell.
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, place: &Place) -> Exit {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "regatta", &mut script);
        place.screen.verbatim(&String::from_utf8_lossy(&script));
        Exit::Done
    }
}
