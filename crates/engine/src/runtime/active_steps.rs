//! The steps of runs that are under way on tasks, so that cancelling a task ends the step that works on it.
//!
//! A run moves from step to step, and from task to task, within one effect, so the lanes cannot tell which
//! task it is at. The performer of a step registers it here, before it looks at the task. If the task was not
//! being cancelled by then, a later cancellation finds the step registered.

use crate::core::TaskId;
use crate::runtime::stop_handle::StopHandle;
use regatta_agents::StopReason;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The steps of one engine.
#[derive(Default)]
pub(crate) struct ActiveSteps {
    steps: Mutex<HashMap<TaskId, Vec<StopHandle>>>,
}

/// A step that is in progress until this is dropped.
pub(crate) struct OnTask {
    all: Arc<ActiveSteps>,
    task: TaskId,
    stop_handle: StopHandle,
}

impl ActiveSteps {
    /// Registers that a step works on a task from now on.
    pub(crate) fn enter(self: &Arc<Self>, task: TaskId, whole: &StopHandle) -> OnTask {
        let stop_handle = whole.for_part();
        self.change(|steps| steps.entry(task).or_default().push(stop_handle.clone()));
        OnTask { all: Arc::clone(self), task, stop_handle }
    }

    /// Stops every step on a task, and waits until it is over.
    pub(crate) async fn stop(&self, task: TaskId, reason: StopReason) {
        let found = self.change(|steps| steps.get(&task).cloned().unwrap_or_default());
        found.iter().for_each(|stop_handle| stop_handle.stop(reason));
        for stop_handle in &found {
            stop_handle.over().await;
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut HashMap<TaskId, Vec<StopHandle>>) -> T) -> T {
        change(&mut self.steps.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl OnTask {
    /// Returns the control that stops the step.
    pub(crate) fn stop_handle(&self) -> &StopHandle {
        &self.stop_handle
    }
}

impl Drop for OnTask {
    fn drop(&mut self) {
        self.all.change(|steps| {
            let left = steps.entry(self.task).or_default();
            left.retain(|stop_handle| !stop_handle.is_same(&self.stop_handle));
            if left.is_empty() {
                steps.remove(&self.task);
            }
        });
        self.stop_handle.mark_over();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_step_is_stopped_by_its_task_or_with_its_run_and_waited_for() {
        let (all, run) = (Arc::new(ActiveSteps::default()), StopHandle::new());
        let (first, second) = (TaskId::FIRST, TaskId::FIRST.next());
        let (one, other) = (all.enter(first, &run), all.enter(second, &run));
        let stopped = async {
            let reason = one.stop_handle().asked().await;
            drop(one);
            reason
        };
        let ((), reason) = tokio::join!(all.stop(first, StopReason::Cancelled), stopped);
        assert_eq!(reason, StopReason::Cancelled);
        run.stop(StopReason::Shutdown);
        assert_eq!(other.stop_handle().asked().await, StopReason::Shutdown, "the first stop was not for it");
        all.stop(first, StopReason::Cancelled).await;
    }
}
