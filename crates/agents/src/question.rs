//! Questions that a session asks a person: may the agent do this?
//!
//! A session sends a [`Question`] through its [`Asker`], and waits. A question that is let go without an answer, or
//! that nobody can hear, is denied; so is one too many.

use tokio::sync::{mpsc, oneshot};

use crate::output::PermissionAnswer;
use crate::session_id::SessionId;

/// Questions that may wait at a time; an agent asks one after the other, so more is a flood.
const WAITING_MAX: usize = 16;

/// Who decides where a question is let go.
const NOBODY: &str = "nobody answered";

/// A question of a session, waiting for an answer.
#[derive(Debug)]
pub struct Question {
    /// Tells it apart from the other questions of its session.
    pub id: u64,
    /// Which session asks.
    pub session: SessionId,
    /// What the agent wants to do, in one line.
    pub what: String,
    /// The files it is about, as the agent names them.
    pub paths: Vec<String>,
    reply: oneshot::Sender<Answer>,
}

/// The side of the session: asks. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Asker {
    sender: mpsc::Sender<Question>,
}

/// The side of the person: hears the questions of all sessions that have the same asker.
#[derive(Debug)]
pub struct Questions {
    receiver: mpsc::Receiver<Question>,
}

/// An answer, and who gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) answer: PermissionAnswer,
    pub(crate) by: String,
}

impl Answer {
    pub(crate) fn denied(by: &str) -> Answer {
        Answer { answer: PermissionAnswer::Denied, by: by.to_owned() }
    }
}

impl Question {
    /// Tells whether the session still waits for the answer.
    pub fn is_open(&self) -> bool {
        !self.reply.is_closed()
    }

    /// Answers it, in the name of somebody.
    pub fn answer(self, answer: PermissionAnswer, by: impl Into<String>) {
        // The session may have ended meanwhile.
        let _ = self.reply.send(Answer { answer, by: by.into() });
    }
}

impl Questions {
    /// Returns the next question; nothing once no session can ask any more.
    pub async fn next(&mut self) -> Option<Question> {
        self.receiver.recv().await
    }
}

impl Asker {
    /// Makes a connected pair.
    pub fn pair() -> (Asker, Questions) {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        (Asker { sender }, Questions { receiver })
    }

    /// Asks, and waits for the answer.
    pub(crate) async fn ask(&self, id: u64, session: SessionId, what: String, paths: Vec<String>) -> Answer {
        let (reply, answer) = oneshot::channel();
        if self.sender.try_send(Question { id, session, what, paths, reply }).is_err() {
            return Answer::denied(NOBODY);
        }
        answer.await.unwrap_or_else(|_| Answer::denied(NOBODY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(asker: &Asker, id: u64) -> impl Future<Output = Answer> + use<> {
        let asker = asker.clone();
        async move { asker.ask(id, SessionId::new("s").unwrap(), "run it".to_owned(), Vec::new()).await }
    }

    #[tokio::test]
    async fn a_question_is_answered_or_denied() {
        let (asker, mut questions) = Asker::pair();
        let first = tokio::spawn(ask(&asker, 1));
        questions.next().await.unwrap().answer(PermissionAnswer::Allowed, "user");
        let allowed = Answer { answer: PermissionAnswer::Allowed, by: "user".to_owned() };
        assert_eq!(first.await.unwrap(), allowed);

        let second = tokio::spawn(ask(&asker, 2));
        let question = questions.next().await.unwrap();
        assert!(question.is_open());
        drop(question);
        assert_eq!(second.await.unwrap(), Answer::denied(NOBODY));

        drop(questions);
        assert_eq!(ask(&asker, 3).await, Answer::denied(NOBODY));
    }

    #[tokio::test]
    async fn a_question_too_many_is_denied() {
        let (asker, _questions) = Asker::pair();
        let waiting: Vec<_> = (0..WAITING_MAX as u64).map(|id| tokio::spawn(ask(&asker, id))).collect();
        while asker.sender.capacity() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(ask(&asker, 99).await, Answer::denied(NOBODY));
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
    }
}
