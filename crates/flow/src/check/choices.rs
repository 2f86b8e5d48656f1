//! The rules about choosing an edge: every edge can be taken, two overlap only on purpose, and one always holds.
//!
//! Conditions are judged on sample values ([`node_trial`](super::node_trial)). An edge that is dead only at some of
//! its levels is accepted, unless it lists its levels itself.

use super::held::Held;
use super::node_trial::{Answer, NodeTrial};
use super::report::Report;
use super::subject::{LevelView, Subject};
use crate::fault::{Fault, Severity};
use crate::workflow::Edge;

/// Why an edge is never taken.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Dead {
    /// The edge of that id before it always holds.
    NeverTried(String),
    NeverHolds,
    /// Whenever it holds, one of these before it does.
    Shadowed(Vec<String>),
}

/// Checks the choices at every node of every level.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    subject.workflow.edges.iter().for_each(|edge| check_edge(subject, edge, report));
    for view in &subject.levels {
        for (number, trial) in view.trials.iter().enumerate() {
            let Some(trial) = trial.as_ref().filter(|trial| !trial.edges.is_empty()) else { continue };
            check_overlaps(view, trial, report);
            check_stall(view, number, trial, report);
        }
    }
}

fn check_edge(subject: &Subject<'_>, edge: &Edge, report: &mut Report) {
    let mut dead: Vec<(u32, Dead)> = Vec::new();
    let mut live = 0;
    for view in &subject.levels {
        let trials = view.trials.iter().flatten();
        for trial in trials {
            let Some(place) = trial.edges.iter().position(|other| other.id == edge.id) else { continue };
            match find_dead(trial, place) {
                Some(why) => dead.push((view.level, why)),
                None => live += 1,
            }
        }
    }
    if live > 0 && edge.levels.is_none() {
        return;
    }
    for (level, why) in dead {
        let mut fault = tell_dead(edge, &why);
        if live > 0 {
            fault.severity = Severity::Warning;
        }
        report.add_at(level, edge.id.to_string(), fault);
    }
}

fn find_dead(trial: &NodeTrial<'_>, place: usize) -> Option<Dead> {
    let edge = trial.edges[place];
    let before = &trial.edges[..place];
    if let Some(always) = before.iter().find(|edge| edge.when.is_none()) {
        return Some(Dead::NeverTried(always.id.to_string()));
    }
    if trial.never_holds[place] {
        return Some(Dead::NeverHolds);
    }
    let when = edge.when.as_ref()?;
    // No sample is needed to see that two conditions are the same.
    let is_same = |other: &&&Edge| {
        other.when.as_ref().is_some_and(|other| other.is_known() && other.text().trim() == when.text().trim())
    };
    if let Some(same) = before.iter().find(is_same) {
        return Some(Dead::Shadowed(vec![same.id.to_string()]));
    }
    let may_hold = |answer: &&Answer| matches!(answer.held[place], Held::Yes | Held::Unknown);
    let first_before = |answer: &Answer| answer.held[..place].iter().position(|held| *held == Held::Yes);
    let mut shadowing: Vec<usize> =
        trial.answers.iter().filter(may_hold).map(first_before).collect::<Option<_>>()?;
    shadowing.sort_unstable();
    shadowing.dedup();
    let ids: Vec<String> = shadowing.iter().map(|other| before[*other].id.to_string()).collect();
    (!ids.is_empty()).then_some(Dead::Shadowed(ids))
}

fn tell_dead(edge: &Edge, why: &Dead) -> Fault {
    let at = edge.when.as_ref().map_or(&edge.at, |when| when.at());
    let id = &edge.id;
    match why {
        Dead::NeverTried(before) => {
            let message = format!(
                "`{id}` is never tried: `{before}` comes first and has no `when`, so it always holds"
            );
            Fault::error("edge-never-tried", &edge.at, message)
                .with_hint(format!("move it before `{before}`"))
        }
        Dead::NeverHolds => {
            Fault::error("edge-never-holds", at, format!("`{id}` never holds after `{}`", edge.told_from()))
                .with_hint("compare the condition with the schema and with what the node sets")
        }
        Dead::Shadowed(before) => {
            let before: Vec<String> = before.iter().map(|id| format!("`{id}`")).collect();
            let before = before.join(" or ");
            let message = format!("`{id}` is never taken: whenever it holds, {before} holds first");
            Fault::error("edge-shadowed", at, message)
                .with_hint(format!("move it before {before}, or narrow their conditions"))
        }
    }
}

fn check_overlaps(view: &LevelView<'_>, trial: &NodeTrial<'_>, report: &mut Report) {
    for (later, edge) in trial.edges.iter().enumerate() {
        if find_dead(trial, later).is_some() {
            continue;
        }
        for (earlier, other) in trial.edges[..later].iter().enumerate() {
            let both = |answer: &&Answer| {
                !answer.is_doubtful && answer.held[earlier] == Held::Yes && answer.held[later] == Held::Yes
            };
            let is_meant = other.overrides.iter().any(|(id, _)| *id == edge.id);
            let Some(answer) = trial.answers.iter().find(both).filter(|_| !is_meant) else { continue };
            let (a, b) = (&other.id, &edge.id);
            let message = format!("`{b}` overlaps with `{a}`, which is tried first{}", example(answer));
            let hint = format!("if `{a}` should win, add overrides = [\"{b}\"] to it");
            let at = edge.when.as_ref().map_or(&edge.at, |when| when.at());
            let fault = Fault::warning("edges-overlap", at, message).with_hint(hint);
            report.add_at(view.level, format!("{a} {b}"), fault);
        }
    }
}

fn check_stall(view: &LevelView<'_>, number: usize, trial: &NodeTrial<'_>, report: &mut Report) {
    let is_not = |held: &Held| !matches!(held, Held::Yes | Held::Unknown);
    let none = |answer: &&Answer| !answer.is_doubtful && answer.held.iter().all(is_not);
    let has_lost_edges = view.graph.workflow.gaps.has_lost_edges || !view.graph.entered_astray.is_empty();
    let Some(answer) = trial.answers.iter().find(none).filter(|_| !has_lost_edges) else { return };
    let node = view.graph.node(number);
    let message = format!("no edge may hold after `{}`{}", node.name, example(answer));
    let hint = "add an edge for this case, or a last one without `when` that the others list in `overrides`";
    let fault = Fault::warning("may-stall", &node.at, message).with_hint(hint);
    report.add_at(view.level, node.name.to_string(), fault);
}

fn example(answer: &Answer) -> String {
    if answer.told.is_empty() { String::new() } else { format!(", for example with {}", answer.told) }
}
