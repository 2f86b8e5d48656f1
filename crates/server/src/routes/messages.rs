//! Messages between agents, roles, tasks and people.

use super::Paged as _;
use crate::answer::{Answer, invalid};
use crate::call::Call;
use crate::calls;
use crate::calls::messages::NewMessage;
use crate::page_of;
use crate::route::{Kind, Route};
use http::{StatusCode, header};
use regatta_engine::core::{MessageId, Problem, TaskId};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/messages", "listMessages", "List the messages, oldest first", list)
            .takes(
                "to",
                Kind::Text,
                "Only those for: `me`, `agent:NAME`, `role:NAME`, `task:NUMBER`, `person:NAME`",
            )
            .takes("task", Kind::Number, "Only those about this task, or for it")
            .takes("unread", Kind::Flag, "Only those that nobody has read")
            .paged(),
        Route::post("/api/messages", "sendMessage", "Send a message", send).reads::<Message>(),
        Route::get("/api/messages/{id}", "showMessage", "Show one message", show),
        Route::post("/api/messages/{id}/read", "readMessage", "Mark a message as read", read),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Message {
    to: String,
    body: String,
    /// A word that its reader knows; `note` by default.
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    subject: Option<String>,
    #[serde(default)]
    task_id: Option<u32>,
    /// The message that it answers.
    #[serde(default)]
    reply_to: Option<String>,
}

async fn list(call: Call) -> Result<Answer, Problem> {
    let (to, task, unread) = (call.query.text("to"), call.query.get("task")?, call.query.flag("unread")?);
    let found = calls::messages::list(&call.app.project, &call.caller(), to, task, unread).await?;
    page_of::cut(&call.query, &found, |view| view.message_id.to_string())
}

async fn show(call: Call) -> Result<Answer, Problem> {
    calls::messages::get(&call.app.project, call.path("id")?).await.map(Answer::json)
}

async fn send(call: Call) -> Result<Answer, Problem> {
    let body: Message = call.body()?;
    let task = body.task_id.map(TaskId::new).transpose();
    let reply_to = body.reply_to.as_deref().map(str::parse).transpose();
    let new = NewMessage {
        to: body.to,
        kind: body.kind.unwrap_or_else(|| "note".to_owned()),
        subject: body.subject,
        body: body.body,
        task: task.map_err(|error| invalid("taskId", format!("is wrong: {error}")))?,
        reply_to: reply_to
            .map_err(|error: regatta_engine::core::Id| invalid("replyTo", format!("is wrong: {error}")))?,
    };
    let id = calls::messages::send(&call.app.project, &call.caller(), new).await?;
    let seq = calls::position(&call.app.project).await?;
    let view = calls::messages::get(&call.app.project, id).await?;
    let place = format!("/api/messages/{id}");
    Ok(Answer::json(view).seq(seq).status(StatusCode::CREATED).header(header::LOCATION, &place))
}

async fn read(call: Call) -> Result<Answer, Problem> {
    call.no_body()?;
    let id: MessageId = call.path("id")?;
    calls::messages::mark_read(&call.app.project, &call.caller(), id).await?;
    let seq = calls::position(&call.app.project).await?;
    Ok(Answer::json(calls::messages::get(&call.app.project, id).await?).seq(seq))
}
