//! The world: what the engine would keep, and the answers that git and agents would give.
//!
//! It has no rules of its own: it asks [`decide`], folds the facts, and keeps the effects that have no outcome yet.
//! An effect is answered well or badly; the end of a session is the second answer to the effect that started it.

use super::{agent, commit, complete, evidence, failure};
use crate::document::Catalogue;
use crate::session::Budget;
use crate::{
    Actor, AgentSettings, Answer, Approval, Approve, Asker, Assignments, Code, Command, Decision, Effect,
    Event, Fact, Failure, Outcome, Plan, Refusal, Retries, Salvage, Seen, SessionEnd, Settings, Situation,
    Task, TaskId, decide, effects,
};
use jiff::Timestamp;
use std::collections::BTreeMap;

/// The first second of 2026, when the clock of every test starts.
const NEW_YEAR: i64 = 1_767_225_600;

/// Tasks, assignments and plan as folded so far, with the facts and the effects that have no outcome.
pub(crate) struct World {
    pub(crate) tasks: BTreeMap<TaskId, Task>,
    pub(crate) assignments: Assignments,
    pub(crate) plan: Plan,
    pub(crate) catalogue: Catalogue,
    pub(crate) settings: Settings,
    pub(crate) facts: Vec<Fact>,
    pub(crate) open: Vec<Open>,
    /// What every diff changes of what the engine obeys.
    pub(crate) obeyed: Vec<String>,
    seconds: i64,
}

/// An effect that has no outcome yet.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    pub(crate) effect: Effect,
    /// For a session: whether it is under way.
    pub(crate) started: bool,
}

/// What one command led to.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) answer: Answer,
    pub(crate) events: Vec<Event>,
    pub(crate) effects: Vec<Effect>,
}

impl World {
    /// Two agents, `alpha` and `beta`, of one instance each, and two places.
    pub(crate) fn new() -> Self {
        let agents = ["alpha", "beta"].map(|name| (agent(name), AgentSettings { instances: 1 }));
        let settings = Settings {
            max_concurrent_agents: 2,
            approval: Approval::Person,
            members: Vec::new(),
            checks: Vec::new(),
            retries: Retries::default(),
            sessions: 8,
            budget: Budget::default(),
            default_agent: None,
            agents: BTreeMap::from(agents),
        };
        World {
            tasks: BTreeMap::new(),
            assignments: Assignments::default(),
            plan: Plan::default(),
            catalogue: Catalogue::default(),
            settings,
            facts: Vec::new(),
            open: Vec::new(),
            obeyed: Vec::new(),
            seconds: NEW_YEAR,
        }
    }

    /// Gives a command; a second passes with each that is not refused.
    pub(crate) fn give(&mut self, id: TaskId, actor: &Actor, command: &Command) -> Result<Step, Refusal> {
        let upstream = self.tasks.iter().map(|(id, task)| (*id, task.standing())).collect();
        let situation = Situation {
            task: self.tasks.get(&id),
            assignments: &self.assignments,
            plan: &self.plan,
            catalogue: &self.catalogue,
            upstream: &upstream,
            settings: &self.settings,
        };
        let Decision { events, answer } = decide(&situation, id, actor, command)?;
        self.seconds += 1;
        let mut asked = Vec::new();
        for event in &events {
            asked.extend(self.append(actor, event));
        }
        self.open.extend(asked.iter().map(|effect| Open { effect: effect.clone(), started: false }));
        Ok(Step { answer, events, effects: asked })
    }

    fn append(&mut self, actor: &Actor, event: &Event) -> Option<Effect> {
        let at = Timestamp::from_second(self.seconds).unwrap();
        let fact = Fact { at, actor: actor.clone(), event: event.clone() };
        let id = event.task();
        let task = Task::evolve(self.tasks.remove(&id), &fact);
        self.assignments = std::mem::take(&mut self.assignments).evolve(&fact);
        self.plan = std::mem::take(&mut self.plan).evolve(&fact);
        self.facts.push(fact);
        let task = task?;
        let asked = effects(&task, event);
        self.tasks.insert(id, task);
        asked
    }

    /// Reports the outcome of an effect to the rules.
    pub(crate) fn report(&mut self, id: TaskId, outcome: Outcome) -> Step {
        self.give(id, &Actor::Engine, &Command::Report(outcome)).expect("a report is never refused")
    }

    /// Returns the place in `open` of the oldest effect of a task, other than a session under way.
    pub(crate) fn find_open(&self, id: TaskId) -> Option<usize> {
        self.open.iter().position(|open| task_of(&open.effect) == id && !open.started)
    }

    /// Returns the place in `open` of a session under way.
    pub(crate) fn find_session(&self, id: TaskId) -> Option<usize> {
        self.open.iter().position(|open| task_of(&open.effect) == id && open.started)
    }

    /// Answers an open effect well or badly, and returns all resulting steps.
    pub(crate) fn answer(&mut self, index: usize, well: bool) -> Vec<Step> {
        let Open { effect, started } = self.open[index].clone();
        let task = task_of(&effect);
        let begins = matches!(effect, Effect::RunSession { .. }) && well && !started;
        if begins {
            self.open[index].started = true;
        } else {
            self.open.remove(index);
        }
        let mut steps = Vec::new();
        // Whether it goes well or not: only what an earlier engine left of a session may outlive the attempt to stop it.
        if let Effect::PauseAgent { .. } | Effect::StopAgent { .. } = effect {
            steps.extend(self.end_sessions(task));
        }
        if let Effect::ApproveByPolicy { .. } = effect {
            steps.push(self.approve_by_policy(task, well));
        } else {
            let outcome = if well { self.success(&effect, started) } else { mishap(&effect, started) };
            steps.push(self.report(task, outcome));
        }
        steps
    }

    /// Answers everything well until only sessions are under way.
    pub(crate) fn settle(&mut self, id: TaskId) -> Vec<Step> {
        /// The longest chain of the table has five effects.
        const CHAIN_MAX: usize = 5;
        let mut steps = Vec::new();
        for _ in 0..=self.open.len() + CHAIN_MAX {
            let Some(index) = self.find_open(id) else { return steps };
            steps.extend(self.answer(index, true));
        }
        panic!("task #{id} does not settle: {:?}", self.open);
    }

    fn end_sessions(&mut self, id: TaskId) -> Vec<Step> {
        let is_session =
            |open: &Open| task_of(&open.effect) == id && matches!(open.effect, Effect::RunSession { .. });
        let sessions: Vec<Open> = self.open.iter().filter(|open| is_session(open)).cloned().collect();
        self.open.retain(|open| !is_session(open));
        let mut steps = Vec::new();
        for open in sessions {
            let Effect::RunSession { session, .. } = open.effect else { continue };
            steps.push(self.report(id, Outcome::SessionEnded { session, end: SessionEnd::Stopped }));
        }
        steps
    }

    /// The policy gives its command as the engine would, and reports when it is refused.
    fn approve_by_policy(&mut self, id: TaskId, well: bool) -> Step {
        let refused = if well {
            let approve = Command::Approve(Approve::new(None, None, self.seen(id)).unwrap());
            match self.give(id, &Actor::Policy("auto".to_owned()), &approve) {
                Ok(step) => return step,
                Err(refusal) => Failure::from(refusal.explain()),
            }
        } else {
            failure(Code::ApprovalStale)
        };
        self.report(id, Outcome::PolicyRefused(refused))
    }

    /// Returns what a look at the worktree shows when nobody touched it since.
    pub(crate) fn seen(&self, id: TaskId) -> Seen {
        let diff = self.tasks.get(&id).and_then(Task::diff);
        Seen { head: diff.map(|diff| diff.head.clone()), dirty: Vec::new(), is_base_gone: false }
    }

    fn success(&self, effect: &Effect, started: bool) -> Outcome {
        let task = &self.tasks[&task_of(effect)];
        match effect {
            Effect::CreateWorktree { .. } => Outcome::WorktreeCreated,
            Effect::RunSession { session, .. } if started => {
                let mut finished = complete(1, commit(*session));
                finished.diff.obeyed_files.clone_from(&self.obeyed);
                let end = SessionEnd::Finished(finished);
                Outcome::SessionEnded { session: *session, end }
            }
            Effect::RunSession { session, .. } => Outcome::SessionStarted { session: *session },
            Effect::Wait { session, .. } => Outcome::WaitOver { session: *session },
            Effect::RecordDiff { .. } => Outcome::DiffRecorded,
            Effect::PauseAgent { .. } => Outcome::AgentPaused,
            Effect::RunChecks { commit, names, .. } => {
                let results = names.iter().map(|name| evidence(name, name != "broken")).collect();
                Outcome::ChecksRan { commit: commit.clone(), results }
            }
            Effect::ApproveByPolicy { .. } => unreachable!("the policy gives a command"),
            Effect::MergeBranch { .. } => Outcome::Merged { commit: commit(0xabc), checkouts: Vec::new() },
            Effect::StopAgent { .. } => Outcome::AgentStopped,
            Effect::RemoveWorktree { .. } => {
                let number = task.salvages.len() + 1;
                let name = format!("refs/regatta/salvage/{}/{number}", task.id);
                let is_merged = task.column().is_final();
                let salvage = Salvage { name, commit: commit(0xdef) };
                Outcome::WorktreeRemoved { salvage: (!is_merged).then_some(salvage) }
            }
            of_run => unreachable!("no task asks for {of_run:?}"),
        }
    }
}

/// Returns the task that asks for an effect.
pub(crate) fn task_of(effect: &Effect) -> TaskId {
    match effect.asker() {
        Asker::Task(task) => task,
        Asker::Run(run) => unreachable!("run {run} asks for it"),
    }
}

fn mishap(effect: &Effect, started: bool) -> Outcome {
    match effect {
        Effect::CreateWorktree { .. } => Outcome::WorktreeNotCreated(failure(Code::WorktreeCreationFailed)),
        Effect::RunSession { session, .. } if started => {
            let end = SessionEnd::Failed(failure(Code::AgentSessionFailed));
            Outcome::SessionEnded { session: *session, end }
        }
        Effect::RunSession { session, .. } => {
            Outcome::SessionNotStarted { session: *session, failure: failure(Code::AgentStartFailed) }
        }
        Effect::Wait { session, .. } => Outcome::WaitOver { session: *session },
        Effect::RecordDiff { .. } => Outcome::DiffNotRecorded(failure(Code::GitFailed)),
        Effect::PauseAgent { .. } => Outcome::AgentNotPaused(failure(Code::AgentStopFailed)),
        Effect::RunChecks { .. } => Outcome::ChecksNotRun(failure(Code::ChecksFailed)),
        Effect::ApproveByPolicy { .. } => Outcome::PolicyRefused(failure(Code::ApprovalStale)),
        Effect::MergeBranch { .. } => {
            let files = vec!["a.txt".to_owned()];
            Outcome::NotMerged { files, failure: failure(Code::WorktreeMergeConflict) }
        }
        Effect::StopAgent { .. } => Outcome::AgentNotStopped(failure(Code::AgentStopFailed)),
        Effect::RemoveWorktree { .. } => Outcome::WorktreeNotRemoved(failure(Code::WorktreeRemovalFailed)),
        of_run => unreachable!("no task asks for {of_run:?}"),
    }
}
