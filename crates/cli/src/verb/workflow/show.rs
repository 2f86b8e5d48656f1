//! `regatta workflow show`.

use super::find::{find_workflow, open_if_any};
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{BOLD, CYAN, DIM, clean};
use crate::verb::run::list_flags;
use clap::Args;
use regatta_engine::core::Problem;
use regatta_engine::runs::{EdgeView, WorkflowView, show_workflow};
use regatta_flow::Workflow;
use std::fmt::Write;

/// Show a workflow's nodes, edges and levels, and the agents of its roles.
#[derive(Args)]
pub(crate) struct Show {
    /// Workflow name or folder.
    #[arg(value_name = "NAME|FOLDER")]
    workflow: String,
}

impl Show {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = open_if_any(place).await?;
        let listed = find_workflow(place, project.as_ref(), &self.workflow)?;
        let view = show_workflow(&listed, project.as_ref())?;
        let input = Workflow::load(&listed.folder).ok().and_then(|loaded| loaded.input);
        let flags = input.map(|schema| list_flags(schema.document())).unwrap_or_default();
        place.screen.data(&view, |view| render(view, &flags));
        Ok(Exit::Done)
    }
}

fn render(view: &WorkflowView, flags: &[String]) -> String {
    let mut text = format!("{CYAN}{}{CYAN:#} {BOLD}{}{BOLD:#}\n", view.name, clean(&view.title));
    let _ = writeln!(text, "  {DIM}from{DIM:#}    {}", clean(&view.from));
    let _ = writeln!(text, "  {DIM}digest{DIM:#}  {}", view.digest);
    for role in &view.roles {
        let agent = role.agent.as_deref().unwrap_or("nobody yet; see `[roles]` in .regatta/config.toml");
        let _ = writeln!(text, "  {DIM}role{DIM:#}    {:<12} {agent}", role.role);
    }
    if !flags.is_empty() {
        let _ = writeln!(text, "  {DIM}input{DIM:#}   {}", clean(&flags.join("  ")));
    }
    if view.levels.len() > 1 {
        let _ = writeln!(text, "\n{BOLD}levels{BOLD:#}");
        for level in &view.levels {
            let mark = if level.default { "*" } else { " " };
            let _ = writeln!(
                text,
                "  {mark} {:<3} from {:<12} {}",
                level.level,
                level.start,
                clean(&level.title)
            );
        }
    }
    let _ = writeln!(text, "\n{BOLD}nodes{BOLD:#}");
    for node in &view.nodes {
        let mark = if node.name == view.start { "*" } else { " " };
        let plays = node.plays.as_deref().unwrap_or_default();
        let line = format!("  {mark} {:<16} {:<9} {plays}", node.name, node.kind);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let _ = writeln!(text, "\n{BOLD}edges{BOLD:#}, in the order in which they are tried");
    for edge in &view.edges {
        text.push_str(&render_edge(edge));
    }
    text
}

fn render_edge(edge: &EdgeView) -> String {
    let mut text = format!("    {BOLD}{}{BOLD:#}: {} → {}\n", edge.id, edge.from, edge.to);
    let mut field = |name: &str, value: &str| {
        let value = clean(value).replace('\n', " ");
        let _ = writeln!(text, "      {DIM}{name:<10}{DIM:#} {value}");
    };
    if let Some(when) = &edge.when {
        field("when", when);
    }
    if let Some(max) = edge.max_iterations {
        let scope = edge.scope.as_ref().map_or_else(String::new, |scope| format!(" for each {scope}"));
        field("at most", &format!("{max} times{scope}"));
    }
    if !edge.exhausted.is_empty() {
        field("then", &edge.exhausted.join(", or "));
    }
    if edge.submits {
        field("approval", edge.rejected.as_ref().map_or("required", |_| "required; sent back if refused"));
    }
    if let Some(levels) = &edge.levels {
        let levels: Vec<String> = levels.iter().map(u32::to_string).collect();
        field("levels", &levels.join(", "));
    }
    text
}
