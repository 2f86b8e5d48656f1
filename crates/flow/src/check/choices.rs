//! The rules about the choice of an edge: each edge can be taken, no two hold at once unawares, and one always does.
//!
//! Conditions are judged on samples, so what is reported has an example. An edge that is dead at some of its levels
//! only is let pass, unless it names its levels itself.

use super::node_trial::{Answer, NodeTrial};
use super::report::Report;
use super::samples::{Failure, Held};
use super::subject::{LevelView, Subject};
use crate::fault::{Fault, Severity};
use crate::workflow::Edge;

/// JSONata's code for what `$error` raises.
const RAISED_BY_ERROR: &str = "D3137";

/// JSONata's code for what `$assert` raises.
const RAISED_BY_ASSERT: &str = "D3141";

/// Why an edge is never taken.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Dead {
    /// The edge of that id before it always holds.
    NeverTried(String),
    NeverHolds,
    /// Whenever it holds, one of these before it does.
    Shadowed(Vec<String>),
    /// It cannot be evaluated on any sample; why not on the first.
    Fails(Option<Failure>),
}

/// Checks the choices at every node of every level.
pub(super) fn check(subject: &Subject<'_>, report: &mut Report) {
    subject.workflow.edges.iter().for_each(|edge| check_edge(subject, edge, report));
    for view in &subject.levels {
        for (number, trial) in view.trials.iter().enumerate() {
            let Some(trial) = trial.as_ref().filter(|trial| !trial.edges.is_empty()) else { continue };
            check_overlaps(view, trial, report);
            check_stall(view, number, trial, report);
            check_failures(view, trial, report);
            check_ways_out(view, trial, report);
            check_doubts(view, trial, report);
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
    if trial.never_holds(place) {
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
    if !trial.answers.is_empty() && trial.answers.iter().all(|answer| answer.held[place] == Held::Fails) {
        return Some(Dead::Fails(trial.answers[0].failures[place].clone()));
    }
    let holding: Vec<&Answer> =
        trial.answers.iter().filter(|answer| answer.held[place] == Held::Yes).collect();
    let is_shadowed = |answer: &&&Answer| answer.held[..place].contains(&Held::Yes);
    if holding.is_empty()
        || !trial.is_certain(place)
        || holding.iter().filter(is_shadowed).count() < holding.len()
    {
        return None;
    }
    let shadows = |other: &usize| {
        holding
            .iter()
            .any(|answer| answer.held[..place].iter().position(|held| *held == Held::Yes) == Some(*other))
    };
    let shadowing: Vec<usize> = (0..place).filter(shadows).collect();
    // Those before it must be certain too: between two samples one of them may not hold.
    shadowing
        .iter()
        .all(|other| trial.is_certain(*other))
        .then(|| Dead::Shadowed(shadowing.iter().map(|other| before[*other].id.to_string()).collect()))
}

fn tell_dead(edge: &Edge, why: &Dead) -> Fault {
    let at = edge.when.as_ref().map_or(&edge.at, |when| when.at());
    let id = &edge.id;
    match why {
        Dead::NeverTried(before) => {
            let message =
                format!("`{id}` is never tried: `{before}` before it has no `when`, so it always holds");
            Fault::error("edge-never-tried", &edge.at, message).with_hint(format!("put it before `{before}`"))
        }
        Dead::NeverHolds => Fault::error(
            "edge-never-holds",
            at,
            format!("`{id}` holds in no state that can follow `{}`", edge.from.name),
        )
        .with_hint("compare its condition with the schema, and with what its node sets"),
        Dead::Shadowed(before) => {
            let before: Vec<String> = before.iter().map(|id| format!("`{id}`")).collect();
            let before = before.join(" or ");
            let message = format!("`{id}` is never taken: whenever it holds, {before} before it holds too");
            Fault::error("edge-shadowed", at, message)
                .with_hint(format!("put it before {before}, or narrow their conditions"))
        }
        Dead::Fails(failure) => {
            let why = failure.as_ref().map_or_else(String::new, |failure| format!(": {}", failure.message));
            let message = format!("the condition of `{id}` can never be evaluated{why}");
            let hint = find_hint(failure.as_ref()).unwrap_or("mend the expression; `regatta eval` tries it");
            Fault::error("edge-fails", at, message).with_hint(hint)
        }
    }
}

/// Says what helps against failures that are known by their code.
fn find_hint(failure: Option<&Failure>) -> Option<&'static str> {
    match failure?.code.as_str() {
        "T2009" | "T2010" => Some("a comparison with `<` or `>` needs two numbers or two texts"),
        RAISED_BY_ERROR | RAISED_BY_ASSERT => Some(
            "a condition that raises an error stops the run; to end one, lead an edge to an end that failed",
        ),
        _ => None,
    }
}

fn check_overlaps(view: &LevelView<'_>, trial: &NodeTrial<'_>, report: &mut Report) {
    for (later, edge) in trial.edges.iter().enumerate() {
        if find_dead(trial, later).is_some() {
            continue;
        }
        for (earlier, other) in trial.edges[..later].iter().enumerate() {
            let both =
                |answer: &&Answer| answer.held[earlier] == Held::Yes && answer.held[later] == Held::Yes;
            let is_meant = other.overrides.iter().any(|(id, _)| *id == edge.id);
            let Some(answer) = trial.answers.iter().find(both).filter(|_| !is_meant) else { continue };
            let (a, b) = (&other.id, &edge.id);
            let message = format!("`{b}` also holds where `{a}` before it does{}", example(answer));
            let hint = format!("if `{a}` is meant to win, add overrides = [\"{b}\"] to it");
            let at = edge.when.as_ref().map_or(&edge.at, |when| when.at());
            let fault = Fault::warning("edges-overlap", at, message).with_hint(hint);
            report.add_at(view.level, format!("{a} {b}"), fault);
        }
    }
}

fn check_stall(view: &LevelView<'_>, number: usize, trial: &NodeTrial<'_>, report: &mut Report) {
    let none = |answer: &&Answer| answer.held.iter().all(|held| *held == Held::No);
    let has_lost_edges = view.graph.workflow.gaps.has_lost_edges || !view.graph.entered_astray.is_empty();
    let is_whole = trial.is_described() && !has_lost_edges;
    let Some(answer) = trial.answers.iter().find(none).filter(|_| is_whole) else { return };
    let node = view.graph.node(number);
    let message = format!("after `{}` it may be that no edge holds{}", node.name, example(answer));
    let hint =
        "add an edge for that, or one without `when` as the last, which the others name in `overrides`";
    let fault = Fault::warning("may-stall", &node.at, message).with_hint(hint);
    report.add_at(view.level, node.name.to_string(), fault);
}

fn check_failures(view: &LevelView<'_>, trial: &NodeTrial<'_>, report: &mut Report) {
    for (place, edge) in trial.edges.iter().enumerate() {
        // An edge is not tried where one before it holds.
        let fails = |answer: &&Answer| {
            answer.held[place] == Held::Fails && !answer.held[..place].contains(&Held::Yes)
        };
        let Some(when) = edge.when.as_ref().filter(|_| find_dead(trial, place).is_none()) else { continue };
        let Some(answer) = trial.answers.iter().find(fails) else { continue };
        let message =
            format!("the condition of `{}` may be impossible to evaluate{}", edge.id, example(answer));
        let is_raised =
            |failure: &&Failure| [RAISED_BY_ERROR, RAISED_BY_ASSERT].contains(&failure.code.as_str());
        let hint = find_hint(answer.failures[place].as_ref().filter(is_raised))
            .unwrap_or("ask first whether the value is there, for example with `$type(x) = 'number' and`");
        let fault = Fault::warning("edge-may-fail", when.at(), message).with_hint(hint);
        report.add_at(view.level, edge.id.to_string(), fault);
    }
}

fn check_ways_out(view: &LevelView<'_>, trial: &NodeTrial<'_>, report: &mut Report) {
    let is_read = |edge: &&Edge| !view.graph.workflow.gaps.edges.contains(edge.id.as_str());
    let is_capped = |edge: &&Edge| edge.max_iterations.is_some() && is_read(edge);
    for (place, edge) in trial.edges.iter().enumerate().filter(|(_, edge)| is_capped(edge)) {
        let stuck = |answer: &&Answer| {
            let is_first = answer.held.iter().position(|held| *held == Held::Yes) == Some(place);
            let may_hold = |held: &Held| matches!(held, Held::Yes | Held::Unknown);
            is_first && !answer.routes[place].is_empty() && !answer.routes[place].iter().any(may_hold)
        };
        let Some(answer) = trial.answers.iter().find(stuck) else { continue };
        let message = format!(
            "when `{}` is used up it may be that none of its routes holds{}",
            edge.id,
            example(answer)
        );
        let hint = "leave `when` out of the last `[[edges.exhausted]]` route";
        let fault = Fault::warning("cap-may-have-no-way-out", &edge.at, message).with_hint(hint);
        report.add_at(view.level, edge.id.to_string(), fault);
    }
}

/// Says where the samples end, if an edge might be found to be dead behind that.
fn check_doubts(view: &LevelView<'_>, trial: &NodeTrial<'_>, report: &mut Report) {
    for (place, edge) in trial.edges.iter().enumerate() {
        if !trial.is_in_doubt(place) || find_dead(trial, place).is_some() {
            continue;
        }
        let message = format!(
            "`{}` may never be taken: there are too many states to try them all, and it was in none of those tried",
            edge.id
        );
        let hint =
            "see that no edge before it always holds too; edges that look at fewer values can be tried";
        let at = edge.when.as_ref().map_or(&edge.at, |when| when.at());
        report.add_at(
            view.level,
            edge.id.to_string(),
            Fault::warning("not-all-tried", at, message).with_hint(hint),
        );
    }
}

fn example(answer: &Answer) -> String {
    if answer.told.is_empty() { String::new() } else { format!(", for example with {}", answer.told) }
}
