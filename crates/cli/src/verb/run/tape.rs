//! `regatta run --record` and `--replay`: runs on a tape.

use super::foreground::{Decides, Foreground};
use super::show::print_rested;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{GREEN, RED, clean};
use clap::Args;
use regatta_engine::core::run::Taping;
use regatta_engine::core::{Code, Problem, RunId};
use regatta_engine::runs::{self, AgentRoles, NewRun, Tape, TapeHead};
use regatta_engine::{Error, Project};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The options that say whether a run is recorded, or played from a record.
#[derive(Args)]
pub(super) struct TapeOptions {
    /// Keeps what each role is told, returns and edits in a new folder.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["replay", "no_wait"])]
    record: Option<PathBuf>,
    /// Plays a recorded run with no agent, and ends with 1 if it goes otherwise than it was recorded.
    #[arg(long, value_name = "DIR", conflicts_with = "no_wait")]
    replay: Option<PathBuf>,
}

/// A tape that is being recorded or played.
pub(super) enum Reel {
    Record(Taping),
    Replay(Taping, Tape, Box<TapeHead>),
}

impl TapeOptions {
    pub(super) fn open(&self, place: &Place) -> Result<Option<Reel>, Problem> {
        let Some(path) = self.record.as_ref().or(self.replay.as_ref()) else { return Ok(None) };
        let path = place.folder()?.join(path);
        if self.record.is_some() {
            Tape::create(&path).map_err(|error| error.explain())?;
            return Ok(Some(Reel::Record(Taping::Record(name_of(&path)?))));
        }
        let tape = Tape::open(&path).map_err(|error| error.explain())?;
        let head = tape.head().map_err(|error| error.explain())?;
        Ok(Some(Reel::Replay(Taping::Replay(name_of(&path)?), tape, Box::new(head))))
    }
}

impl Reel {
    /// Returns what the recorded run was given, if one is played.
    pub(super) fn head(&self) -> Option<&TapeHead> {
        match self {
            Reel::Record(_) => None,
            Reel::Replay(_, _, head) => Some(head),
        }
    }

    /// Runs a workflow on the tape. It needs an engine of its own, which knows what the roles were told.
    pub(super) async fn run(
        self,
        place: &Place,
        project: Arc<Project>,
        new: NewRun,
    ) -> Result<Exit, Problem> {
        let roles = Arc::new(AgentRoles::default());
        let (taping, answers) = match &self {
            Reel::Record(taping) => (taping, Vec::new()),
            Reel::Replay(taping, _, head) => (taping, head.answers.clone()),
        };
        let new = NewRun { tape: Some(taping.clone()), ..new };
        let decides = Decides::at(place.screen);
        let title = format!("{} begins", new.workflow.name);
        let foreground =
            Foreground::take_alone(&project, Arc::clone(&roles) as _, place.screen, decides, &title).await?;
        let run = match runs::create(&project, &crate::identity::giver(None), new).await {
            Ok(run) => run,
            Err(error) => {
                foreground.release().await?;
                return Err(error.explain());
            }
        };
        foreground.answered_by(answers).follow(run).await?;
        match self {
            Reel::Record(_) => print_rested(place, &project, run).await,
            Reel::Replay(_, tape, _) => {
                let found = compare(&project, &tape, &roles, run).await.map_err(|error| error.explain())?;
                place.screen.data(&found, |lines| render(lines));
                Ok(if found.is_empty() { Exit::Done } else { Exit::Failed })
            }
        }
    }
}

/// Returns the name of a folder as the log keeps it, whole.
fn name_of(path: &Path) -> Result<String, Problem> {
    let whole = path.canonicalize().ok();
    whole.as_deref().and_then(Path::to_str).map(str::to_owned).ok_or_else(|| {
        Problem::new(
            Code::ValidationError,
            format!("{} cannot be a tape", path.display()),
            "the name of its folder is not text",
            "use a folder whose name is UTF-8",
        )
    })
}

async fn compare(
    project: &Project,
    tape: &Tape,
    roles: &AgentRoles,
    run: RunId,
) -> Result<Vec<String>, Error> {
    let found = tape.compare(project, run, roles.differences()).await?;
    Ok(found.iter().map(ToString::to_string).collect())
}

fn render(lines: &[String]) -> String {
    if lines.is_empty() {
        return format!("{GREEN}the same{GREEN:#} as recorded\n");
    }
    lines.iter().map(|line| format!("{RED}differs{RED:#}: {}\n", clean(line))).collect()
}
