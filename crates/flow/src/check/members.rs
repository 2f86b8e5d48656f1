//! The rules about `parallel` nodes: what they perform at the same time are agents and checks that lead nowhere by
//! themselves, and no two of them change the same worktree.

use super::report::Report;
use super::subject::Subject;
use crate::fault::Fault;
use crate::workflow::{Edge, Node, NodeKind, Target, Workflow};

/// Checks the members of every `parallel` node.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let workflow = subject.workflow;
    for (place, group) in workflow.nodes.iter().enumerate() {
        for member in group.kind.members() {
            let Some(node) = workflow.find_node(member.name.as_str()) else { continue };
            if workflow.gaps.kinds.contains(node.name.as_str()) || is_member(node) {
                check_edges(workflow, group, member, report);
            } else {
                report.add(tell_kind(group, member, node));
            }
            let earlier = workflow.nodes[..place].iter().find(|other| has(other, member));
            if let Some(other) = earlier {
                let message = format!("`{}` is performed by `{}` too", member.name, other.name);
                let fault = Fault::error("member-twice", &member.at, message);
                report.add(fault.with_hint("add a node with the same role, and name it in one of them"));
            }
        }
        check_writers(workflow, group, report);
    }
}

fn has(group: &Node, member: &Target) -> bool {
    group.kind.members().iter().any(|other| other.name == member.name)
}

fn is_member(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Agent { .. } | NodeKind::Check { .. })
}

fn tell_kind(group: &Node, member: &Target, node: &Node) -> Fault {
    let (group, name, word) = (&group.name, &member.name, node.kind.word());
    let message = format!("`{group}` cannot perform `{name}`, which is of kind `{word}`");
    let hint = "a `parallel` node performs nodes of kind `agent` and `check`";
    Fault::error("bad-member", &member.at, message).with_hint(hint)
}

/// A member has no way of its own: its `parallel` node is entered and left.
fn check_edges(workflow: &Workflow, group: &Node, member: &Target, report: &mut Report) {
    let name = &member.name;
    let tell = |at, what: String| {
        let fault = Fault::error("member-with-edge", at, what);
        fault.with_hint(format!("let it leave or lead to `{}`", group.name))
    };
    for Edge { id, from, to, exhausted, rejected, .. } in &workflow.edges {
        let leaving = from.iter().filter(|from| from.name == *name);
        leaving.for_each(|from| {
            report.add(tell(&from.at, format!("`{id}` leaves `{name}`, which `{}` performs", group.name)));
        });
        let targets = [to].into_iter().chain(exhausted.iter().chain(rejected).map(|route| &route.to));
        targets.filter(|to| to.name == *name).for_each(|to| {
            report.add(tell(&to.at, format!("`{id}` leads to `{name}`, which `{}` performs", group.name)));
        });
    }
    let starts = workflow.levels.values().filter_map(|level| level.start.as_ref()).chain([&workflow.start]);
    starts.filter(|start| start.name == *name).for_each(|start| {
        report.add(tell(&start.at, format!("a run starts with `{name}`, which `{}` performs", group.name)));
    });
}

/// Only keys that are written alike are known to be the same.
fn check_writers(workflow: &Workflow, group: &Node, report: &mut Report) {
    let mut tasks: Vec<(&str, &Target)> = Vec::new();
    for member in group.kind.members() {
        let Some(node) = workflow.find_node(member.name.as_str()) else { continue };
        let NodeKind::Agent { task: Some(task), writes: true, .. } = &node.kind else { continue };
        let key = task.text().trim();
        if let Some((_, other)) = tasks.iter().find(|(known, _)| *known == key && task.is_known()) {
            let message =
                format!("`{}` and `{}` both change the worktree of the same task", other.name, member.name);
            let hint = "give one of them `writes = false`, or let one follow the other";
            report.add(Fault::error("members-write-together", &member.at, message).with_hint(hint));
        }
        tasks.push((key, member));
    }
}
