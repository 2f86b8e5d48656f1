//! The workload W2: task machines, each from `ASSIGN` to `verified` with one rejection in between.
//!
//! A transition is one of the five commands, together with the reports that take the task to where the next command
//! is legal. In memory the rules decide and the facts are folded, machine by machine. On the disk each transition is
//! one append with its events and a snapshot of the task, round robin over the machines.

use crate::error::Error;
use crate::measure::{self, rate, round};
use crate::place;
use jiff::Timestamp;
use regatta_core::document::Catalogue;
use regatta_core::machine::Column;
use regatta_core::{
    Actor, AgentId, AgentSettings, Approval, Approve, Assign, Assignments, Command, CommitId, Complete,
    Create, Diff, Event, Fact, FieldFault, Outcome, Plan, Priority, Reject, Seen, SessionEnd, Settings,
    Situation, Standing, Start, Task, TaskId, decide, effects,
};
use regatta_store::{Append, NewEvent, NewSnapshot, OpenMode, SqliteStore, Store, StreamName, Version};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;
use uuid::Uuid;

/// The commands of one life.
const TRANSITIONS: usize = 5;

/// The format of the snapshots; nothing reads them here.
const SNAPSHOT_FORMAT: u32 = 1;

/// Plays machines in memory, one after the other.
pub(crate) fn measure_in_memory(count: usize) -> Result<Value, Error> {
    let script = Script::new()?;
    let mut board = Board::new(count)?;
    let mut tasks = board.create(&script)?;
    let begin = Instant::now();
    for task in &mut tasks {
        for transition in &script.transitions {
            let at = Timestamp::now();
            for (actor, command) in transition {
                board.give(task, at, actor, command, |_| {})?;
            }
        }
    }
    let took = begin.elapsed();
    check(&tasks)?;
    report(count, took)
}

/// Plays machines with every transition on the disk before the next begins.
pub(crate) fn measure_durable(folder: &Path, count: usize) -> Result<Value, Error> {
    let script = Script::new()?;
    let mut board = Board::new(count)?;
    let mut tasks = board.create(&script)?;
    let mut log = Log::open(folder)?;
    let runtime = place::start_runtime()?;
    let begin = Instant::now();
    for transition in &script.transitions {
        for task in &mut tasks {
            let mut facts = Vec::new();
            let at = Timestamp::now();
            for (actor, command) in transition {
                board.give(task, at, actor, command, |fact| facts.push(fact))?;
            }
            runtime.block_on(log.append(task, &facts))?;
        }
    }
    let took = begin.elapsed();
    check(&tasks)?;
    report(count, took)
}

fn report(count: usize, took: std::time::Duration) -> Result<Value, Error> {
    let transitions = TRANSITIONS * count;
    Ok(json!({
        "transitions": transitions,
        "secs": round(took.as_secs_f64()),
        "transitions_per_s": rate(transitions, took),
        "rss_mb": round(measure::peak_memory()?),
    }))
}

/// Every machine must be verified, with one rejection behind it.
fn check(tasks: &[Option<Task>]) -> Result<(), Error> {
    for task in tasks.iter().flatten() {
        Error::unless_equal("the column of a task", task.column(), Column::Verified)?;
        Error::unless_equal("its rejections", task.rejection_count, 1)?;
    }
    Ok(())
}

/// What every machine is given, by transition.
struct Script {
    create: Command,
    person: Actor,
    transitions: [Vec<(Actor, Command)>; TRANSITIONS],
}

impl Script {
    fn new() -> Result<Self, Error> {
        let person = Actor::User("local".to_owned());
        let (base, head) = (commit('a'), commit('b'));
        let create = Create::new(
            "Validate email".to_owned(),
            "Addresses are checked before they are stored.".to_owned(),
            vec!["An address without an @ is refused".to_owned()],
            BTreeSet::new(),
            Priority::Medium,
        );
        let start = Start {
            target: "main".to_owned(),
            base: base.clone(),
            from: None,
            folder: ".regatta/worktrees".to_owned(),
        };
        let to = agent().into();
        let assign = Assign { to, priority: None, start, run: None, is_recorded: false, may_queue: false };
        let diff = Diff {
            files_changed: 1,
            lines_added: 10,
            lines_removed: 0,
            digest: "sha256:5891b5b522d5df08".to_owned(),
            base,
            head: head.clone(),
            obeyed_files: Vec::new(),
        };
        let complete = Complete::new(diff, 5, None).map_err(refused)?;
        let reject = Reject::new("tests fail".to_owned(), None).map_err(refused)?;
        let approve =
            Approve::new(None, None, Seen { head: Some(head), dirty: Vec::new(), is_base_gone: false })
                .map_err(refused)?
                .anyway(true);
        let by_person = |command| (person.clone(), command);
        let completed = |session| {
            vec![
                by_person(Command::Complete(complete.clone())),
                reported(Outcome::DiffRecorded),
                reported(Outcome::SessionEnded { session, end: SessionEnd::Stopped }),
                reported(Outcome::AgentPaused),
            ]
        };
        let merged = Outcome::Merged { commit: commit('c'), checkouts: Vec::new() };
        let transitions = [
            vec![
                by_person(Command::Assign(assign)),
                reported(Outcome::WorktreeCreated),
                reported(Outcome::SessionStarted { session: 1 }),
            ],
            completed(1),
            vec![by_person(Command::Reject(reject)), reported(Outcome::SessionStarted { session: 2 })],
            completed(2),
            vec![
                by_person(Command::Approve(approve)),
                reported(merged),
                reported(Outcome::WorktreeRemoved { salvage: None }),
            ],
        ];
        Ok(Script { create: Command::Create(create.map_err(refused)?), person, transitions })
    }
}

fn reported(outcome: Outcome) -> (Actor, Command) {
    (Actor::Engine, Command::Report(outcome))
}

fn refused(faults: Vec<FieldFault>) -> Error {
    Error::Refused {
        why: faults.into_iter().map(|fault| format!("{} {}", fault.field, fault.problem)).collect(),
    }
}

fn agent() -> AgentId {
    "agent-1".parse().expect("letters, digits and a dash are an agent's name")
}

/// A commit that is identified by its digit.
fn commit(digit: char) -> CommitId {
    String::from_iter([digit; 40]).parse().expect("forty hexadecimal digits are a commit")
}

/// Everything that a decision depends on besides the task.
struct Board {
    assignments: Assignments,
    plan: Plan,
    catalogue: Catalogue,
    upstream: BTreeMap<TaskId, Standing>,
    settings: Settings,
    count: usize,
}

impl Board {
    /// Makes a board with a place for each machine.
    fn new(count: usize) -> Result<Self, Error> {
        let places = u32::try_from(count).unwrap_or(u32::MAX);
        let settings = Settings {
            max_concurrent_agents: places,
            default_agent: None,
            approval: Approval::Person,
            members: Vec::new(),
            checks: Vec::new(),
            sessions: 8,
            retries: Default::default(),
            budget: Default::default(),
            agents: BTreeMap::from([(agent(), AgentSettings { instances: places })]),
        };
        Ok(Board {
            assignments: Assignments::default(),
            plan: Plan::default(),
            catalogue: Catalogue::default(),
            upstream: BTreeMap::new(),
            settings,
            count,
        })
    }

    fn create(&mut self, script: &Script) -> Result<Vec<Option<Task>>, Error> {
        let mut tasks = Vec::with_capacity(self.count);
        for _ in 0..self.count {
            let id = self.plan.next_id();
            let mut task = None;
            self.give_to(&mut task, id, Timestamp::now(), &script.person, &script.create, |_| {})?;
            tasks.push(task);
        }
        Ok(tasks)
    }

    fn give(
        &mut self,
        task: &mut Option<Task>,
        at: Timestamp,
        actor: &Actor,
        command: &Command,
        keep: impl FnMut(Fact),
    ) -> Result<(), Error> {
        let id = task.as_ref().map_or(TaskId::FIRST, |task| task.id);
        self.give_to(task, id, at, actor, command, keep)
    }

    /// Decides a command and folds what comes of it, as the engine does between load and append.
    fn give_to(
        &mut self,
        task: &mut Option<Task>,
        id: TaskId,
        at: Timestamp,
        actor: &Actor,
        command: &Command,
        mut keep: impl FnMut(Fact),
    ) -> Result<(), Error> {
        let situation = Situation {
            task: task.as_ref(),
            assignments: &self.assignments,
            plan: &self.plan,
            catalogue: &self.catalogue,
            upstream: &self.upstream,
            settings: &self.settings,
        };
        let decided = decide(&situation, id, actor, command);
        let decision = decided.map_err(|refusal| Error::Refused { why: refusal.explain().why })?;
        for event in decision.events {
            let fact = Fact { at, actor: actor.clone(), event };
            Task::evolve_in_place(task, &fact);
            if fact.event.concerns_assignments() {
                self.assignments = std::mem::take(&mut self.assignments).evolve(&fact);
            }
            if fact.event.concerns_plan() {
                self.plan = std::mem::take(&mut self.plan).evolve(&fact);
            }
            if let Some(task) = task.as_ref() {
                std::hint::black_box(effects(task, &fact.event));
            }
            keep(fact);
        }
        Ok(())
    }
}

/// The real store, with the versions of its streams.
struct Log {
    store: SqliteStore,
    assignments: StreamName,
    assignments_version: u64,
    versions: BTreeMap<TaskId, u64>,
}

impl Log {
    fn open(folder: &Path) -> Result<Self, Error> {
        let store = SqliteStore::open(folder.join("kanban.db"), OpenMode::Create)?;
        Ok(Log {
            store,
            assignments: stream("crew".to_owned()),
            assignments_version: 0,
            versions: BTreeMap::new(),
        })
    }

    /// Appends the facts of one transition with a snapshot of the task.
    async fn append(&mut self, task: &Option<Task>, facts: &[Fact]) -> Result<(), Error> {
        let Some(task) = task else { return Ok(()) };
        let own = stream(format!("task/{}", task.id));
        let version = self.versions.entry(task.id).or_default();
        let expect = vec![
            (own.clone(), Version(*version)),
            (self.assignments.clone(), Version(self.assignments_version)),
        ];
        let events = facts.iter().map(|fact| row(fact, &own, &self.assignments)).collect();
        let data = serde_json::to_string(task).expect("a task has only text keys");
        let snapshots = vec![NewSnapshot { stream: own, format: SNAPSHOT_FORMAT, data }];
        self.store.append(Append { expect, events, snapshots, ..Append::default() }).await?;
        *version += facts.len() as u64;
        self.assignments_version +=
            facts.iter().filter(|fact| fact.event.concerns_assignments()).count() as u64;
        Ok(())
    }
}

fn row(fact: &Fact<Event>, own: &StreamName, assignments: &StreamName) -> NewEvent {
    let mut streams = vec![own.clone()];
    if fact.event.concerns_assignments() {
        streams.push(assignments.clone());
    }
    NewEvent {
        id: Uuid::now_v7(),
        at: fact.at,
        kind: fact.event.kind().to_owned(),
        actor: serde_json::to_string(&fact.actor).expect("an actor is plain data"),
        streams,
        data: serde_json::to_string(&fact.event).expect("an event is plain data"),
    }
}

fn stream(name: String) -> StreamName {
    StreamName::parse(name).expect("letters, digits and slashes are a stream name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_has_five_transitions_and_ends_verified() {
        let measured = measure_in_memory(3).unwrap();
        assert_eq!(measured["transitions"], 15);
    }
}
