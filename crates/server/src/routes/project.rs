//! Agents and their questions, cost, and the doctor.

use super::Paged as _;
use crate::answer::{Answer, invalid};
use crate::call::Call;
use crate::page_of;
use crate::route::{Kind, Route};
use regatta_engine::core::Problem;
use regatta_engine::core::machine::{render_mermaid, render_svg, render_xstate};
use regatta_engine::core::session::Grant;
use regatta_engine::cost::{CostQuery, find_cost};
use regatta_engine::{
    QuestionView, add_to_config, answer_question, examine, find_installed, list_agents, list_questions,
    repair,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/agents", "listAgents", "List the agents of the config", agents).paged(),
        Route::post("/api/agents/detect", "detectAgents", "Add the installed agents to the config", detect),
        Route::get("/api/inbox", "listInbox", "List what waits for a person, oldest first", inbox).paged(),
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
            .takes("run", Kind::Number, "Only the sessions of this run and its children")
            .takes(
                "limit",
                Kind::UpTo(page_of::ITEMS_MAX),
                "How many lines at most, the last ones, up to 1000; 1000 by default",
            ),
        Route::get(
            "/api/doctor",
            "examine",
            "List what does not add up between the log and the world",
            list_findings,
        )
        .paged(),
        Route::post(
            "/api/doctor/fix",
            "repair",
            "Repair what can be repaired without losing anything, and list what was found",
            fix,
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
    page_of::cut(&call.query, &list_agents(call.project()).await?, |agent| agent.id.clone())
}

async fn detect(call: Call) -> Result<Answer, Problem> {
    call.no_body()?;
    let mut found = find_installed(call.project()).await;
    found.retain(|agent| !agent.is_known);
    add_to_config(call.project(), &found)?;
    Ok(page_of::answer(found, None::<u32>))
}

async fn inbox(call: Call) -> Result<Answer, Problem> {
    let items = call.app.shared.inbox(call.project()).await?;
    page_of::cut_by_number(&call.query, items.as_slice())
}

async fn questions(call: Call) -> Result<Answer, Problem> {
    let found = list_questions(call.project()).await?;
    let views: Vec<QuestionView> = found.into_iter().map(|(id, asked)| QuestionView::of(id, asked)).collect();
    page_of::cut(&call.query, &views, |question| question.id.clone())
}

async fn answer(call: Call) -> Result<Answer, Problem> {
    let (question, body): (String, Decision) = (call.path("id")?, call.body()?);
    let answer = match body.answer.as_str() {
        "allow" => Grant::Allowed,
        "deny" => Grant::Denied,
        _ => return Err(invalid("answer", "must be allow or deny")),
    };
    let asked = answer_question(call.project(), &call.caller(), &question, answer).await?;
    Ok(Answer::json(QuestionView::of(question, asked)).seq(call.position().await?))
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
    let mut view = find_cost(call.project(), by, task, run).await?;
    let limit = call.query.get("limit")?.unwrap_or(page_of::ITEMS_MAX);
    let too_many = view.lines.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
    view.lines.drain(..too_many);
    Ok(Answer::json(view))
}

async fn list_findings(call: Call) -> Result<Answer, Problem> {
    page_of::cut_by_number(&call.query, &examine(call.project()).await?)
}

async fn fix(call: Call) -> Result<Answer, Problem> {
    call.no_body()?;
    let mut findings = examine(call.project()).await?;
    if findings.iter().any(|finding| finding.can_fix) {
        repair(call.project(), &mut findings).await?;
    }
    Ok(page_of::answer(findings, None::<u32>))
}
