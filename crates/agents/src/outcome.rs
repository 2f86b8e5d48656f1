//! How a session ended, and what it left as its result.

use std::fmt;
use std::time::Duration;

use crate::failure::{Failure, FailureClass};
use crate::report::{check_report, read_claims};
use crate::start::ResultIs;
use crate::stop::StopReason;
use crate::usage::Usage;

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The agent did its work and ended by itself.
    Finished,
    /// Somebody stopped it.
    Stopped(StopReason),
    /// It went wrong.
    Failed(Failure),
}

/// Where a result was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultFrom {
    /// In the result file, [`RESULT_FILE`](crate::RESULT_FILE).
    File,
    /// In the agent's last message, or in what it printed.
    Message,
    /// It was handed in by a tool.
    Tool,
}

/// The end of a session; no process of it is left.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// How it ended.
    pub outcome: Outcome,
    /// How many turns the agent took, at least 1.
    pub turns: u32,
    /// The result the agent gave, if any.
    pub result: Option<serde_json::Value>,
    /// Where the result was found.
    pub result_from: Option<ResultFrom>,
    /// What is wrong with a report that was given, a sentence each.
    pub result_faults: Vec<String>,
    /// The agent's own summary of its work, if any.
    pub summary: Option<String>,
    /// What it used, as far as the agent told.
    pub usage: Usage,
    /// The agent's own name for the session, by which it can be taken up again; none if it cannot, or if the one that
    /// was to be taken up is gone.
    pub agent_session: Option<String>,
    /// Whether the agent's own session that was to be resumed is gone.
    pub is_session_gone: bool,
    /// How much was printed in all, also what was skipped or not kept.
    pub output_bytes: u64,
    /// How long the session took.
    pub duration: Duration,
}

impl Ended {
    /// Puts a result that the agent handed in by tool in the place of what it printed.
    ///
    /// A report may say that the work failed, whatever the program's exit says; an answer is the asker's to judge.
    #[must_use]
    pub fn with_submitted(mut self, result: serde_json::Value, result_is: ResultIs) -> Ended {
        if result_is == ResultIs::Report {
            let claims = read_claims(&result);
            self.result_faults = check_report(&result);
            self.turns = claims.turns.unwrap_or(self.turns);
            self.summary = claims.summary.or(self.summary);
            if let (Outcome::Finished, Some(failure)) = (&self.outcome, claims.failure) {
                self.outcome = Outcome::Failed(failure);
            }
        }
        self.result = Some(result);
        self.result_from = Some(ResultFrom::Tool);
        self
    }

    /// Makes a failure of a good end whose report cannot be used, so that the agent is asked again with the reason.
    #[must_use]
    pub fn judged(mut self) -> Ended {
        if self.outcome == Outcome::Finished && !self.result_faults.is_empty() {
            let faults = self.result_faults.join("; ");
            let message = format!("the result cannot be used: {faults}. Fix it and submit it again");
            self.outcome = Outcome::Failed(Failure::new(FailureClass::InvalidOutput, message));
        }
        self
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Finished => formatter.write_str("finished"),
            Outcome::Stopped(reason) => write!(formatter, "stopped: {reason}"),
            Outcome::Failed(failure) => write!(formatter, "failed: {failure}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ended(outcome: Outcome) -> Ended {
        Ended {
            outcome,
            turns: 3,
            result: Some(json!({ "summary": "printed" })),
            summary: Some("printed".to_owned()),
            usage: Usage::default(),
            agent_session: None,
            is_session_gone: false,
            result_from: Some(ResultFrom::Message),
            result_faults: Vec::new(),
            output_bytes: 0,
            duration: Duration::ZERO,
        }
    }

    #[test]
    fn what_was_handed_in_wins_over_what_was_printed() {
        let report =
            ended(Outcome::Finished).with_submitted(json!({ "summary": "handed in" }), ResultIs::Report);
        assert_eq!((report.turns, report.summary.as_deref()), (3, Some("handed in")));
        assert_eq!(report.result, Some(json!({ "summary": "handed in" })));
        let blocked = json!({ "status": "blocked", "message": "no key" });
        let failed = ended(Outcome::Finished).with_submitted(blocked.clone(), ResultIs::Report);
        assert_eq!(failed.outcome, Outcome::Failed(Failure::new(FailureClass::Refused, "no key")));
        let answer = ended(Outcome::Finished).with_submitted(blocked.clone(), ResultIs::Answer);
        assert_eq!((answer.outcome, answer.result), (Outcome::Finished, Some(blocked.clone())));
        let stopped = Outcome::Stopped(StopReason::Paused);
        assert_eq!(ended(stopped.clone()).with_submitted(blocked, ResultIs::Report).outcome, stopped);
    }

    #[test]
    fn a_report_that_cannot_be_used_is_a_failure_that_names_its_faults() {
        let faulty =
            |outcome| Ended { result_faults: vec!["`turns` must be a number".to_owned()], ..ended(outcome) };
        let Outcome::Failed(failure) = faulty(Outcome::Finished).judged().outcome else {
            panic!("it failed")
        };
        assert_eq!(failure.class, FailureClass::InvalidOutput);
        assert!(failure.message.contains("`turns` must be a number"), "{}", failure.message);
        assert_eq!(ended(Outcome::Finished).judged().outcome, Outcome::Finished);
        let stopped = Outcome::Stopped(StopReason::Paused);
        assert_eq!(faulty(stopped.clone()).judged().outcome, stopped);
        let fixed = faulty(Outcome::Finished).with_submitted(json!({ "turns": 2 }), ResultIs::Report);
        assert_eq!(fixed.judged().outcome, Outcome::Finished);
        let worse = ended(Outcome::Finished).with_submitted(json!({ "turns": "two" }), ResultIs::Report);
        assert!(matches!(worse.judged().outcome, Outcome::Failed(_)));
    }
}
