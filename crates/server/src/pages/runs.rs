//! The list of runs, and the page of one.

use super::{clock, fragment, html, page, shell};
use crate::answer::{Answer, no_route};
use crate::call::Call;
use crate::calls;
use crate::route::{Kind, Route};
use regatta_board::run::{self, About, STEPS_MAX};
use regatta_board::shell::Section;
use regatta_board::words::{Clock, one_line};
use regatta_engine::SessionLog;
use regatta_engine::core::machine::Column;
use regatta_engine::core::{Problem, RunId};
use regatta_engine::runs::{RunView, StepView};

/// How many runs a page of the list has.
const RUNS_MAX: usize = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![
        page("/runs", "runs", "Show the runs", runs).takes(
            "before",
            Kind::Number,
            "The run before which it begins",
        ),
        fragment("/fragments/runs", "fragmentRuns", "Show the newest runs", rows),
        page("/runs/{id}", "run", "Show one run", show),
        fragment("/fragments/runs/{id}/{piece}", "fragmentRun", "Show a piece of a run's page", piece),
    ]
}

async fn load(call: &Call, before: Option<RunId>) -> Result<(Vec<RunView>, Option<u32>), Problem> {
    let runs = calls::runs::list(&call.app.project, before, RUNS_MAX).await?;
    let next = runs.last().map(|run| run.id.number()).filter(|id| *id > 1 && runs.len() == RUNS_MAX);
    Ok((runs, next))
}

async fn runs(call: Call) -> Result<Answer, Problem> {
    let (runs, next) = load(&call, call.query.get("before")?).await?;
    let shell = shell(&call.app, Section::Runs, false).await?;
    Ok(html(run::list(&shell, &runs, next, &clock())))
}

async fn rows(call: Call) -> Result<Answer, Problem> {
    let (runs, next) = load(&call, None).await?;
    Ok(html(run::rows(&runs, next, &clock())))
}

struct Loaded {
    run: RunView,
    steps: Vec<StepView>,
    sessions: Vec<SessionLog>,
    tasks: Vec<(String, u32, String, &'static str)>,
    clock: Clock,
}

impl Loaded {
    async fn load(call: &Call) -> Result<Self, Problem> {
        let (project, id): (_, RunId) = (&call.app.project, call.path("id")?);
        let run = calls::runs::show(project, id).await?;
        let rows = call.app.shared.rows(project).await?;
        let task = |(key, id): (&String, &_)| {
            let row = rows.find(*id)?;
            let class = match row.column {
                Column::Verified => "ok",
                Column::InProgress | Column::WaitingApproval => "acc",
                Column::Backlog => "",
            };
            Some((key.clone(), id.number(), one_line(&row.title, 60), class))
        };
        Ok(Loaded {
            tasks: run.tasks.iter().filter_map(task).collect(),
            steps: calls::runs::steps(project, id).await?,
            sessions: calls::runs::sessions(project, id).await?,
            clock: clock(),
            run,
        })
    }

    fn about(&self) -> About<'_> {
        let steps_before = self.steps.len().saturating_sub(STEPS_MAX);
        About {
            run: &self.run,
            steps: &self.steps[steps_before..],
            steps_before,
            sessions: &self.sessions,
            tasks: &self.tasks,
            clock: &self.clock,
        }
    }
}

async fn show(call: Call) -> Result<Answer, Problem> {
    let loaded = Loaded::load(&call).await?;
    let shell = shell(&call.app, Section::Runs, false).await?;
    Ok(html(run::page(&shell, &loaded.about())))
}

async fn piece(call: Call) -> Result<Answer, Problem> {
    let name: String = call.path("piece")?;
    let loaded = Loaded::load(&call).await?;
    let found = run::piece(&loaded.about(), &name);
    found.map(html).ok_or_else(|| no_route(&format!("/fragments/runs/{}/{name}", loaded.run.id)))
}
