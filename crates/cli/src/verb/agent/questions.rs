//! `regatta agent questions` and `regatta agent answer`.

use crate::arguments::Place;
use crate::columns;
use crate::exit::Exit;
use crate::screen::{DIM, GREEN, clean};
use clap::{Args, ValueEnum};
use regatta_engine::core::Problem;
use regatta_engine::core::session::{Asked, Leave};
use regatta_engine::{answer_question, list_questions};
use serde::Serialize;

/// List what agents are waiting for you to allow.
#[derive(Args)]
pub(crate) struct Questions {}

/// Allow or deny an agent's request.
#[derive(Args)]
pub(crate) struct Answer {
    /// Question ID from `regatta agent questions`.
    #[arg(value_name = "QUESTION")]
    question: String,
    /// Answer.
    #[arg(value_enum)]
    answer: Choice,
}

#[derive(Clone, Copy, ValueEnum)]
enum Choice {
    /// Allow the request.
    Allow,
    /// Deny the request.
    Deny,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct QuestionView {
    id: String,
    agent_id: String,
    task_id: Option<u32>,
    run_id: Option<u32>,
    what: String,
    paths: Vec<String>,
}

impl Questions {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let found = list_questions(&project).await.map_err(|error| error.explain())?;
        let views: Vec<QuestionView> = found.into_iter().map(view).collect();
        place.screen.data(&views, |views| render(views));
        Ok(Exit::Done)
    }
}

impl Answer {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let leave = match self.answer {
            Choice::Allow => Leave::Allowed,
            Choice::Deny => Leave::Denied,
        };
        let giver = crate::identity::giver(None);
        let asked = answer_question(&project, &giver, &self.question, leave).await;
        let asked = asked.map_err(|error| error.explain())?;
        place.screen.data(&view((self.question, asked)), |view| {
            format!("{GREEN}answered{GREEN:#} {}: {}\n", view.agent_id, clean(&view.what))
        });
        Ok(Exit::Done)
    }
}

fn view((id, asked): (String, Asked)) -> QuestionView {
    QuestionView {
        id,
        agent_id: asked.subject.agent_id.to_string(),
        task_id: asked.subject.task_id.map(|task| task.number()),
        run_id: asked.subject.run_id.map(|run| run.number()),
        what: asked.what,
        paths: asked.paths,
    }
}

fn render(views: &[QuestionView]) -> String {
    if views.is_empty() {
        return format!("{DIM}no agent waits for an answer{DIM:#}\n");
    }
    let row = |view: &QuestionView| {
        let task = view.task_id.map_or_else(|| "-".to_owned(), |task| format!("#{task}"));
        [view.id.clone(), view.agent_id.clone(), task, clean(&view.what)]
    };
    let table = columns::table(["QUESTION", "AGENT", "TASK", "WANTS TO"], views.iter().map(row));
    let next = format!("regatta agent answer {} allow", views[0].id);
    format!("{table}\n{DIM}answer with{DIM:#} {next}\n")
}
