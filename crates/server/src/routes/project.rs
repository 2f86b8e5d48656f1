//! Agents and their questions, cost, and the doctor.

use super::Paged as _;
use crate::answer::{Answer, invalid};
use crate::call::Call;
use crate::calls;
use crate::page_of;
use crate::route::{Kind, Route};
use regatta_engine::core::Problem;
use regatta_engine::core::machine::{render_mermaid, render_svg, render_xstate};
use regatta_engine::cost::CostQuery;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/agents", "listAgents", "List the agents of the config", agents).paged(),
        Route::post("/api/agents/detect", "detectAgents", "Add the installed agents to the config", detect),
        Route::get("/api/inbox", "listInbox", "List what waits for a person, oldest first", inbox),
        Route::get(
            "/api/questions",
            "listQuestions",
            "List what agents wait for a person to allow",
            questions,
        )
        .paged(),
        Route::post(
            "/api/questions/{id}/answer",
            "answerQuestion",
            "Allow or deny what an agent asks",
            answer,
        )
        .reads::<Decision>(),
        Route::get("/api/machine", "showMachine", "Show the machine that every task follows", machine).takes(
            "format",
            Kind::Text,
            "xstate, mermaid or svg; xstate by default",
        ),
        Route::get("/api/cost", "showCost", "Show what the sessions of agents used", cost)
            .takes("by", Kind::Text, "What a line is about: day, task, run, agent or session; day by default")
            .takes("task", Kind::Number, "Only the sessions of this task")
            .takes("run", Kind::Number, "Only the sessions of this run and its children"),
        Route::get(
            "/api/doctor",
            "examine",
            "List what does not add up between the log and the world",
            examine,
        ),
        Route::post(
            "/api/doctor/fix",
            "repair",
            "Repair what can be repaired without losing anything",
            repair,
        ),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Decision {
    /// `allow` or `deny`.
    answer: String,
}

async fn agents(call: Call) -> Result<Answer, Problem> {
    page_of::cut(&call.query, &calls::project::agents(&call.app.project).await?, |agent| agent.id.clone())
}

async fn detect(call: Call) -> Result<Answer, Problem> {
    call.no_body()?;
    let added = calls::project::add_installed(&call.app.project).await?;
    Ok(page_of::answer(added, None::<u32>))
}

async fn inbox(call: Call) -> Result<Answer, Problem> {
    let items = call.app.shared.inbox(&call.app.project).await?;
    Ok(page_of::answer(items.as_slice(), None::<u32>))
}

async fn questions(call: Call) -> Result<Answer, Problem> {
    page_of::cut(&call.query, &calls::project::questions(&call.app.project).await?, |question| {
        question.id.clone()
    })
}

async fn answer(call: Call) -> Result<Answer, Problem> {
    let (question, body): (String, Decision) = (call.path("id")?, call.body()?);
    let is_allowed = match body.answer.as_str() {
        "allow" => true,
        "deny" => false,
        _ => return Err(invalid("answer", "must be allow or deny")),
    };
    let view = calls::project::answer(&call.app.project, &call.caller(), question, is_allowed).await?;
    Ok(Answer::json(view).seq(calls::position(&call.app.project).await?))
}

async fn machine(call: Call) -> Result<Answer, Problem> {
    let (format, drawing) = match call.query.text("format") {
        None | Some("xstate") => return Ok(Answer::json(render_xstate())),
        Some("mermaid") => ("mermaid", render_mermaid()),
        Some("svg") => ("svg", render_svg()),
        Some(_) => return Err(invalid("format", "must be xstate, mermaid or svg")),
    };
    Ok(Answer::json(json!({ "format": format, "drawing": drawing })))
}

async fn cost(call: Call) -> Result<Answer, Problem> {
    let by = match call.query.text("by") {
        None | Some("day") => CostQuery::Days,
        Some("task") => CostQuery::Tasks,
        Some("run") => CostQuery::Runs,
        Some("agent") => CostQuery::Agents,
        Some("session") => CostQuery::Sessions,
        Some(_) => return Err(invalid("by", "must be day, task, run, agent or session")),
    };
    let (task, run) = (call.query.get("task")?, call.query.get("run")?);
    if task.is_some() && run.is_some() {
        return Err(invalid("run", "cannot be given beside `task`"));
    }
    calls::project::cost(&call.app.project, by, task, run).await.map(Answer::json)
}

async fn examine(call: Call) -> Result<Answer, Problem> {
    let findings = calls::project::examine_all(&call.app.project, false).await?;
    Ok(page_of::answer(findings, None::<u32>))
}

async fn repair(call: Call) -> Result<Answer, Problem> {
    call.no_body()?;
    let findings = calls::project::examine_all(&call.app.project, true).await?;
    Ok(page_of::answer(findings, None::<u32>))
}
