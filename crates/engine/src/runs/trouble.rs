//! Decides what an error stops when an effect of a run cannot be performed.
//!
//! What the engine cannot do without (its store, its lease, a sound log) ends it; [`Error::is_of_engine`]
//! says which errors these are. Any other error concerns one run, which is held with the error while
//! everything else continues. Nothing is retried automatically here: a step may have cost a session, so a
//! person decides when.

use crate::core::run::{Command, RecordingMode, Run};
use crate::core::{Code, Failure, Problem};
use crate::error::{Error, chain};

/// Says why a run is held, or returns the error if it is the engine's own.
pub(crate) fn of_run(run: &Run, error: Error) -> Result<Failure, Error> {
    if error.is_of_engine() { Err(error) } else { Ok(explain(run, &error)) }
}

/// Turns an error of a performer into a hold of the run; the engine's own errors are passed on.
pub(crate) fn or_hold(
    run: &Run,
    performed: Result<Option<Command>, Error>,
) -> Result<Option<Command>, Error> {
    match performed {
        Err(error) => Ok(Some(Command::NotPerformed { step: run.step, failure: of_run(run, error)? })),
        performed => performed,
    }
}

/// Says what blocks a run, and how to continue.
pub(crate) fn explain(run: &Run, error: &Error) -> Failure {
    let (problem, id) = (error.explain(), run.id);
    let next = match error {
        // The definition is the one that the log keeps: no file of the project can fix it.
        Error::Workflow(_) => format!(
            "`regatta run fork {id} --with WORKFLOW` continues with a definition that this version accepts; \
             or `regatta run stop {id}`"
        ),
        _ => format!("{}; `regatta run --resume {id}` performs the step again", problem.next),
    };
    Failure::from(Problem { next, ..problem })
}

/// Says that an answer cannot be recorded; a fork has no recording, and a fork of a child no parent that waits for it.
pub(crate) fn of_recording(run: &Run, error: Error) -> Result<Failure, Error> {
    let (Some(RecordingMode::Record(folder)), Error::Io { .. }) = (&run.recording, &error) else {
        return of_run(run, error);
    };
    let id = run.id;
    let mut next = format!("check that {folder} is a writable folder, then `regatta run --resume {id}`");
    if run.parent.is_none() {
        next.push_str(&format!("; or `regatta run fork {id}` continues without recording"));
    }
    let what = format!("step {} of run {id} cannot be recorded", run.step);
    let problem = Problem { why: chain(&error), ..Problem::new(Code::IoFailed, what, "", next) };
    Ok(Failure::from(problem.with("runId", id.number())))
}
