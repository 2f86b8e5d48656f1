//! Permission requests of an agent: passed to a person where the policy says so, and recorded in any case.

use crate::commands::accounts;
use crate::core::session::{Event, Grant, Scope, Subject};
use crate::error::Error;
use crate::perform::Work;
use crate::project::Project;
use crate::session::reservation::Reservation;
use regatta_agents::{Asker, PermissionAnswer, Question, Questions};
use regatta_store::LeaseToken;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// How many answers of a policy are recorded per session; a session that asks more often is in a loop.
const NOTES_MAX: u32 = 200;

/// Longest sleep while waiting for a person; the log wakes it at once.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The questions of one session.
pub(crate) struct OpenQuestions {
    project: Arc<Project>,
    token: LeaseToken,
    subject: Subject,
    asker: Asker,
    questions: Questions,
    notes: u32,
    /// The question that is being put to a person; kept here, because output may interrupt the wait for an
    /// answer.
    open: Option<Question>,
    /// Whether that question is in the log. Once answered it must not be put there a second time.
    is_asked: bool,
}

impl OpenQuestions {
    pub(crate) fn new(work: &Work, reservation: &Reservation) -> Self {
        let (asker, questions) = Asker::pair();
        OpenQuestions {
            project: Arc::clone(&work.project),
            token: work.token,
            subject: reservation.subject().clone(),
            asker,
            questions,
            notes: 0,
            open: None,
            is_asked: false,
        }
    }

    pub(crate) fn asker(&self) -> Asker {
        self.asker.clone()
    }

    /// Puts one question after the other to a person, until it is dropped.
    ///
    /// It may be dropped and called again at any time: a question is in the log, and is asked once.
    pub(crate) async fn serve(&mut self) -> Infallible {
        loop {
            if self.open.is_none() {
                match self.questions.next().await {
                    Some(question) => self.open = Some(question),
                    None => std::future::pending().await,
                }
                self.is_asked = false;
            }
            let Some(question) = &self.open else { continue };
            let id = question.id;
            if !self.is_asked {
                let asked = (id, question.what.clone(), question.paths.clone());
                if accounts::ask(&self.project, self.token, &self.subject, asked).await.is_err() {
                    // Not in the log, so nobody can answer it: dropped, which denies it.
                    self.open = None;
                    continue;
                }
                self.is_asked = true;
            }
            let answer = self.wait_for(id).await;
            if let (Some(question), Ok(Some((grant, by)))) = (self.open.take(), answer) {
                question.answer(to_agents(grant), by);
            }
        }
    }

    /// Waits until somebody answers; returns nothing when the session no longer waits.
    async fn wait_for(&self, question: u64) -> Result<Option<(Grant, String)>, Error> {
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

    async fn find_answer(&self, wanted: u64) -> Result<Option<(Grant, String)>, Error> {
        let scope = self.subject.task_id.map(Scope::Task).or(self.subject.run_id.map(Scope::Run));
        let facts = accounts::list_sessions(&self.project, scope.unwrap_or(Scope::Project)).await?;
        Ok(latest_answer(facts.into_iter().map(|fact| fact.event), &self.subject.session, wanted))
    }

    /// Records the answer of a policy; a person's answer is in the log already.
    pub(crate) async fn note(&mut self, what: String, answer: PermissionAnswer, by: String) {
        let is_policy = by.starts_with("policy");
        if !is_policy || self.notes >= NOTES_MAX {
            return;
        }
        self.notes += 1;
        let grant = match answer {
            PermissionAnswer::Allowed => Grant::Allowed,
            PermissionAnswer::Denied => Grant::Denied,
        };
        // A lost record does no harm: the transcript has it, too.
        let _ = accounts::note(&self.project, self.token, &self.subject, (what, grant, by)).await;
    }
}

/// Returns the answer since the question was last asked: an answer to an earlier start of the same session
/// may have been about something else.
fn latest_answer(
    events: impl DoubleEndedIterator<Item = Event>,
    session: &str,
    wanted: u64,
) -> Option<(Grant, String)> {
    let is_it = |subject: &Subject, question: u64| question == wanted && subject.session == session;
    let latest = events.rev().find_map(|event| match event {
        Event::SessionAnswered { subject, question: Some(question), answer, by, .. }
            if is_it(&subject, question) =>
        {
            Some(Some((answer, by)))
        }
        Event::SessionAsked { subject, question, .. } if is_it(&subject, question) => Some(None),
        _ => None,
    });
    latest.flatten()
}

fn to_agents(grant: Grant) -> PermissionAnswer {
    match grant {
        Grant::Allowed => PermissionAnswer::Allowed,
        Grant::Denied => PermissionAnswer::Denied,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(session: &str) -> Subject {
        Subject {
            session: session.to_owned(),
            agent_id: "alpha".parse().unwrap(),
            task_id: None,
            run_id: None,
            above: Vec::new(),
            role: None,
            number: 1,
            day: jiff::civil::date(2026, 1, 1),
        }
    }

    fn asked(session: &str, question: u64) -> Event {
        let (subject, what) = (subject(session), "run it".to_owned());
        Event::SessionAsked { subject, question, what, paths: Vec::new() }
    }

    fn answered(session: &str, question: Option<u64>, answer: Grant) -> Event {
        let (subject, what, by) = (subject(session), "run it".to_owned(), "user somebody".to_owned());
        Event::SessionAnswered { subject, question, what, answer, by }
    }

    #[test]
    fn an_answer_counts_for_the_question_that_was_asked_last() {
        let find = |events: &[Event]| latest_answer(events.iter().cloned(), "s", 1).map(|(grant, _)| grant);
        let own = [asked("s", 1), answered("s", Some(1), Grant::Allowed)];
        assert_eq!(find(&own), Some(Grant::Allowed));
        assert_eq!(find(&own[..1]), None);
        let again = [&own[..], &[asked("s", 1)]].concat();
        assert_eq!(find(&again), None, "the session was run again");
        let denied = [&again[..], &[answered("s", Some(1), Grant::Denied)]].concat();
        assert_eq!(find(&denied), Some(Grant::Denied));
        let others = [
            asked("s", 1),
            answered("s", Some(2), Grant::Allowed),
            answered("other", Some(1), Grant::Allowed),
            answered("s", None, Grant::Allowed),
        ];
        assert_eq!(find(&others), None);
    }
}
