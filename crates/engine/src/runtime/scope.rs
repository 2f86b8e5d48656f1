//! What an engine performs: everything, or the work of one verb.
//!
//! `regatta up` performs everything. A verb that waits acts as the engine while it waits, and performs what
//! its own tasks and runs ask for. Long effects of others (a session, the set-up of a worktree, the checks, a
//! step of a run) it leaves to the engine they belong to. Short effects without an agent, such as a merge, a
//! removal, or the end of a session that nobody needs any more, it finishes for everybody.

use crate::commands::orders;
use crate::core::{Asker, Effect, RunId, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::runs;
use crate::session::owner::find_wanted;
use regatta_store::IntentId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How long an intent that belongs to another engine is not checked again: its run may be paused meanwhile,
/// for example.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// The tasks and runs of one verb.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Own {
    /// The tasks.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tasks: BTreeSet<TaskId>,
    /// The runs; those below them, and the tasks of all of them, belong to it too.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub runs: BTreeSet<RunId>,
}

impl Own {
    /// Tells whether a run is one of these, or below one.
    pub(crate) async fn has_run(&self, project: &Project, run: RunId) -> Result<bool, Error> {
        if self.runs.is_empty() || self.runs.contains(&run) {
            return Ok(!self.runs.is_empty());
        }
        let above = runs::find_above(project, &runs::get_run(project, run).await?).await?;
        Ok(above.iter().any(|run| self.runs.contains(run)))
    }

    /// Tells whether a task is one of these, or of one of the runs.
    pub(crate) async fn has_task(&self, project: &Project, task: TaskId) -> Result<bool, Error> {
        if self.tasks.contains(&task) || self.runs.is_empty() {
            return Ok(self.tasks.contains(&task));
        }
        match orders::get_task(project, task).await?.run {
            Some(run) => self.has_run(project, run).await,
            None => Ok(false),
        }
    }
}

impl fmt::Display for Own {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// More names than this do not help a reader.
        const NAMES_MAX: usize = 5;
        let tasks = self.tasks.iter().map(|task| format!("task #{task}"));
        let names: Vec<String> = tasks.chain(self.runs.iter().map(|run| format!("run {run}"))).collect();
        let shown = names.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>().join(", ");
        match names.len().saturating_sub(NAMES_MAX) {
            0 if names.is_empty() => out.write_str("nothing yet"),
            0 => out.write_str(&shown),
            more => write!(out, "{shown} and {more} more"),
        }
    }
}

/// What one engine performs.
pub(crate) struct Scope {
    /// Nothing if it performs everything.
    own: Option<watch::Receiver<Own>>,
    /// Intents that belong to another engine, and when that was found.
    foreign: HashMap<IntentId, Instant>,
}

impl Scope {
    pub(crate) fn everything() -> Self {
        Scope { own: None, foreign: HashMap::new() }
    }

    pub(crate) fn of(own: watch::Receiver<Own>) -> Self {
        Scope { own: Some(own), foreign: HashMap::new() }
    }

    /// Returns what it is limited to, if anything.
    pub(crate) fn own(&self) -> Option<Own> {
        self.own.as_ref().map(|own| own.borrow().clone())
    }

    /// Waits until it is limited to something else; forever if it is not limited.
    pub(crate) async fn changed(&mut self) {
        let is_there = match &mut self.own {
            Some(own) => own.changed().await.is_ok(),
            None => false,
        };
        if !is_there {
            std::future::pending::<()>().await;
        }
        self.foreign.clear();
    }

    /// Tells whether a queued task may be assigned by this engine.
    pub(crate) fn serves(&self, task: TaskId) -> bool {
        self.own.as_ref().is_none_or(|own| own.borrow().tasks.contains(&task))
    }

    /// Tells whether an effect is for this engine to perform.
    pub(crate) async fn covers(
        &mut self,
        project: &Project,
        intent: IntentId,
        effect: &Effect,
    ) -> Result<bool, Error> {
        let Some(own) = self.own() else { return Ok(true) };
        if is_short(effect) {
            return Ok(true);
        }
        if self.foreign.get(&intent).is_some_and(|at| at.elapsed() < LOOK_AGAIN_AFTER) {
            return Ok(false);
        }
        let is_own = match (effect, effect.asker()) {
            // The verb that decided about a task also reports that to the task's run.
            (Effect::LandTask { task, .. }, _) if own.tasks.contains(task) => true,
            (_, Asker::Task(task)) => own.has_task(project, task).await?,
            (_, Asker::Run(run)) => own.has_run(project, run).await?,
        };
        let is_covered = is_own || is_left_over(project, effect).await?;
        if !is_covered {
            self.foreign.insert(intent, Instant::now());
        }
        Ok(is_covered)
    }
}

/// Tells whether nobody needs a session any more, so that all that is left is to end what a crash left of it.
async fn is_left_over(project: &Project, effect: &Effect) -> Result<bool, Error> {
    match effect {
        Effect::RunSession { task, session, .. } => {
            Ok(find_wanted(&orders::get_task(project, *task).await?, *session).is_none())
        }
        Effect::PerformNode { run, .. } => Ok(!runs::is_performed(&runs::get_run(project, *run).await?)),
        _ => Ok(false),
    }
}

/// Tells whether an effect ends soon and starts no agent, so that any engine finishes it for everybody.
pub(crate) fn is_short(effect: &Effect) -> bool {
    match effect {
        Effect::RecordDiff { .. }
        | Effect::PauseAgent { .. }
        | Effect::ApproveByPolicy { .. }
        | Effect::MergeBranch { .. }
        | Effect::StopAgent { .. }
        | Effect::RemoveWorktree { .. }
        | Effect::StopRun { .. }
        | Effect::ReleaseTask { .. }
        | Effect::DropTask { .. }
        | Effect::TellParent { .. } => true,
        // The first may run a set-up, and checks may be a whole test suite.
        Effect::CreateWorktree { .. }
        | Effect::RunChecks { .. }
        | Effect::RunSession { .. }
        | Effect::Wait { .. }
        | Effect::PublishItems { .. }
        | Effect::PerformNode { .. }
        | Effect::StartChildren { .. }
        | Effect::LandTask { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_in_a_few_words() {
        let task = |number| TaskId::new(number).unwrap();
        let own = |count: u32| Own { tasks: (1..=count).map(task).collect(), runs: BTreeSet::new() };
        assert_eq!(own(0).to_string(), "nothing yet");
        assert_eq!(own(2).to_string(), "task #1, task #2");
        assert_eq!(own(9).to_string(), "task #1, task #2, task #3, task #4, task #5 and 4 more");
        let runs = BTreeSet::from([RunId::FIRST]);
        assert_eq!(Own { runs, ..own(1) }.to_string(), "task #1, run 1");
    }
}
