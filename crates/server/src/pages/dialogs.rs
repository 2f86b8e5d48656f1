//! What opens over a page: a new task, what the palette finds, the keys, the installed agents.

use super::{board, html};
use crate::answer::Answer;
use crate::call::Call;
use crate::route::{Kind, Route};
use regatta_board::{dialogs, start};
use regatta_engine::core::Problem;
use regatta_engine::{find_installed, known_agents, runs};

/// How many tasks and runs are found at most.
const FOUND_MAX: usize = 8;

/// How many of the newest runs are searched.
const RUNS_SEARCHED: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/fragments/new-task", "fragmentNewTask", "Show the dialog of a new task", new_task),
        Route::get("/fragments/keys", "fragmentKeys", "Show the keys", keys),
        Route::get("/fragments/find", "fragmentFind", "Find tasks and runs", find).takes(
            "q",
            Kind::Text,
            "What is looked for",
        ),
        Route::get("/fragments/installed", "fragmentInstalled", "Show which agents are installed", installed),
    ]
}

async fn new_task(call: Call) -> Result<Answer, Problem> {
    Ok(html(dialogs::new_task(&board::agents(&call.app), &board::epics(&call.app).await?)))
}

async fn keys(_: Call) -> Result<Answer, Problem> {
    Ok(html(dialogs::keys()))
}

async fn find(call: Call) -> Result<Answer, Problem> {
    let query = call.query.text("q").unwrap_or_default().trim();
    let words: Vec<String> = query.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let rows = call.app.shared.rows(&call.app.project).await?;
    let has = |text: &str| words.iter().all(|word| text.contains(word.trim_start_matches('#')));
    // The newest first: those are looked for most.
    let tasks = rows.list.iter().rev().filter(|row| has(&format!("{} {}", row.id, row.title.to_lowercase())));
    let mut tasks: Vec<_> = tasks.take(FOUND_MAX * 4).collect();
    let number = query.trim_start_matches('#');
    tasks.sort_by_key(|row| (row.id.to_string() != number, row.owner != "you", row.owner == "nobody"));
    tasks.truncate(FOUND_MAX);
    let mut runs = runs::list_runs_before(&call.app.project, None, RUNS_SEARCHED).await?;
    runs.retain(|run| has(&format!("run {} {} {}", run.id, run.workflow, run.node).to_lowercase()));
    runs.truncate(FOUND_MAX / 2);
    Ok(html(dialogs::find(&tasks, &runs, query)))
}

async fn installed(call: Call) -> Result<Answer, Problem> {
    let found = find_installed(&call.app.project).await;
    Ok(html(start::installed(&found, known_agents())))
}
