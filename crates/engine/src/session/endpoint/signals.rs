//! Whether a session should continue, read from the log.
//!
//! A person pauses, stops or cancels a piece of work by a command. The engine stops running work where it
//! must; an agent that looks in time can reach a good stopping point first.

use crate::commands::orders;
use crate::core::run::Hold;
use crate::core::{Stage, WorkPhase};
use crate::error::Error;
use crate::project::Project;
use crate::runs;
use crate::session::endpoint::Subject;
use serde::Serialize;

/// Whether a session should continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Signal {
    /// Continue.
    None,
    /// Come to a good stopping point; it will continue later.
    Pause,
    /// Come to a good stopping point and end.
    Stop,
    /// End now: the work was given up.
    Cancelled,
}

/// Returns the signal for a session, with the reason if one was given.
pub(crate) async fn find(project: &Project, subject: &Subject) -> Result<(Signal, Option<String>), Error> {
    if let Some(task) = subject.task {
        let found = of_stage(&orders::get_task(project, task).await?.stage, subject.session);
        if found.0 != Signal::None {
            return Ok(found);
        }
    }
    let Some(of_run) = &subject.run else { return Ok((Signal::None, None)) };
    let run = runs::get_run(project, of_run.id).await?;
    let has_gone_on = run.is_over() || run.step != of_run.step;
    let above = run.is_parent_paused().then_some(&Hold::Paused);
    Ok(of_hold(run.hold().or(above), has_gone_on))
}

/// Tells whether a session must not begin any more: it was stopped or cancelled, or its work continued
/// without it.
pub(crate) async fn is_called_off(project: &Project, subject: &Subject) -> Result<bool, Error> {
    Ok(match find(project, subject).await?.0 {
        Signal::Stop | Signal::Cancelled => true,
        // A pause lets the current step end.
        Signal::Pause | Signal::None => false,
    })
}

fn of_hold(hold: Option<&Hold>, has_gone_on: bool) -> (Signal, Option<String>) {
    match hold {
        _ if has_gone_on => (Signal::Stop, Some("the run continued without it".to_owned())),
        Some(Hold::Paused) => (Signal::Pause, Some("the run was paused".to_owned())),
        Some(Hold::Stopping { reason }) => (Signal::Stop, reason.clone()),
        Some(Hold::Error { .. }) | None => (Signal::None, None),
    }
}

fn of_stage(stage: &Stage, session: u32) -> (Signal, Option<String>) {
    let Stage::InProgress(work) = stage else {
        return match stage {
            Stage::Backlog => (Signal::Cancelled, None),
            _ => (Signal::Stop, Some("the task was completed".to_owned())),
        };
    };
    match &work.phase {
        WorkPhase::Stopping { reason, .. } | WorkPhase::Removing { reason } => {
            (Signal::Cancelled, reason.clone())
        }
        WorkPhase::Unwinding => (Signal::Cancelled, None),
        WorkPhase::Running { session: now } | WorkPhase::Starting { session: now, .. } if *now != session => {
            (Signal::Stop, Some(format!("session {now} replaced it")))
        }
        _ => (Signal::None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Code, Failure, Problem, Work, Worktree};

    const SESSION: u32 = 2;

    fn in_phase(phase: WorkPhase) -> (Signal, Option<String>) {
        let worktree = Worktree {
            branch: "task/1".to_owned(),
            target: "main".to_owned(),
            base: "0123456789012345678901234567890123456789".parse().unwrap(),
            path: "worktrees/task-1".to_owned(),
        };
        let work = Work { agent: "coder".parse().ok(), worktree, phase };
        of_stage(&Stage::InProgress(Box::new(work)), SESSION)
    }

    fn why(reason: &str) -> Option<String> {
        Some(reason.to_owned())
    }

    #[test]
    fn a_session_of_a_task_goes_on_while_it_is_the_newest() {
        for phase in [
            WorkPhase::Running { session: SESSION },
            WorkPhase::Starting { session: SESSION, rejection: None, woken: false },
            WorkPhase::Driven { session: Some(SESSION), feedback: None, park: None },
        ] {
            assert_eq!(in_phase(phase.clone()), (Signal::None, None), "{phase:?}");
        }
        let replaced = in_phase(WorkPhase::Running { session: SESSION + 1 });
        assert_eq!(replaced, (Signal::Stop, why("session 3 replaced it")));
    }

    #[test]
    fn a_cancelled_task_tells_its_session_so_until_it_is_back_in_the_backlog() {
        let reason = why("not needed any more");
        let stopping = WorkPhase::Stopping { reason: reason.clone(), session: Some(SESSION) };
        assert_eq!(in_phase(stopping), (Signal::Cancelled, reason.clone()));
        let removing = WorkPhase::Removing { reason: reason.clone() };
        assert_eq!(in_phase(removing), (Signal::Cancelled, reason));
        assert_eq!(in_phase(WorkPhase::Unwinding), (Signal::Cancelled, None));
        assert_eq!(of_stage(&Stage::Backlog, SESSION), (Signal::Cancelled, None));
    }

    #[test]
    fn a_run_pauses_and_stops_its_session_with_the_reason() {
        assert_eq!(of_hold(None, false), (Signal::None, None));
        assert_eq!(of_hold(Some(&Hold::Paused), false), (Signal::Pause, why("the run was paused")));
        let stopping = Hold::Stopping { reason: why("too dear") };
        assert_eq!(of_hold(Some(&stopping), false), (Signal::Stop, why("too dear")));
        let stopping = Hold::Stopping { reason: None };
        assert_eq!(of_hold(Some(&stopping), false), (Signal::Stop, None));
        let gone_on = (Signal::Stop, why("the run continued without it"));
        assert_eq!(of_hold(None, true), gone_on);
        assert_eq!(of_hold(Some(&Hold::Paused), true), gone_on);
        let error = Failure::from(Problem::new(Code::AgentStartFailed, "what", "why", "next"));
        assert_eq!(of_hold(Some(&Hold::Error { error }), false), (Signal::None, None));
    }
}
