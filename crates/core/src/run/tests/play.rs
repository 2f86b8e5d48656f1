//! One run as the engine would keep it: its events, its state, and which effects are open.
//!
//! Whatever the command, it checks three things: the decision leaves the run as it was, the facts read back from their
//! JSON are carried by the run that was folded from such facts alone, and a snapshot of the run is read back the same.

use super::workflows::Example;
use crate::message::{self, Party};
use crate::run::{Command, Event, Inputs, Order, Phase, Run, begin, decide, effects, post};
use crate::testing::user;
use crate::{Effect, Fact, MessageId, Refusal, RunId};
use jiff::Timestamp;
use serde_json::Value;

/// A run that is being played.
#[derive(Debug, Clone)]
pub(super) struct Play {
    pub(super) example: Example,
    pub(super) run: Run,
    pub(super) facts: Vec<Fact<Event>>,
    /// What was asked for and is not answered.
    pub(super) open: Vec<Effect>,
    /// The last command, to be given again.
    pub(super) last: Option<Command>,
    /// The messages that it sent.
    pub(super) sent: Vec<message::Event>,
    /// Whether every step is checked, and not only the events; for runs of which there are many.
    pub(super) is_thorough: bool,
    /// Folded by `replay` from facts that went through JSON.
    replayed: Option<Run>,
}

/// The result of one command.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    pub(super) events: Vec<Event>,
    pub(super) messages: Vec<message::Event>,
    pub(super) effects: Vec<Effect>,
}

/// The number of the run that is played.
pub(super) const RUN: RunId = RunId::FIRST;

impl Play {
    /// Begins a run, or returns why it may not.
    pub(super) fn begin(example: &Example, change: impl FnOnce(&mut Order)) -> Result<(Play, Told), Refusal> {
        let mut order = Order {
            digest: example.workflow.digest(),
            within: Vec::new(),
            level: None,
            prd: None,
            input: example.input.clone(),
            board: false,
            recording: None,
            parent: None,
            is_parent_paused: false,
        };
        change(&mut order);
        let inputs = Inputs::new(&example.workflow, 0);
        Ok(Play::of(example, begin(inputs, RUN, order)?))
    }

    /// Begins with the events that made a run.
    pub(super) fn of(example: &Example, events: Vec<Event>) -> (Play, Told) {
        let first = fact(events[0].clone(), 1);
        let run = Run::evolve(None, &first).expect("the first event creates a run");
        let asked = effects(false, &run, &first.event);
        let replayed = Run::try_evolve(None, &through_json(&first));
        let example = example.clone();
        let facts = vec![first];
        let mut play = Play {
            example,
            run,
            facts,
            open: asked.clone(),
            last: None,
            sent: Vec::new(),
            is_thorough: true,
            replayed,
        };
        let mut told = play.record(events[1..].to_vec());
        told.events = events;
        told.effects.splice(0..0, asked);
        (play, told)
    }

    /// Tells the run something.
    pub(super) fn tell(&mut self, command: Command) -> Result<Told, Refusal> {
        let before = self.is_thorough.then(|| self.run.clone());
        let now_millis = self.facts.len() as i64 * 1000;
        let inputs = Inputs::new(&self.example.workflow, now_millis);
        let decided = decide(inputs, &self.run, &command);
        self.last = Some(command);
        if let Some(before) = before {
            assert_eq!(self.run, before, "a decision leaves the run as it was");
            assert_eq!(text_of(&self.run), text_of(&before), "to the letter");
        }
        Ok(self.record(decided?))
    }

    fn record(&mut self, mut events: Vec<Event>) -> Told {
        let caller = Party::Person("me".to_owned());
        let next = self.sent.last().map_or(MessageId::FIRST, |last| last.message().next());
        let family = [(RUN, &*self.example.workflow)];
        let messages = post(&self.run, &family, &caller, next, &mut events);
        self.sent.extend(messages.iter().cloned());
        let mut told = Told { messages, ..Told::default() };
        for event in &events {
            let fact = fact(event.clone(), self.facts.len() as i64 + 1);
            let was_asked = self.run.is_asked();
            self.run = Run::evolve(Some(self.run.clone()), &fact).expect("it was created");
            if self.is_thorough {
                self.replayed = Run::try_evolve(self.replayed.take(), &through_json(&fact));
                assert_eq!(self.replayed.as_ref(), Some(&self.run), "`{}` is not carried", event.kind());
            }
            told.effects.extend(effects(was_asked, &self.run, event));
            self.facts.push(fact);
        }
        if !events.is_empty() {
            if self.is_thorough {
                assert_eq!(serde_json::from_str::<Run>(&text_of(&self.run)).unwrap(), self.run);
            }
            self.settle(&events, &told.effects);
        }
        told.events = events;
        told
    }

    /// Keeps the effects that the run still waits for; none of them may be asked for twice.
    fn settle(&mut self, events: &[Event], asked: &[Effect]) {
        let (run, open) = (&self.run, &mut self.open);
        // An answer may ask for the same again, to continue with it.
        let answers =
            |event: &Event| matches!(event, Event::RunChildrenStarted { .. } | Event::RunPublished { .. });
        let is_answered = events.iter().any(answers);
        open.retain(|effect| is_of_now(run, effect) && !(is_answered && is_of_phase(effect)));
        for effect in asked {
            assert!(!open.contains(effect), "{} is asked for twice", effect.kind());
            open.push(effect.clone());
        }
        let waits = open.iter().filter(|effect| is_of_phase(effect)).count();
        assert_eq!(waits, usize::from(run.is_asked()), "what is asked for is open: {open:?} {run:?}");
    }
}

/// Tells whether an effect is what the phase of a run needs.
pub(super) fn is_of_phase(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::PublishItems { .. }
            | Effect::PerformNode { .. }
            | Effect::StartChildren { .. }
            | Effect::LandTask { .. }
    )
}

fn is_of_now(run: &Run, effect: &Effect) -> bool {
    let is_now = |step: &u64| run.is_asked() && *step == run.step;
    match (effect, run.phase()) {
        (Effect::PerformNode { step, asks, .. }, Some(Phase::Performing { asks: now, .. })) => {
            is_now(step) && asks == now
        }
        (Effect::PerformNode { step, .. }, Some(Phase::Parallel { .. })) => is_now(step),
        (Effect::PublishItems { step, .. }, Some(Phase::Publishing { .. }))
        | (Effect::StartChildren { step, .. }, Some(Phase::Mapping(_)))
        | (Effect::LandTask { step, .. }, Some(Phase::Landing { .. })) => is_now(step),
        (Effect::StopRun { .. }, _) => !run.is_over(),
        _ => false,
    }
}

fn fact(event: Event, second: i64) -> Fact<Event> {
    Fact { at: Timestamp::from_second(second).unwrap(), actor: user(), event }
}

/// Writes a fact and reads it back.
pub(super) fn through_json(fact: &Fact<Event>) -> Fact<Event> {
    let text = serde_json::to_string(&fact.event).unwrap();
    let event: Event = serde_json::from_str(&text).unwrap();
    assert_eq!(event, fact.event, "an event is read back the same");
    Fact { at: fact.at, actor: fact.actor.clone(), event }
}

fn text_of(run: &Run) -> String {
    serde_json::to_string(run).unwrap()
}

/// Returns the part of a state at a path such as `metrics.totalReviews` or `tasks.0.status`.
pub(super) fn part_of<'v>(state: &'v Value, path: &str) -> &'v Value {
    let follow = |value: &'v Value, name: &str| match name.parse::<usize>() {
        Ok(index) => &value[index],
        Err(_) => &value[name],
    };
    path.split('.').fold(state, follow)
}
