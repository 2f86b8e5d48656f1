//! Takes a task up for a run: assigns it to the run and gets its worktree, whatever is then done there.
//!
//! A fork continues from the last commit of the other run. Work that a person cancelled is not started again
//! without asking. What a step does in the worktree, and when the task is complete, is not decided here.

use crate::commands::orders::{self, Caller, Order};
use crate::commands::rejecting;
use crate::commands::run_orders::get_run;
use crate::core::run::{RecordingMode, Run};
use crate::core::{
    Actor, AgentId, Assign, Assignee, Code, Command, CommitId, Effect, Failure, Problem, Refusal, RunId,
    Stage, Start, Task, TaskId, WorkPhase,
};
use crate::error::Error;
use crate::log;
use crate::perform::Work;
use crate::perform::log_watch::LogWatch;
use crate::project::Project;
use crate::recording::recorder::{self, Recording};
use crate::recording::replay_branch;
use crate::runs::{cancelled, trouble};
use crate::runtime::stop_handle::StopHandle;
use crate::session::role::{RoleOutcome, find_player};
use regatta_agents::StopReason;
use regatta_flow::{NodeKind, Workflow};
use std::path::Path;

/// A task that a run takes up.
pub(crate) struct Claim<'a> {
    pub(crate) work: &'a Work,
    pub(crate) run: &'a Run,
    /// The key of the task.
    pub(crate) item: &'a str,
    pub(crate) task: TaskId,
    /// Whom it is assigned to.
    pub(crate) agent: &'a AgentId,
}

/// Whether a step can begin in the worktree.
pub(crate) enum Driven {
    Ready(Box<Task>),
    Not(RoleOutcome),
}

/// What one look at the task found.
pub(crate) enum Found {
    /// It is this run's, and has its worktree.
    Ready(Box<Task>),
    /// It will be, after an event in the log.
    Later,
    /// A person has to do something first.
    Failed(Failure),
}

impl Claim<'_> {
    /// Waits until the task is this run's and has its worktree, or until it is asked to stop.
    pub(crate) async fn until_ready(&self, stop_handle: &StopHandle) -> Result<Driven, Error> {
        let (project, run) = (&self.work.project, self.run.id);
        let mut log = LogWatch::start(self.work).await?;
        let mut is_asked = false;
        loop {
            match self.look(&mut is_asked).await? {
                Found::Ready(task) => return Ok(Driven::Ready(task)),
                Found::Failed(failure) => return Ok(Driven::Not(RoleOutcome::Failed(failure))),
                Found::Later => {}
            }
            if let Some(reason) = log.wait_or_stop(stop_handle).await? {
                // The work that is being cancelled is that of an earlier step.
                if reason == StopReason::Cancelled && !is_asked && self.run.withdrawn.contains(self.item) {
                    return Ok(Driven::Not(RoleOutcome::PutOff));
                }
                // A task that is still in the backlog was not cancelled: it waits for its agent.
                let task = orders::get_task(project, self.task).await?;
                let is_cancelled = cancelled::is_being_cancelled(&task);
                let failed = || RoleOutcome::Failed(cancelled::explain_step(run, self.task));
                return Ok(Driven::Not(if is_cancelled { failed() } else { RoleOutcome::Stopped(reason) }));
            }
        }
    }

    /// Looks at the task, and assigns it if it is in the backlog; `is_asked` remembers that from look to look.
    pub(crate) async fn look(&self, is_asked: &mut bool) -> Result<Found, Error> {
        let (run, id) = (self.run.id, self.task);
        let task = orders::get_task(&self.work.project, id).await?;
        let is_mine = task.run == Some(run);
        if !*is_asked && self.run.withdrawn.contains(self.item) && self.is_going(&task).await? {
            return Ok(Found::Later);
        }
        Ok(match &task.stage {
            Stage::WaitingApproval(_) if is_mine && self.has_sent_back(&task) => {
                self.bring_back(&task).await?
            }
            Stage::InProgress(work) if is_mine => match work.phase {
                WorkPhase::Driven { .. } => Found::Ready(Box::new(task)),
                WorkPhase::Preparing => Found::Later,
                _ if cancelled::is_being_cancelled(&task) => Found::Failed(cancelled::explain_step(run, id)),
                _ => Found::Failed(taken(self.run, &task)),
            },
            Stage::Backlog if cancelled::is_work_gone(self.run, self.item, &task) => {
                Found::Failed(cancelled::explain_work(run, id))
            }
            // The assignment was tried, and the task is back with the error.
            Stage::Backlog if *is_asked && task.error.is_some() => {
                Found::Failed(task.error.clone().unwrap_or_else(|| taken(self.run, &task)))
            }
            Stage::Backlog => match self.assign(&task).await {
                Ok(None) => {
                    *is_asked = true;
                    Found::Later
                }
                Ok(Some(failure)) => Found::Failed(failure),
                // Somebody else has the agent; it is this run's turn when they are done.
                Err(Error::Refused(Refusal::AgentAlreadyRunning { .. } | Refusal::NoPlace { .. })) => {
                    Found::Later
                }
                Err(error) => Found::Failed(trouble::of_run(self.run, error)?),
            },
            _ => Found::Failed(taken(self.run, &task)),
        })
    }

    /// Tells whether the work of an earlier step is being cancelled, as the run knows, or is about to be.
    async fn is_going(&self, task: &Task) -> Result<bool, Error> {
        let is_drop = |effect: Effect| matches!(effect, Effect::DropTask { task, .. } if task == self.task);
        for intent in self.work.project.store().open_intents().await? {
            if log::find_run(&intent.lane) == Some(self.run.id) && is_drop(log::effect_of(&intent)?) {
                return Ok(true);
            }
        }
        Ok(cancelled::is_being_cancelled(task))
    }

    /// Tells whether the run counts the task as sent back and the task does not know yet: it did not merge.
    fn has_sent_back(&self, task: &Task) -> bool {
        let sent_back = self.run.sent_back.get(self.item).copied().unwrap_or_default();
        sent_back > task.rejection_count
    }

    /// Brings a task back to the run that did not merge, with why.
    async fn bring_back(&self, task: &Task) -> Result<Found, Error> {
        let Some(error) = &task.error else { return Ok(Found::Failed(taken(self.run, task))) };
        let caller = Caller::new(Actor::Engine);
        match rejecting::repeat(&self.work.project, &caller, self.task, error.message.clone()).await {
            // It is busy, such as with another try of a person.
            Ok(_) | Err(Error::Refused(_)) => Ok(Found::Later),
            Err(error) => Ok(Found::Failed(trouble::of_run(self.run, error)?)),
        }
    }

    /// Assigns the task, or says why its work has no commit to start from.
    async fn assign(&self, task: &Task) -> Result<Option<Failure>, Error> {
        let (project, is_recorded) = (&self.work.project, is_replay(self.run));
        let begun = match (self.run.heads.get(self.item), &task.base) {
            (Some(head), _) => Some(head.clone()),
            (None, Some(base)) => match find_base(project, base).await? {
                Some(found) => Some(found),
                None => return Ok(Some(no_base(self.run.id, task, base))),
            },
            (None, None) => None,
        };
        let start = self.find_start(see_start(project, self.run).await?, begun.as_ref()).await?;
        if is_recorded {
            replay_branch::ensure_branch(project, &start).await?;
        }
        let (to, run) = (Assignee::Agent(self.agent.clone()), Some(self.run.id));
        // A run waits on its own: the queue would start one session where the run has many.
        let assign = Assign { to, priority: None, start, run, is_recorded, may_queue: false };
        let order = Order { fence: Some(self.work.token), ..Order::new(Some(self.task), &Actor::Engine) };
        orders::give(project, order, Command::Assign(assign)).await.map(|_| None)
    }

    /// A fork continues an item from the last commit of the other run, and a workflow may name a commit too.
    async fn find_start(&self, start: Start, head: Option<&CommitId>) -> Result<Start, Error> {
        let Some(head) = head else { return Ok(start) };
        let (target, begun) = (orders::to_git(&start.base)?, orders::to_git(head)?);
        let base = match self.work.project.repository().find_merge_base(&target, &begun).await? {
            // It was merged later: the diff must be the one that the step saw, or there would be nothing to
            // review.
            Some(base) if base == begun => self.find_base_before(&begun).await?.or(Some(base)),
            other => other,
        };
        Ok(match base {
            Some(base) => Start { base: orders::from_git(&base), from: Some(head.clone()), ..start },
            None => start,
        })
    }

    /// Finds the commit that the work on the item was first compared with, in the run that this one was
    /// forked from.
    async fn find_base_before(
        &self,
        head: &regatta_git::CommitId,
    ) -> Result<Option<regatta_git::CommitId>, Error> {
        let project = &self.work.project;
        let mut forked = self.run.forked;
        // Each was forked from an older one.
        while let Some(fork) = forked {
            let other = get_run(project, fork.run_id).await?;
            if let Some(task) = other.tasks.get(self.item) {
                let task = orders::get_task(project, *task).await?;
                let base =
                    task.diff().map(|diff| &diff.base).or(task.worktree().map(|worktree| &worktree.base));
                if let Some(base) = base.map(orders::to_git).transpose()?
                    && base != *head
                    && project.repository().is_ancestor(&base, head).await?
                {
                    return Ok(Some(base));
                }
            }
            forked = other.forked;
        }
        Ok(None)
    }
}

/// Finds the commit that a workflow names as a start: of a branch, or by its ID.
async fn find_base(project: &Project, base: &str) -> Result<Option<CommitId>, Error> {
    let repository = project.repository();
    if let Ok(branch) = regatta_git::BranchName::parse(base)
        && let Some(head) = repository.find_branch(&branch).await?
    {
        return Ok(Some(orders::from_git(&head)));
    }
    let found = repository.resolve_commit(base).await?;
    Ok(found.map(|commit| orders::from_git(&commit)))
}

/// Finds where work for a run would start, if nothing existed yet.
pub(crate) async fn see_start(project: &Project, run: &Run) -> Result<Start, Error> {
    match &run.recording {
        Some(RecordingMode::Replay(folder)) => {
            replay_branch::see_start(project, run, &Recording::open(Path::new(folder))?).await
        }
        Some(RecordingMode::Record(_)) | None => orders::see_start(project).await,
    }
}

/// Finds the assignee of a task that no agent is about to work on: the last one who worked on the item, if
/// known.
///
/// A step of a role names its own agent afterwards. The assignee found here gets the task when the run
/// releases it.
pub(crate) fn find_agent(
    work: &Work,
    (run, workflow): (&Run, &Workflow),
    (item, task): (&str, TaskId),
) -> Result<AgentId, Failure> {
    if is_replay(run) {
        return Ok(recorder::player());
    }
    let config = work.project.config();
    let worked = |node: &str| run.visits.get(node).is_some_and(|items| items.contains_key(item));
    let (mut before, mut other) = (None, None);
    for node in &workflow.nodes {
        let NodeKind::Agent { role, .. } = &node.kind else { continue };
        let Some(agent) = find_player(config, &role.name) else { continue };
        let slot = if worked(node.name.as_str()) { &mut before } else { &mut other };
        slot.get_or_insert(agent);
    }
    let agent = before.or(other).or_else(|| config.agents.keys().next().cloned());
    agent.ok_or_else(|| nobody(run.id, task))
}

fn is_replay(run: &Run) -> bool {
    matches!(run.recording, Some(RecordingMode::Replay(_)))
}

fn nobody(run: RunId, task: TaskId) -> Failure {
    Failure::from(
        Problem::new(
            Code::AgentNotFound,
            format!("run {run} cannot take over task #{task}"),
            "the config has no agent that it could be assigned to",
            format!("add an entry `[agents.NAME]` to the config, then `regatta run resume {run}`"),
        )
        .with("taskId", task.number()),
    )
}

fn no_base(run: RunId, task: &Task, base: &str) -> Failure {
    Failure::from(
        Problem::new(
            Code::BaseNotFound,
            format!("run {run} cannot start work on task #{}", task.id),
            format!("its workflow starts it from `{base}`, which is no branch and no commit here"),
            format!("create or fetch it, then `regatta run resume {run}`; or `regatta run stop {run}`"),
        )
        .with("taskId", task.id.number())
        .with("base", base),
    )
}

/// Says who has a task that a run cannot work on, and how to continue from there.
fn taken(run: &Run, task: &Task) -> Failure {
    let (id, task_id) = (run.id, task.id);
    let (why, next) = match &task.stage {
        Stage::Verified(_) => ("it is merged, and this run did not do it".to_owned(), go_round(run)),
        _ => (
            format!("it is in {}, and this run does not own it", task.column()),
            format!(
                "`regatta task cancel {task_id}` gives that work up (it is kept as a salvage), then `regatta run --resume \
                 {id}` does it; or {}",
                go_round(run)
            ),
        ),
    };
    let what = format!("run {id} cannot work on task #{task_id}");
    Failure::from(Problem::new(Code::TaskBusy, what, why, next).with("taskId", task_id.number()))
}

/// Says how to get around a task that this run never gets back. A replay cannot be forked, and the fork of a
/// child has no parent.
fn go_round(run: &Run) -> String {
    let id = run.id;
    match &run.parent {
        Some(parent) => {
            format!("`regatta run stop {id}`: run {} continues with this item as failed", parent.run_id)
        }
        None if matches!(run.recording, Some(RecordingMode::Replay(_))) => format!("`regatta run stop {id}`"),
        None => format!(
            "`regatta run fork {id}` works on the item as a new task, from what is merged now, and `regatta run stop {id}` \
             ends this run"
        ),
    }
}
