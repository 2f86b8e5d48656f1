//! `regatta run resume`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::follow::WaitOptions;
use clap::Args;
use regatta_engine::Project;
use regatta_engine::core::run::{RecordingMode, Status};
use regatta_engine::core::{Code, Problem, RunId};
use regatta_engine::runs::{self, RunView, list_runs};
use std::sync::Arc;

/// As many of the newest runs are searched for one that can be resumed.
const LOOKED_AT_MAX: usize = 1_000;

/// Resume a run that is paused or held by an error, and follow it.
#[derive(Args)]
pub(crate) struct Resume {
    /// Run number.
    #[arg(value_name = "ID")]
    run: RunId,
    #[command(flatten)]
    options: WaitOptions,
}

impl Resume {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        resume(place, project, self.run, self.options).await
    }
}

/// Resumes a run, or the newest that has not ended; one that has ended meanwhile is shown.
pub(super) async fn resume_or_newest(
    place: &Place,
    run: Option<RunId>,
    options: WaitOptions,
) -> Result<Exit, Problem> {
    let Some(run) = run else {
        let project = place.open().await?;
        let run = find_open(&project).await?;
        return resume(place, project, run, options).await;
    };
    let project = place.open().await?;
    let found = runs::get_run(&project, run).await?;
    if found.is_over() {
        // A crash may have cut off what its end asked for: its tasks are let go of by an engine.
        let order = async |_: &_, _: &_| Ok(run);
        return options
            .carry_out_run(place, Arc::new(project), Some(run), &format!("run {run} has ended"), order)
            .await;
    }
    resume(place, project, run, options).await
}

async fn resume(place: &Place, project: Project, run: RunId, options: WaitOptions) -> Result<Exit, Problem> {
    let title = format!("run {run} continues");
    let order = async |project: &_, caller: &_| runs::resume(project, caller, run).await.map(|()| run);
    options.carry_out_run(place, Arc::new(project), Some(run), &title, order).await
}

/// Finds the newest run that can be resumed: one of the person's own, or else a replay.
async fn find_open(project: &Project) -> Result<RunId, Problem> {
    let is_open =
        |run: &&RunView| !matches!(run.status, Status::Completed | Status::Failed) && run.parent.is_none();
    let all = list_runs(project, LOOKED_AT_MAX).await?;
    let mut replay = None;
    for open in all.iter().filter(is_open) {
        let found = runs::get_run(project, open.id).await?;
        match found.recording {
            Some(RecordingMode::Replay(_)) => replay = replay.or(Some(open.id)),
            Some(RecordingMode::Record(_)) | None => return Ok(open.id),
        }
    }
    replay.ok_or_else(|| {
        let why = if all.is_empty() { "no run was started in this project" } else { "every run has ended" };
        let next =
            "start one with `regatta run WORKFLOW`, or continue from a step of an ended one with `regatta run \
             fork ID`";
        Problem::new(Code::RunNotFound, "there is no run to resume", why, next)
    })
}
