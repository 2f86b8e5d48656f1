//! `regatta events`.

use super::carry::interruption;
use super::task::task_id;
use crate::arguments::Place;
use crate::describe::log_line;
use crate::exit::Exit;
use clap::Args;
use regatta_engine::core::{FieldFault, Happening, Problem, TaskId, find_nearest};
use regatta_engine::{Entry, Journal, orders};
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
    #[arg(long, value_name = "ID", value_parser = task_id)]
    task: Option<TaskId>,
    /// Show only events of this type, such as `task:assigned`, or with this prefix, such as `task:`.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
}

impl Events {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        check_kind(self.kind.as_deref())?;
        let project = place.open().await?;
        let mut journal = Journal::after(&project, self.from.saturating_sub(1));
        if place.screen.is_json() && !self.follow {
            let mut all = Vec::new();
            while let Some(page) = next_page(&mut journal).await? {
                all.extend(page.iter().filter(|entry| self.admits(entry)).map(Entry::to_json));
            }
            place.screen.data(&all, |_| String::new());
            return Ok(Exit::Done);
        }
        while let Some(page) = next_page(&mut journal).await? {
            if !self.print(place, &page) {
                return Ok(Exit::Done);
            }
        }
        if self.follow {
            self.follow(place, &mut journal).await?;
        }
        Ok(Exit::Done)
    }

    async fn follow(&self, place: &Place, journal: &mut Journal<'_>) -> Result<(), Problem> {
        let interrupt = interruption();
        loop {
            let page = tokio::select! {
                () = interrupt.cancelled() => return Ok(()),
                page = journal.wait(LOOK_EVERY) => page.map_err(|error| error.explain())?,
            };
            if !self.print(place, &page) {
                return Ok(());
            }
        }
    }

    fn admits(&self, entry: &Entry) -> bool {
        let is_kind = |kind: &String| {
            let own = entry.event.kind();
            own == kind || (kind.ends_with(':') && own.starts_with(kind.as_str()))
        };
        self.task.is_none_or(|task| entry.task() == Some(task)) && self.kind.as_ref().is_none_or(is_kind)
    }

    /// Prints the events that are asked for; `false` when nobody reads any more.
    fn print(&self, place: &Place, entries: &[Entry]) -> bool {
        let mut asked = entries.iter().filter(|entry| self.admits(entry));
        asked.all(|entry| place.screen.line(&entry.to_json(), |_| log_line(entry)))
    }
}

/// A type that no event has would show nothing, and nobody would know why.
fn check_kind(kind: Option<&str>) -> Result<(), Problem> {
    let Some(kind) = kind else { return Ok(()) };
    let is_known = |known: &str| known == kind || (kind.ends_with(':') && known.starts_with(kind));
    if Happening::kinds().any(is_known) {
        return Ok(());
    }
    let guess = find_nearest(kind, Happening::kinds());
    let guess = guess.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
    let problem = format!("names `{kind}`, which no event is{guess}");
    Err(orders::invalid(vec![FieldFault { field: "type", problem }]).explain())
}

async fn next_page(journal: &mut Journal<'_>) -> Result<Option<Vec<Entry>>, Problem> {
    let page = journal.read().await.map_err(|error| error.explain())?;
    Ok(Some(page).filter(|page| !page.is_empty()))
}
