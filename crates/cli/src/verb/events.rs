//! `regatta events`.

use super::follow::interruption;
use crate::arguments::Place;
use crate::describe::log_line;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{Entry, EventFilter, Journal};
use std::time::Duration;

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Show the event log
///
/// With `--json` it prints one array, or with `--follow` one JSON object per line.
#[derive(Args)]
pub(crate) struct Events {
    /// Keep printing new events until interrupted.
    #[arg(long, short)]
    follow: bool,
    /// First event to show.
    #[arg(long, value_name = "SEQ", default_value_t = 1)]
    from: u64,
    /// Show only events of this task.
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
    /// Show only events of this type, such as `task:assigned`, or with this prefix, such as `task:`.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
}

impl Events {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let filter = EventFilter { task: self.task, run: None, kind: self.kind.clone() };
        let filter = filter.checked()?;
        let project = place.open().await?;
        let mut journal = Journal::after(&project, self.from.saturating_sub(1));
        if place.screen.is_json() && !self.follow {
            let mut all = Vec::new();
            while let Some(page) = next_page(&mut journal).await? {
                all.extend(page.iter().filter(|entry| filter.admits(entry)).map(Entry::to_json));
            }
            place.screen.data(&all, |_| String::new());
            return Ok(Exit::Done);
        }
        while let Some(page) = next_page(&mut journal).await? {
            if !print(place, &filter, &page) {
                return Ok(Exit::Done);
            }
        }
        if self.follow {
            follow(place, &filter, &mut journal).await?;
        }
        Ok(Exit::Done)
    }
}

async fn follow(place: &Place, filter: &EventFilter, journal: &mut Journal<'_>) -> Result<(), Problem> {
    let interrupt = interruption();
    loop {
        let page = tokio::select! {
            () = interrupt.cancelled() => return Ok(()),
            page = journal.wait(LOOK_EVERY) => page?,
        };
        if !print(place, filter, &page) {
            return Ok(());
        }
    }
}

/// Prints the events that are asked for; `false` when nobody reads any more.
fn print(place: &Place, filter: &EventFilter, entries: &[Entry]) -> bool {
    let mut asked = entries.iter().filter(|entry| filter.admits(entry));
    asked.all(|entry| place.screen.line(&entry.to_json(), |_| log_line(entry)))
}

async fn next_page(journal: &mut Journal<'_>) -> Result<Option<Vec<Entry>>, Problem> {
    let page = journal.read().await?;
    Ok(Some(page).filter(|page| !page.is_empty()))
}
