//! `regatta machine show`.

use crate::arguments::Place;
use crate::exit::Exit;
use clap::{Subcommand, ValueEnum};
use regatta_engine::core::machine::{render_mermaid, render_svg, render_xstate};

/// The verbs of the machine.
#[derive(Subcommand)]
pub(crate) enum Machine {
    /// Print the task machine from the table that Regatta itself uses.
    Show {
        /// Output format.
        #[arg(long, value_enum, default_value_t = Format::Mermaid)]
        format: Format,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A Mermaid state diagram.
    Mermaid,
    /// JSON for XState's createMachine.
    Xstate,
    /// An SVG drawing.
    Svg,
}

impl Machine {
    pub(crate) fn run(self, place: &Place) -> Exit {
        let Machine::Show { format } = self;
        let drawing = match format {
            Format::Mermaid => render_mermaid(),
            Format::Svg => render_svg(),
            Format::Xstate => {
                let json = render_xstate();
                place.screen.data(&json, |json| format!("{json:#}\n"));
                return Exit::Done;
            }
        };
        let name = if format == Format::Svg { "svg" } else { "mermaid" };
        place.screen.data(&serde_json::json!({ "format": name, "drawing": drawing }), |_| drawing.clone());
        Exit::Done
    }
}
