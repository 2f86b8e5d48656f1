//! `regatta run --record` and `--replay`: runs on a recording.

use super::foreground::{Decides, Foreground};
use super::show::print_rested;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{GREEN, RED, clean};
use clap::Args;
use regatta_engine::core::run::RecordingMode;
use regatta_engine::core::{Code, Problem, RunId};
use regatta_engine::runs::{self, AgentRoles, NewRun, Recording, RecordingHead};
use regatta_engine::{Error, Project};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The options that say whether a run is recorded, or played from a record.
#[derive(Args)]
pub(super) struct RecordingOptions {
    /// Record what each role is given, returns and edits, in a new folder.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["replay", "no_wait", "command_id"])]
    record: Option<PathBuf>,
    /// Replay a recorded run without agents; exit with 1 if it differs from the recording.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["no_wait", "command_id"])]
    replay: Option<PathBuf>,
}

/// A recording that is being recorded or played.
pub(super) enum ActiveRecording {
    /// The folder, which is made when everything else is in order.
    Record(PathBuf),
    Replay(RecordingMode, Box<Replayed>),
}

/// A recorded run that is replayed, and the collector of the prompts that its roles get now.
pub(super) struct Replayed {
    recording: Recording,
    head: RecordingHead,
    roles: Arc<AgentRoles>,
}

impl RecordingOptions {
    pub(super) fn open(&self, place: &Place) -> Result<Option<ActiveRecording>, Problem> {
        let Some(path) = self.record.as_ref().or(self.replay.as_ref()) else { return Ok(None) };
        let path = place.folder()?.join(path);
        if self.record.is_some() {
            Recording::check_free(&path)?;
            return Ok(Some(ActiveRecording::Record(path)));
        }
        let played = Replayed::open(&path)?;
        Ok(Some(ActiveRecording::Replay(RecordingMode::Replay(name_of(&path)?), Box::new(played))))
    }
}

impl ActiveRecording {
    /// Returns what the recorded run was given, if one is played.
    pub(super) fn head(&self) -> Option<&RecordingHead> {
        match self {
            ActiveRecording::Record(_) => None,
            ActiveRecording::Replay(_, played) => Some(&played.head),
        }
    }

    /// Runs a workflow on the recording. It needs an engine of its own, which knows what the roles were told.
    pub(super) async fn run(
        self,
        place: &Place,
        project: Arc<Project>,
        new: NewRun,
    ) -> Result<Exit, Problem> {
        let title = format!("{} begins", new.workflow.name);
        let (roles, recorded) = match &self {
            ActiveRecording::Record(_) => (Arc::default(), None),
            ActiveRecording::Replay(_, played) => (Arc::clone(&played.roles), Some(played.head.clone())),
        };
        let decides = Decides::at(place.screen);
        let foreground = Foreground::take_alone(&project, roles as _, place.screen, decides, &title).await?;
        let run = match self.begin(&project, new).await {
            Ok(run) => run,
            Err(problem) => {
                foreground.release().await?;
                return Err(problem);
            }
        };
        foreground.answered_by(recorded).follow(run).await?;
        match self {
            ActiveRecording::Record(_) => print_rested(place, &project, run).await,
            ActiveRecording::Replay(_, played) => played.print(place, &project, run).await,
        }
    }

    async fn begin(&self, project: &Project, new: NewRun) -> Result<RunId, Problem> {
        let caller = crate::caller::caller(None);
        match self {
            ActiveRecording::Replay(recording_mode, _) => {
                let new = NewRun { recording: Some(recording_mode.clone()), ..new };
                runs::create(project, &caller, new).await.map_err(|error| error.explain())
            }
            ActiveRecording::Record(path) => {
                let was_there = path.exists();
                Recording::create(path)?;
                let begun = async {
                    let new = NewRun { recording: Some(RecordingMode::Record(name_of(path)?)), ..new };
                    runs::create(project, &caller, new).await.map_err(|error| error.explain())
                };
                begun.await.inspect_err(|_| {
                    if !was_there {
                        // It is empty; that it stays there is no harm.
                        let _ = std::fs::remove_dir(path);
                    }
                })
            }
        }
    }
}

impl Replayed {
    fn open(folder: &Path) -> Result<Self, Error> {
        let recording = Recording::open(folder)?;
        let head = recording.head()?;
        Ok(Replayed { recording, head, roles: Arc::default() })
    }

    /// Opens the recording that a run is played from, if it is one that a person began.
    pub(super) async fn of(project: &Project, run: RunId) -> Result<Option<Self>, Problem> {
        let found = runs::get_run(project, run).await?;
        match (&found.recording, &found.parent) {
            (Some(RecordingMode::Replay(folder)), None) => {
                Replayed::open(Path::new(folder)).map(Some).map_err(|error| error.explain())
            }
            _ => Ok(None),
        }
    }

    /// Takes hold of the project, to continue the replay.
    pub(super) async fn take(
        &self,
        place: &Place,
        project: &Arc<Project>,
        title: &str,
    ) -> Result<Foreground, Problem> {
        let (roles, decides) = (Arc::clone(&self.roles) as _, Decides::at(place.screen));
        let foreground = Foreground::take_alone(project, roles, place.screen, decides, title).await?;
        Ok(foreground.answered_by(Some(self.head.clone())))
    }

    /// Says what went otherwise than recorded, and ends with 1 if something did.
    pub(super) async fn print(&self, place: &Place, project: &Project, run: RunId) -> Result<Exit, Problem> {
        let found = self.recording.compare(project, run, self.roles.differences()).await;
        let found = found?;
        let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
        place.screen.data(&lines, |lines| render(lines));
        Ok(if lines.is_empty() { Exit::Done } else { Exit::Failed })
    }
}

/// Returns the name of a folder as the log keeps it, whole.
fn name_of(path: &Path) -> Result<String, Problem> {
    let whole = path.canonicalize().ok();
    whole.as_deref().and_then(Path::to_str).map(str::to_owned).ok_or_else(|| {
        Problem::new(
            Code::ValidationError,
            format!("cannot record to {}", path.display()),
            "the folder's name is not UTF-8",
            "use a folder whose name is valid UTF-8",
        )
    })
}

fn render(lines: &[String]) -> String {
    if lines.is_empty() {
        return format!("{GREEN}the same{GREEN:#} as recorded\n");
    }
    lines.iter().map(|line| format!("{RED}differs{RED:#}: {}\n", clean(line))).collect()
}
