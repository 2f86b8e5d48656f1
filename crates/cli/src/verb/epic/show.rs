//! `regatta epic show`.

use crate::arguments::Place;
use crate::columns::Fields;
use crate::exit::Exit;
use crate::screen::{BOLD, CYAN, clean};
use clap::Args;
use regatta_engine::core::{EpicId, Problem};
use regatta_engine::{EpicView, Project, show_epic};
use serde_json::json;

/// Show one epic with its tasks.
#[derive(Args)]
pub(crate) struct Show {
    /// Epic number.
    #[arg(value_name = "ID")]
    epic: EpicId,
}

impl Show {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        if let Some(epic) = place.ask_endpoint("read_epic", json!({ "epicId": self.epic })).await? {
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
    let view = show_epic(project, epic).await?;
    place.screen.data(&view, render);
    Ok(Exit::Done)
}

fn render(epic: &EpicView) -> String {
    let heading = format!("{CYAN}epic {}{CYAN:#} {BOLD}{}{BOLD:#}\n", epic.id, clean(&epic.title));
    let mut fields = Fields::below(heading);
    fields.each("PRD", &epic.prd);
    fields.each("details", Some(&epic.description).filter(|text| !text.is_empty()));
    fields.add("done", format!("{} of {}", epic.count_done(), epic.tasks.len()));
    fields
        .each("task", epic.tasks.iter().map(|task| format!("#{} {} ({})", task.id, task.title, task.column)));
    fields.text
}
