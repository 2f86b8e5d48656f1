//! `regatta agent questions` and `regatta agent answer`.

use crate::arguments::Place;
use crate::columns;
use crate::exit::Exit;
use crate::screen::{DIM, GREEN, clean};
use clap::{Args, ValueEnum};
use regatta_engine::core::Problem;
use regatta_engine::core::session::Grant;
use regatta_engine::{QuestionView, answer_question, list_questions};

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

impl Questions {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let found = list_questions(&project).await?;
        let views: Vec<QuestionView> =
            found.into_iter().map(|(id, asked)| QuestionView::of(id, asked)).collect();
        place.screen.data(&views, |views| render(views));
        Ok(Exit::Done)
    }
}

impl Answer {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let grant = match self.answer {
            Choice::Allow => Grant::Allowed,
            Choice::Deny => Grant::Denied,
        };
        let caller = crate::caller::caller(None);
        let asked = answer_question(&project, &caller, &self.question, grant).await;
        let asked = asked?;
        place.screen.data(&QuestionView::of(self.question, asked), |view| {
            format!("{GREEN}answered{GREEN:#} {}: {}\n", view.agent_id, clean(&view.what))
        });
        Ok(Exit::Done)
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
