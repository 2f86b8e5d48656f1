//! `regatta run WORKFLOW`, and `regatta run --resume`.

use super::input::Input;
use super::recording::{ActiveRecording, RecordingOptions};
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{DIM, Screen, YELLOW};
use crate::verb::follow::WaitOptions;
use crate::verb::workflow::find_workflow;
use clap::Args;
use regatta_engine::core::{Problem, RunId};
use regatta_engine::runs::{self, Listed, NewRun, Origin};
use regatta_flow::{Fault, Workflow, check};
use std::sync::Arc;

/// What follows `regatta run` when it is none of its verbs.
#[derive(Args)]
pub(super) struct Begin {
    /// Workflow name or folder.
    #[arg(required_unless_present = "resume", value_name = "WORKFLOW")]
    workflow: Option<String>,
    #[command(flatten)]
    input: Input,
    /// Level of the workflow [default: the workflow's own].
    #[arg(long, value_name = "N")]
    level: Option<u32>,
    /// Do not use the board: no tasks, no worktrees, no approvals.
    #[arg(long)]
    no_board: bool,
    /// Resume a run [default: the newest that has not ended].
    #[arg(long, value_name = "ID", num_args = 0..=1, conflicts_with_all = ["workflow", "prd",
        "title", "input", "set", "level", "no_board", "record", "replay"])]
    resume: Option<Option<RunId>>,
    #[command(flatten)]
    recording: RecordingOptions,
    #[command(flatten)]
    options: WaitOptions,
}

impl Begin {
    pub(super) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        if let Some(run) = self.resume {
            return super::resume::resume_or_newest(place, run, self.options).await;
        }
        let project = Arc::new(place.open().await?);
        let name = self.workflow.as_deref().unwrap_or_default();
        let workflow = find_workflow(place, Some(&project), name)?;
        warn(place.screen, &workflow);
        let recording = self.recording.open(place)?;
        let head = recording.as_ref().and_then(ActiveRecording::head);
        let (input, prd) = match head.filter(|_| self.input.is_empty()) {
            Some(head) => (head.input.clone(), None),
            None => self.input.read(place, &project).await?,
        };
        let level = self.level.or(head.map(|head| head.level));
        let board = !self.no_board && head.is_none_or(|head| head.board);
        let new = NewRun { workflow, level, prd, input, board, recording: None };
        if let Some(recording) = recording {
            return recording.run(place, project, new).await;
        }
        let order = async |project: &_, caller: &_| runs::create(project, caller, new).await;
        let begun = self.options.carry_out_run(place, project, None, &format!("{name} begins"), order).await;
        begun.map_err(Input::advise)
    }
}

/// Says that a workflow of the project has faults; it may run well all the same, along ways that have none.
fn warn(screen: Screen, listed: &Listed) {
    if listed.origin == Origin::Binary {
        return;
    }
    // What cannot be loaded at all is refused when the run is made.
    let Ok(workflow) = Workflow::load(&listed.folder) else { return };
    let errors = check(&workflow).iter().filter(|fault| Fault::is_error(fault)).count();
    if errors > 0 {
        let faults = if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors") };
        screen.say(&format!(
            "{YELLOW}warning{YELLOW:#}: the workflow `{}` has {faults}: the run fails if it reaches one \
             {DIM}(see `regatta workflow check {}`){DIM:#}",
            listed.name,
            listed.address()
        ));
    }
}
