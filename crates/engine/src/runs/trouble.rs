//! Whose trouble it is when an effect of a run cannot be performed.
//!
//! What the engine cannot do without (its store, its lease, a sound log) ends it; [`Error::is_of_engine`] says which that
//! is. Anything else is the trouble of one run, which is held with the error while everything else goes on. Nothing is
//! tried again by itself here: a step may have cost a session, so a person says when.

use crate::core::run::{Command, Run, Taping};
use crate::core::{Code, Failure, Problem};
use crate::error::{Error, chain};

/// Says why a run is held, or returns the error if it is the engine's own.
pub(crate) fn of_run(run: &Run, error: Error) -> Result<Failure, Error> {
    if error.is_of_engine() { Err(error) } else { Ok(explain(run, &error)) }
}

/// Makes a hold of what could not be performed; the engine's own trouble stays what it is.
pub(crate) fn or_hold(
    run: &Run,
    performed: Result<Option<Command>, Error>,
) -> Result<Option<Command>, Error> {
    match performed {
        Err(error) => Ok(Some(Command::NotPerformed { step: run.step, failure: of_run(run, error)? })),
        performed => performed,
    }
}

/// Says what is in the way of a run, and how it goes on.
pub(crate) fn explain(run: &Run, error: &Error) -> Failure {
    let (problem, id) = (error.explain(), run.id);
    let next = match error {
        // It is the one that the log keeps: no file of the project can be mended.
        Error::Workflow(_) => format!(
            "`regatta run fork {id} --with WORKFLOW` goes on with a definition that this version accepts; or `regatta run \
             stop {id}`"
        ),
        _ => format!("{}; `regatta run --resume {id}` performs the step again", problem.next),
    };
    Failure::from(Problem { next, ..problem })
}

/// Says that an answer cannot be recorded; a fork has no tape, and a fork of a child no parent that waits for it.
pub(crate) fn of_recording(run: &Run, error: Error) -> Result<Failure, Error> {
    let (Some(Taping::Record(folder)), Error::Io { .. }) = (&run.tape, &error) else {
        return of_run(run, error);
    };
    let id = run.id;
    let mut next =
        format!("see that {folder} is a folder that can be written, then `regatta run --resume {id}`");
    if run.parent.is_none() {
        next.push_str(&format!("; or `regatta run fork {id}` goes on without a tape"));
    }
    let what = format!("step {} of run {id} cannot be recorded", run.step);
    let problem = Problem { why: chain(&error), ..Problem::new(Code::IoFailed, what, "", next) };
    Ok(Failure::from(problem.with("runId", id.number())))
}
