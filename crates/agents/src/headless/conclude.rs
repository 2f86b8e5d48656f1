//! Says how a headless session went, from how the program ended and what its stream said. Pure.
//!
//! What stopped it from outside comes first, then what the stream says of itself, then the exit code. A good exit of a
//! program that never said it was done is a failure.

use jiff::{Timestamp, Zoned};

use crate::agent_output::AgentOutput;
use crate::classify::classify;
use crate::failure::{Failure, FailureClass};
use crate::outcome::Outcome;

/// Judges a session; `outcome` is how the program ended, `tail` the end of its standard error.
pub(crate) fn conclude(
    outcome: Outcome,
    passed_limit: Option<Failure>,
    output: &AgentOutput,
    tail: &str,
    now: Timestamp,
) -> Outcome {
    match outcome {
        Outcome::Stopped(reason) => match passed_limit {
            Some(failure) => Outcome::Failed(failure),
            None => Outcome::Stopped(reason),
        },
        Outcome::Finished => match output.failure() {
            Some(failure) => Outcome::Failed(failure.clone()),
            None if output.is_over() => Outcome::Finished,
            None => Outcome::Failed(Failure::new(
                FailureClass::Crash,
                "the program ended without reporting that it is done",
            )),
        },
        Outcome::Failed(failure) if failure.class == FailureClass::Crash => {
            Outcome::Failed(explain(failure, output, tail, now))
        }
        Outcome::Failed(failure) => Outcome::Failed(name_awaited_limit(failure, output)),
    }
}

/// An agent that was only waiting for the provider when its time was up did not hang.
fn name_awaited_limit(failure: Failure, output: &AgentOutput) -> Failure {
    match output.find_awaited_limit() {
        Some(limit) if matches!(failure.class, FailureClass::Timeout | FailureClass::Silence) => {
            let message = format!("{}, waiting for the provider: {}", failure.message, limit.message);
            Failure { class: FailureClass::RateLimit, message, until: limit.until, ..failure }
        }
        _ => failure,
    }
}

/// Finds out why a program exited with an error: its stream knows, or else its standard error.
fn explain(failure: Failure, output: &AgentOutput, tail: &str, now: Timestamp) -> Failure {
    if let Some(known) = output.failure() {
        return Failure { exit: failure.exit, signal: failure.signal, ..known.clone() };
    }
    explain_exit(failure, tail, &now.to_zoned(output.now().time_zone().clone()))
}

/// Judges a program of which only its end is known, by the last line that it said.
pub(crate) fn explain_end(outcome: Outcome, tail: &str, now: &Zoned) -> Outcome {
    let Outcome::Failed(failure) = outcome else { return outcome };
    let last_line = || tail.lines().map(str::trim).rfind(|line| !line.is_empty());
    Outcome::Failed(match failure.class {
        // Its last lines are shown beside the failure, so one is repeated only where it says what to do.
        FailureClass::Crash => Some(explain_exit(failure.clone(), tail, now))
            .filter(|explained| explained.class != FailureClass::Crash)
            .unwrap_or(failure),
        FailureClass::Timeout | FailureClass::Silence => {
            let limit = last_line().and_then(|line| classify(line, now));
            match limit.filter(|verdict| verdict.class == FailureClass::RateLimit) {
                Some(limit) => {
                    let message = format!("{}, waiting for the provider: {}", failure.message, limit.message);
                    Failure { class: limit.class, message, until: limit.until, ..failure }
                }
                None => failure,
            }
        }
        _ => failure,
    })
}

/// Finds out by its last line why a program exited with an error.
fn explain_exit(failure: Failure, tail: &str, now: &Zoned) -> Failure {
    let last_line = tail.lines().map(str::trim).rfind(|line| !line.is_empty());
    match last_line.filter(|_| failure.exit.is_some()) {
        Some(line) if is_about_missing_file(line) => Failure {
            class: FailureClass::Refused,
            message: format!("{}: {line}", failure.message),
            ..failure
        },
        Some(line) => match classify(line, now) {
            Some(verdict) => {
                Failure { class: verdict.class, message: verdict.message, until: verdict.until, ..failure }
            }
            None => Failure { message: format!("{}: {line}", failure.message), ..failure },
        },
        None => failure,
    }
}

/// Tells whether an interpreter says that it was given a script which is not there: trying again does not help.
fn is_about_missing_file(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    [
        "can't open file",
        "cannot open ",
        "cannot find module",
        "no such file or directory",
        "command not found",
    ]
    .iter()
    .any(|known| line.contains(known))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use jiff::tz::TimeZone;

    use super::*;
    use crate::limits::Limits;
    use crate::stop::StopReason;

    fn show(outcome: Outcome, limit: Option<Failure>, tail: &str, tell: impl Fn(&mut AgentOutput)) -> String {
        let now = Timestamp::UNIX_EPOCH;
        let mut output =
            AgentOutput::new(Path::new("/project"), &Limits::default(), None, now.to_zoned(TimeZone::UTC));
        tell(&mut output);
        conclude(outcome, limit, &output, tail, now).to_string()
    }

    #[test]
    fn a_program_is_judged_by_its_last_line_where_that_says_more() {
        let now = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
        let silent = || Outcome::Failed(Failure::new(FailureClass::Silence, "printed nothing for 60s"));
        let cases = [
            (exited(3), "oops\n", "failed: crash: exited with code 3"),
            (exited(1), "error: 429 too many requests\n", "failed: rate_limit: error: 429 too many requests"),
            (exited(1), "fetch failed\n", "failed: network: fetch failed"),
            (
                exited(2),
                "python3: can't open file '/x/a.py': [Errno 2]\n",
                "failed: refused: exited with code 2: python3: can't open file '/x/a.py': [Errno 2]",
            ),
            (
                silent(),
                "Rate limit reached, retrying\n",
                "failed: rate_limit: printed nothing for 60s, waiting for the provider: Rate limit reached, retrying",
            ),
            (silent(), "compiling\n", "failed: silence: printed nothing for 60s"),
        ];
        for (outcome, tail, expected) in cases {
            assert_eq!(explain_end(outcome, tail, &now).to_string(), expected);
        }
    }

    fn exited(code: i32) -> Outcome {
        let failure = Failure::new(FailureClass::Crash, format!("exited with code {code}"));
        Outcome::Failed(Failure { exit: Some(code), ..failure })
    }

    #[test]
    fn what_the_stream_says_counts_more_than_the_exit_code() {
        assert_eq!(show(Outcome::Finished, None, "", AgentOutput::finish), "finished");
        assert_eq!(
            show(Outcome::Finished, None, "", |_| ()),
            "failed: crash: the program ended without reporting that it is done"
        );
        let overloaded = |output: &mut AgentOutput| output.fail("HTTP status 529");
        assert_eq!(show(Outcome::Finished, None, "", overloaded), "failed: network: HTTP status 529");
        assert_eq!(show(exited(144), None, "", overloaded), "failed: network: HTTP status 529");
        assert_eq!(show(exited(1), None, "", AgentOutput::finish), "failed: crash: exited with code 1");
    }

    #[test]
    fn without_a_word_of_the_stream_the_last_line_explains() {
        let tail = "warming up\nError: connection refused\n\n";
        assert_eq!(show(exited(1), None, tail, |_| ()), "failed: network: Error: connection refused");
        assert_eq!(
            show(exited(2), None, "bad option", |_| ()),
            "failed: crash: exited with code 2: bad option"
        );
    }

    #[test]
    fn what_stopped_it_from_outside_comes_first() {
        let stopped = Outcome::Stopped(StopReason::Cancelled);
        let failing = |output: &mut AgentOutput| output.fail("HTTP status 500");
        assert_eq!(show(stopped.clone(), None, "", failing), "stopped: cancelled");
        let limit = Failure::new(FailureClass::Budget, "used 2 tokens, and may use 1");
        let expected = "failed: budget: used 2 tokens, and may use 1";
        assert_eq!(show(stopped, Some(limit), "", failing), expected);
        let silent = Outcome::Failed(Failure::new(FailureClass::Silence, "printed nothing"));
        assert_eq!(show(silent.clone(), None, "", failing), "failed: silence: printed nothing");
        let limited = |output: &mut AgentOutput| output.limit_rate("try 3 fails", None);
        assert_eq!(
            show(silent.clone(), None, "", limited),
            "failed: rate_limit: printed nothing, waiting for the provider: try 3 fails"
        );
        let continued = |output: &mut AgentOutput| {
            limited(output);
            output.say("it works again");
        };
        assert_eq!(show(silent, None, "", continued), "failed: silence: printed nothing");
    }
}
