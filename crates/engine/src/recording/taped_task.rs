//! What a tape says about the tasks of a replay, in place of a person and of the config.
//!
//! A replay merges into a branch of its own, so nothing is approved here that a person has to answer for. What was decided
//! when the run was recorded is decided again, whatever `approval` says now, and the project's checks have no say in it.

use crate::commands::orders;
use crate::commands::run_orders::get_run;
use crate::core::run::{Run, Taping};
use crate::core::{Approval, Settings, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::recording::tape::Tape;
use crate::recording::tape_people::TapeDecision;
use std::path::Path;

/// Finds what was decided about the task that a run has put up, if the run is a replay.
pub(crate) async fn find_decision(project: &Project, run: &Run) -> Result<Option<TapeDecision>, Error> {
    match &run.tape {
        Some(Taping::Replay(folder)) => Tape::at(Path::new(folder)).head()?.find_decision(project, run).await,
        Some(Taping::Record(_)) | None => Ok(None),
    }
}

/// Returns the settings by which a task is put up that a tape decides about.
pub(crate) fn settings_for(project: &Project, decision: &TapeDecision) -> Settings {
    let approval = if decision.approved { Approval::Auto } else { Approval::Person };
    Settings { approval, checks: Vec::new(), ..project.config().settings.clone() }
}

/// Finds the settings by which a task is approved, if a tape decides about it.
pub(crate) async fn find_taped_settings(project: &Project, task: TaskId) -> Result<Option<Settings>, Error> {
    let Some(run) = orders::get_task(project, task).await?.run else { return Ok(None) };
    let decision = find_decision(project, &get_run(project, run).await?).await?;
    Ok(decision.map(|decision| settings_for(project, &decision)))
}
