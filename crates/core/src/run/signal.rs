//! A signal: typed input for a run from a person, a program, or an agent that plays a listed role.
//!
//! While the run is under way it only sets and sends: what is being performed continues, and the edges of its step see the
//! new state. A run that has ended continues at the signal's `to`. A child that has ended never does, because the run above
//! has used its result.

use super::mail::Sender;
use super::step::{Told, Walked, enter, get_node, tell_walked, walk};
use super::{Event, Inputs, Mail, Next, Run, failure, nesting};
use crate::message::Party;
use crate::{FieldFault, Refusal};
use regatta_flow::{
    self as flow, Heard, Local, Occasion, Patch, Seen, Signal, StepFault, Target, is_nested_deeper,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A signal that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its name.
    pub name: String,
    /// What comes with it.
    pub input: Value,
    /// Who sends it: a role, if an agent that plays one does.
    pub from: Party,
    /// The items of a run that has ended whose tasks somebody merged or cancelled since it released them.
    pub gone: BTreeSet<String>,
}

/// What comes of it.
struct Taken {
    set: Vec<Patch>,
    /// How many of the changes are its own.
    changes: usize,
    messages: Mail,
    next: Option<Next>,
    /// The steps of the `pass` nodes that it leads to.
    walked: Option<Walked>,
    seen: Option<u64>,
}

/// Says what happens when a run is given a signal, or why it may not.
pub(super) fn take(inputs: Inputs<'_>, run: &Run, given: &Given) -> Result<Vec<Event>, Refusal> {
    let signal = find(inputs, run, &given.name)?;
    check_sender(run, signal, &given.from)?;
    let input = check_input(signal, given)?;
    let to = find_end(run, signal)?;
    let taken = try_out(inputs, run, (signal, &input, &given.from), to)?;
    let Taken { mut set, changes, messages, next, walked, seen } = taken;
    let behind =
        walked.map(|walked| tell_walked(run, walked, (run.step + 1, changes), set.clone(), Told::default()));
    set.truncate(changes);
    let restarted = match next {
        Some(_) => run.driven.intersection(&given.gone).cloned().collect(),
        None => Vec::new(),
    };
    let (run_id, step, name, from) = (run.id, run.step, given.name.clone(), given.from.clone());
    let signalled =
        Event::RunSignalled { run_id, step, signal: name, input, from, set, messages, restarted, next, seen };
    if nesting::is_too_deep(&signalled) {
        let why = vec![format!("the new state would be nested deeper than {} levels", nesting::LEVELS_MAX)];
        return Err(refused(run, signal, why, Vec::new()));
    }
    Ok([signalled].into_iter().chain(behind.into_iter().flatten()).collect())
}

fn find<'w>(inputs: Inputs<'w>, run: &Run, name: &str) -> Result<&'w Signal, Refusal> {
    inputs.workflow.find_signal(name).ok_or_else(|| {
        let known = inputs.workflow.signals.iter().map(|signal| signal.name.clone()).collect();
        Refusal::SignalNotFound { run: run.id, signal: name.to_owned(), known }
    })
}

/// A person or a program may send any signal; of the agents, those that play a listed role.
fn check_sender(run: &Run, signal: &Signal, from: &Party) -> Result<(), Refusal> {
    let is_listed = |role: &String| signal.roles.iter().any(|listed| listed.name == *role);
    match from {
        Party::Role(role) if is_listed(role) => Ok(()),
        Party::Role(_) | Party::Agent(_) | Party::Task(_) => Err(Refusal::Forbidden {
            what: format!("signal `{}` was not sent to run {}", signal.name, run.id),
            why: format!("{from} is not among the `roles` of the signal"),
        }),
        Party::Person(_) | Party::Engine => Ok(()),
    }
}

fn check_input(signal: &Signal, given: &Given) -> Result<Value, Refusal> {
    let mut input = given.input.clone();
    let fault = |problem: String| FieldFault { field: "input", problem };
    if is_nested_deeper(&input, nesting::LEVELS_MAX) {
        let problem = format!("is nested deeper than {} levels", nesting::LEVELS_MAX);
        return Err(Refusal::Invalid { faults: vec![fault(problem)] });
    }
    signal.input.fill_defaults(&mut input);
    match signal.input.check(&input) {
        Ok(()) => Ok(input),
        Err(faults) => {
            let faults = faults.iter().map(|problem| fault(problem.to_string())).collect();
            Err(Refusal::Invalid { faults })
        }
    }
}

/// Finds where a run that has ended continues.
fn find_end<'w>(run: &Run, signal: &'w Signal) -> Result<Option<&'w Target>, Refusal> {
    let why = match (run.is_over(), &run.parent, &signal.to) {
        (false, _, _) => return Ok(None),
        (true, None, Some(to)) => return Ok(Some(to)),
        (true, Some(parent), _) => {
            format!("the run has ended, and run {} has used its result", parent.run_id)
        }
        (true, None, None) => {
            "the run has ended, and the signal has no `to` where it would continue".to_owned()
        }
    };
    Err(refused(run, signal, vec![why], Vec::new()))
}

/// Tells whether a run could be given a signal now, whatever its input.
pub fn takes_signal(inputs: Inputs<'_>, run: &Run, signal: &Signal) -> bool {
    let Inputs { workflow, variables, now_millis, .. } = inputs;
    let is_open = find_end(run, signal).is_ok();
    is_open && run.sheet.look(workflow, variables, now_millis, |look| flow::may_hear(signal, look))
}

fn try_out(
    inputs: Inputs<'_>,
    run: &Run,
    (signal, input, from): (&Signal, &Value, &Party),
    to: Option<&Target>,
) -> Result<Taken, Refusal> {
    let Inputs { workflow, variables, now_millis, .. } = inputs;
    let variables = variables.with(Local::Signal, input.clone());
    let mut occasion = Occasion { variables, now_millis, ..Occasion::default() };
    let tried = run.sheet.try_out(&mut occasion, |mut trial| -> Result<_, StepFault> {
        match flow::hear(workflow, run.level, signal, &mut trial)? {
            Heard::Accepted => {}
            Heard::Refused { when, saw } => return Ok(Err((when, saw))),
        }
        let messages = Mail::of(&Sender::Party(from.clone()), trial.take_said());
        let changes = trial.count_changes();
        let next = to.map(|to| enter(&trial.look(workflow), get_node(workflow, &to.name)?)).transpose()?;
        let walked = if let Some(Next::Pass { node }) = &next {
            trial.pass_on();
            Some(walk(inputs, run, (node, None), &mut trial))
        } else {
            None
        };
        let seen = trial.has_read_fact().then_some(inputs.seen);
        Ok(Ok(Taken { changes, messages, next, walked, seen, set: trial.end() }))
    });
    match tried {
        Ok(Ok(taken)) => Ok(taken),
        Ok(Err((when, saw))) => {
            let told: Vec<String> = saw.iter().map(ToString::to_string).collect();
            let told = if told.is_empty() { "nothing".to_owned() } else { told.join(", ") };
            Err(refused(run, signal, vec![format!("`{when}` does not hold: it saw {told}")], saw))
        }
        Err(fault) => Err(refused(run, signal, explain(&fault), Vec::new())),
    }
}

fn explain(fault: &StepFault) -> Vec<String> {
    failure::reasons(fault)
}

fn refused(run: &Run, signal: &Signal, why: Vec<String>, saw: Vec<Seen>) -> Refusal {
    let saw = saw.into_iter().map(|Seen(name, value)| (name, value)).collect::<Vec<_>>();
    Refusal::SignalRefused { run: run.id, signal: signal.name.clone(), why, saw: json!(saw) }
}
