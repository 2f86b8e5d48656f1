//! Questions of agents that wait for a person, and their answers.

use crate::commands::accounts;
use crate::commands::batch::{Batch, Reads};
use crate::commands::orders::Caller;
use crate::commands::request::Request;
use crate::commands::round::{self, Envelope, Round, Verdict};
use crate::core::Actor;
use crate::core::session::{self, Account, Asked, Grant, Scope};
use crate::error::Error;
use crate::log::Stream;
use crate::project::Project;

/// Returns the open questions, by name.
pub async fn list_questions(project: &Project) -> Result<Vec<(String, Asked)>, Error> {
    Ok(accounts::get_account(project, Scope::Project).await?.questions.into_iter().collect())
}

/// Answers a question; the agent continues as soon as its engine has seen it.
pub async fn answer_question(
    project: &Project,
    caller: &Caller,
    name: &str,
    grant: Grant,
) -> Result<Asked, Error> {
    let answer = Answer { actor: &caller.actor, name, grant };
    let request = Request::AnswerQuestion { question: name, allowed: grant == Grant::Allowed };
    Ok(round::submit(project, &Envelope::of(caller, &request), &answer, None).await?.answer)
}

/// An answer to a question.
struct Answer<'a> {
    actor: &'a Actor,
    name: &'a str,
    grant: Grant,
}

impl Round for Answer<'_> {
    type Reads = Vec<Stream<Account>>;
    type Answer = Asked;

    async fn load(&self, project: &Project) -> Result<Vec<Stream<Account>>, Error> {
        let account = accounts::get_account(project, Scope::Project).await?;
        let (asked, _) =
            session::answer(&account, self.actor, self.name, self.grant).map_err(Error::Refused)?;
        accounts::load_accounts(project, &asked.subject).await
    }

    fn decide(&self, reads: &mut Vec<Stream<Account>>, batch: &mut Batch) -> Result<Verdict<Asked>, Error> {
        // The first is the project's, which has every open question: somebody else may have answered since.
        let none = Account::default();
        let account = reads.first().map_or(&none, |account| &account.state);
        let (asked, event) =
            session::answer(account, self.actor, self.name, self.grant).map_err(Error::Refused)?;
        batch.add(&mut reads.streams(), vec![event]);
        Ok(Verdict::Append(asked))
    }
}
