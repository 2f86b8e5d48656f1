//! What a recording decides about the tasks of a replay, in place of a person and of the config.
//!
//! A replay merges into a branch of its own, so no person has to answer for an approval here. Decisions are
//! taken from the recording, whatever `approval` says now, and the project's checks do not count.

use crate::commands::orders;
use crate::commands::run_orders::get_run;
use crate::core::run::{RecordingMode, Run};
use crate::core::{Approval, Settings, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::recording::people::RecordedDecision;
use crate::recording::recorder::Recording;
use std::path::Path;

/// Finds what was decided about the task that a run has put up, if the run is a replay.
pub(crate) async fn find_decision(project: &Project, run: &Run) -> Result<Option<RecordedDecision>, Error> {
    match &run.recording {
        Some(RecordingMode::Replay(folder)) => {
            Recording::at(Path::new(folder)).head()?.find_decision(project, run).await
        }
        Some(RecordingMode::Record(_)) | None => Ok(None),
    }
}

/// Returns the settings under which a task is put up if a recording decides about it.
pub(crate) fn settings_for(project: &Project, decision: &RecordedDecision) -> Settings {
    let approval = if decision.approved { Approval::Auto } else { Approval::Person };
    Settings { approval, checks: Vec::new(), ..project.config().settings.clone() }
}

/// Finds the settings under which a task is approved, if a recording decides about it.
pub(crate) async fn find_recorded_settings(
    project: &Project,
    task: TaskId,
) -> Result<Option<Settings>, Error> {
    let Some(run) = orders::get_task(project, task).await?.run else { return Ok(None) };
    let decision = find_decision(project, &get_run(project, run).await?).await?;
    Ok(decision.map(|decision| settings_for(project, &decision)))
}
