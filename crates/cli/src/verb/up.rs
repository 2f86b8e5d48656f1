//! `regatta up`: runs the engine in the foreground.

use super::carry::interruption;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::screen::{BOLD, DIM, YELLOW};
use clap::Args;
use regatta_engine::core::Problem;
use regatta_engine::{Engine, Journal, Stop, find_foreign_files};
use std::sync::Arc;
use std::time::Duration;

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
        while !engine.is_over() && !interrupt.is_cancelled() {
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
