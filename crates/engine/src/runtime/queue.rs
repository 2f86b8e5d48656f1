//! Serves the queue: assigns queued tasks for which an agent and a place are free.
//!
//! One look at git serves a whole pass. A task that cannot be assigned is not retried at once: it reports
//! why, and does not hold up those behind it.

use crate::commands::orders::{self, Order};
use crate::core::{Actor, Answer, Assign, Command, Failure, Queued, Refusal, Start, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::runtime::scope::Scope;
use regatta_store::LeaseToken;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// How long a task that could not be assigned is left alone: the obstacle may be gone by then.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Assigns the tasks of the queue, on behalf of one engine.
#[derive(Default)]
pub(crate) struct Server {
    refused: HashMap<TaskId, Instant>,
}

impl Server {
    /// Assigns every queued task of the scope for which there is room.
    pub(crate) async fn serve(
        &mut self,
        project: &Project,
        scope: &Scope,
        token: LeaseToken,
    ) -> Result<(), Error> {
        self.refused.retain(|_, at| at.elapsed() < TRY_AGAIN_AFTER);
        let mut start: Option<Result<Start, Failure>> = None;
        loop {
            let assignments = orders::load_assignments(project).await?;
            let may = |task: TaskId| scope.serves(task) && !self.refused.contains_key(&task);
            let Some(next) = assignments.find_next_where(&project.config().settings, may) else {
                return Ok(());
            };
            let start = match &mut start {
                Some(start) => start,
                none @ None => none.insert(see_start(project).await?),
            };
            let refused = match start {
                Ok(start) => assign(project, next, start.clone(), token).await?,
                Err(failure) => Some(failure.clone()),
            };
            if let Some(failure) = refused {
                let (task, command) = (next.task, Command::NoteUnassignable(failure));
                give(project, task, command, token).await?;
                self.refused.insert(task, Instant::now());
            }
        }
    }
}

/// Finds where work would start; if the target branch is gone, each task reports that.
async fn see_start(project: &Project) -> Result<Result<Start, Failure>, Error> {
    match orders::see_start(project).await {
        Ok(start) => Ok(Ok(start)),
        Err(error) if error.is_of_engine() => Err(error),
        Err(error) => Ok(Err(Failure::from(error.explain()))),
    }
}

/// Assigns one task, or says why it cannot be assigned.
async fn assign(
    project: &Project,
    next: &Queued,
    start: Start,
    token: LeaseToken,
) -> Result<Option<Failure>, Error> {
    let to = next.agent.clone().into();
    let assign = Assign { to, priority: None, start, run: None, is_recorded: false, may_queue: true };
    match give(project, next.task, Command::Assign(assign), token).await {
        // Somebody else was faster; it keeps waiting.
        Ok(Answer::Queued { .. } | Answer::Accepted) => Ok(None),
        Err(Error::Refused(Refusal::TaskNotFound { .. })) => Ok(None),
        Err(error) if error.is_of_engine() => Err(error),
        Err(error) => Ok(Some(Failure::from(error.explain()))),
    }
}

async fn give(project: &Project, task: TaskId, command: Command, token: LeaseToken) -> Result<Answer, Error> {
    let actor = Actor::Policy("queue".to_owned());
    let order = Order { fence: Some(token), ..Order::new(Some(task), &actor) };
    orders::give(project, order, command).await.map(|given| given.answer)
}
