//! `regatta agent questions` and `regatta agent answer`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{DIM, GREEN, clean};
use clap::{Args, ValueEnum};
use comfy_table::{Table, presets};
use regatta_engine::core::Problem;
use regatta_engine::core::session::Leave;
use regatta_engine::{QuestionView, answer_question, list_questions};

/// Lists what agents wait for a person to allow.
#[derive(Args)]
pub(crate) struct Questions {}

/// Allows or denies what an agent asks.
#[derive(Args)]
pub(crate) struct Answer {
    /// The question, as `regatta agent questions` names it.
    #[arg(value_name = "QUESTION")]
    question: String,
    /// What the agent is told.
    #[arg(value_enum)]
    answer: Choice,
}

#[derive(Clone, Copy, ValueEnum)]
enum Choice {
    /// It may.
    Allow,
    /// It may not.
    Deny,
}

impl Questions {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let found = list_questions(&project).await.map_err(|error| error.explain())?;
        let views: Vec<QuestionView> =
            found.into_iter().map(|(id, asked)| QuestionView::of(id, asked)).collect();
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
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["QUESTION", "AGENT", "TASK", "WANTS TO"]);
    for view in views {
        let task = view.task_id.map_or_else(|| "-".to_owned(), |task| format!("#{task}"));
        table.add_row([&view.id, &view.agent_id, &task, &clean(&view.what)]);
    }
    let next = format!("regatta agent answer {} allow", views[0].id);
    format!("{}\n\n{DIM}answer with{DIM:#} {next}\n", table.trim_fmt())
}
