//! What a person does about an error beside the commands: open a file, raise a limit.

use crate::answer::{Answer, invalid};
use crate::call::Call;
use crate::route::Route;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{Limit, open_in_editor, raise_limit, show_task};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::path::Path;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post(
            "/api/tasks/{id}/open",
            "openTask",
            "Open the worktree of a task, or a file in it, in the editor of the config",
            open,
        )
        .reads::<Open>(),
        Route::post("/api/limits", "setLimit", "Set a limit of a budget in the config", limit)
            .reads::<Raise>(),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Open {
    /// A file, from the worktree; default: the worktree itself.
    path: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Raise {
    /// `session`, `task`, `run`, `day` or `project`.
    scope: String,
    /// `tokens`, `cost` (in US dollars) or `wall` (in seconds).
    measure: String,
    limit: f64,
}

async fn open(call: Call) -> Result<Answer, Problem> {
    let (task, body): (TaskId, Open) = (call.path("id")?, call.body()?);
    let Some(folder) = show_task(call.project(), task).await?.worktree else {
        return Err(invalid("id", "must be a task that has a worktree; it has none now"));
    };
    let opened = open_in_editor(call.project(), Path::new(&folder), body.path.as_deref())?;
    Ok(Answer::json(json!({ "taskId": task, "opened": opened })))
}

async fn limit(call: Call) -> Result<Answer, Problem> {
    let body: Raise = call.body()?;
    let limit = Limit { scope: body.scope, measure: body.measure, limit: body.limit };
    raise_limit(call.project(), &limit).await?;
    Ok(Answer::json(json!({ "scope": limit.scope, "measure": limit.measure, "limit": limit.limit })))
}
