//! `regatta task criteria`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{DIM, GREEN, YELLOW, clean};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{CriterionView, edits, show_task};

/// Show a task's acceptance criteria, and tick or untick them
///
/// A tick is a claim. It counts as verified once the check that the criterion names has passed.
#[derive(Args)]
pub(crate) struct Criteria {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// Tick criterion N, counted from 1; repeatable.
    #[arg(long, value_name = "N")]
    check: Vec<usize>,
    /// Untick criterion N, counted from 1; repeatable.
    #[arg(long, value_name = "N")]
    uncheck: Vec<usize>,
}

impl Criteria {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let caller = crate::caller::caller(None);
        let ticks = self.check.iter().map(|number| (*number, true));
        let numbers: Vec<(usize, bool)> =
            ticks.chain(self.uncheck.iter().map(|number| (*number, false))).collect();
        edits::tick(&project, &caller, self.task, &numbers).await?;
        let view = show_task(&project, self.task).await?;
        place.screen.data(&view.criteria, |criteria| render(criteria));
        Ok(Exit::Done)
    }
}

fn render(criteria: &[CriterionView]) -> String {
    if criteria.is_empty() {
        return format!("{DIM}the task has no acceptance criteria{DIM:#}\n");
    }
    let line = |(index, criterion): (usize, &CriterionView)| {
        let mark = if criterion.checked { "x" } else { " " };
        let text = clean(&criterion.text);
        let note = match (criterion.verified, criterion.checked) {
            (true, _) => format!("  {GREEN}verified{GREEN:#}"),
            (false, true) => format!("  {YELLOW}claimed, not verified{YELLOW:#}"),
            (false, false) => String::new(),
        };
        format!("{:>3}. [{mark}] {text}{note}\n", index + 1)
    };
    criteria.iter().enumerate().map(line).collect()
}
