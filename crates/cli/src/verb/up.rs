//! `regatta up`: runs the engine in the foreground.

use super::carry::interruption;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::screen::{BOLD, CYAN, DIM, YELLOW, clean};
use crate::walls::Walls;
use clap::Args;
use regatta_engine::core::{Problem, TaskId, WaitsFor};
use regatta_engine::{Engine, Error, Journal, Project, Stop, find_foreign_files, list_tasks};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio_util::sync::CancellationToken;

/// How long it looks for events before it looks whether it was interrupted.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How often it looks whether the engine of a command has ended: more often than the commands that wait do.
const TURN_EVERY: Duration = Duration::from_millis(50);

/// Run the project's engine until interrupted
///
/// The engine carries out commands, starts queued tasks when there is room, and finishes what a crash left undone. While it
/// runs, other commands only watch. If a command is already carrying out its own task, the engine waits for it. It prints
/// a line for each change of a task or run.
#[derive(Args)]
pub(crate) struct Up {
    /// Print errors only
    #[arg(long, short)]
    quiet: bool,
}

impl Up {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let explain = |error: regatta_engine::Error| error.explain();
        let project = Arc::new(place.open().await?);
        let interrupt = interruption();
        let mut journal = Journal::at_end(&project).await.map_err(explain)?;
        let Some(engine) = start(place, &project, &interrupt).await? else { return Ok(Exit::Done) };
        let root = project.root().display();
        let screen = if self.quiet { place.screen.quiet() } else { place.screen };
        screen.say(&format!("{BOLD}engine up{BOLD:#} for {root} {DIM}(stop with Ctrl-C){DIM:#}"));
        for path in find_foreign_files(&project).await.map_err(explain)? {
            let shown = path.display();
            screen.say(&format!("{YELLOW}left alone{YELLOW:#}: {shown} belongs to no task of this project"));
        }
        let walls = Walls::find(&project).await;
        let progress = Progress::new(screen, "waiting for commands");
        let mut reminder = Reminder::default();
        while !engine.is_over() && !interrupt.is_cancelled() {
            reminder.look(&project, &progress).await.map_err(explain)?;
            let entries = tokio::select! {
                () = interrupt.cancelled() => break,
                entries = journal.wait(LOOK_EVERY) => entries.map_err(explain)?,
            };
            for entry in &entries {
                progress.show(entry);
                walls.warn(entry).iter().for_each(|line| progress.print(line));
            }
        }
        progress.print("stopping; unfinished work continues with the next start");
        drop(progress);
        engine.stop(Stop::Now).await.map_err(explain)?;
        Ok(Exit::Done)
    }
}

/// How long after a look the next one follows, if no deadline comes before: a list costs something, a deadline is days.
const REMIND_EVERY: Duration = Duration::from_secs(600);

/// Says once of each task that it waits for a person longer than it should.
#[derive(Default)]
struct Reminder {
    said: BTreeSet<TaskId>,
    due: Option<Instant>,
}

impl Reminder {
    async fn look(&mut self, project: &Project, progress: &Progress) -> Result<(), Error> {
        let now = Instant::now();
        if self.due.is_some_and(|due| now < due) {
            return Ok(());
        }
        let tasks = list_tasks(project).await?;
        let mut overdue = BTreeSet::new();
        for task in tasks.iter().filter(|task| task.overdue) {
            overdue.insert(task.id);
            if !self.said.contains(&task.id) {
                let (id, title) = (task.id, clean(&task.title));
                progress.print(&format!(
                    "{CYAN}#{id:<3}{CYAN:#} {YELLOW}is overdue{YELLOW:#}: {title} {DIM}({}){DIM:#}",
                    clean(&task.next)
                ));
            }
        }
        self.said = overdue;
        let waits = tasks.iter().filter(|task| task.waits_for == WaitsFor::You && !task.overdue);
        let next = waits
            .filter_map(|task| task.deadline)
            .min()
            .and_then(|deadline| SystemTime::from(deadline).duration_since(SystemTime::now()).ok());
        let moment = Duration::from_millis(1);
        self.due = Some(now + next.map_or(REMIND_EVERY, |next| (next + moment).min(REMIND_EVERY)));
        Ok(())
    }
}

/// Starts the engine, after the command that is at work now, if there is one; nothing when that wait is interrupted.
async fn start(
    place: &Place,
    project: &Arc<Project>,
    interrupt: &CancellationToken,
) -> Result<Option<Engine>, Problem> {
    let mut told_of = None;
    loop {
        let holder = match Engine::start(Arc::clone(project)).await {
            Ok(engine) => return Ok(Some(engine)),
            Err(Error::EngineAlreadyRunning(holder)) if holder.own.is_some() => holder,
            Err(error) => return Err(error.explain()),
        };
        if let (Some(own), true) = (&holder.own, told_of != Some(holder.pid)) {
            place.screen.say(&format!(
                "{YELLOW}waiting{YELLOW:#} for `regatta {}` (process {} on {}), which works on {own}; the engine starts \
                 when that is done {DIM}(`kill -INT {}` ends it now, and the engine continues its work){DIM:#}",
                clean(&holder.command), holder.pid, holder.host, holder.pid
            ));
            told_of = Some(holder.pid);
        }
        tokio::select! {
            () = interrupt.cancelled() => return Ok(None),
            () = tokio::time::sleep(TURN_EVERY) => {}
        }
    }
}
