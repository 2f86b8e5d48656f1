//! What a run says to roles, and what its roles have read: the parts of the log that a step adds to beside its own stream.
//!
//! The messages of a step are in the same append as the step, and so are the marks that its role has read what stood in its
//! prompt. So a crash loses none, and a role that is asked again gets the same ones. Nothing is read from the log for a
//! workflow that sends nothing.

use crate::commands::batch::{Batch, Reads};
use crate::commands::messages::party_of;
use crate::commands::run_orders::get_run;
use crate::core::message::{self, Address, Inbox, MessageCount, Party};
use crate::core::run::{Event, Run, find_reader, post};
use crate::core::{Actor, MessageId, RunId};
use crate::error::Error;
use crate::log::{self, Follow, Slot, Stream};
use crate::project::Project;
use crate::runs::driver::find_within;
use crate::runs::family;
use crate::view::version::load_version;
use regatta_flow::Workflow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The messages that stood in the prompt of a step, for the role that it was for.
#[derive(Debug, Clone)]
pub(crate) struct Handed {
    to: Address,
    messages: Arc<Mutex<Vec<MessageId>>>,
}

impl Handed {
    /// Begins with none.
    pub(crate) fn to_role(run: RunId, role: &str) -> Self {
        Handed {
            to: Address { party: Party::Role(role.to_owned()), run: Some(run) },
            messages: Arc::default(),
        }
    }

    /// Returns whose inbox they are from.
    pub(crate) fn inbox(&self) -> &Address {
        &self.to
    }

    /// Records what stands in the prompt, in place of what stood in an earlier one.
    pub(crate) fn set(&self, messages: Vec<MessageId>) {
        *self.messages.lock().unwrap_or_else(PoisonError::into_inner) = messages;
    }

    fn list(&self) -> Vec<MessageId> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What the decisions of a run about messages read.
#[derive(Default)]
pub(crate) struct Post {
    above: Vec<RunId>,
    numbers: Option<Stream<MessageCount>>,
    /// The inboxes that its steps may send to.
    slots: Vec<(Address, Stream<Slot>)>,
    /// The inbox from which a role had messages in its prompt.
    inbox: Option<Stream<Inbox>>,
    /// Where messages go: only then does the decision depend on the numbers, and on these inboxes.
    sent_to: BTreeSet<Address>,
}

impl Reads for Post {
    fn streams(&mut self) -> Vec<&mut dyn Follow> {
        let Post { numbers, slots, inbox, sent_to, .. } = self;
        let numbers = numbers.as_mut().filter(|_| !sent_to.is_empty());
        let numbers = numbers.map(|stream| stream as &mut dyn Follow);
        let inbox = inbox.as_mut().map(|stream| stream as &mut dyn Follow);
        let used = slots.iter_mut().filter(|(address, _)| sent_to.contains(address));
        numbers.into_iter().chain(inbox).chain(used.map(|(_, slot)| slot as &mut dyn Follow)).collect()
    }
}

impl Post {
    /// Loads what a step of a run may need.
    pub(crate) async fn load(project: &Project, run: &Run, workflow: &Workflow) -> Result<Self, Error> {
        if workflow.sends().next().is_none() {
            return Ok(Post::default());
        }
        let above = family::find_above(project, run).await?;
        let numbers = Some(Stream::empty(log::messages_stream()));
        Ok(Post { above, numbers, ..Post::default() })
    }

    /// Loads what others may have added to meanwhile.
    pub(crate) async fn refresh(
        &mut self,
        project: &Project,
        run: &Run,
        definition: &Workflow,
    ) -> Result<(), Error> {
        (self.inbox, self.sent_to) = (None, BTreeSet::new());
        if self.numbers.is_none() {
            return Ok(());
        }
        self.numbers = Some(Stream::load(project, log::messages_stream()).await?);
        self.slots.clear();
        for address in find_readers(&line_of(definition, run, &self.above)) {
            let name = log::inbox_stream(&address);
            let version = load_version(project, &name).await?;
            self.slots.push((address, Stream::at(name, version)));
        }
        Ok(())
    }

    /// Loads the inbox from which a role had messages in its prompt.
    pub(crate) async fn open(&mut self, project: &Project, handed: Option<&Handed>) -> Result<(), Error> {
        if let Some(handed) = handed.filter(|handed| !handed.list().is_empty()) {
            self.inbox = Some(Stream::load(project, log::inbox_stream(&handed.to)).await?);
        }
        Ok(())
    }

    /// Makes the messages that go out with events, which get their numbers.
    pub(crate) fn send(
        &mut self,
        (run, definition): (&Run, &Workflow),
        actor: &Actor,
        events: &mut [Event],
    ) -> Vec<message::Event> {
        let Some(numbers) = &self.numbers else { return Vec::new() };
        let line = line_of(definition, run, &self.above);
        let sent = post(run, &line, &party_of(actor), numbers.state.next_id(), events);
        self.sent_to.extend(sent.iter().map(message::Event::address));
        sent
    }

    /// Adds to the batch that a role has read what stood in its prompt.
    pub(crate) fn mark_read(&mut self, handed: &Handed, batch: &mut Batch) {
        let Some(inbox) = &mut self.inbox else { return };
        let read = message::mark_read(&inbox.state, &handed.to, &handed.list(), &handed.to.party);
        batch.add(&mut [inbox], read);
    }
}

/// Returns where the messages of a run can go.
fn find_readers(line: &[(RunId, &Workflow)]) -> BTreeSet<Address> {
    let Some((run, workflow)) = line.first() else { return BTreeSet::new() };
    let address = |role: &String| Address {
        run: Some(find_reader(line, role).unwrap_or(*run)),
        party: Party::Role(role.clone()),
    };
    workflow.sends().map(|send| address(&send.to.name)).collect()
}

/// A run and those above it, with what each plays.
pub(crate) struct Line {
    definition: Arc<Workflow>,
    run: Run,
    above: Vec<RunId>,
}

impl Line {
    /// Loads them.
    pub(crate) async fn load(project: &Project, run: RunId) -> Result<Self, Error> {
        let run = get_run(project, run).await?;
        let definition = project.definitions().get(project, &run.digest).await?;
        let above = family::find_above(project, &run).await?;
        Ok(Line { definition, run, above })
    }

    /// Finds the nearest run that has a role.
    pub(crate) fn find_reader(&self, role: &str) -> Option<RunId> {
        find_reader(&line_of(&self.definition, &self.run, &self.above), role)
    }

    /// Lists the roles of all of them.
    pub(crate) fn list_roles(&self) -> BTreeSet<String> {
        let line = line_of(&self.definition, &self.run, &self.above);
        let nodes = line.iter().flat_map(|(_, workflow)| &workflow.nodes);
        nodes.filter_map(|node| Some(node.kind.role()?.name.clone())).collect()
    }
}

/// Returns the workflows of a run and of those above it: each is within the next.
fn line_of<'d>(definition: &'d Workflow, run: &Run, above: &[RunId]) -> Vec<(RunId, &'d Workflow)> {
    let mut within = &run.within[..];
    let mut line = vec![(run.id, find_within(definition, within))];
    for id in above {
        within = &within[..within.len().saturating_sub(1)];
        line.push((*id, find_within(definition, within)));
    }
    line
}
