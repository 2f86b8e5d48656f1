//! The steps of runs that are under way on tasks, so that cancelling a task ends the step that works on it.
//!
//! A run goes from step to step, and from task to task, within one effect. So the lanes cannot tell which task it is
//! at; whoever performs a step says so here. It enters before it looks at the task: a task that was not being
//! cancelled by then is cancelled by somebody who finds the step.

use crate::core::TaskId;
use crate::runtime::control::Control;
use regatta_agents::StopReason;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The steps of one engine.
#[derive(Default)]
pub(crate) struct UnderWay {
    steps: Mutex<HashMap<TaskId, Vec<Control>>>,
}

/// A step that is under way until this is dropped.
pub(crate) struct OnTask {
    all: Arc<UnderWay>,
    task: TaskId,
    control: Control,
}

impl UnderWay {
    /// Notes that a step works on a task from now on.
    pub(crate) fn enter(self: &Arc<Self>, task: TaskId, whole: &Control) -> OnTask {
        let control = whole.for_part();
        self.change(|steps| steps.entry(task).or_default().push(control.clone()));
        OnTask { all: Arc::clone(self), task, control }
    }

    /// Stops whatever is under way on a task, and waits until it is over.
    pub(crate) async fn stop(&self, task: TaskId, reason: StopReason) {
        let found = self.change(|steps| steps.get(&task).cloned().unwrap_or_default());
        found.iter().for_each(|control| control.stop(reason));
        for control in &found {
            control.over().await;
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut HashMap<TaskId, Vec<Control>>) -> T) -> T {
        change(&mut self.steps.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl OnTask {
    /// Returns what the step is stopped by.
    pub(crate) fn control(&self) -> &Control {
        &self.control
    }
}

impl Drop for OnTask {
    fn drop(&mut self) {
        self.all.change(|steps| {
            let left = steps.entry(self.task).or_default();
            left.retain(|control| !control.is_same(&self.control));
            if left.is_empty() {
                steps.remove(&self.task);
            }
        });
        self.control.mark_over();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_step_is_stopped_by_its_task_or_with_its_run_and_waited_for() {
        let (all, run) = (Arc::new(UnderWay::default()), Control::new());
        let (first, second) = (TaskId::FIRST, TaskId::FIRST.next());
        let (one, other) = (all.enter(first, &run), all.enter(second, &run));
        let stopped = async {
            let reason = one.control().asked().await;
            drop(one);
            reason
        };
        let ((), reason) = tokio::join!(all.stop(first, StopReason::Cancelled), stopped);
        assert_eq!(reason, StopReason::Cancelled);
        run.stop(StopReason::Shutdown);
        assert_eq!(other.control().asked().await, StopReason::Shutdown, "the first stop was not for it");
        all.stop(first, StopReason::Cancelled).await;
    }
}
