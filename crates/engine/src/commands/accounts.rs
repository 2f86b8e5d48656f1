//! Opening and closing sessions on their accounts: load, decide, append.
//!
//! One fact joins all accounts of a session, so that two sessions cannot both be promised the last of a budget.

use crate::clock;
use crate::commands::round;
use crate::core::session::{
    self, Account, Allowance, Charged, Ending, Event, Leave, Resumable, Scope, Subject, Usage,
};
use crate::core::{Actor, Fact, FailureClass, Park};
use crate::error::Error;
use crate::log;
use crate::log::{Folded, SNAPSHOT_FORMAT};
use crate::project::Project;
use regatta_store::{Append, CommandKey, LeaseToken, StreamName};
use std::collections::BTreeMap;

/// What a session is told when it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opened {
    /// What it may use.
    pub(crate) allowed: Allowance,
    /// The agent's own session that it takes up again, if there is one.
    pub(crate) resumes: Option<Resumable>,
}

/// How a session went, as far as its accounts care.
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
    /// Of a session that nobody saw the end of.
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
/// A fresh one begins a conversation of its own, though the agent could continue one.
pub(crate) async fn open(
    project: &Project,
    token: LeaseToken,
    subject: &Subject,
    is_fresh: bool,
) -> Result<Opened, Error> {
    round::take(project, &Turn { token, subject, deed: Deed::Open { is_fresh } }).await
}

/// Counts what a session used, and gives back what was set aside for it.
pub(crate) async fn close(
    project: &Project,
    token: LeaseToken,
    subject: &Subject,
    closing: Closing,
) -> Result<(), Error> {
    round::take(project, &Turn { token, subject, deed: Deed::Close(closing) }).await.map(|_| ())
}

/// Records that a session which broke off, and is for no task, is tried again later.
pub(crate) async fn park(
    project: &Project,
    token: LeaseToken,
    subject: &Subject,
    park: Park,
) -> Result<(), Error> {
    round::take(project, &Turn { token, subject, deed: Deed::Park(park) }).await.map(|_| ())
}

/// Puts a question of an agent to a person.
pub(crate) async fn ask(
    project: &Project,
    token: LeaseToken,
    subject: &Subject,
    (question, what, paths): (u64, String, Vec<String>),
) -> Result<(), Error> {
    round::take(project, &Turn { token, subject, deed: Deed::Ask { question, what, paths } })
        .await
        .map(|_| ())
}

/// Records what an agent was answered without a person.
pub(crate) async fn note(
    project: &Project,
    token: LeaseToken,
    subject: &Subject,
    (what, answer, by): (String, Leave, String),
) -> Result<(), Error> {
    round::take(project, &Turn { token, subject, deed: Deed::Note { what, answer, by } }).await.map(|_| ())
}

/// Returns an account as it stands.
pub async fn get_account(project: &Project, scope: Scope) -> Result<Account, Error> {
    let loaded = project.store().load(&log::account_stream(scope), SNAPSHOT_FORMAT).await?;
    Ok(Folded::<Account>::from_loaded(loaded)?.state)
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
        accounts.push((name, Folded::<Account>::from_loaded(loaded)?.state));
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

enum Deed {
    Open { is_fresh: bool },
    Park(Park),
    Ask { question: u64, what: String, paths: Vec<String> },
    Note { what: String, answer: Leave, by: String },
    Close(Closing),
}

/// A session on its round.
struct Turn<'a> {
    token: LeaseToken,
    subject: &'a Subject,
    deed: Deed,
}

impl round::Turn for Turn<'_> {
    type Given = Opened;

    fn key(&self) -> Option<&CommandKey> {
        None
    }

    fn parse(_: &str) -> Result<Opened, Error> {
        Err(Error::LogUnsound { seq: 0, why: "a session is opened without a command's id".to_owned() })
    }

    async fn decide(&self, project: &Project) -> Result<(Opened, Append), Error> {
        let scopes = self.subject.scopes();
        let streams: Vec<StreamName> = scopes.iter().map(|scope| log::account_stream(*scope)).collect();
        let loaded = project.store().load_many(&streams, SNAPSHOT_FORMAT).await?;
        let mut folded: Vec<Folded<Account>> =
            loaded.into_iter().map(Folded::from_loaded).collect::<Result<_, _>>()?;
        let accounts: Vec<Charged<'_>> =
            scopes.iter().zip(&folded).map(|(scope, folded)| (*scope, &folded.state)).collect();
        let is_fresh = matches!(self.deed, Deed::Open { is_fresh: true });
        let resumes = find_resumable(&accounts, self.subject).filter(|_| !is_fresh);
        let events = match &self.deed {
            Deed::Open { .. } => {
                let budget = &project.config().settings.budget;
                session::open(budget, &accounts, self.subject, resumes.as_ref().map(|own| own.name.as_str()))
                    .map_err(Error::Refused)?
            }
            Deed::Park(Park { class, attempt, until }) => {
                let (subject, class, attempt, until) = (self.subject.clone(), *class, *attempt, *until);
                vec![Event::SessionParked { subject, class, attempt, until }]
            }
            Deed::Ask { question, what, paths } => {
                session::ask(&accounts, self.subject, *question, what, paths)
            }
            Deed::Note { what, answer, by } => vec![session::note(self.subject, what, *answer, by)],
            Deed::Close(closing) => session::close(
                &accounts,
                self.subject,
                (closing.ending, closing.class),
                (closing.usage, closing.turns),
                (closing.agent_session.as_deref(), closing.agent_session_gone),
            ),
        };
        let expect = folded.iter().map(|folded| (folded.stream.clone(), folded.version)).collect();
        let mut append = Append { expect, fence: Some(self.token), ..Append::default() };
        for fact in log::facts(events, &Actor::Engine, clock::now()) {
            let row = log::row_of(&fact);
            folded.iter_mut().for_each(|folded| folded.push(&fact, row.data.len()));
            append.events.push(row);
        }
        if !append.events.is_empty() {
            append.snapshots.extend(folded.iter().filter_map(Folded::snapshot_if_due));
        }
        let accounts: Vec<Charged<'_>> =
            scopes.iter().zip(&folded).map(|(scope, folded)| (*scope, &folded.state)).collect();
        let allowed = session::find_reserved(&accounts, self.subject).unwrap_or_default();
        Ok((Opened { allowed, resumes }, append))
    }
}

/// The newest session of the same agent in the same role: of the task, or of the run when it is for no task.
fn find_resumable(accounts: &[Charged<'_>], subject: &Subject) -> Option<Resumable> {
    let own = match (subject.task_id, subject.run_id) {
        (Some(task), _) => Scope::Task(task),
        (None, Some(run)) => Scope::Run(run),
        (None, None) => return None,
    };
    let (_, account) = accounts.iter().find(|(scope, _)| *scope == own)?;
    account.resumable.get(&subject.seat()).cloned()
}
