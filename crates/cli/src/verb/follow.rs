//! Carrying a task command to its end, or just giving it.

use crate::arguments::Place;
use crate::caller::Repeat;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::screen::{DIM, Screen, YELLOW};
use crate::walls::Walls;
use clap::Args;
use regatta_engine::core::run::{Hold, Run};
use regatta_engine::core::{Failure, Problem, TaskId};
use regatta_engine::orders::{self, Caller, Given};
use regatta_engine::{Error, Followed, Project, Supervisor, Update};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The options of all commands after which a task or a run continues.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct WaitOptions {
    /// Return once the command is in the log; an engine does the rest.
    #[arg(long)]
    pub(super) no_wait: bool,
    #[command(flatten)]
    pub(super) repeat: Repeat,
}

/// When a command is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begin {
    /// After what an earlier command, or a crash, left to be done.
    WhenSettled,
    /// At once, because it may be meant to end what is being done.
    AtOnce,
}

impl WaitOptions {
    pub(crate) fn caller(&self) -> Caller {
        self.repeat.caller()
    }

    /// Tells whether the command has an id, which is for one task only.
    pub(crate) fn has_id(&self) -> bool {
        self.repeat.command_id.is_some()
    }

    /// Gives the command, waits for what it sets off, and shows the task.
    pub(crate) async fn carry_out(
        &self,
        place: &Place,
        task: TaskId,
        title: &str,
        begin: Begin,
        order: impl AsyncFnOnce(&Project, &Caller) -> Result<Given, Error>,
    ) -> Result<Exit, Problem> {
        let project = Arc::new(place.open().await?);
        if self.no_wait {
            order(&project, &self.caller()).await?;
        } else {
            let mut follow = Follow::take(place.screen, &project, title).await?;
            let given = match follow.until_ready(task, begin).await {
                Ok(()) => order(&project, &self.caller()).await.map(|_| ()),
                Err(error) => Err(error),
            };
            let taken: &[TaskId] = if given.is_ok() { &[task] } else { &[] };
            let followed = follow.until_rest(taken).await;
            given?;
            followed?.into_iter().try_for_each(|followed| judge(place.screen, followed))?;
        }
        super::task::show::print(place, &project, task).await
    }

    /// Gives the command for each task, and waits for what they set off; one that is refused does not stop the others.
    pub(crate) async fn carry_out_all(
        &self,
        place: &Place,
        project: &Arc<Project>,
        tasks: &[TaskId],
        title: &str,
        order: impl AsyncFn(&Project, &Caller, TaskId) -> Result<Given, Error>,
    ) -> Result<BTreeMap<TaskId, Result<(), Problem>>, Problem> {
        let begin = if self.no_wait { Begin::AtOnce } else { Begin::WhenSettled };
        let mut follow = Follow::take(place.screen, project, title).await?;
        let mut outcomes = BTreeMap::new();
        for task in tasks {
            let given = match follow.until_ready(*task, begin).await {
                Ok(()) => order(project, &self.caller(), *task).await.map(|_| ()),
                Err(error) => Err(error),
            };
            if let Err(error @ Error::WaitEnded { .. }) = given {
                follow.until_rest(&[]).await?;
                return Err(error.explain());
            }
            outcomes.insert(*task, given.map_err(|error| error.explain()));
        }
        let is_taken = |task: &&TaskId| !self.no_wait && outcomes[task].is_ok();
        let taken: Vec<TaskId> = tasks.iter().filter(is_taken).copied().collect();
        for followed in follow.until_rest(&taken).await? {
            outcomes.insert(followed.task.id, judge(place.screen, followed));
        }
        Ok(outcomes)
    }
}

/// The wait of one verb.
struct Follow<'a> {
    project: &'a Project,
    supervisor: Supervisor,
    progress: Progress,
    walls: Walls<'a>,
}

impl<'a> Follow<'a> {
    /// Is taken before the command is given, so that everything that follows it is seen.
    async fn take(screen: Screen, project: &'a Arc<Project>, title: &str) -> Result<Self, Problem> {
        let supervisor = Supervisor::take(Arc::clone(project), interruption()).await?;
        let walls = Walls::find(project).await;
        Ok(Follow { project, supervisor, progress: Progress::new(screen, title), walls })
    }

    /// Waits until what an earlier command, or a crash, left to be done for the task is done.
    async fn until_ready(&mut self, task: TaskId, begin: Begin) -> Result<(), Error> {
        if begin == Begin::AtOnce || !orders::get_task(self.project, task).await?.is_settling() {
            return Ok(());
        }
        let (progress, walls) = (&self.progress, &self.walls);
        self.supervisor.settle(task, &mut |update| show(progress, walls, &[], update)).await
    }

    /// Waits until nothing more happens to the tasks by itself, and lets go of the project.
    async fn until_rest(mut self, tasks: &[TaskId]) -> Result<Vec<Followed>, Problem> {
        let (progress, walls) = (&self.progress, &self.walls);
        let followed =
            self.supervisor.rest_all(tasks, &mut |update| show(progress, walls, tasks, update)).await;
        drop(self.progress);
        let released = self.supervisor.release().await;
        let followed = followed?;
        released?;
        Ok(followed)
    }
}

fn show(progress: &Progress, walls: &Walls<'_>, tasks: &[TaskId], update: Update<'_>) {
    let is_ours = match update {
        Update::Event(entry) => entry.task().is_some_and(|task| tasks.contains(&task)),
        Update::Turn(..) | Update::Held(_) => true,
    };
    if is_ours {
        progress.hear(update);
        if let Update::Event(entry) = update {
            walls.warn(entry).iter().for_each(|line| progress.print(line));
        }
    }
}

/// Says what became of a task that was waited for, and what else it waits for.
fn judge(screen: Screen, followed: Followed) -> Result<(), Problem> {
    let Followed { task, run, is_queued } = followed;
    if let Some(run) = &run {
        say_what_it_waits_for(screen, run);
    }
    if is_queued && task.error.is_none() {
        let id = task.id;
        screen.say(&format!(
            "{YELLOW}#{id} stays in the queue{YELLOW:#}: its agent or the limit is taken by tasks that nothing runs now \
             {DIM}(see `regatta agent list`; `regatta up` runs everything){DIM:#}"
        ));
    }
    let held = run.and_then(|run| match run.hold() {
        Some(Hold::Error { error }) => Some(error.clone()),
        _ => None,
    });
    match task.error.or(held) {
        Some(failure) => Err(problem_of(failure)),
        None => Ok(()),
    }
}

/// Says what a run waits for that has the task in its hands: nothing happens to the task until then.
fn say_what_it_waits_for(screen: Screen, run: &Run) {
    let id = run.id;
    let text = match run.hold() {
        Some(Hold::Paused) => format!("is paused; resume it with `regatta run --resume {id}`"),
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
