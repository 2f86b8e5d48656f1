//! `regatta completions`.

use crate::arguments::Arguments;
use crate::exit::Exit;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Prints completions for a shell.
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Exit {
        clap_complete::generate(self.shell, &mut Arguments::command(), "regatta", &mut std::io::stdout());
        Exit::Done
    }
}
