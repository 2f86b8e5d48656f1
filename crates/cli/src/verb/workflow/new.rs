//! `regatta workflow new`.

use super::find::find_workflow;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{DIM, GREEN};
use crate::verb::run::is_verb;
use clap::Args;
use regatta_engine::core::Problem;
use regatta_engine::runs::copy_workflow;
use serde_json::json;

/// Copy a workflow into the project under a new name, as a start for your own.
#[derive(Args)]
pub(crate) struct New {
    /// Name of the copy: letters, digits, `-` and `_`.
    name: String,
    /// Workflow to copy: a name or a folder.
    #[arg(long, value_name = "NAME|FOLDER", default_value = "speckit")]
    from: String,
}

impl New {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let from = find_workflow(place, Some(&project), &self.from)?;
        let folder = copy_workflow(&project, &from, &self.name)?;
        let path = folder.display().to_string();
        let called = if is_verb(&self.name) { path.as_str() } else { &self.name };
        let made = json!({ "name": self.name, "path": path, "from": from.name });
        place.screen.data(&made, |_| {
            format!(
                "{GREEN}created{GREEN:#} {path}, a copy of {}\n  \
                 {DIM}change{DIM:#}  {path}/workflow.toml\n  \
                 {DIM}then{DIM:#}    regatta workflow check {name}\n          \
                 regatta workflow graph {name}\n          \
                 regatta run {called} --prd FILE\n",
                from.name,
                name = self.name
            )
        });
        Ok(Exit::Done)
    }
}
