//! What one task, one run, one day or the project has used, and what is set aside for sessions under way.

use super::{Allowance, Budget, Event, Measure, Spent, Subject, Usage};
use crate::{Fact, Park, RunId, TaskId};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What an account is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Everything.
    Project,
    /// The sessions that began on that day.
    Day(Date),
    /// The sessions of a task.
    Task(TaskId),
    /// The sessions of a run.
    Run(RunId),
}

/// What was used, and what is set aside.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// What the sessions that ended used.
    pub spent: Spent,
    /// What is set aside for each session under way.
    pub held: BTreeMap<String, Allowance>,
    /// The agents' own sessions that can be taken up again, by [`Subject::conversation`](super::Subject::conversation).
    pub resumable: BTreeMap<String, Resumable>,
    /// What agents wait for a person to answer, by [`Subject::name_question`](super::Subject::name_question).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub questions: BTreeMap<String, Asked>,
    /// The sessions that broke off and are tried again, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parked: BTreeMap<String, Parked>,
}

/// A session that is tried again later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parked {
    /// When that was decided.
    pub at: Timestamp,
    /// The pause.
    pub park: Park,
}

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The session that asks.
    pub subject: Subject,
    /// Its number in that session.
    pub question: u64,
    /// What the agent wants to do.
    pub what: String,
    /// The files it is about, as the agent names them.
    pub paths: Vec<String>,
}

/// An agent's own session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumable {
    /// The agent's name for it.
    pub name: String,
    /// What all starts of it used together; some agents count from the very beginning.
    pub usage: Usage,
}

impl Scope {
    /// Returns the part of the budget that limits it.
    pub fn limit(self, budget: &Budget) -> Allowance {
        match self {
            Scope::Project => budget.project,
            Scope::Day(_) => budget.day,
            Scope::Task(_) => budget.task,
            Scope::Run(_) => budget.run,
        }
    }

    /// Returns the name of its part of the config.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Project => "project",
            Scope::Day(_) => "day",
            Scope::Task(_) => "task",
            Scope::Run(_) => "run",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Project => out.write_str("the project"),
            Scope::Day(day) => write!(out, "{day}"),
            Scope::Task(task) => write!(out, "task #{task}"),
            Scope::Run(run) => write!(out, "run {run}"),
        }
    }
}

impl Account {
    /// Returns what is set aside for sessions under way, by one measure.
    pub fn count_held(&self, measure: Measure) -> u64 {
        self.held.values().filter_map(|held| held.get(measure)).fold(0, u64::saturating_add)
    }

    /// Finds the pause that a session is in, if it was decided after what happened last to its piece of work: a
    /// person who resumes that does not wait for it.
    pub fn find_park(&self, session: &str, last: Timestamp) -> Option<&Park> {
        self.parked.get(session).filter(|parked| parked.at >= last).map(|parked| &parked.park)
    }

    /// Folds one fact into the account.
    #[must_use]
    pub fn evolve(mut self, fact: &Fact<Event>) -> Self {
        match &fact.event {
            Event::SessionOpened { subject, reserved, .. } => {
                self.held.insert(subject.session.clone(), *reserved);
            }
            Event::SessionParked { subject, class, attempt, until } => {
                let park = Park { class: *class, attempt: *attempt, until: *until };
                self.parked.insert(subject.session.clone(), Parked { at: fact.at, park });
            }
            Event::SessionAsked { subject, question, what, paths } => {
                let asked = Asked {
                    subject: subject.clone(),
                    question: *question,
                    what: what.clone(),
                    paths: paths.clone(),
                };
                self.questions.insert(subject.name_question(*question), asked);
            }
            Event::SessionAnswered { subject, question, .. } => {
                if let Some(question) = question {
                    self.questions.remove(&subject.name_question(*question));
                }
            }
            Event::SessionClosed { subject, usage, agent_session, agent_session_gone, .. } => {
                if *agent_session_gone {
                    self.resumable.remove(&subject.conversation());
                }
                self.held.remove(&subject.session);
                self.parked.remove(&subject.session);
                self.questions.retain(|_, asked| asked.subject.session != subject.session);
                self.spent = self.spent.plus(usage);
                if let Some(name) = agent_session {
                    let before = self.resumable.remove(&subject.conversation());
                    let before = before.filter(|before| before.name == *name).map(|before| before.usage);
                    let usage = before.unwrap_or_default().plus(usage);
                    self.resumable.insert(subject.conversation(), Resumable { name: name.clone(), usage });
                }
            }
        }
        self
    }
}
