//! `regatta up`: runs the engine in the foreground.

use super::carry::interruption;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::screen::{BOLD, CYAN, DIM, YELLOW, clean};
use clap::Args;
use regatta_engine::core::{Problem, TaskId, WaitsFor};
use regatta_engine::{Engine, Error, Journal, Project, Stop, find_foreign_files, list_tasks};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// How long it looks for events before it looks whether it was interrupted.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Runs the project's engine until it is interrupted.
///
/// It performs what commands ask for, starts queued tasks when a place is free, and finishes what a crash left
/// undone. One engine works on a project at a time.
#[derive(Args)]
pub(crate) struct Up {}

impl Up {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let explain = |error: regatta_engine::Error| error.explain();
        let project = Arc::new(place.open().await?);
        let interrupt = interruption();
        let mut journal = Journal::at_end(&project).await.map_err(explain)?;
        let engine = Engine::start(Arc::clone(&project)).await.map_err(explain)?;
        let root = project.root().display();
        place.screen.say(&format!("{BOLD}engine up{BOLD:#} for {root} {DIM}(stop with Ctrl-C){DIM:#}"));
        for path in find_foreign_files(&project).await.map_err(explain)? {
            let shown = path.display();
            place.screen.say(&format!("{YELLOW}left alone{YELLOW:#}: {shown} is of no task of this project"));
        }
        let progress = Progress::new(place.screen, "waiting for commands");
        let mut reminder = Reminder::default();
        while !engine.is_over() && !interrupt.is_cancelled() {
            reminder.look(&project, &progress).await.map_err(explain)?;
            let entries = tokio::select! {
                () = interrupt.cancelled() => break,
                entries = journal.wait(LOOK_EVERY) => entries.map_err(explain)?,
            };
            entries.iter().for_each(|entry| progress.show(entry));
        }
        progress.print("stopping; what is under way goes on with the next start");
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
