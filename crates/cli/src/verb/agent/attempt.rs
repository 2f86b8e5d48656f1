//! `regatta agent try`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::screen::{BOLD, DIM, clean};
use crate::verb::follow::{interruption, problem_of};
use crate::verb::task::show;
use clap::Args;
use regatta_engine::core::{AgentId, Code, Problem, TaskId};
use regatta_engine::{Error, Project, Supervisor, begin_trial, create_trial, find_reach};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Run an agent on a one-line task in a scratch repository and show the result
///
/// The scratch repository uses your config and is kept, so that you can inspect it.
#[derive(Args)]
pub(crate) struct Try {
    /// Agent name in the config.
    #[arg(value_name = "ID")]
    agent: AgentId,
    /// Folder for the repository [default: a new temporary folder].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Try {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let folder = self.folder()?;
        let scratch = create_trial(&project, &folder, &self.agent).await.map_err(explain)?;
        let scratch = Arc::new(scratch);
        let where_to = scratch.root().display();
        place.screen.say(&format!("{BOLD}trying {}{BOLD:#} in {where_to}", self.agent));
        if let Some(reach) = find_reach(&scratch, &self.agent).await {
            place.screen.say(&format!("{DIM}{}{DIM:#}", clean(&reach.describe())));
        }
        let task = play(place, &scratch, self.agent).await?;
        let transcript = transcript_of(&scratch, task);
        place.screen.say(&format!("{DIM}its output is in {}{DIM:#}", transcript.display()));
        show::print(place, &scratch, task).await
    }

    fn folder(&self) -> Result<PathBuf, Problem> {
        if let Some(folder) = &self.dir {
            return Ok(folder.clone());
        }
        let made = tempfile::Builder::new().prefix("regatta-try-").tempdir();
        made.map(tempfile::TempDir::keep).map_err(|error| {
            let next = "choose a folder with `--dir DIR`";
            Problem::new(Code::IoFailed, "no folder was created", error.to_string(), next)
        })
    }
}

async fn play(place: &Place, scratch: &Arc<Project>, agent: AgentId) -> Result<TaskId, Problem> {
    let interrupt = interruption();
    let mut supervisor =
        Supervisor::take_everything(Arc::clone(scratch), interrupt).await.map_err(explain)?;
    let progress = Progress::new(place.screen, "a one-line task");
    let played = async {
        let task = begin_trial(scratch, &crate::caller::caller(None), agent.clone()).await?;
        supervisor.rest(task, &mut |update| progress.hear(update)).await
    }
    .await;
    drop(progress);
    let released = supervisor.release().await;
    let followed = played.map_err(explain)?;
    released.map_err(explain)?;
    match followed.task.error {
        Some(failure) => {
            let next = advise(&agent, &transcript_of(scratch, followed.task.id));
            Err(Problem { next, ..problem_of(failure) })
        }
        None => Ok(followed.task.id),
    }
}

/// What is to be done about a task that failed is here said of the agent: the task is nobody's.
fn advise(agent: &AgentId, transcript: &Path) -> String {
    let fix = format!("fix `[agents.{agent}]` in .regatta/config.toml, then `regatta agent try {agent}`");
    if transcript.exists() { format!("read {}; {fix}", transcript.display()) } else { fix }
}

fn transcript_of(scratch: &Project, task: TaskId) -> PathBuf {
    scratch.transcript(task, 1)
}

fn explain(error: Error) -> Problem {
    error.explain()
}
