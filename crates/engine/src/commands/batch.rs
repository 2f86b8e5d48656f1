//! One append in the making: rows, what they ask for, and the streams that follow them.

use crate::core::{Actor, Effect, Fact};
use crate::log;
use crate::log::{Follow, Logged, State, Stream};
use jiff::Timestamp;
use regatta_store::{NewEvent, NewIntent, NewRow, StreamName, Version};

/// The streams that a decision reads, folded.
pub(crate) trait Reads: Send {
    /// Returns every stream: none of them may have moved when the decision is stored.
    fn streams(&mut self) -> Vec<&mut dyn Follow>;
}

impl Reads for () {
    fn streams(&mut self) -> Vec<&mut dyn Follow> {
        Vec::new()
    }
}

impl<S: State> Reads for Stream<S> {
    fn streams(&mut self) -> Vec<&mut dyn Follow> {
        vec![self]
    }
}

impl<R: Reads> Reads for Option<R> {
    fn streams(&mut self) -> Vec<&mut dyn Follow> {
        self.iter_mut().flat_map(R::streams).collect()
    }
}

impl<R: Reads> Reads for Vec<R> {
    fn streams(&mut self) -> Vec<&mut dyn Follow> {
        self.iter_mut().flat_map(R::streams).collect()
    }
}

/// Makes a type read what these of its fields read.
macro_rules! reads {
    ($type:ty: $($field:ident),*) => {
        impl $crate::commands::batch::Reads for $type {
            fn streams(&mut self) -> Vec<&mut dyn $crate::log::Follow> {
                let mut streams = Vec::new();
                $(streams.extend($crate::commands::batch::Reads::streams(&mut self.$field));)*
                streams
            }
        }
    };
}
pub(crate) use reads;

/// What one decision adds to the log.
pub(crate) struct Batch {
    /// The time of the decision, which is that of its facts: a replay has only these to go by.
    pub(crate) at: Timestamp,
    pub(super) actor: Actor,
    pub(super) events: Vec<NewEvent>,
    pub(super) intents: Vec<NewIntent>,
    pub(super) effects: Vec<Effect>,
    pub(super) rows: Vec<NewRow>,
    pub(super) expect: Vec<(StreamName, Version)>,
}

impl Batch {
    pub(super) fn new(at: Timestamp, actor: Actor) -> Self {
        let (events, intents, effects) = (Vec::new(), Vec::new(), Vec::new());
        Batch { at, actor, events, intents, effects, rows: Vec::new(), expect: Vec::new() }
    }

    /// Lets the append fail if a stream has another version by then.
    pub(super) fn expect(&mut self, stream: StreamName, version: Version) {
        self.expect.push((stream, version));
    }

    /// Adds events of who gives the command.
    pub(crate) fn add<E: Logged>(&mut self, streams: &mut [&mut dyn Follow], events: Vec<E>) {
        self.add_as(self.actor.clone(), streams, events);
    }

    /// Adds events of somebody else. Each is folded into those of the given streams that it is in.
    pub(crate) fn add_as<E: Logged>(
        &mut self,
        actor: Actor,
        streams: &mut [&mut dyn Follow],
        events: Vec<E>,
    ) {
        for event in events {
            let fact = Fact { at: self.at, actor: actor.clone(), event };
            let row = log::row_of(&fact);
            for stream in streams.iter_mut().filter(|stream| row.streams.contains(stream.name())) {
                for effect in stream.follow(&fact, row.data.len()) {
                    self.intents.push(log::intent_of(&effect, self.events.len()));
                    self.effects.push(effect);
                }
            }
            self.events.push(row);
        }
    }

    /// Writes rows of lists with the events.
    pub(crate) fn list(&mut self, rows: impl IntoIterator<Item = NewRow>) {
        self.rows.extend(rows);
    }
}
