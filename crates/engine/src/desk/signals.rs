//! Whether a session is to go on, read from the log.
//!
//! A person pauses, stops or cancels a piece of work by a command. What is under way is stopped by the engine where it must
//! be; an agent that looks in time can come to a good place first.

use super::Subject;
use crate::core::run::Hold;
use crate::core::{Stage, Task, WorkPhase};
use crate::error::Error;
use crate::orders;
use crate::project::Project;
use crate::runs;
use regatta_mcp::Signal;

/// Returns the signal for a session, with the reason if one was given.
pub(super) async fn find(project: &Project, subject: &Subject) -> Result<(Signal, Option<String>), Error> {
    if let Some(task) = subject.task {
        let found = of_task(&orders::get_task(project, task).await?, subject.session);
        if found.0 != Signal::None {
            return Ok(found);
        }
    }
    let Some(of_run) = &subject.run else { return Ok((Signal::None, None)) };
    let run = runs::get_run(project, of_run.id).await?;
    Ok(match &run.hold {
        _ if run.is_over() || run.step != of_run.step => {
            (Signal::Stop, Some("the run went on without it".to_owned()))
        }
        Some(Hold::Paused) => (Signal::Pause, Some("the run was paused".to_owned())),
        Some(Hold::Stopping { reason }) => (Signal::Stop, reason.clone()),
        Some(Hold::Error { .. }) | None => (Signal::None, None),
    })
}

fn of_task(task: &Task, session: u32) -> (Signal, Option<String>) {
    let Stage::InProgress(work) = &task.stage else {
        return match task.stage {
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
            (Signal::Stop, Some(format!("session {now} took its place")))
        }
        _ => (Signal::None, None),
    }
}
