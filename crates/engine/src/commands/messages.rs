//! Gives commands about messages, and reads messages: load, decide, append.
//!
//! A message takes the same round as any command, and triggers nothing. The sender names the recipient; the
//! rules decide whether the recipient exists and may be written to.

use crate::commands::batch::{Batch, Reads, reads};
use crate::commands::orders::{self, Caller};
use crate::commands::request::Request;
use crate::commands::round::{self, Envelope, Round, Verdict};
use crate::commands::run_orders::get_run;
use crate::core::message::{
    self, Address, Directory, Draft, Inbox, Kept, Message, MessageCount, Party, Situation, UNREAD_MAX,
};
use crate::core::{Actor, AgentId, MessageId, Plan, Refusal, RunId, TaskId};
use crate::error::Error;
use crate::log;
use crate::log::{SNAPSHOT_FORMAT, Stream};
use crate::project::Project;
use crate::runs::post::Line;
use jiff::Timestamp;
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
    /// The run whose role it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_run: Option<RunId>,
    pub item: Option<String>,
    pub reply_to: Option<MessageId>,
    pub sent_at: Timestamp,
    pub read: bool,
    pub read_at: Option<Timestamp>,
}

impl MessageView {
    /// Returns whose inbox it lies in.
    pub fn address(&self) -> Address {
        Address { party: self.to.clone(), run: self.to_run }
    }
}

/// Puts a message into a run, and returns it with the roles that it can be for: those of the run and of the runs above.
pub async fn in_run(project: &Project, draft: Draft, run: RunId) -> Result<(Draft, BTreeSet<String>), Error> {
    let line = Line::load(project, run).await?;
    let roles = line.list_roles();
    let to_run = match draft.to() {
        Party::Role(role) => Some(line.find_reader(role).unwrap_or(run)),
        _ => None,
    };
    Ok((draft.for_role_of(to_run), roles))
}

/// Sends a message, and returns its number; `roles` are those of its run, if it is part of one.
pub async fn send(
    project: &Project,
    caller: &Caller,
    draft: Draft,
    roles: BTreeSet<String>,
) -> Result<MessageId, Error> {
    let envelope = Envelope::of(caller, &draft);
    let is_by_agent = matches!(caller.actor, Actor::Agent(_));
    let send = Send { draft, directory: directory(project, roles), is_by_agent };
    Ok(round::submit(project, &envelope, &send, None).await?.answer)
}

/// Marks messages of an inbox as read; ignores those that are read already or do not exist.
pub async fn mark_read(
    project: &Project,
    caller: &Caller,
    of: &Address,
    messages: &[MessageId],
    by: &Party,
) -> Result<(), Error> {
    if messages.is_empty() {
        return Ok(());
    }
    let read = MarkRead { of, messages, by };
    let envelope = Envelope::of(caller, &Request::ReadMessages { messages });
    round::submit(project, &envelope, &read, None).await.map(drop)
}

/// Returns all messages that are kept, oldest first.
pub async fn list(project: &Project) -> Result<Vec<MessageView>, Error> {
    let mut views = Vec::new();
    for loaded in project.store().load_prefix(log::INBOXES, SNAPSHOT_FORMAT).await? {
        let inbox = Stream::<Inbox>::from_loaded(loaded)?.state;
        views.extend(inbox.messages().map(|(id, kept)| view(id, kept)));
    }
    views.sort_by_key(|view| view.message_id);
    Ok(views)
}

/// Which messages are meant.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Those for this party.
    pub to: Option<Party>,
    /// Those for this role, in any run.
    pub role: Option<String>,
    /// Those about this task, or for it.
    pub task: Option<TaskId>,
    /// Those of this run, or for one of its roles.
    pub run: Option<RunId>,
    /// Those that nobody has read.
    pub unread: bool,
}

impl Filter {
    fn is_met_by(&self, view: &MessageView) -> bool {
        let Filter { to, role, task, run, unread } = self;
        let is_about = |task: &TaskId| view.task_id == Some(*task) || view.to == Party::Task(*task);
        let is_in = |run: &RunId| [view.run_id, view.to_run].contains(&Some(*run));
        to.as_ref().is_none_or(|to| view.to == *to)
            && role.as_ref().is_none_or(|role| view.to == Party::Role(role.clone()))
            && task.as_ref().is_none_or(is_about)
            && run.as_ref().is_none_or(is_in)
            && !(*unread && view.read)
    }
}

/// Returns the messages that are meant, oldest first.
pub async fn list_some(project: &Project, filter: &Filter) -> Result<Vec<MessageView>, Error> {
    let mut found = list(project).await?;
    found.retain(|view| filter.is_met_by(view));
    Ok(found)
}

/// Returns the messages in these inboxes, oldest first.
pub(crate) async fn list_for(project: &Project, inboxes: &[Address]) -> Result<Vec<MessageView>, Error> {
    let streams: Vec<_> = inboxes.iter().map(log::inbox_stream).collect();
    let mut views = Vec::new();
    for loaded in project.store().load_many(&streams, SNAPSHOT_FORMAT).await? {
        let inbox = Stream::<Inbox>::from_loaded(loaded)?.state;
        views.extend(inbox.messages().map(|(id, kept)| view(id, kept)));
    }
    views.sort_by_key(|view| view.message_id);
    Ok(views)
}

/// Tells whether a role that works on an item gets a message: it gets those about that item and about none.
pub(crate) fn is_about(view: &MessageView, item: Option<&str>) -> bool {
    view.item.is_none() || item.is_none() || view.item.as_deref() == item
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

/// Returns a caller of commands as a party.
pub fn party_of(actor: &Actor) -> Party {
    match actor {
        Actor::Agent(agent) => Party::Agent(agent.clone()),
        Actor::User(name) | Actor::Policy(name) => Party::Person(name.clone()),
        Actor::Engine => Party::Engine,
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
    let Message { from, to, kind, subject, body, data, task_id, run_id, to_run, item, reply_to } = letter;
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
        to_run,
        item,
        reply_to,
        sent_at,
        read,
        read_at,
    }
}

/// A message that is sent.
struct Send {
    draft: Draft,
    directory: Directory,
    is_by_agent: bool,
}

/// Everything that the decision about a message reads.
struct Mail {
    post: Stream<MessageCount>,
    inbox: Stream<Inbox>,
    plan: Stream<Plan>,
    /// The runs of its unread messages that have ended, if it is full.
    ended: BTreeSet<RunId>,
}

reads!(Mail: post, inbox, plan);

impl Round for Send {
    type Reads = Mail;
    type Answer = MessageId;

    async fn load(&self, project: &Project) -> Result<Mail, Error> {
        let inbox = Stream::load(project, log::inbox_stream(&self.draft.address())).await?;
        Ok(Mail {
            post: Stream::load(project, log::messages_stream()).await?,
            plan: Stream::load(project, log::plan_stream()).await?,
            ended: find_ended(project, &inbox.state).await?,
            inbox,
        })
    }

    fn decide(&self, reads: &mut Mail, batch: &mut Batch) -> Result<Verdict<MessageId>, Error> {
        let situation = Situation {
            post: reads.post.state,
            inbox: &reads.inbox.state,
            directory: &self.directory,
            plan: &reads.plan.state,
            ended: &reads.ended,
            is_by_agent: self.is_by_agent,
        };
        let event = message::send(&situation, &self.draft).map_err(Error::Refused)?;
        let id = event.message();
        batch.add(&mut reads.streams(), vec![event]);
        Ok(Verdict::Append(id))
    }
}

/// Finds which runs of unread messages have ended; nobody asks as long as there is room.
async fn find_ended(project: &Project, inbox: &Inbox) -> Result<BTreeSet<RunId>, Error> {
    let mut ended = BTreeSet::new();
    if inbox.count_unread() >= UNREAD_MAX {
        for run in inbox.runs_of_unread() {
            if get_run(project, run).await?.is_over() {
                ended.insert(run);
            }
        }
    }
    Ok(ended)
}

/// Messages that are marked as read.
struct MarkRead<'a> {
    of: &'a Address,
    messages: &'a [MessageId],
    by: &'a Party,
}

impl Round for MarkRead<'_> {
    type Reads = Stream<Inbox>;
    type Answer = ();

    async fn load(&self, project: &Project) -> Result<Stream<Inbox>, Error> {
        Stream::load(project, log::inbox_stream(self.of)).await
    }

    fn decide(&self, inbox: &mut Stream<Inbox>, batch: &mut Batch) -> Result<Verdict<()>, Error> {
        let events = message::mark_read(&inbox.state, self.of, self.messages, self.by);
        batch.add(&mut inbox.streams(), events);
        Ok(Verdict::Append(()))
    }
}

/// Returns a message with its inbox, or the refusal that there is none.
pub async fn get(project: &Project, message: MessageId) -> Result<MessageView, Error> {
    let found = list(project).await?.into_iter().find(|view| view.message_id == message);
    found.ok_or_else(|| {
        let problem = format!("must be the number of a message; there is no message {message}");
        orders::invalid(vec![crate::core::FieldFault { field: "message", problem }])
    })
}
