//! Says what the end of a program means for its session. Pure.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::failure::{Failure, FailureClass};
use crate::limits::Limits;
use crate::outcome::Outcome;
use crate::process::{Cause, Watched};

/// Judges a watched program; only a tree that is confirmed dead can have finished or been stopped.
pub(crate) fn judge(watched: &Watched, limits: &Limits) -> Outcome {
    if let Some(still_alive) = &watched.still_alive {
        return Outcome::Failed(Failure::new(FailureClass::Crash, still_alive.to_string()));
    }
    let failure = match watched.cause {
        Cause::Stopped(reason) => return Outcome::Stopped(reason),
        Cause::Exited => match watched.status {
            Some(status) if status.success() => return Outcome::Finished,
            // A shell, or whatever starts the program, did not find it: trying again does not help.
            Some(status) if matches!(status.code(), Some(126 | 127)) => {
                let message = format!("{}: a program or script was not found", describe_exit(status));
                Failure::new(FailureClass::Refused, message)
            }
            Some(status) => Failure::new(FailureClass::Crash, describe_exit(status)),
            None => Failure::new(FailureClass::Crash, "the program ended without an exit status"),
        },
        Cause::Timeout => timed_out(limits),
        Cause::Silence => was_silent(limits),
    };
    Outcome::Failed(Failure {
        exit: watched.status.and_then(|status| status.code()),
        signal: watched.status.and_then(|status| status.signal()),
        ..failure
    })
}

/// The failure of a session that ran too long.
pub(crate) fn timed_out(limits: &Limits) -> Failure {
    Failure::new(FailureClass::Timeout, format!("ran longer than {:?}", limits.wall))
}

/// The failure of a session that said nothing for too long.
pub(crate) fn was_silent(limits: &Limits) -> Failure {
    Failure::new(FailureClass::Silence, format!("printed nothing for {:?}", limits.silence))
}

fn describe_exit(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended in an unknown way".to_owned(),
    }
}
