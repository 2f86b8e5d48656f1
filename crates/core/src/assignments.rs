//! The assignments: which agent is on which task, and which tasks queue for an agent or a place.
//!
//! Folded from the same facts as the tasks, so that the limit on agents is decided against one version of it.

use crate::{AgentId, AgentSettings, Code, Event, Fact, Priority, Settings, TaskId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All agents that are on a task, and the queue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignments {
    /// Who is on which task.
    pub held: BTreeMap<TaskId, Assignment>,
    /// The tasks that wait for a place, in the order of asking.
    pub queue: Vec<Queued>,
}

/// One agent's place on one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The agent.
    pub agent: AgentId,
    /// What it is doing.
    pub state: AgentState,
    /// Whether a run works on its task, one session after the other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub driven: bool,
    /// Whether a rejection gave it the task, which nobody's agent had, and it has not started yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_rejection: bool,
}

/// A task that waits for its agent, or for a free place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queued {
    /// The task.
    pub task: TaskId,
    /// The agent that it waits for, or [`AgentId::any`].
    pub agent: AgentId,
    /// How urgent it is.
    pub priority: Priority,
    /// Since when it waits.
    pub since: Timestamp,
    /// Whether the agent was busy, or every place taken, when it was queued.
    #[serde(default = "limit_exceeded")]
    pub code: Code,
}

fn limit_exceeded() -> Code {
    Code::ConcurrencyLimitExceeded
}

/// Why a task cannot be given to an agent right now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shortage {
    /// The agent is busy; or all of them, where any would do.
    Agent {
        /// The agent, or [`AgentId::any`].
        agent: AgentId,
        /// The tasks that it works on.
        tasks: Vec<TaskId>,
        /// As many as it may work on.
        instances: u32,
    },
    /// Every place of the project is taken.
    Places {
        /// Working agents.
        working: u32,
        /// Agents allowed.
        limit: u32,
    },
}

impl Shortage {
    /// Returns its code.
    pub fn code(&self) -> Code {
        match self {
            Shortage::Agent { .. } => Code::AgentAlreadyRunning,
            Shortage::Places { .. } => Code::ConcurrencyLimitExceeded,
        }
    }

    /// Counts the tasks that the agent, or the whole assignments, works on.
    pub fn working(&self) -> u32 {
        match self {
            Shortage::Agent { tasks, .. } => count(tasks.iter()),
            Shortage::Places { working, .. } => *working,
        }
    }

    /// Returns on how many it may work.
    pub fn limit(&self) -> u32 {
        match self {
            Shortage::Agent { instances, .. } => *instances,
            Shortage::Places { limit, .. } => *limit,
        }
    }
}

/// What an agent is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentState {
    /// On no task.
    Idle,
    /// Its worktree is being made, or its session waits for a free place.
    Starting,
    /// A session is under way.
    Running,
    /// Its task waits for approval.
    Paused,
    /// Its last session ended badly.
    Error,
    /// Its task is verified.
    Completed,
}

impl AgentState {
    /// Tells whether the agent takes up one of the project's places.
    pub fn is_working(self) -> bool {
        matches!(self, AgentState::Starting | AgentState::Running)
    }
}

impl Assignments {
    /// Counts the working agents.
    pub fn count_working(&self) -> u32 {
        count(self.held.values().filter(|assignment| assignment.state.is_working()))
    }

    /// Counts the tasks that this agent is working on.
    pub fn count_working_as(&self, agent: &AgentId) -> u32 {
        count(
            self.held
                .values()
                .filter(|assignment| assignment.agent == *agent && assignment.state.is_working()),
        )
    }

    /// Returns the tasks that this agent is working on.
    pub fn tasks_of(&self, agent: &AgentId) -> Vec<TaskId> {
        let working = self
            .held
            .iter()
            .filter(|(_, assignment)| assignment.agent == *agent && assignment.state.is_working());
        working.map(|(task, _)| *task).collect()
    }

    /// Returns the queue in the order of service: priority, then age.
    pub fn in_order(&self) -> Vec<&Queued> {
        let mut order: Vec<&Queued> = self.queue.iter().collect();
        order.sort_by_key(|queued| (queued.priority, queued.since, queued.task));
        order
    }

    /// Finds the agent that can take a task now; `wanted` is one agent, or [`AgentId::any`].
    pub fn find_free(&self, settings: &Settings, wanted: &AgentId) -> Result<AgentId, Shortage> {
        let found = self.find_agent(settings, wanted)?;
        self.check_places(settings).map(|()| found)
    }

    /// Finds the agent that is not busy, whether or not a place of the project is free.
    pub(crate) fn find_agent(&self, settings: &Settings, wanted: &AgentId) -> Result<AgentId, Shortage> {
        let candidates = || settings.agents.iter().filter(|(id, _)| wanted.is_any() || *id == wanted);
        let is_free = |(id, agent): &(&AgentId, &AgentSettings)| self.count_working_as(id) < agent.instances;
        candidates().find(is_free).map(|(id, _)| id.clone()).ok_or_else(|| Shortage::Agent {
            agent: wanted.clone(),
            tasks: candidates().flat_map(|(id, _)| self.tasks_of(id)).collect(),
            instances: candidates().map(|(_, agent)| agent.instances).sum(),
        })
    }

    /// Makes sure that a place of the project is free.
    pub fn check_places(&self, settings: &Settings) -> Result<(), Shortage> {
        let (working, limit) = (self.count_working(), settings.max_concurrent_agents);
        if working < limit { Ok(()) } else { Err(Shortage::Places { working, limit }) }
    }

    /// Finds a task in the queue.
    pub fn find_queued(&self, task: TaskId) -> Option<&Queued> {
        self.queue.iter().find(|queued| queued.task == task)
    }

    /// Returns the place of a task in the queue, from 1.
    pub fn find_place(&self, task: TaskId) -> Option<u32> {
        let index = self.in_order().iter().position(|queued| queued.task == task)?;
        u32::try_from(index + 1).ok()
    }

    /// Returns the queued task to assign next, if an agent and a place are free for it.
    pub fn find_next(&self, settings: &Settings) -> Option<&Queued> {
        self.find_next_where(settings, |_| true)
    }

    /// Returns the queued task to assign next among those that may be assigned.
    ///
    /// A task can be given a dependency while it queues; it must then not hold up those behind it.
    pub fn find_next_where(&self, settings: &Settings, may: impl Fn(TaskId) -> bool) -> Option<&Queued> {
        if self.count_working() >= settings.max_concurrent_agents {
            return None;
        }
        let is_free = |queued: &&Queued| self.find_free(settings, &queued.agent).is_ok();
        self.in_order().into_iter().filter(|queued| may(queued.task)).find(is_free)
    }

    /// Folds one fact into the assignments; facts of other matters leave it as it is.
    pub fn evolve(mut self, fact: &Fact) -> Self {
        let task = fact.event.task();
        match &fact.event {
            Event::TaskQueued { agent_id, priority, code, .. } => {
                let since = self.find_queued(task).map_or(fact.at, |queued| queued.since);
                self.leave_queue(task);
                let (agent, priority, code) = (agent_id.clone(), *priority, *code);
                self.queue.push(Queued { task, agent, priority, since, code });
            }
            Event::TaskDequeued { .. } => self.leave_queue(task),
            Event::TaskAssigned { agent_id, run_id, .. } => {
                self.leave_queue(task);
                let driven = run_id.is_some();
                // What a person does takes no agent's place.
                if let Some(agent) = agent_id.clone() {
                    self.held.insert(
                        task,
                        Assignment { agent, state: asked(driven), driven, by_rejection: false },
                    );
                }
            }
            Event::TaskReassigned { agent_id: Some(agent), session, .. } => {
                let state = if session.is_some() { AgentState::Starting } else { AgentState::Paused };
                let agent = agent.clone();
                self.held.insert(task, Assignment { agent, state, driven: false, by_rejection: false });
            }
            Event::TaskReassigned { agent_id: None, .. } => {
                self.held.remove(&task);
            }
            Event::TaskEdited { priority: Some(priority), .. } => {
                for queued in self.queue.iter_mut().filter(|queued| queued.task == task) {
                    queued.priority = *priority;
                }
            }
            Event::TaskDeleted { .. } => self.queue.retain(|queued| queued.task != task),
            Event::TaskRejected { agent_id: Some(agent), .. } if !self.held.contains_key(&task) => {
                let (agent, state) = (agent.clone(), AgentState::Starting);
                self.held.insert(task, Assignment { agent, state, driven: false, by_rejection: true });
            }
            Event::TaskRejected { .. } => {
                let driven = self.held.get(&task).is_some_and(|assignment| assignment.driven);
                self.mark(task, asked(driven));
            }
            Event::AgentAssigned { agent_id, .. } | Event::AgentResumed { agent_id, .. } => {
                self.mark(task, AgentState::Running);
                if let Some(assignment) = self.held.get_mut(&task) {
                    assignment.agent.clone_from(agent_id);
                    assignment.by_rejection = false;
                }
            }
            // The task is again with the person who had it.
            Event::AgentResumeFailed { .. } if self.held.get(&task).is_some_and(|held| held.by_rejection) => {
                self.held.remove(&task);
            }
            Event::AgentWoken { .. } | Event::AgentContinued { .. } => self.mark(task, AgentState::Starting),
            Event::AgentPaused { .. } | Event::AgentParked { .. } | Event::AgentResumeFailed { .. } => {
                self.mark(task, AgentState::Paused)
            }
            Event::AgentSessionFailed { .. }
            | Event::AgentStartFailed { .. }
            | Event::TaskCompleteFailed { .. }
            | Event::ApprovalRequestFailed { .. }
            | Event::AgentPauseFailed { .. } => self.mark(task, AgentState::Error),
            Event::TaskReleased { error, .. } => self.release(task, error.is_some()),
            Event::TaskTakenUp { .. } => {
                if let Some(assignment) = self.held.get_mut(&task) {
                    (assignment.driven, assignment.state) = (true, asked(true));
                }
            }
            Event::AgentStopped { .. } | Event::AgentStopFailed { .. } => self.end_work(task),
            Event::WorktreeCreateFailed { .. }
            | Event::WorktreeRemoved { .. }
            | Event::TaskApproved { .. }
            | Event::TaskCancelled { .. } => {
                self.held.remove(&task);
            }
            _ => {}
        }
        self
    }

    fn leave_queue(&mut self, task: TaskId) {
        self.queue.retain(|queued| queued.task != task);
    }

    /// A paused agent stays paused, whatever became of the attempt to cancel its task.
    fn end_work(&mut self, task: TaskId) {
        if self.held.get(&task).is_some_and(|assignment| assignment.state.is_working()) {
            self.mark(task, AgentState::Error);
        }
    }

    /// What follows is a session of the agent's own.
    fn release(&mut self, task: TaskId, is_bad: bool) {
        let Some(assignment) = self.held.get_mut(&task) else { return };
        assignment.driven = false;
        if is_bad {
            assignment.state = AgentState::Error;
        }
    }

    fn mark(&mut self, task: TaskId, state: AgentState) {
        if let Some(assignment) = self.held.get_mut(&task) {
            assignment.state = state;
        }
    }
}

/// The agent of a run works only while a step of it is performed.
fn asked(driven: bool) -> AgentState {
    if driven { AgentState::Paused } else { AgentState::Starting }
}

fn count<T>(items: impl Iterator<Item = T>) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}
