//! Workflows as people and programs see them.

use crate::error::Error;
use crate::project::Project;
use crate::runs::{DefinitionError, Listed, Origin};
use regatta_flow::{Edge, Fault, Level, Node, NodeKind, Route, Workflow, check_folder};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// One line of the list of workflows.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct WorkflowRow {
    pub name: String,
    pub title: String,
    pub shipped: bool,
    pub path: Option<String>,
    pub digest: String,
    /// Faults of form that keep it from running; `workflow check` finds more.
    pub faults: usize,
}

/// A workflow as it is shown.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct WorkflowView {
    pub name: String,
    pub title: String,
    pub from: String,
    pub digest: String,
    pub start: String,
    pub default_level: u32,
    pub levels: Vec<LevelView>,
    pub roles: Vec<RoleView>,
    pub nodes: Vec<NodeView>,
    pub edges: Vec<EdgeView>,
    pub children: Vec<String>,
    pub files: Vec<String>,
}

/// A level of a workflow.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct LevelView {
    pub level: u32,
    pub title: String,
    pub start: String,
    pub default: bool,
}

/// A role of a workflow.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct RoleView {
    pub role: String,
    /// Who plays it in this project.
    pub agent: Option<String>,
}

/// A node of a workflow.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct NodeView {
    pub name: String,
    /// What it is for, in a line; may be empty.
    pub title: String,
    pub kind: &'static str,
    /// The role of an agent, or the workflow of a map.
    pub plays: Option<String>,
}

/// An edge of a workflow, in the order in which it is tried.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct EdgeView {
    pub id: String,
    /// What it is for, in a line; may be empty.
    pub title: String,
    /// The nodes that it leaves, with commas between them.
    pub from: String,
    pub to: String,
    pub when: Option<String>,
    pub max_iterations: Option<u32>,
    pub scope: Option<String>,
    pub exhausted: Vec<String>,
    pub rejected: Option<String>,
    pub submits: bool,
    pub levels: Option<Vec<u32>>,
}

impl WorkflowRow {
    /// Makes the line of a workflow.
    pub fn of(listed: &Listed) -> Self {
        let loaded = Workflow::load(&listed.folder);
        let path = match &listed.origin {
            Origin::Binary => None,
            Origin::Project(path) => Some(path.display().to_string()),
        };
        WorkflowRow {
            name: listed.name.clone(),
            title: loaded.as_ref().map_or_else(|_| String::new(), |workflow| workflow.title.clone()),
            shipped: path.is_none(),
            path,
            digest: listed.folder.digest(),
            faults: loaded.err().map_or(0, |faults| faults.iter().filter(|fault| fault.is_error()).count()),
        }
    }
}

impl WorkflowView {
    /// Shows a workflow that was compiled.
    pub fn of(listed: &Listed, workflow: &Workflow, project: Option<&Project>) -> Self {
        WorkflowView {
            name: listed.name.clone(),
            title: workflow.title.clone(),
            from: show_origin(&listed.origin, project),
            digest: listed.folder.digest(),
            start: workflow.start.name.to_string(),
            default_level: workflow.default_level(),
            levels: workflow.levels.values().map(|level| level_of(workflow, level)).collect(),
            roles: roles_of(workflow).into_iter().map(|role| role_of(role, project)).collect(),
            nodes: workflow.nodes.iter().map(node_of).collect(),
            edges: workflow.edges.iter().map(edge_of).collect(),
            children: workflow.children.keys().cloned().collect(),
            files: listed.folder.files().keys().cloned().collect(),
        }
    }
}

/// Shows a workflow, or says why it cannot be compiled.
pub fn show_workflow(listed: &Listed, project: Option<&Project>) -> Result<WorkflowView, Error> {
    let faulty = |faults| DefinitionError::Faulty { name: listed.address(), faults };
    let workflow = Workflow::load(&listed.folder).map_err(faulty)?;
    Ok(WorkflowView::of(listed, &workflow, project))
}

/// Returns what is wrong with a workflow, each fault with the workflow's name.
pub fn list_faults(listed: &Listed) -> Vec<Value> {
    check_folder(&listed.folder).iter().map(|fault| show_fault(listed, fault)).collect()
}

/// Shows one fault of a workflow.
pub fn show_fault(listed: &Listed, fault: &Fault) -> Value {
    let mut value = serde_json::to_value(fault).unwrap_or_default();
    value["workflow"] = listed.name.clone().into();
    value
}

/// Says where a workflow comes from; a folder of the project from its root.
pub fn show_origin(origin: &Origin, project: Option<&Project>) -> String {
    match origin {
        Origin::Binary => "shipped".to_owned(),
        Origin::Project(path) => {
            let within = project.and_then(|project| path.strip_prefix(project.root()).ok());
            match within {
                Some(root) if root.as_os_str().is_empty() => ".".to_owned(),
                within => within.unwrap_or(path).display().to_string(),
            }
        }
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

/// A role may have several prompts.
fn roles_of(workflow: &Workflow) -> BTreeSet<&str> {
    let roles = workflow.nodes.iter().filter_map(|node| node.kind.role());
    roles.map(|role| role.name.as_str()).collect()
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
        NodeKind::Parallel { nodes } => {
            let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
            Some(names.join(", "))
        }
        NodeKind::Approval { .. } | NodeKind::Check { .. } | NodeKind::Pass | NodeKind::End { .. } => None,
    };
    NodeView { name: node.name.to_string(), title: node.title.clone(), kind: node.kind.word(), plays }
}

fn edge_of(edge: &Edge) -> EdgeView {
    let text = |expression: &regatta_flow::Expression| expression.text().to_owned();
    let to = |route: &Route| route.to.name.to_string();
    EdgeView {
        id: edge.id.to_string(),
        title: edge.title.clone(),
        from: edge.told_from(),
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
