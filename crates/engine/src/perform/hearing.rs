//! What an agent asks leave for: put to a person where the policy says so, and recorded in any case.

use super::Work;
use super::charge::Charge;
use crate::accounts;
use crate::core::session::{Event, Leave, Scope, Subject};
use crate::error::Error;
use crate::project::Project;
use regatta_agents::{Asker, PermissionAnswer, Question, Questions};
use regatta_store::LeaseToken;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// Answers of a policy that are recorded per session; a session that asks more often is in a loop.
const NOTES_MAX: u32 = 200;

/// Longest sleep while a person is waited for; the log wakes it at once.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The questions of one session.
pub(crate) struct Hearing {
    project: Arc<Project>,
    token: LeaseToken,
    subject: Subject,
    asker: Asker,
    questions: Questions,
    notes: u32,
    /// A question that is being put to a person; kept here, because waiting for it may be broken off by output.
    open: Option<Question>,
}

impl Hearing {
    pub(crate) fn new(work: &Work, charge: &Charge) -> Self {
        let (asker, questions) = Asker::pair();
        Hearing {
            project: Arc::clone(&work.project),
            token: work.token,
            subject: charge.subject().clone(),
            asker,
            questions,
            notes: 0,
            open: None,
        }
    }

    pub(crate) fn asker(&self) -> Asker {
        self.asker.clone()
    }

    /// Puts one question after the other to a person, until it is dropped.
    ///
    /// It may be dropped and called again at any time: what was asked is in the log, and is asked once.
    pub(crate) async fn serve(&mut self) -> Infallible {
        loop {
            if self.open.is_none() {
                match self.questions.next().await {
                    Some(question) => self.open = Some(question),
                    None => std::future::pending().await,
                }
            }
            let Some(question) = &self.open else { continue };
            let asked = (question.id, question.what.clone(), question.paths.clone());
            let id = question.id;
            if accounts::ask(&self.project, self.token, &self.subject, asked).await.is_err() {
                // Not in the log, so nobody can answer it: dropped, which denies it.
                self.open = None;
                continue;
            }
            let answer = self.wait_for(id).await;
            if let (Some(question), Ok(Some((leave, by)))) = (self.open.take(), answer) {
                question.answer(to_agents(leave), by);
            }
        }
    }

    /// Waits until somebody answers; nothing when the session no longer waits.
    async fn wait_for(&self, question: u64) -> Result<Option<(Leave, String)>, Error> {
        let store = self.project.store();
        let mut seen = store.head().await?;
        loop {
            if let Some(answer) = self.find_answer(question).await? {
                return Ok(Some(answer));
            }
            if !self.open.as_ref().is_some_and(Question::is_open) {
                return Ok(None);
            }
            seen = store.wait_past(seen, LOOK_EVERY).await?;
        }
    }

    async fn find_answer(&self, wanted: u64) -> Result<Option<(Leave, String)>, Error> {
        let scope = self.subject.task_id.map(Scope::Task).or(self.subject.run_id.map(Scope::Run));
        let facts = accounts::list_sessions(&self.project, scope.unwrap_or(Scope::Project)).await?;
        Ok(facts.into_iter().rev().find_map(|fact| match fact.event {
            Event::SessionAnswered { subject, question: Some(question), answer, by, .. }
                if question == wanted && subject.session == self.subject.session =>
            {
                Some((answer, by))
            }
            _ => None,
        }))
    }

    /// Records what a policy answered; what a person did is in the log already.
    pub(crate) async fn note(&mut self, what: String, answer: PermissionAnswer, by: String) {
        let is_policy = by.starts_with("policy");
        if !is_policy || self.notes >= NOTES_MAX {
            return;
        }
        self.notes += 1;
        let leave = match answer {
            PermissionAnswer::Allowed => Leave::Allowed,
            PermissionAnswer::Denied => Leave::Denied,
        };
        // A record that is lost harms nobody: the transcript has it, too.
        let _ = accounts::note(&self.project, self.token, &self.subject, (what, leave, by)).await;
    }
}

fn to_agents(leave: Leave) -> PermissionAnswer {
    match leave {
        Leave::Allowed => PermissionAnswer::Allowed,
        Leave::Denied => PermissionAnswer::Denied,
    }
}
