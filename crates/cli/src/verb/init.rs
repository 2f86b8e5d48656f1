//! `regatta init`: makes a project.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{BOLD, GREEN, YELLOW};
use clap::Args;
use regatta_engine::core::Problem;
use regatta_engine::{Journal, Project};

/// Create a project in this repository
///
/// If the repository already has a log, because only the config was deleted, the log is kept.
#[derive(Args)]
pub(crate) struct Init {}

impl Init {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = Project::init(place.folder()?).await?;
        let config = project.config_path().display().to_string();
        let root = project.root().display().to_string();
        let branch = project.config().default_branch.to_string();
        let events = Journal::at_end(&project).await?.position();
        let made =
            serde_json::json!({ "root": root, "config": config, "defaultBranch": branch, "events": events });
        place.screen.data(&made, |_| {
            format!(
                "{GREEN}created a project{GREEN:#} in {root}\n\n\
                 1. {BOLD}regatta agent detect{BOLD:#}, or name your agents in {config}\n\
                 2. {BOLD}regatta task add \"…\"{BOLD:#}\n\
                 3. {BOLD}regatta task assign 1 --agent NAME{BOLD:#}\n"
            )
        });
        if events > 0 {
            let log = project.log_path().display().to_string();
            place.screen.say(&format!(
                "{YELLOW}note{YELLOW:#}: the project's existing log is kept: {events} events in {log}"
            ));
        }
        let start = project.repository().find_branch(&project.config().default_branch).await;
        if matches!(start, Ok(None)) {
            place.screen.say(&format!(
                "{YELLOW}note{YELLOW:#}: the branch `{branch}` has no commit yet; make one before you assign a task"
            ));
        }
        Ok(Exit::Done)
    }
}
