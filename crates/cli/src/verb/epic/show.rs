//! `regatta epic show`.

use super::epic_id;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{BOLD, CYAN, DIM, clean};
use clap::Args;
use regatta_engine::core::{EpicId, Problem};
use regatta_engine::{EpicView, Project, show_epic};
use serde_json::json;
use std::fmt::Write;

/// Show one epic with its tasks.
#[derive(Args)]
pub(crate) struct Show {
    /// Epic number.
    #[arg(value_name = "ID", value_parser = epic_id)]
    epic: EpicId,
}

impl Show {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        if let Some(epic) = place.ask_desk("read_epic", json!({ "epicId": self.epic })).await? {
            match serde_json::from_value::<EpicView>(epic.clone()) {
                Ok(view) => place.screen.data(&view, render),
                // Of an engine that says more than this program knows.
                Err(_) => place.screen.data(&epic, ToString::to_string),
            }
            return Ok(Exit::Done);
        }
        let project = place.open().await?;
        print(place, &project, self.epic).await
    }
}

/// Prints an epic as it stands.
pub(super) async fn print(place: &Place, project: &Project, epic: EpicId) -> Result<Exit, Problem> {
    let view = show_epic(project, epic).await.map_err(|error| error.explain())?;
    place.screen.data(&view, render);
    Ok(Exit::Done)
}

fn render(epic: &EpicView) -> String {
    let mut text = format!("{CYAN}epic {}{CYAN:#} {BOLD}{}{BOLD:#}\n", epic.id, clean(&epic.title));
    let mut field = |name: &str, value: &str| {
        let _ = writeln!(text, "  {DIM}{name:<10}{DIM:#} {}", clean(value).replace('\n', "\n             "));
    };
    if let Some(prd) = &epic.prd {
        field("PRD", prd.as_str());
    }
    if !epic.description.is_empty() {
        field("details", &epic.description);
    }
    field("done", &format!("{} of {}", epic.count_done(), epic.tasks.len()));
    for task in &epic.tasks {
        field("task", &format!("#{} {} ({})", task.id, task.title, task.column));
    }
    text
}
