//! `regatta workflow graph`.

use super::find::{find_workflow, open_if_any};
use crate::arguments::Place;
use crate::exit::Exit;
use clap::{Args, ValueEnum};
use regatta_engine::core::Problem;
use regatta_engine::runs::{Drawing, draw_workflow};

/// Draw a workflow.
#[derive(Args)]
pub(crate) struct Graph {
    /// Workflow name or folder.
    #[arg(value_name = "NAME|FOLDER")]
    workflow: String,
    /// Output format.
    #[arg(long, value_enum, default_value_t = Format::Mermaid)]
    format: Format,
    /// Level to draw [default: the workflow's own].
    #[arg(long, value_name = "N")]
    level: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A Mermaid flowchart.
    Mermaid,
    /// An SVG drawing.
    Svg,
    /// Graphviz DOT.
    Dot,
}

impl Graph {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = open_if_any(place).await?;
        let listed = find_workflow(place, project.as_ref(), &self.workflow)?;
        let format = match self.format {
            Format::Mermaid => Drawing::Mermaid,
            Format::Svg => Drawing::Svg,
            Format::Dot => Drawing::Dot,
        };
        let drawn = draw_workflow(&listed, self.level, format)?;
        place.screen.data(&drawn, |drawn| drawn.drawing.clone());
        Ok(Exit::Done)
    }
}
