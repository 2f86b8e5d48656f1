//! Opens and closes sessions on their accounts: load, decide, append.
//!
//! One fact covers all accounts of a session, so that two sessions cannot both be promised the rest of a
//! budget.

use crate::commands::batch::{Batch, Reads};
use crate::commands::round::{self, Envelope, Round, Verdict};
use crate::core::session::{
    self, Account, Allowance, Budget, Charged, Ending, Event, Grant, Resumable, Scope, Subject, Usage,
};
use crate::core::{Actor, Fact, FailureClass, Park};
use crate::error::Error;
use crate::log;
use crate::log::{SNAPSHOT_FORMAT, Stream};
use crate::project::Project;
use regatta_store::LeaseToken;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a session gets when it is opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opened {
    /// What it may use.
    pub(crate) allowed: Allowance,
    /// The agent's own session that is resumed, if there is one.
    pub(crate) resumes: Option<Resumable>,
}

/// How a session ended, as far as its accounts care.
#[derive(Debug, Clone)]
pub(crate) struct Closing {
    pub(crate) ending: Ending,
    pub(crate) class: Option<FailureClass>,
    pub(crate) usage: Usage,
    pub(crate) turns: u32,
    pub(crate) agent_session: Option<String>,
    /// Whether the agent's session that was to be resumed is gone.
    pub(crate) agent_session_gone: bool,
}

impl Closing {
    /// For a session whose end nobody saw.
    pub(crate) fn lost() -> Self {
        Closing {
            ending: Ending::Lost,
            class: None,
            usage: Usage::default(),
            turns: 0,
            agent_session: None,
            agent_session_gone: false,
        }
    }
}

/// Sets aside what a session may use, or says which budget is used up.
///
/// A fresh session starts a new conversation, even if the agent could continue an old one.
pub(crate) async fn open(
    project: &Project,
    token: LeaseToken,
    subject: &Subject,
    is_fresh: bool,
) -> Result<Opened, Error> {
    record(project, token, subject, Entry::Open { is_fresh }).await
}

/// Counts what a session used, and gives back what was set aside for it.
pub(crate) async fn close(
    project: &Project,
    token: LeaseToken,
    subject: &Subject,
    closing: Closing,
) -> Result<(), Error> {
    record(project, token, subject, Entry::Close(closing)).await.map(drop)
}

/// Records that a session which broke off, and belongs to no task, is retried later.
pub(crate) async fn park(
    project: &Project,
    token: LeaseToken,
    subject: &Subject,
    park: Park,
) -> Result<(), Error> {
    record(project, token, subject, Entry::Park(park)).await.map(drop)
}

/// Puts a question of an agent to a person.
pub(crate) async fn ask(
    project: &Project,
    token: LeaseToken,
    subject: &Subject,
    (question, what, paths): (u64, String, Vec<String>),
) -> Result<(), Error> {
    record(project, token, subject, Entry::Ask { question, what, paths }).await.map(drop)
}

/// Records an answer that an agent got without a person.
pub(crate) async fn note(
    project: &Project,
    token: LeaseToken,
    subject: &Subject,
    (what, answer, by): (String, Grant, String),
) -> Result<(), Error> {
    record(project, token, subject, Entry::Note { what, answer, by }).await.map(drop)
}

/// Returns an account in its current state.
pub async fn get_account(project: &Project, scope: Scope) -> Result<Account, Error> {
    Ok(Stream::<Account>::load(project, log::account_stream(scope)).await?.state)
}

/// Returns what happened to the sessions of an account, in order.
pub async fn list_sessions(project: &Project, scope: Scope) -> Result<Vec<Fact<Event>>, Error> {
    let loaded = project.store().load(&log::account_stream(scope), log::NO_SNAPSHOT).await?;
    loaded.tail.iter().map(log::fact_of).collect()
}

/// Returns every account of one kind, such as all days, by the rest of its name.
pub async fn list_accounts(project: &Project, kind: &str) -> Result<Vec<(String, Account)>, Error> {
    let prefix = format!("account/{kind}/");
    let mut accounts = Vec::new();
    for loaded in project.store().load_prefix(&prefix, SNAPSHOT_FORMAT).await? {
        let name = loaded.stream.as_str().trim_start_matches(&prefix).to_owned();
        accounts.push((name, Stream::<Account>::from_loaded(loaded)?.state));
    }
    Ok(accounts)
}

/// Returns the sessions of a task or of a run that are open; those of a run's children are not its own.
pub(crate) async fn list_open(project: &Project, scope: Scope) -> Result<Vec<Subject>, Error> {
    let open = get_account(project, scope).await?.held;
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let mut subjects = BTreeMap::new();
    for fact in list_sessions(project, scope).await? {
        if let Event::SessionOpened { subject, .. } = fact.event
            && open.contains_key(&subject.session)
            && subject.is_of(scope)
        {
            subjects.insert(subject.session.clone(), subject);
        }
    }
    Ok(subjects.into_values().collect())
}

/// What is recorded of a session.
enum Entry {
    Open { is_fresh: bool },
    Park(Park),
    Ask { question: u64, what: String, paths: Vec<String> },
    Note { what: String, answer: Grant, by: String },
    Close(Closing),
}

async fn record(
    project: &Project,
    token: LeaseToken,
    subject: &Subject,
    entry: Entry,
) -> Result<Opened, Error> {
    let envelope = Envelope { fence: Some(token), ..Envelope::by(&Actor::Engine) };
    let record = Record { subject, entry, budget: &project.config().settings.budget };
    Ok(round::submit(project, &envelope, &record, None).await?.answer)
}

/// An entry in all accounts of a session.
struct Record<'a> {
    subject: &'a Subject,
    entry: Entry,
    budget: &'a Budget,
}

impl Round for Record<'_> {
    type Reads = Vec<Stream<Account>>;
    type Answer = Opened;

    async fn load(&self, project: &Project) -> Result<Vec<Stream<Account>>, Error> {
        load_accounts(project, self.subject).await
    }

    fn decide(&self, reads: &mut Vec<Stream<Account>>, batch: &mut Batch) -> Result<Verdict<Opened>, Error> {
        let subject = self.subject;
        let accounts = charged(subject, reads);
        let is_fresh = matches!(self.entry, Entry::Open { is_fresh: true });
        let resumes = find_resumable(&accounts, subject).filter(|_| !is_fresh);
        let events = match &self.entry {
            Entry::Open { .. } => {
                let own = resumes.as_ref().map(|own| own.name.as_str());
                session::open(self.budget, &accounts, subject, own).map_err(Error::Refused)?
            }
            Entry::Park(Park { class, attempt, until }) => {
                let (subject, class, attempt, until) = (subject.clone(), *class, *attempt, *until);
                vec![Event::SessionParked { subject, class, attempt, until }]
            }
            Entry::Ask { question, what, paths } => session::ask(&accounts, subject, *question, what, paths),
            Entry::Note { what, answer, by } => vec![session::note(subject, what, *answer, by)],
            Entry::Close(closing) => session::close(
                &accounts,
                subject,
                (closing.ending, closing.class),
                (closing.usage, closing.turns),
                (closing.agent_session.as_deref(), closing.agent_session_gone),
            ),
        };
        batch.add(&mut reads.streams(), events);
        let allowed = session::find_reserved(&charged(subject, reads), subject).unwrap_or_default();
        Ok(Verdict::Append(Opened { allowed, resumes }))
    }
}

/// Loads every account that a session is charged to.
pub(super) async fn load_accounts(
    project: &Project,
    subject: &Subject,
) -> Result<Vec<Stream<Account>>, Error> {
    let streams: Vec<_> = subject.scopes().into_iter().map(log::account_stream).collect();
    Stream::load_many(project, &streams).await
}

fn charged<'a>(subject: &Subject, accounts: &'a [Stream<Account>]) -> Vec<Charged<'a>> {
    subject.scopes().into_iter().zip(accounts).map(|(scope, account)| (scope, &account.state)).collect()
}

/// The newest session of the same agent in the same role: of the task, or of the run when there is no task.
fn find_resumable(accounts: &[Charged<'_>], subject: &Subject) -> Option<Resumable> {
    let own = match (subject.task_id, subject.run_id) {
        (Some(task), _) => Scope::Task(task),
        (None, Some(run)) => Scope::Run(run),
        (None, None) => return None,
    };
    let (_, account) = accounts.iter().find(|(scope, _)| *scope == own)?;
    account.resumable.get(&subject.conversation()).cloned()
}
