//! The rules about names: every node, role, child and edge that is named exists, and roles and children are used.

use std::collections::BTreeSet;

use super::report::Report;
use super::subject::Subject;
use crate::fault::{Fault, Position};
use crate::nearest::find_nearest;
use crate::variables::{FactName, Local};
use crate::workflow::{Edge, NodeKind, Target, Workflow};

/// Checks the names.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let workflow = subject.workflow;
    check_binds(workflow, report);
    targets(workflow).for_each(|target| check_target(workflow, target, report));
    check_roles(workflow, report);
    check_children(workflow, report);
    for (place, edge) in workflow.edges.iter().enumerate() {
        check_overrides(workflow, place, edge, report);
    }
}

/// Makes the fault of a name that nothing has.
fn unknown<'n>(
    rule: &'static str,
    what: &str,
    name: &str,
    at: &Position,
    known: impl IntoIterator<Item = &'n str>,
) -> Fault {
    Fault::error(rule, at, format!("there is no {what} `{name}`")).with_nearest(find_nearest(name, known))
}

/// A place that is called like a fact hides it. That is no error of form, so that older runs still load.
fn check_binds(workflow: &Workflow, report: &mut Report) {
    for bind in &workflow.bind {
        let known = FactName::find(&bind.name).is_some()
            || Local::ALL.into_iter().any(|local| local.as_str() == bind.name);
        if known {
            let message = format!("`{}` is called like the variable `${0}` of every workflow", bind.name);
            let fault = Fault::error("name-of-fact", &bind.at, message);
            report.add(fault.with_hint("give the place another name"));
        }
    }
}

fn targets(workflow: &Workflow) -> impl Iterator<Item = &Target> {
    let of_levels = workflow.levels.values().filter_map(|level| level.start.as_ref());
    let start = Some(&workflow.start).filter(|_| !workflow.gaps.is_start_unknown);
    let of_signals = workflow.signals.iter().filter_map(|signal| signal.to.as_ref());
    let members = workflow.nodes.iter().flat_map(|node| node.kind.members());
    start
        .into_iter()
        .chain(of_levels)
        .chain(members)
        .chain(workflow.edges.iter().flat_map(targets_of_edge))
        .chain(of_signals)
}

fn targets_of_edge(edge: &Edge) -> impl Iterator<Item = &Target> {
    let routes = edge.exhausted.iter().chain(&edge.rejected).map(|route| &route.to);
    edge.from.iter().chain([&edge.to]).chain(routes)
}

fn check_target(workflow: &Workflow, target: &Target, report: &mut Report) {
    let name = target.name.as_str();
    if workflow.find_node(name).is_none() {
        let known = workflow.nodes.iter().map(|node| node.name.as_str());
        report.add(unknown("unknown-node", "node", name, &target.at, known));
    }
}

fn check_roles(workflow: &Workflow, report: &mut Report) {
    let mut used = BTreeSet::new();
    for node in &workflow.nodes {
        let Some(role) = node.kind.prompt_name() else { continue };
        used.insert(role.name.as_str());
        if !workflow.roles.contains_key(&role.name) {
            let known = workflow.roles.keys().map(String::as_str);
            let fault = unknown("unknown-role", "role", &role.name, &role.at, known);
            let files = format!("a role has the files `roles/{0}.md` and `roles/{0}.output.json`", role.name);
            report.add(if fault.hint.is_some() { fault } else { fault.with_hint(files) });
        }
    }
    let is_unused = |name: &str| workflow.gaps.nodes.is_empty() && !used.contains(name);
    for role in workflow.roles.values().filter(|role| is_unused(&role.name)) {
        let message = format!("no node has the role `{}`", role.name);
        report.add(
            Fault::warning("unused-role", &role.at, message)
                .with_hint("remove its files, or add a node for it"),
        );
    }
}

fn check_children(workflow: &Workflow, report: &mut Report) {
    let mut used = BTreeSet::new();
    for node in &workflow.nodes {
        let NodeKind::Map { workflow: child, .. } = &node.kind else { continue };
        used.insert(child.name.as_str());
        if !workflow.children.contains_key(&child.name) && !workflow.gaps.children.contains(&child.name) {
            let known = workflow.children.keys().map(String::as_str);
            let fault = unknown("unknown-child", "child workflow", &child.name, &child.at, known);
            let folder = format!("a child is a folder: `children/{}/workflow.toml`", child.name);
            report.add(if fault.hint.is_some() { fault } else { fault.with_hint(folder) });
        }
    }
    let is_unused = |name: &str| workflow.gaps.nodes.is_empty() && !used.contains(name);
    for (name, child) in workflow.children.iter().filter(|(name, _)| is_unused(name)) {
        let message = format!("no `map` node runs the child workflow `{name}`");
        report.add(
            Fault::warning("unused-child", &child.at, message)
                .with_hint("remove its folder, or add a node for it"),
        );
    }
}

/// An edge can only win against one that is tried after it, at the same node.
fn check_overrides(workflow: &Workflow, place: usize, edge: &Edge, report: &mut Report) {
    for (id, at) in &edge.overrides {
        let known = workflow.edges.iter().map(|edge| edge.id.as_str());
        let Some(other) = workflow.edges.iter().position(|edge| edge.id == *id) else {
            if !workflow.gaps.has_lost_edges {
                report.add(unknown("unknown-edge", "edge", id.as_str(), at, known));
            }
            continue;
        };
        let meets = |from: &Target| edge.leaves(from.name.as_str());
        let why = if workflow.edges[other].outcome() != edge.outcome() {
            "they are for different outcomes".to_owned()
        } else if !workflow.edges[other].from.iter().any(meets) {
            format!("it leaves another node, `{}`", workflow.edges[other].told_from())
        } else if other <= place {
            "it is tried first".to_owned()
        } else {
            continue;
        };
        let message = format!("`{}` cannot override `{id}`: {why}", edge.id);
        report.add(
            Fault::warning("override-without-effect", at, message).with_hint("remove it from `overrides`"),
        );
    }
}
