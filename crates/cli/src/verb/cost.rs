//! `regatta cost`: what the sessions used.

use crate::arguments::Place;
use crate::columns;
use crate::exit::Exit;
use crate::screen::{DIM, clean};
use clap::{Args, ValueEnum};
use regatta_engine::core::{Problem, RunId, TaskId};
use regatta_engine::cost::{CostLine, CostQuery, CostView, find_cost};
use std::borrow::Cow;

/// Show what agent sessions used: tokens, money and time
///
/// The figures are those that the agents report, so far for sessions that are still running. If an agent reports no cost,
/// the known amount is shown with a `+`.
#[derive(Args)]
pub(crate) struct Cost {
    /// Only the sessions of this task.
    #[arg(long, value_name = "ID", conflicts_with = "run")]
    task: Option<TaskId>,
    /// Only the sessions of this run and of its children.
    #[arg(long, value_name = "ID")]
    run: Option<RunId>,
    /// Group by.
    #[arg(long, value_enum, default_value_t = By::Day)]
    by: By,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// Day, in the engine's time zone.
    Day,
    /// Task.
    Task,
    /// Run; with `--run`, also each of its children.
    Run,
    /// Agent.
    Agent,
    /// Session, in order.
    Session,
}

impl Cost {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let query = match self.by {
            By::Day => CostQuery::Days,
            By::Task => CostQuery::Tasks,
            By::Run => CostQuery::Runs,
            By::Agent => CostQuery::Agents,
            By::Session => CostQuery::Sessions,
        };
        let found = find_cost(&project, query, self.task, self.run).await?;
        place.screen.data(&found, render);
        Ok(Exit::Done)
    }
}

fn render(found: &CostView) -> String {
    if found.lines.is_empty() {
        return format!("{DIM}no session has started yet{DIM:#}\n");
    }
    let name = found.by.to_uppercase();
    let header = [name.as_str(), "SESSIONS", "TOKENS IN", "CACHED", "TOKENS OUT", "COST", "TIME"];
    let total = (found.lines.len() > 1).then_some(&found.total);
    let lines: Vec<_> = found.lines.iter().chain(total).map(|line| cells(line).map(Cow::Owned)).collect();
    columns::render(header, &lines, 1)
}

fn cells(line: &CostLine) -> [String; 7] {
    let spent = &line.spent;
    [
        clean(&line.name),
        match line.running {
            0 => spent.sessions.to_string(),
            running => format!("{} ({running} running)", spent.sessions),
        },
        spent.input_tokens.to_string(),
        spent.cached_tokens.to_string(),
        spent.output_tokens.to_string(),
        render_cost(spent.cost_micros, spent.unpriced),
        render_time(spent.milliseconds),
    ]
}

/// Writes an amount; a `+` says that there is more of which nothing is known.
pub(crate) fn render_cost(micros: u64, unpriced: u64) -> String {
    let more = if unpriced > 0 { "+" } else { "" };
    if micros == 0 && unpriced > 0 {
        return "unknown".to_owned();
    }
    let cents = micros / 10_000;
    if cents == 0 && micros > 0 {
        return format!("$0.{:04}{more}", micros / 100);
    }
    format!("${}.{:02}{more}", cents / 100, cents % 100)
}

/// Writes a time as a person would.
pub(crate) fn render_time(milliseconds: u64) -> String {
    let seconds = milliseconds / 1_000;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, _) => format!("{}.{} s", seconds, milliseconds % 1_000 / 100),
        (0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (hours, minutes, _) => format!("{hours}h {minutes:02}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_as_people_write_them() {
        assert_eq!(render_cost(0, 0), "$0.00");
        assert_eq!(render_cost(1_250_000, 0), "$1.25");
        assert_eq!(render_cost(1_250_000, 2), "$1.25+");
        assert_eq!(render_cost(0, 1), "unknown");
        assert_eq!(render_cost(1_200, 0), "$0.0012");
        assert_eq!(render_time(1_234), "1.2 s");
        assert_eq!(render_time(61_000), "1m 01s");
        assert_eq!(render_time(3_720_000), "1h 02m");
    }
}
