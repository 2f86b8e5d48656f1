//! What an agent asks permission for, and what it is answered.
//!
//! A policy answers most of it, which is only noted. What it leaves to a person waits in the accounts until it is
//! answered or the session ends.

use super::{Account, Asked, Charged, Event, Grant, Subject, find_reserved};
use crate::{Actor, Refusal};

/// A question for a person; asking the same again adds nothing.
///
/// A session that is run again counts its questions from 1, and may ask something else under the same number.
pub fn ask(
    accounts: &[Charged<'_>],
    subject: &Subject,
    question: u64,
    what: &str,
    paths: &[String],
) -> Vec<Event> {
    let name = subject.name_question(question);
    let is_same = |asked: &Asked| asked.what == what && asked.paths == paths;
    let is_asked = accounts.iter().any(|(_, account)| account.questions.get(&name).is_some_and(is_same));
    if is_asked || find_reserved(accounts, subject).is_none() {
        return Vec::new();
    }
    vec![Event::SessionAsked {
        subject: subject.clone(),
        question,
        what: what.to_owned(),
        paths: paths.to_vec(),
    }]
}

/// An answer that was given by a policy.
pub fn note(subject: &Subject, what: &str, answer: Grant, by: &str) -> Event {
    Event::SessionAnswered {
        subject: subject.clone(),
        question: None,
        what: what.to_owned(),
        answer,
        by: by.to_owned(),
    }
}

/// A person's answer to a question that waits in the project's account. An agent cannot answer.
pub fn answer(
    account: &Account,
    actor: &Actor,
    name: &str,
    answer: Grant,
) -> Result<(Asked, Event), Refusal> {
    if matches!(actor, Actor::Agent(_)) {
        return Err(Refusal::AnswererNotAllowed { name: name.to_owned(), actor: actor.clone() });
    }
    let Some(asked) = account.questions.get(name) else {
        let open = account.questions.keys().cloned().collect();
        return Err(Refusal::QuestionNotFound { name: name.to_owned(), open });
    };
    let event = Event::SessionAnswered {
        subject: asked.subject.clone(),
        question: Some(asked.question),
        what: asked.what.clone(),
        answer,
        by: actor.to_string(),
    };
    Ok((asked.clone(), event))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Scope, open};
    use crate::testing::{agent, session_samples, user};
    use crate::{Code, Fact};
    use jiff::Timestamp;

    fn folded(account: Account, events: Vec<Event>) -> Account {
        let fact = |event| Fact { at: Timestamp::UNIX_EPOCH, actor: Actor::Engine, event };
        events.into_iter().fold(account, |account, event| account.evolve(&fact(event)))
    }

    fn opened() -> (Account, Subject) {
        let subject = session_samples()[0].subject().clone();
        let account = Account::default();
        let events = open(&crate::session::Budget::default(), &[(Scope::Project, &account)], &subject, None);
        (folded(account, events.unwrap()), subject)
    }

    #[test]
    fn a_question_waits_until_a_person_answers_it() {
        let (account, subject) = opened();
        let asked = ask(&[(Scope::Project, &account)], &subject, 1, "run `make`", &[]);
        assert_eq!(asked.len(), 1);
        let account = folded(account, asked);
        assert!(ask(&[(Scope::Project, &account)], &subject, 1, "run `make`", &[]).is_empty(), "once");
        let other = ask(&[(Scope::Project, &account)], &subject, 1, "run `curl`", &[]);
        assert_eq!(other.len(), 1, "the session was run again, and wants something else");
        let account = folded(account, other);
        let name = subject.name_question(1);
        assert_eq!(account.questions[&name].what, "run `curl`");
        let refused = answer(&account, &Actor::Agent(agent("alpha")), &name, Grant::Allowed).unwrap_err();
        assert_eq!(refused.code(), Code::ApproverNotAllowed);
        let (_, event) = answer(&account, &user(), &name, Grant::Allowed).unwrap();
        let account = folded(account, vec![event]);
        assert_eq!(
            answer(&account, &user(), &name, Grant::Denied).unwrap_err().code(),
            Code::QuestionNotFound
        );
    }

    #[test]
    fn a_question_is_forgotten_with_its_session() {
        let (account, subject) = opened();
        let asked = ask(&[(Scope::Project, &account)], &subject, 1, "run `make`", &[]);
        let account = folded(account, asked);
        let closed = session_samples().pop().unwrap();
        assert!(folded(account, vec![closed]).questions.is_empty());
        assert!(ask(&[(Scope::Project, &Account::default())], &subject, 2, "run", &[]).is_empty());
    }
}
