//! Carrying an order about a run to its end, or just giving it.

use super::foreground::{Decides, Foreground};
use super::recording::Replayed;
use super::show::{print_brief, print_rested};
use crate::arguments::Place;
use crate::caller::Repeat;
use crate::exit::Exit;
use crate::verb::follow::WaitOptions;
use regatta_engine::core::{Problem, RunId};
use regatta_engine::orders::Caller;
use regatta_engine::{Error, Project};
use std::sync::Arc;

impl WaitOptions {
    /// Adds what is given in another place.
    pub(super) fn or(self, other: WaitOptions) -> WaitOptions {
        let command_id = other.repeat.command_id.or(self.repeat.command_id);
        WaitOptions { no_wait: self.no_wait || other.no_wait, repeat: Repeat { command_id } }
    }

    /// Gives the order, follows the run that it is about or begins until that rests, and shows it.
    pub(super) async fn carry_out_run(
        self,
        place: &Place,
        project: Arc<Project>,
        run: Option<RunId>,
        title: &str,
        order: impl AsyncFnOnce(&Project, &Caller) -> Result<RunId, Error>,
    ) -> Result<Exit, Problem> {
        let played = match run.filter(|_| !self.no_wait) {
            Some(run) => Replayed::of(&project, run).await?,
            None => None,
        };
        let Some(played) = played else {
            let run = self.give(place, &project, run, title, order).await?;
            return print_rested(place, &project, run).await;
        };
        let foreground = played.take(place, &project, title).await?;
        let run = follow(&project, foreground, &self.caller(), order).await?;
        played.print(place, &project, run).await
    }

    /// Gives the order to end a run, waits for that, and shows it; that it ended is no error.
    pub(super) async fn carry_to_end(
        self,
        place: &Place,
        project: Arc<Project>,
        run: Option<RunId>,
        title: &str,
        order: impl AsyncFnOnce(&Project, &Caller) -> Result<RunId, Error>,
    ) -> Result<Exit, Problem> {
        let run = self.give(place, &project, run, title, order).await?;
        print_brief(place, &project, run).await
    }

    async fn give(
        self,
        place: &Place,
        project: &Arc<Project>,
        run: Option<RunId>,
        title: &str,
        order: impl AsyncFnOnce(&Project, &Caller) -> Result<RunId, Error>,
    ) -> Result<RunId, Problem> {
        if self.no_wait {
            return order(project, &self.caller()).await.map_err(|error| error.explain());
        }
        // Before the order, so that everything that follows it is seen.
        let decides = Decides::at(place.screen);
        let foreground = Foreground::take(project, place.screen, decides, title, run).await?;
        follow(project, foreground, &self.caller(), order).await
    }
}

/// Gives the order, and follows the run until it rests.
async fn follow(
    project: &Project,
    foreground: Foreground,
    caller: &Caller,
    order: impl AsyncFnOnce(&Project, &Caller) -> Result<RunId, Error>,
) -> Result<RunId, Problem> {
    match order(project, caller).await {
        Ok(run) => foreground.follow(run).await.map(|run| run.id),
        Err(error) => {
            foreground.release().await?;
            Err(error.explain())
        }
    }
}
