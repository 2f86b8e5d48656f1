//! `regatta run list`.

use crate::arguments::Place;
use crate::columns;
use crate::describe_run::shorten;
use crate::exit::Exit;
use crate::screen::{DIM, clean};
use clap::Args;
use regatta_engine::core::Problem;
use regatta_engine::core::run::Status;
use regatta_engine::runs::{RunView, list_runs};
use serde_json::Value;

/// The longest note; `regatta run show` has the rest.
const NOTE_CHARACTERS_MAX: usize = 72;

/// List runs, newest first, without their state.
#[derive(Args)]
pub(crate) struct List {
    /// Maximum number of runs.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

impl List {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let runs = list_runs(&project, self.limit).await?;
        let rows: Vec<Value> = runs.iter().map(RunView::to_row).collect();
        place.screen.data(&rows, |_| render(&runs));
        Ok(Exit::Done)
    }
}

fn render(runs: &[RunView]) -> String {
    if runs.is_empty() {
        return format!("{DIM}no runs yet; start one with `regatta run WORKFLOW`{DIM:#}\n");
    }
    let row = |run: &RunView| {
        let item = clean(run.item.as_deref().unwrap_or("-"));
        let (workflow, node) = (run.workflow.clone(), run.node.clone());
        [run.id.to_string(), workflow, run.status.to_string(), run.step.to_string(), node, item, note(run)]
    };
    columns::table(["ID", "WORKFLOW", "STATUS", "STEP", "NODE", "ITEM", "NOTE"], runs.iter().map(row))
}

fn note(run: &RunView) -> String {
    let relation = match (run.parent, run.forked_from) {
        (Some(parent), _) => {
            format!("child of run {parent}, for {}", run.parent_item.as_deref().unwrap_or_default())
        }
        (None, Some(fork)) => format!("fork of run {fork}"),
        (None, None) => String::new(),
    };
    let task = run.item.as_ref().and_then(|item| run.tasks.get(item));
    let note = match (run.status, &run.error, &run.question, task) {
        (_, Some(error), _, _) => error.code.to_string(),
        (_, None, Some(question), _) => format!("asks: {question}"),
        (Status::Paused, None, None, Some(task)) if run.phase == "landing" => {
            format!("#{task} waits for approval")
        }
        (Status::Paused, None, None, _) => run.next.clone(),
        // Nothing runs, whatever the status says.
        (_, None, None, _) if run.phase == "unattended" => run.next.clone(),
        _ => String::new(),
    };
    let both: Vec<String> = [relation, note].into_iter().filter(|part| !part.is_empty()).collect();
    shorten(&clean(&both.join(": ")).replace('\n', " "), NOTE_CHARACTERS_MAX)
}
