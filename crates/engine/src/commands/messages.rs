//! Gives commands about messages, and reads messages: load, decide, append.
//!
//! A message takes the same round as any command, and triggers nothing. The sender names the recipient; the
//! rules decide whether the recipient exists and may be written to.

use crate::clock;
use crate::commands::orders::{self, Giver};
use crate::commands::round;
use crate::core::message::{self, Directory, Draft, Event, Inbox, Kept, Letter, Party, Post, Situation};
use crate::core::{Actor, AgentId, MessageId, Plan, Refusal, RunId, TaskId};
use crate::error::Error;
use crate::log;
use crate::log::{Folded, SNAPSHOT_FORMAT};
use crate::project::Project;
use jiff::Timestamp;
use regatta_store::{Append, CommandKey};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// A message as people and programs see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct MessageView {
    pub message_id: MessageId,
    pub from: Party,
    pub to: Party,
    pub kind: String,
    pub subject: Option<String>,
    pub body: String,
    pub data: Map<String, Value>,
    pub task_id: Option<TaskId>,
    pub run_id: Option<RunId>,
    pub item: Option<String>,
    pub reply_to: Option<MessageId>,
    pub sent_at: Timestamp,
    pub read: bool,
    pub read_at: Option<Timestamp>,
}

/// Sends a message, and returns its number; `roles` are those of its run, if it is part of one.
pub async fn send(
    project: &Project,
    giver: &Giver,
    draft: Draft,
    roles: BTreeSet<String>,
) -> Result<MessageId, Error> {
    let key = round::key(giver, &format!("{draft:?}"));
    round::take(project, &Sending { giver, key, draft, directory: directory(project, roles) }).await
}

/// Marks messages of an inbox as read; ignores those that are read already or do not exist.
pub async fn mark_read(
    project: &Project,
    giver: &Giver,
    of: &Party,
    messages: &[MessageId],
    by: &Party,
) -> Result<(), Error> {
    if messages.is_empty() {
        return Ok(());
    }
    round::take(project, &Reading { giver, of, messages, by }).await
}

/// Returns all messages that are kept, oldest first.
pub async fn list(project: &Project) -> Result<Vec<MessageView>, Error> {
    let mut views = Vec::new();
    for loaded in project.store().load_prefix(log::INBOXES, SNAPSHOT_FORMAT).await? {
        let inbox = Folded::<Inbox>::from_loaded(loaded)?.state;
        views.extend(inbox.messages().map(|(id, kept)| view(id, kept)));
    }
    views.sort_by_key(|view| view.message_id);
    Ok(views)
}

/// Returns the messages in the inboxes of these parties, oldest first.
pub(crate) async fn list_for(project: &Project, parties: &[Party]) -> Result<Vec<MessageView>, Error> {
    let streams: Vec<_> = parties.iter().map(log::inbox_stream).collect();
    let mut views = Vec::new();
    for loaded in project.store().load_many(&streams, SNAPSHOT_FORMAT).await? {
        let inbox = Folded::<Inbox>::from_loaded(loaded)?.state;
        views.extend(inbox.messages().map(|(id, kept)| view(id, kept)));
    }
    views.sort_by_key(|view| view.message_id);
    Ok(views)
}

/// Finds the party that a text means: a party as it is written, or the bare name of an agent, a role or a
/// member.
pub fn find_party(project: &Project, text: &str) -> Result<Party, Error> {
    let config = project.config();
    let bare = || {
        let agent = text.parse().ok().filter(|agent: &AgentId| config.agents.contains_key(agent));
        let role = || config.roles.contains_key(text).then(|| Party::Role(text.to_owned()));
        let members = &config.settings.members;
        let member = || members.iter().any(|member| member == text).then(|| Party::Person(text.to_owned()));
        agent.map(Party::Agent).or_else(role).or_else(member)
    };
    text.parse().or_else(|fault: message::PartyFault| bare().ok_or(fault)).map_err(|fault| {
        let problem = format!("is wrong: {fault}");
        Error::Refused(Refusal::Invalid { faults: vec![crate::core::FieldFault { field: "to", problem }] })
    })
}

/// Returns a giver of commands as a party.
pub fn party_of(actor: &Actor) -> Party {
    match actor {
        Actor::Agent(agent) => Party::Agent(agent.clone()),
        Actor::User(name) | Actor::Policy(name) => Party::Person(name.clone()),
        Actor::Engine => Party::Person("engine".to_owned()),
        Actor::Unknown => Party::Person("somebody".to_owned()),
    }
}

fn directory(project: &Project, mut roles: BTreeSet<String>) -> Directory {
    let config = project.config();
    roles.extend(config.roles.keys().cloned());
    // An agent plays the role of its own name where no other is named for it.
    roles.extend(config.agents.keys().map(ToString::to_string));
    Directory {
        agents: config.agents.keys().cloned().collect(),
        roles,
        members: config.settings.members.clone(),
    }
}

fn view(message_id: MessageId, kept: &Kept) -> MessageView {
    let Kept { letter, sent_at, read_at, .. } = kept.clone();
    let Letter { from, to, kind, subject, body, data, task_id, run_id, item, reply_to } = letter;
    let read = read_at.is_some();
    MessageView {
        message_id,
        from,
        to,
        kind,
        subject,
        body,
        data,
        task_id,
        run_id,
        item,
        reply_to,
        sent_at,
        read,
        read_at,
    }
}

/// A message on its round.
struct Sending<'a> {
    giver: &'a Giver,
    key: Option<CommandKey>,
    draft: Draft,
    directory: Directory,
}

impl round::Turn for Sending<'_> {
    type Given = MessageId;

    fn key(&self) -> Option<&CommandKey> {
        self.key.as_ref()
    }

    fn parse(answer: &str) -> Result<MessageId, Error> {
        serde_json::from_str(answer).map_err(|error| Error::LogUnsound { seq: 0, why: error.to_string() })
    }

    async fn decide(&self, project: &Project) -> Result<(MessageId, Append), Error> {
        let store = project.store();
        let mut post: Folded<Post> =
            Folded::from_loaded(store.load(&log::messages_stream(), SNAPSHOT_FORMAT).await?)?;
        let mut inbox = load_inbox(project, self.draft.to()).await?;
        let plan: Folded<Plan> =
            Folded::from_loaded(store.load(&log::plan_stream(), SNAPSHOT_FORMAT).await?)?;
        let situation = Situation {
            post: post.state,
            inbox: &inbox.state,
            directory: &self.directory,
            plan: &plan.state,
            is_by_agent: matches!(self.giver.actor, Actor::Agent(_)),
        };
        let event = message::send(&situation, &self.draft).map_err(Error::Refused)?;
        let id = event.message();
        let mut append = Append {
            command: self.key.clone(),
            answer: serde_json::to_string(&id).expect("a number is plain data"),
            expect: vec![
                (post.stream.clone(), post.version),
                (inbox.stream.clone(), inbox.version),
                (plan.stream.clone(), plan.version),
            ],
            ..Append::default()
        };
        for fact in log::facts(vec![event], &self.giver.actor, clock::now()) {
            let row = log::row_of(&fact);
            post.push(&fact, row.data.len());
            inbox.push(&fact, row.data.len());
            append.events.push(row);
        }
        append.snapshots.extend(post.snapshot_if_due());
        append.snapshots.extend(inbox.snapshot_if_due());
        Ok((id, append))
    }
}

/// Messages that are marked as read, on their round.
struct Reading<'a> {
    giver: &'a Giver,
    of: &'a Party,
    messages: &'a [MessageId],
    by: &'a Party,
}

impl round::Turn for Reading<'_> {
    type Given = ();

    fn key(&self) -> Option<&CommandKey> {
        None
    }

    fn parse(_answer: &str) -> Result<(), Error> {
        Ok(())
    }

    async fn decide(&self, project: &Project) -> Result<((), Append), Error> {
        let mut inbox = load_inbox(project, self.of).await?;
        let events: Vec<Event> = message::mark_read(&inbox.state, self.of, self.messages, self.by);
        let expect = vec![(inbox.stream.clone(), inbox.version)];
        let mut append = Append { expect, ..Append::default() };
        for fact in log::facts(events, &self.giver.actor, clock::now()) {
            let row = log::row_of(&fact);
            inbox.push(&fact, row.data.len());
            append.events.push(row);
        }
        if !append.events.is_empty() {
            append.snapshots.extend(inbox.snapshot_if_due());
        }
        Ok(((), append))
    }
}

async fn load_inbox(project: &Project, of: &Party) -> Result<Folded<Inbox>, Error> {
    Folded::from_loaded(project.store().load(&log::inbox_stream(of), SNAPSHOT_FORMAT).await?)
}

/// Returns a message with its inbox, or the refusal that there is none.
pub async fn get(project: &Project, message: MessageId) -> Result<MessageView, Error> {
    let found = list(project).await?.into_iter().find(|view| view.message_id == message);
    found.ok_or_else(|| {
        let problem = format!("must be the number of a message; there is no message {message}");
        orders::invalid(vec![crate::core::FieldFault { field: "message", problem }])
    })
}
