//! `regatta run --record` and `--replay`: runs on a tape.

use super::foreground::{Decides, Foreground};
use super::show::print_rested;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{GREEN, RED, clean};
use clap::Args;
use regatta_engine::core::{Problem, RunId};
use regatta_engine::runs::{self, AgentRoles, NewRun, Tape, TapeHead};
use regatta_engine::{Error, Project};
use std::path::PathBuf;
use std::sync::Arc;

/// The options that say whether a run is recorded, or played from a record.
#[derive(Args)]
pub(super) struct TapeOptions {
    /// Keeps what each role is told, returns and edits in a new folder.
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Plays a recorded run with no agent, and ends with 1 if it goes otherwise than it was recorded.
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,
}

/// A tape that is being recorded or played.
pub(super) enum Reel {
    Record(Tape),
    Replay(Tape, TapeHead),
}

impl TapeOptions {
    pub(super) fn open(&self, place: &Place) -> Result<Option<Reel>, Problem> {
        let folder = place.folder()?;
        let opened = match (&self.record, &self.replay) {
            (Some(path), _) => Tape::create(&folder.join(path)).map(|tape| Some(Reel::Record(tape))),
            (None, Some(path)) => Tape::open(&folder.join(path)).and_then(|tape| {
                let head = tape.head()?;
                Ok(Some(Reel::Replay(tape, head)))
            }),
            (None, None) => Ok(None),
        };
        opened.map_err(|error| error.explain())
    }
}

impl Reel {
    /// Returns what the recorded run was given, if one is played.
    pub(super) fn head(&self) -> Option<&TapeHead> {
        match self {
            Reel::Record(_) => None,
            Reel::Replay(_, head) => Some(head),
        }
    }

    /// Runs a workflow on the tape. It needs an engine of its own, since another knows nothing of the tape.
    pub(super) async fn run(
        self,
        place: &Place,
        project: Arc<Project>,
        new: NewRun,
    ) -> Result<Exit, Problem> {
        let roles = Arc::new(match &self {
            Reel::Record(tape) => AgentRoles::recording(tape.clone()),
            Reel::Replay(tape, _) => AgentRoles::replaying(tape.clone()),
        });
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
        foreground.follow(run).await?;
        match self {
            Reel::Record(tape) => {
                tape.close(&project, run).await.map_err(|error| error.explain())?;
                print_rested(place, &project, run).await
            }
            Reel::Replay(tape, _) => {
                let found = compare(&project, &tape, &roles, run).await.map_err(|error| error.explain())?;
                place.screen.data(&found, |lines| render(lines));
                Ok(if found.is_empty() { Exit::Done } else { Exit::Failed })
            }
        }
    }
}

async fn compare(
    project: &Project,
    tape: &Tape,
    roles: &AgentRoles,
    run: RunId,
) -> Result<Vec<String>, Error> {
    let mut lines = roles.differences();
    lines.extend(tape.compare(project, run).await?);
    Ok(lines)
}

fn render(lines: &[String]) -> String {
    if lines.is_empty() {
        return format!("{GREEN}the same{GREEN:#} as recorded\n");
    }
    lines.iter().map(|line| format!("{RED}differs{RED:#}: {}\n", clean(line))).collect()
}
