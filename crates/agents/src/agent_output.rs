//! What an agent's stream has said so far, in the one vocabulary.
//!
//! An adapter reads one event after the other into this; the driver of the session takes the pieces out and asks at the
//! end what it all came to. Pure and bounded: it holds the end of the last message, and the pieces of one event.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp, Zoned};
use serde_json::Value;

use crate::call::About;
use crate::change::Change;
use crate::classify::{Verdict, classify};
use crate::failure::{Failure, FailureClass};
use crate::limits::Limits;
use crate::output::{Output, PermissionAnswer, PlanStep};
use crate::tail::Tail;
use crate::text::cut_length;
use crate::usage::Usage;

/// Longest text of one piece: a reader that is a little slow then misses little.
const PIECE_BYTES_MAX: usize = 64 * 1024;

/// How much of a tool's input or answer is passed on: enough to see what it is about.
const EXCERPT_BYTES_MAX: usize = 2000;

/// Longest name that an agent may give to a tool, a call or a session.
const NAME_BYTES_MAX: usize = 200;

/// What an agent has said in a session so far.
#[derive(Debug)]
pub(crate) struct AgentOutput {
    folder: PathBuf,
    limits: Limits,
    now: Zoned,
    pieces: Vec<Output>,
    message: Tail,
    is_message_over: bool,
    session: Option<String>,
    is_session_gone: bool,
    turns: u32,
    usage: Usage,
    resumed: Usage,
    failure: Option<Failure>,
    /// The last thing it said, if that is that the provider limits the rate.
    waiting: Option<Verdict>,
    /// When the provider's limit is over, as far as it was said apart from an error.
    reset: Option<Timestamp>,
    is_over: bool,
}

/// What a stream came to.
#[derive(Debug)]
pub(crate) struct Totals {
    /// The end of the last message.
    pub(crate) message: Tail,
    pub(crate) session: Option<String>,
    pub(crate) is_session_gone: bool,
    pub(crate) turns: Option<u32>,
    pub(crate) usage: Usage,
}

impl AgentOutput {
    /// Begins to listen; what a resumed session had used before is not counted again.
    pub(crate) fn new(folder: &Path, limits: &Limits, resumed: Option<Usage>, now: Zoned) -> AgentOutput {
        AgentOutput {
            folder: folder.to_owned(),
            limits: limits.clone(),
            now,
            pieces: Vec::new(),
            message: Tail::new(limits.result_bytes_max),
            is_message_over: false,
            session: None,
            is_session_gone: false,
            turns: 0,
            usage: Usage::default(),
            resumed: resumed.unwrap_or_default(),
            failure: None,
            waiting: None,
            reset: None,
            is_over: false,
        }
    }

    /// Sets the time of the next event, by which spans such as "try again in 5s" are understood.
    pub(crate) fn set_now(&mut self, now: Timestamp) {
        self.now = now.to_zoned(self.now.time_zone().clone());
    }

    /// Returns the time of the event that is being read.
    pub(crate) fn now(&self) -> &Zoned {
        &self.now
    }

    /// A line was too long to be read.
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.pieces.push(Output::Skipped { bytes });
    }

    /// Takes out the pieces that came since the last time.
    pub(crate) fn take_pieces(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.pieces)
    }

    /// The agent says something; pieces of one message are put together.
    pub(crate) fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_message_over) {
            self.message = Tail::new(self.limits.result_bytes_max);
        }
        self.message.push(text.as_bytes());
        // The model answers again; what a program merely prints while it waits is no answer.
        self.waiting = None;
        self.push_text(text, Output::Text);
    }

    /// What is said from here on is another message.
    pub(crate) fn end_message(&mut self) {
        self.is_message_over = true;
    }

    /// The agent gives its last message whole; it was said before, or is said now.
    pub(crate) fn set_message(&mut self, text: &str) {
        let (last, _) = self.message.read();
        if last != text.as_bytes() {
            self.end_message();
            self.say(text);
        }
    }

    /// The agent prints something that is not part of a message.
    pub(crate) fn print(&mut self, text: &str) {
        self.push_text(text, Output::Text);
    }

    /// The agent thinks.
    pub(crate) fn think(&mut self, text: &str) {
        if !text.is_empty() {
            self.push_text(text, Output::Thinking);
        }
    }

    /// A tool is called.
    pub(crate) fn call_tool(&mut self, id: &str, name: &str, input: &Value) {
        let about = About::of(input, &self.folder);
        self.call_about(id, name, about);
    }

    /// A tool is called, of whose input only this is known.
    pub(crate) fn call_about(&mut self, id: &str, name: &str, about: About) {
        self.end_message();
        self.waiting = None;
        let About { text, path } = about;
        self.pieces.push(Output::ToolCalled { id: short(id), name: short(name), about: text, path });
    }

    /// Returns what a call is about.
    pub(crate) fn about(&self, input: &Value) -> About {
        About::of(input, &self.folder)
    }

    /// A tool comes back.
    pub(crate) fn return_tool(&mut self, id: &str, is_error: bool, text: &str) {
        self.pieces.push(Output::ToolReturned { id: short(id), is_error, text: excerpt(text) });
    }

    /// A file was changed; one outside of the working folder is not of interest here.
    pub(crate) fn edit(&mut self, path: &str, change: Option<Change>) {
        let path = Path::new(path);
        let inside = if path.is_absolute() { path.strip_prefix(&self.folder).ok() } else { Some(path) };
        if let Some(path) = inside.and_then(Path::to_str).filter(|path| !path.is_empty()) {
            self.pieces.push(Output::Edited { path: path.to_owned(), change });
        }
    }

    /// The agent shows its plan.
    pub(crate) fn plan(&mut self, steps: Vec<PlanStep>) {
        self.pieces.push(Output::Planned(steps));
    }

    /// The agent asked for permission.
    pub(crate) fn ask(&mut self, what: &str, answer: PermissionAnswer, by: &str) {
        self.pieces.push(Output::PermissionAsked { what: excerpt(what), answer, by: by.to_owned() });
    }

    /// The agent's own name for the session.
    pub(crate) fn name_session(&mut self, id: &str) {
        if !id.is_empty() && id.len() <= NAME_BYTES_MAX {
            self.session = Some(id.to_owned());
        }
    }

    /// The session that was to be taken up again is gone.
    pub(crate) fn lose_session(&mut self) {
        self.session = None;
        self.is_session_gone = true;
    }

    /// The agent begins another turn: the model answers once more.
    pub(crate) fn begin_turn(&mut self) {
        self.turns = self.turns.saturating_add(1);
    }

    /// The agent says how many turns it took.
    pub(crate) fn set_turns(&mut self, turns: u64) {
        self.turns = u32::try_from(turns).unwrap_or(u32::MAX);
    }

    /// What this start has used in all so far.
    pub(crate) fn use_total(&mut self, usage: Usage) {
        if usage != self.usage {
            self.usage = usage;
            self.pieces.push(Output::Used(usage));
        }
    }

    /// Returns what this start has used so far.
    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    /// What was used in addition.
    pub(crate) fn use_more(&mut self, more: Usage) {
        self.use_total(self.usage.plus(&more));
    }

    /// What the agent's session has used since its very beginning, also before it was resumed.
    pub(crate) fn use_since_beginning(&mut self, usage: Usage) {
        self.use_total(usage.minus(&self.resumed));
    }

    /// Returns what a cost counted from the session's very beginning is for this start.
    pub(crate) fn cost_of_this_start(&self, cost_micros: u64) -> u64 {
        cost_micros.saturating_sub(self.resumed.cost_micros.unwrap_or_default())
    }

    /// The provider asks to come back later; the agent may continue by itself.
    pub(crate) fn limit_rate(&mut self, message: &str, until: Option<Timestamp>) {
        let message = excerpt(message);
        self.waiting = Some(Verdict { class: FailureClass::RateLimit, message: message.clone(), until });
        self.pieces.push(Output::RateLimited { message, until });
    }

    /// The provider asks to come back later, and the agent waits for a while.
    pub(crate) fn limit_rate_for(&mut self, message: &str, milliseconds: u64) {
        let span = SignedDuration::from_millis(i64::try_from(milliseconds).unwrap_or(i64::MAX));
        self.limit_rate(message, self.now.timestamp().checked_add(span).ok());
    }

    /// The limit of the provider is over then.
    pub(crate) fn set_reset(&mut self, until: Option<Timestamp>) {
        self.reset = until;
    }

    /// The agent met an error; unless it says later on that it got over it, this is how it failed.
    pub(crate) fn fail(&mut self, text: &str) {
        self.fail_as(classify(text, &self.now).unwrap_or_else(|| Verdict::crash(text)));
    }

    /// The agent met an error whose HTTP status it names.
    pub(crate) fn fail_with_status(&mut self, status: Option<u64>, text: &str) {
        let with_status = status.map(|status| format!("HTTP status {status}: {text}"));
        let verdict =
            with_status.and_then(|text| classify(&text, &self.now)).or_else(|| classify(text, &self.now));
        let verdict = verdict.map(|verdict| Verdict { message: Verdict::readable(text), ..verdict });
        self.fail_as(verdict.unwrap_or_else(|| Verdict::crash(text)));
    }

    /// The agent failed in a known way.
    pub(crate) fn fail_as(&mut self, verdict: Verdict) {
        let Verdict { class, message, mut until } = verdict;
        if class == FailureClass::RateLimit {
            until = until.or(self.reset);
            // Agents tell the same error several times: as they meet it, and at the end.
            if self.failure.as_ref().is_none_or(|known| known.message != message) {
                self.limit_rate(&message, until);
            }
        }
        self.failure = Some(Failure { until, ..Failure::new(class, message) });
        self.is_over = true;
    }

    /// The agent got over the errors it met.
    pub(crate) fn recover(&mut self) {
        self.failure = None;
    }

    /// The agent says that it is done.
    pub(crate) fn finish(&mut self) {
        self.is_over = true;
    }

    /// Returns how the stream says that it failed.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Returns the limit of the provider that the agent is waiting for.
    pub(crate) fn find_awaited_limit(&self) -> Option<&Verdict> {
        self.waiting.as_ref()
    }

    /// Tells whether the stream has come to an end of its own.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns which limit of the session is passed, while there is still something to stop.
    pub(crate) fn find_passed_limit(&self) -> Option<Failure> {
        if self.is_over {
            return None;
        }
        let Limits { tokens_max, cost_micros_max, turns_max, .. } = &self.limits;
        let message = if let Some(max) = tokens_max.filter(|max| self.usage.tokens() > *max) {
            format!("used {} tokens, and may use {max}", self.usage.tokens())
        } else if let Some(max) = cost_micros_max.filter(|max| self.usage.cost_micros > Some(*max)) {
            let cost = self.usage.cost_micros.unwrap_or_default();
            format!("cost {}, and may cost {}", dollars(cost), dollars(max))
        } else if let Some(max) = turns_max.filter(|max| self.turns > *max) {
            format!("took more than {max} turns")
        } else {
            return None;
        };
        Some(Failure::new(FailureClass::Budget, message))
    }

    /// Returns what it all came to.
    pub(crate) fn into_totals(self) -> Totals {
        Totals {
            message: self.message,
            session: self.session,
            is_session_gone: self.is_session_gone,
            turns: (self.turns > 0).then_some(self.turns),
            usage: self.usage,
        }
    }

    fn push_text(&mut self, text: &str, make: impl Fn(String) -> Output) {
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, later) = rest.split_at(cut_length(rest, PIECE_BYTES_MAX));
            self.pieces.push(make(piece.to_owned()));
            rest = later;
        }
    }
}

/// Writes an amount of money to four places: a session may cost less than a cent.
fn dollars(micros: u64) -> String {
    format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}

fn excerpt(text: &str) -> String {
    text[..cut_length(text, EXCERPT_BYTES_MAX)].to_owned()
}

fn short(name: &str) -> String {
    name[..cut_length(name, NAME_BYTES_MAX)].to_owned()
}
