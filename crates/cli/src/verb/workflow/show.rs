//! `regatta workflow show`.

use super::find::{compile, find_workflow, open_if_any, show_origin};
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{BOLD, CYAN, DIM, clean};
use clap::Args;
use regatta_engine::Project;
use regatta_engine::core::Problem;
use regatta_engine::runs::Listed;
use regatta_flow::{Edge, Level, Node, NodeKind, Route, Workflow};
use serde::Serialize;
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
        let view = view_of(&listed, &compile(&listed)?, project.as_ref());
        place.screen.data(&view, render);
        Ok(Exit::Done)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct View {
    name: String,
    title: String,
    from: String,
    digest: String,
    start: String,
    default_level: u32,
    levels: Vec<LevelView>,
    roles: Vec<RoleView>,
    nodes: Vec<NodeView>,
    edges: Vec<EdgeView>,
    children: Vec<String>,
    files: Vec<String>,
}

#[derive(Serialize)]
struct LevelView {
    level: u32,
    title: String,
    start: String,
    default: bool,
}

#[derive(Serialize)]
struct RoleView {
    role: String,
    /// Who plays it in this project.
    agent: Option<String>,
}

#[derive(Serialize)]
struct NodeView {
    name: String,
    kind: &'static str,
    /// The role of an agent, or the workflow of a map.
    plays: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EdgeView {
    id: String,
    from: String,
    to: String,
    when: Option<String>,
    max_iterations: Option<u32>,
    scope: Option<String>,
    exhausted: Vec<String>,
    rejected: Option<String>,
    submits: bool,
    levels: Option<Vec<u32>>,
}

fn view_of(listed: &Listed, workflow: &Workflow, project: Option<&Project>) -> View {
    View {
        name: listed.name.clone(),
        title: workflow.title.clone(),
        from: show_origin(&listed.origin, project),
        digest: listed.folder.digest(),
        start: workflow.start.name.to_string(),
        default_level: workflow.default_level(),
        levels: workflow.levels.values().map(|level| level_of(workflow, level)).collect(),
        roles: workflow.roles.keys().map(|role| role_of(role, project)).collect(),
        nodes: workflow.nodes.iter().map(node_of).collect(),
        edges: workflow.edges.iter().map(edge_of).collect(),
        children: workflow.children.keys().cloned().collect(),
        files: listed.folder.files().keys().cloned().collect(),
    }
}

fn level_of(workflow: &Workflow, level: &Level) -> LevelView {
    LevelView {
        level: level.number,
        title: level.title.clone(),
        start: workflow.start_at(level.number).name.to_string(),
        default: level.number == workflow.default_level(),
    }
}

/// The one that `[roles]` names, or one of the role's own name.
fn role_of(role: &str, project: Option<&Project>) -> RoleView {
    let agent = project.and_then(|project| {
        let config = project.config();
        let own = || config.agents.keys().find(|agent| agent.as_str() == role);
        config.roles.get(role).or_else(own).map(ToString::to_string)
    });
    RoleView { role: role.to_owned(), agent }
}

fn node_of(node: &Node) -> NodeView {
    let plays = match &node.kind {
        NodeKind::Agent { role, .. } => Some(role.name.clone()),
        NodeKind::Map { workflow, .. } => Some(workflow.name.clone()),
        NodeKind::Approval { .. } | NodeKind::Check { .. } | NodeKind::End { .. } => None,
    };
    NodeView { name: node.name.to_string(), kind: node.kind.word(), plays }
}

fn edge_of(edge: &Edge) -> EdgeView {
    let text = |expression: &regatta_flow::Expression| expression.text().to_owned();
    let to = |route: &Route| route.to.name.to_string();
    EdgeView {
        id: edge.id.to_string(),
        from: edge.from.name.to_string(),
        to: edge.to.name.to_string(),
        when: edge.when.as_ref().map(text),
        max_iterations: edge.max_iterations,
        scope: edge.scope.as_ref().map(text),
        exhausted: edge.exhausted.iter().map(to).collect(),
        rejected: edge.rejected.as_ref().map(to),
        submits: edge.submit.is_some(),
        levels: edge.levels.as_ref().map(|levels| levels.iter().map(|(number, _)| *number).collect()),
    }
}

fn render(view: &View) -> String {
    let mut text = format!("{CYAN}{}{CYAN:#} {BOLD}{}{BOLD:#}\n", view.name, clean(&view.title));
    let _ = writeln!(text, "  {DIM}from{DIM:#}    {}", clean(&view.from));
    let _ = writeln!(text, "  {DIM}digest{DIM:#}  {}", view.digest);
    for role in &view.roles {
        let agent = role.agent.as_deref().unwrap_or("nobody yet; see `[roles]` in .regatta/config.toml");
        let _ = writeln!(text, "  {DIM}role{DIM:#}    {:<12} {agent}", role.role);
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
