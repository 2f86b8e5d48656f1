//! Notes to the agents that work on tasks.

use super::Paged as _;
use crate::answer::Answer;
use crate::call::Call;
use crate::calls;
use crate::page_of;
use crate::route::Route;
use http::StatusCode;
use regatta_engine::core::{Problem, TaskId};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/tasks/{id}/notes", "listNotes", "List the notes to the agents of a task", list)
            .paged(),
        Route::post(
            "/api/tasks/{id}/notes",
            "noteTask",
            "Send a note to the agent that works on a task, now or next",
            send,
        )
        .reads::<Note>(),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Note {
    /// 1 to 4000 characters.
    text: String,
}

async fn list(call: Call) -> Result<Answer, Problem> {
    let notes = calls::tasks::notes(&call.app.project, call.path("id")?).await?;
    page_of::cut(&call.query, &notes, |note| note.message_id.to_string())
}

async fn send(call: Call) -> Result<Answer, Problem> {
    let (task, body): (TaskId, Note) = (call.path("id")?, call.body()?);
    let note = calls::tasks::note(&call.app.project, &call.caller(), task, body.text).await?;
    let seq = calls::position(&call.app.project).await?;
    Ok(Answer::json(note).seq(seq).status(StatusCode::CREATED))
}
