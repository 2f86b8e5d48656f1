//! What a signal does to a run: whether it is accepted, what it says, and what it sets.

use crate::step::evaluate::holds;
use crate::step::seen::find_seen;
use crate::step::{Seen, StepFault, follow, say};
use crate::trial::Trial;
use crate::workflow::{Signal, Workflow};

/// What comes of a signal.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// It is accepted; its changes are applied, and its messages are in the trial.
    Accepted,
    /// Its condition does not hold.
    Refused {
        /// The condition.
        when: String,
        /// What it saw.
        saw: Vec<Seen>,
    },
}

/// Judges a signal, whose input the variables of the trial have as `$signal`, and makes its changes.
pub fn hear(
    workflow: &Workflow,
    level: u32,
    signal: &Signal,
    trial: &mut Trial<'_>,
) -> Result<Heard, StepFault> {
    let look = trial.look(workflow);
    if let Some(when) = &signal.when
        && !holds(&look, Some(when))?
    {
        return Ok(Heard::Refused { when: when.text().to_owned(), saw: find_seen(&look, when) });
    }
    say(workflow, &signal.send, trial)?;
    follow(workflow, level, &signal.set, trial)?;
    Ok(Heard::Accepted)
}

/// Tells whether a signal would be accepted now, as far as that does not depend on its input.
pub fn may_hear(signal: &Signal, look: &crate::step::Look<'_>) -> bool {
    let Some(when) = &signal.when else { return true };
    let name = crate::variables::Local::Signal.as_str();
    let reads_input = when.reads().variables.iter().any(|read| read == name);
    reads_input || holds(look, Some(when)).unwrap_or(false)
}
