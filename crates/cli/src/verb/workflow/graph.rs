//! `regatta workflow graph`.

use super::find::{compile, find_workflow, open_if_any};
use crate::arguments::Place;
use crate::exit::Exit;
use clap::{Args, ValueEnum};
use regatta_engine::core::{FieldFault, Problem};
use regatta_engine::orders;
use regatta_flow::{Workflow, render_dot, render_mermaid, render_svg};
use serde_json::json;

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
        let workflow = compile(&listed)?;
        let level = self.level.unwrap_or_else(|| workflow.default_level());
        check_level(&workflow, level)?;
        let (name, drawing) = match self.format {
            Format::Mermaid => ("mermaid", render_mermaid(&workflow, level)),
            Format::Svg => ("svg", render_svg(&workflow, level)),
            Format::Dot => ("dot", render_dot(&workflow, level)),
        };
        let drawn = json!({ "workflow": listed.name, "level": level, "format": name, "drawing": drawing });
        place.screen.data(&drawn, |_| drawing.clone());
        Ok(Exit::Done)
    }
}

fn check_level(workflow: &Workflow, level: u32) -> Result<(), Problem> {
    if workflow.levels.contains_key(&level) {
        return Ok(());
    }
    let known: Vec<String> = workflow.levels.keys().map(u32::to_string).collect();
    let problem = format!("{level} is none of {}", known.join(", "));
    Err(orders::invalid(vec![FieldFault { field: "level", problem }]).explain())
}
