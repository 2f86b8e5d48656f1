//! Messages between agents, roles, tasks and people.

use super::Paged as _;
use crate::answer::Answer;
use crate::call::Call;
use crate::page_of;
use crate::query;
use crate::route::{Kind, Route};
use http::{StatusCode, header};
use regatta_engine::core::message::{Draft, Party};
use regatta_engine::core::{MessageId, Problem, RunId, TaskId};
use regatta_engine::messages::{self, Filter};
use regatta_engine::orders;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeSet;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/messages", "listMessages", "List the messages, oldest first", list)
            .takes(
                "to",
                Kind::Text,
                "Only those for: `me`, `agent:NAME`, `role:NAME`, `task:NUMBER`, `person:NAME`",
            )
            .takes("role", Kind::Text, "Only those for this role, in any run")
            .takes("run", Kind::Number, "Only those of this run, or for one of its roles")
            .takes("task", Kind::Number, "Only those about this task, or for it")
            .takes("unread", Kind::Flag, "Only those that nobody has read")
            .paged(),
        Route::post("/api/messages", "sendMessage", "Send a message", send).reads::<Message>().creates(),
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
    kind: Option<String>,
    subject: Option<String>,
    #[schemars(with = "Option<u32>")]
    task_id: Option<TaskId>,
    /// The run whose role it is for, or a role of a run above it.
    #[schemars(with = "Option<u32>")]
    run_id: Option<RunId>,
    /// The message that it answers.
    reply_to: Option<String>,
}

async fn list(call: Call) -> Result<Answer, Problem> {
    let filter = Filter {
        to: call.query.text("to").map(|to| find_party(&call, to)).transpose()?,
        role: call.query.text("role").map(str::to_owned),
        task: call.query.get("task")?,
        run: call.query.get("run")?,
        unread: call.query.flag("unread")?,
    };
    let found = messages::list_some(call.project(), &filter).await?;
    page_of::cut(&call.query, &found, |view| view.message_id.to_string())
}

async fn show(call: Call) -> Result<Answer, Problem> {
    Ok(Answer::json(messages::get(call.project(), call.path("id")?).await?))
}

async fn send(call: Call) -> Result<Answer, Problem> {
    let body: Message = call.body()?;
    let kind = body.kind.as_deref().unwrap_or("note");
    let (from, to) = (messages::party_of(&call.app.actor), find_party(&call, &body.to)?);
    let draft = Draft::new(from, to, kind, body.subject, body.body).map_err(orders::invalid)?;
    let reply_to = body.reply_to.as_deref().map(|text| query::read("replyTo", text)).transpose()?;
    let draft = draft.about(body.task_id, body.run_id, None).replying_to(reply_to);
    let (draft, roles) = match body.run_id {
        Some(run) => messages::in_run(call.project(), draft, run).await?,
        None => (draft, BTreeSet::new()),
    };
    let id = messages::send(call.project(), &call.caller(), draft, roles).await?;
    let seq = call.position().await?;
    let view = messages::get(call.project(), id).await?;
    let place = format!("/api/messages/{id}");
    Ok(Answer::json(view).seq(seq).status(StatusCode::CREATED).header(header::LOCATION, &place))
}

async fn read(call: Call) -> Result<Answer, Problem> {
    call.no_body()?;
    let id: MessageId = call.path("id")?;
    let address = messages::get(call.project(), id).await?.address();
    let by = messages::party_of(&call.app.actor);
    messages::mark_read(call.project(), &call.caller(), &address, &[id], &by).await?;
    let seq = call.position().await?;
    Ok(Answer::json(messages::get(call.project(), id).await?).seq(seq))
}

/// Finds whom a text means; `me` is whoever asks.
fn find_party(call: &Call, text: &str) -> Result<Party, Problem> {
    if text == "me" {
        return Ok(messages::party_of(&call.app.actor));
    }
    Ok(messages::find_party(call.project(), text)?)
}
