//! Notes to the agents that work on tasks.

use super::Paged as _;
use crate::answer::Answer;
use crate::call::Call;
use crate::page_of;
use crate::route::Route;
use http::StatusCode;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{messages, notes, reading};
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
        .reads::<Note>()
        .creates(),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Note {
    /// 1 to 4000 characters.
    text: String,
}

async fn list(call: Call) -> Result<Answer, Problem> {
    let task = call.path("id")?;
    reading::check_task(call.project(), task).await?;
    let notes = notes::list(call.project(), task).await?;
    page_of::cut(&call.query, &notes, |note| note.message_id.to_string())
}

async fn send(call: Call) -> Result<Answer, Problem> {
    let (task, body): (TaskId, Note) = (call.path("id")?, call.body()?);
    let id = notes::send(call.project(), &call.caller(), task, body.text).await?;
    let note = messages::get(call.project(), id).await?;
    let seq = call.position().await?;
    Ok(Answer::json(note).seq(seq).status(StatusCode::CREATED))
}
