//! What a person does about an error beside the commands: open a file, raise a limit.

use crate::answer::Answer;
use crate::call::Call;
use crate::calls;
use crate::route::Route;
use regatta_engine::Limit;
use regatta_engine::core::{Problem, TaskId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

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
    #[serde(default)]
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
    let opened = calls::tasks::open(&call.app.project, task, body.path.as_deref()).await?;
    Ok(Answer::json(json!({ "taskId": task, "opened": opened })))
}

async fn limit(call: Call) -> Result<Answer, Problem> {
    let body: Raise = call.body()?;
    let limit = Limit { scope: body.scope, measure: body.measure, limit: body.limit };
    calls::project::set_limit(&call.app.project, &limit)?;
    Ok(Answer::json(json!({ "scope": limit.scope, "measure": limit.measure, "limit": limit.limit })))
}
