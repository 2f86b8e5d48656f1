//! Carrying a task command to its end, or just giving it.

use crate::arguments::Place;
use crate::describe_run::count;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::screen::{DIM, Screen, YELLOW};
use clap::Args;
use regatta_engine::core::run::{Hold, Run};
use regatta_engine::core::{Failure, Problem, TaskId};
use regatta_engine::orders::{Given, Giver};
use regatta_engine::{Error, Helm, Project};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// The options that all task commands share.
#[derive(Args)]
pub(crate) struct Manner {
    /// Returns once the command is in the log, and leaves the rest to an engine.
    #[arg(long)]
    no_wait: bool,
    /// Gives the command an id: given twice, it is carried out once and answered the same.
    #[arg(long, value_name = "UUID")]
    command_id: Option<Uuid>,
}

/// When a command is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// After what an earlier command, or a crash, left to be done.
    WhenSettled,
    /// At once, because it may be meant to end what is being done.
    AtOnce,
}

impl Manner {
    pub(crate) fn giver(&self) -> Giver {
        crate::identity::giver(self.command_id)
    }

    /// Gives the command, waits for what it sets off, and shows the task.
    pub(crate) async fn carry_out(
        &self,
        place: &Place,
        task: TaskId,
        title: &str,
        begin: Begin,
        order: impl AsyncFnOnce(&Project, &Giver) -> Result<Given, Error>,
    ) -> Result<Exit, Problem> {
        let project = Arc::new(place.open().await?);
        if self.no_wait {
            order(&project, &self.giver()).await.map_err(|error| error.explain())?;
        } else {
            self.wait(place.screen, &project, task, title, begin, order).await?;
        }
        super::task::show::print(place, &project, task).await
    }

    async fn wait(
        &self,
        screen: Screen,
        project: &Arc<Project>,
        task: TaskId,
        title: &str,
        begin: Begin,
        order: impl AsyncFnOnce(&Project, &Giver) -> Result<Given, Error>,
    ) -> Result<(), Problem> {
        let interrupt = interruption();
        let mut helm =
            Helm::take(Arc::clone(project), interrupt.clone()).await.map_err(|error| error.explain())?;
        let progress = Progress::new(screen, title);
        let result = async {
            if begin == Begin::WhenSettled {
                helm.settle(task).await?;
            }
            order(project, &self.giver()).await?;
            helm.rest(task, &mut |entry| {
                if entry.task() == Some(task) {
                    progress.show(entry);
                }
            })
            .await
        }
        .await;
        drop(progress);
        let stay = |number: usize| {
            let others = count(number, "other effect", "other effects");
            screen.say(&format!(
                "{YELLOW}staying on{YELLOW:#} for {others} that this process performs {DIM}(Ctrl-C \
                 hands them to the next engine){DIM:#}"
            ));
        };
        let released = helm.release(stay).await;
        let carried = result.map_err(|error| error.explain())?;
        released.map_err(|error| error.explain())?;
        if let Some(run) = &carried.run {
            say_how_it_goes_on(screen, run);
        }
        let held = carried.run.and_then(|run| match run.hold {
            Some(Hold::Error { error }) => Some(error),
            _ => None,
        });
        match carried.task.error.or(held) {
            Some(failure) => Err(problem_of(failure)),
            None => Ok(()),
        }
    }
}

/// Says what a run waits for that has the task in its hands: nothing happens to the task until then.
fn say_how_it_goes_on(screen: Screen, run: &Run) {
    let id = run.id;
    let text = match &run.hold {
        Some(Hold::Paused) => format!("is paused; `regatta run --resume {id}` goes on"),
        Some(Hold::Error { .. } | Hold::Stopping { .. }) => return,
        None => format!("waits for an answer; see `regatta run show {id}`"),
    };
    screen.say(&format!("{YELLOW}run {id}{YELLOW:#} {text}"));
}

/// Returns the error that a task shows, as the problem of the command that led to it.
pub(crate) fn problem_of(failure: Failure) -> Problem {
    let (what, why) = match failure.message.split_once(": ") {
        Some((what, why)) => (what.to_owned(), vec![why.to_owned()]),
        None => (failure.message, Vec::new()),
    };
    Problem { code: failure.code, what, why, next: failure.hint, details: failure.details }
}

/// Returns a token that is cancelled when the process is asked to end.
pub(crate) fn interruption() -> CancellationToken {
    use tokio::signal::unix::{SignalKind, signal};
    let token = CancellationToken::new();
    let cancelled = token.clone();
    // Taken over here and not in the task, so that a signal at the very start is not missed.
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = kinds.map(signal) else { return token };
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        cancelled.cancel();
    });
    token
}
