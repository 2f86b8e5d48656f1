//! `regatta run WORKFLOW`, and `regatta run --resume`.

use super::flags;
use super::input::Input;
use super::recording::{ActiveRecording, RecordingOptions};
use crate::arguments::{Arguments, Place};
use crate::exit::{self, Exit};
use crate::screen::{DIM, Screen, YELLOW};
use crate::verb::follow::WaitOptions;
use crate::verb::workflow::find_workflow;
use clap::{ArgAction, Args, Command, FromArgMatches};
use regatta_engine::Project;
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
    /// Title, and a flag for each property of the workflow's input, such as `--max-iterations N`.
    #[arg(value_name = "TITLE|FLAGS", trailing_var_arg = true, allow_hyphen_values = true)]
    more: Vec<String>,
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
        "more", "title", "input", "set", "level", "no_board", "record", "replay"])]
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
        if self.more.is_empty() {
            return self.begin(place, project, workflow).await;
        }
        match Self::read_again(&workflow) {
            Ok(begin) => begin.begin(place, project, workflow).await,
            Err(error) => {
                let is_wrong = error.use_stderr();
                exit::wrong_usage(&error);
                Ok(if is_wrong { Exit::Usage } else { Exit::Done })
            }
        }
    }

    /// Returns the words after the workflow that are not options of every workflow.
    pub(super) fn last_words(&self) -> &[String] {
        &self.more
    }

    /// Reads the words of the process again, now that it is known which flags the workflow adds.
    fn read_again(workflow: &Listed) -> Result<Begin, clap::Error> {
        // What cannot be loaded at all is refused when the run is made.
        let loaded = Workflow::load(&workflow.folder).ok();
        let about = loaded.as_ref().map_or_else(String::new, |loaded| loaded.title.clone());
        let schema = loaded.and_then(|loaded| Some(loaded.input?.document().clone())).unwrap_or_default();
        let options = Begin::augment_args(Command::new("run")).mut_arg("more", |title| {
            let title = title.trailing_var_arg(false).allow_hyphen_values(false);
            let title = title.action(ArgAction::Set).num_args(0..=1);
            title.value_name("TITLE").help("Title").conflicts_with("title")
        });
        let usage = format!("regatta run {} [TITLE] [OPTIONS]", workflow.name);
        let options = options.about(about).long_about(None).override_usage(usage);
        let matches = Arguments::read_again("run", flags::add(options, &schema))?;
        let mut begin = Begin::from_arg_matches(&matches)?;
        begin.input.add(flags::read(&schema, &matches), begin.more.pop());
        Ok(begin)
    }

    async fn begin(self, place: &Place, project: Arc<Project>, workflow: Listed) -> Result<Exit, Problem> {
        let name = workflow.name.clone();
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
