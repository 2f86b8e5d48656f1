//! The rules about what a run says and hears: messages have a recipient, and signals lead somewhere.

use std::collections::BTreeSet;

use super::condition::constant;
use super::report::Report;
use super::subject::Subject;
use crate::fault::Fault;
use crate::nearest::find_nearest;
use crate::workflow::{Named, NodeKind, Send, Signal, Workflow};

/// The signals that every run has.
const RESERVED: [&str; 3] = ["pause", "resume", "stop"];

/// Checks messages and signals.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    let workflow = subject.workflow;
    workflow.sends().for_each(|send| check_send(subject, send, report));
    workflow.signals.iter().for_each(|signal| check_signal(subject, signal, report));
}

fn check_send(subject: &Subject<'_>, send: &Send, report: &mut Report) {
    let family = || subject.above.iter().copied().chain([subject.workflow]);
    check_role(&send.to, family(), "here or in a workflow above", report);
    if let Some(from) = &send.from {
        check_role(from, family(), "here or in a workflow above", report);
    }
    if let Some(data) = send.data.as_ref().filter(|data| data.is_known())
        && let Some(value) = constant(data.compiled())
        && !value.is_object()
    {
        let message = format!("`data` is an object, and this gives {value}");
        let hint = "write `data = \"{'name': value}\"`, or put the text into `body`";
        report.add(Fault::error("data-not-object", data.at(), message).with_hint(hint));
    }
}

fn check_signal(subject: &Subject<'_>, signal: &Signal, report: &mut Report) {
    let workflow = subject.workflow;
    if RESERVED.contains(&signal.name.as_str()) {
        let message = format!("`{}` is a signal that every run has", signal.name);
        report.add(Fault::error("reserved-signal", &signal.at, message).with_hint("give it another name"));
    }
    for role in &signal.roles {
        check_role(role, [workflow].into_iter(), "here", report);
    }
    let Some(to) = &signal.to else { return };
    if !subject.above.is_empty() {
        let message = format!("`to` of signal `{}` can never be followed: it is of a child", signal.name);
        let hint =
            "remove it: a child that has ended is not continued, because its parent has used its result";
        report.add(Fault::error("signal-continues-child", &to.at, message).with_hint(hint));
    }
    let node = workflow.find_node(to.name.as_str());
    if node.is_some_and(|node| matches!(node.kind, NodeKind::End { .. })) {
        let message = format!("signal `{}` continues a run at `{}`, where it ends", signal.name, to.name);
        let hint = "name a node at which there is something to do, or remove `to`";
        report.add(Fault::error("signal-to-end", &to.at, message).with_hint(hint));
    }
}

/// A role is one that a node has: its agent reads the message.
fn check_role<'w>(
    role: &Named,
    workflows: impl Iterator<Item = &'w Workflow>,
    whence: &str,
    report: &mut Report,
) {
    let mut known = BTreeSet::new();
    for workflow in workflows {
        // A node that could not be read may have any role.
        if !workflow.gaps.nodes.is_empty() || workflow.has_role(&role.name) {
            return;
        }
        known.extend(workflow.nodes.iter().filter_map(|node| Some(node.kind.role()?.name.as_str())));
    }
    let message = format!("no node has the role `{}`, {whence}", role.name);
    let fault = Fault::error("unknown-role", &role.at, message);
    report.add(fault.with_nearest(find_nearest(&role.name, known)));
}
