//! `regatta events`.

use super::carry::interruption;
use crate::arguments::Place;
use crate::describe::log_line;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::Problem;
use regatta_engine::{Entry, Journal};
use std::time::Duration;

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Shows the log.
///
/// With `--json` one array, or with `--follow` one JSON object per line.
#[derive(Args)]
pub(crate) struct Events {
    /// Goes on with what happens from now, until it is interrupted.
    #[arg(long, short)]
    follow: bool,
    /// Begins with the event of this number.
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    from: u64,
}

impl Events {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let mut journal = Journal::after(&project, self.from.saturating_sub(1));
        if place.screen.is_json() && !self.follow {
            let mut all = Vec::new();
            while let Some(page) = next_page(&mut journal).await? {
                all.extend(page.iter().map(Entry::to_json));
            }
            place.screen.data(&all, |_| String::new());
            return Ok(Exit::Done);
        }
        while let Some(page) = next_page(&mut journal).await? {
            if !print(place, &page) {
                return Ok(Exit::Done);
            }
        }
        if self.follow {
            follow(place, &mut journal).await?;
        }
        Ok(Exit::Done)
    }
}

async fn follow(place: &Place, journal: &mut Journal<'_>) -> Result<(), Problem> {
    let interrupt = interruption();
    loop {
        let page = tokio::select! {
            () = interrupt.cancelled() => return Ok(()),
            page = journal.wait(LOOK_EVERY) => page.map_err(|error| error.explain())?,
        };
        if !print(place, &page) {
            return Ok(());
        }
    }
}

async fn next_page(journal: &mut Journal<'_>) -> Result<Option<Vec<Entry>>, Problem> {
    let page = journal.read().await.map_err(|error| error.explain())?;
    Ok(Some(page).filter(|page| !page.is_empty()))
}

/// Prints the events; `false` when nobody reads any more.
fn print(place: &Place, entries: &[Entry]) -> bool {
    entries.iter().all(|entry| place.screen.line(&entry.to_json(), |_| log_line(entry)))
}
