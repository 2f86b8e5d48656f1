//! Questions of agents that wait for a person, and answering them.

use crate::clock;
use crate::commands::accounts;
use crate::commands::orders::Giver;
use crate::commands::round;
use crate::core::session::{self, Account, Asked, Leave, Scope};
use crate::error::Error;
use crate::log;
use crate::log::{Folded, SNAPSHOT_FORMAT};
use crate::project::Project;
use regatta_store::{Append, CommandKey, StreamName};

/// Returns the questions that wait, by name.
pub async fn list_questions(project: &Project) -> Result<Vec<(String, Asked)>, Error> {
    Ok(accounts::get_account(project, Scope::Project).await?.questions.into_iter().collect())
}

/// Answers a question; the agent goes on as soon as its engine has seen it.
pub async fn answer_question(
    project: &Project,
    giver: &Giver,
    name: &str,
    leave: Leave,
) -> Result<Asked, Error> {
    round::take(project, &Turn { giver, name, leave }).await
}

/// An answer on its round.
struct Turn<'a> {
    giver: &'a Giver,
    name: &'a str,
    leave: Leave,
}

impl round::Turn for Turn<'_> {
    type Given = Asked;

    fn key(&self) -> Option<&CommandKey> {
        None
    }

    fn parse(_: &str) -> Result<Asked, Error> {
        Err(Error::LogUnsound { seq: 0, why: "an answer is given without a command's id".to_owned() })
    }

    async fn decide(&self, project: &Project) -> Result<(Asked, Append), Error> {
        let account = accounts::get_account(project, Scope::Project).await?;
        let (asked, event) =
            session::answer(&account, &self.giver.actor, self.name, self.leave).map_err(Error::Refused)?;
        let streams: Vec<StreamName> = asked.subject.scopes().into_iter().map(log::account_stream).collect();
        let loaded = project.store().load_many(&streams, SNAPSHOT_FORMAT).await?;
        let mut folded: Vec<Folded<Account>> =
            loaded.into_iter().map(Folded::from_loaded).collect::<Result<_, _>>()?;
        let expect = folded.iter().map(|folded| (folded.stream.clone(), folded.version)).collect();
        // Answered by somebody else since it was looked up: then the project's account has moved, too.
        let project_account = folded.first().map(|folded| &folded.state);
        if !project_account.is_some_and(|account| account.questions.contains_key(self.name)) {
            let refusal = session::answer(&Account::default(), &self.giver.actor, self.name, self.leave);
            return Err(Error::Refused(refusal.expect_err("an empty account has no question")));
        }
        let mut append = Append { expect, ..Append::default() };
        for fact in log::facts(vec![event], &self.giver.actor, clock::now()) {
            let row = log::row_of(&fact);
            folded.iter_mut().for_each(|folded| folded.push(&fact, row.data.len()));
            append.events.push(row);
        }
        append.snapshots.extend(folded.iter().filter_map(Folded::snapshot_if_due));
        Ok((asked, append))
    }
}
