//! Takes down what a session prints and does, once, for everyone who needs it: reader, transcript, result, tail.
//!
//! It has one owner, the task that drives the session, and its memory is bounded whatever is printed. All text goes
//! through a redactor on its way, so that nothing it hands out holds a secret of the session.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::Value;

use crate::change::Change;
use crate::failure::Failure;
use crate::feed::FeedWriter;
use crate::item::Item;
use crate::outcome::{Ended, Outcome, ResultFrom};
use crate::output::Output;
use crate::process::Stream;
use crate::report::{find_faults, find_result, read_claims};
use crate::result_file;
use crate::secrets::{Redactor, Secrets};
use crate::start::{ResultIs, Start};
use crate::tail::Tail;
use crate::text::{Decoder, cut_length};
use crate::transcript::{LineStream, Transcript};
use crate::usage::Usage;

/// How much of the last output goes with a failure: about a screen.
const FAILURE_TAIL_BYTES_MAX: usize = 4096;

/// How much of the last message stands for a summary that was not given: a few paragraphs.
const SUMMARY_BYTES_MAX: usize = 2000;

/// The record of a running session.
#[derive(Debug)]
pub(crate) struct Recorder {
    feed: FeedWriter,
    transcript: Transcript,
    out: Channel,
    /// Whether standard output is only kept, and its meaning passed on instead.
    is_out_kept: bool,
    error: Channel,
    said: Redactor,
    thought: Redactor,
    secrets: Secrets,
    last_lines: Tail,
    last_errors: Tail,
    last_out: Tail,
    output_bytes: u64,
    started: Instant,
    result_is: ResultIs,
    result_file: PathBuf,
    /// Why there is a result file but no result.
    file_fault: Option<String>,
    result_bytes_max: usize,
}

/// What is known of a session at its end, but for its result.
#[derive(Debug)]
pub(crate) struct Closing {
    pub(crate) outcome: Outcome,
    pub(crate) turns: Option<u32>,
    pub(crate) usage: Usage,
    pub(crate) agent_session: Option<String>,
    /// Whether the session that was to be resumed is gone.
    pub(crate) is_session_gone: bool,
    /// The last message, which stands for a summary where none is given.
    pub(crate) message: Option<String>,
}

/// A result, and where it was found.
pub(crate) type Found = (Value, ResultFrom);

/// One stream of bytes on its way to text without secrets.
#[derive(Debug)]
struct Channel {
    decoder: Decoder,
    redactor: Redactor,
}

impl Channel {
    fn new(secrets: &Secrets) -> Channel {
        Channel { decoder: Decoder::default(), redactor: Redactor::new(secrets) }
    }

    fn push(&mut self, bytes: &[u8]) -> String {
        let text = self.decoder.push(bytes);
        self.redactor.push(text)
    }

    fn finish(&mut self) -> String {
        let held = self.decoder.finish();
        self.redactor.push(held) + &self.redactor.finish()
    }
}

impl Closing {
    /// Closes a session of which only the outcome is known.
    pub(crate) fn new(outcome: Outcome) -> Closing {
        Closing {
            outcome,
            turns: None,
            usage: Usage::default(),
            agent_session: None,
            is_session_gone: false,
            message: None,
        }
    }
}

impl Recorder {
    pub(crate) fn new(feed: FeedWriter, transcript: Transcript, start: &Start) -> Recorder {
        let secrets = Secrets::of(&[&start.environment[..], &start.tokens].concat(), &start.secrets);
        Recorder {
            feed,
            transcript,
            out: Channel::new(&secrets),
            is_out_kept: false,
            error: Channel::new(&secrets),
            said: Redactor::new(&secrets),
            thought: Redactor::new(&secrets),
            last_lines: Tail::new(FAILURE_TAIL_BYTES_MAX),
            last_errors: Tail::new(FAILURE_TAIL_BYTES_MAX),
            last_out: Tail::new(start.limits.result_bytes_max),
            output_bytes: 0,
            started: Instant::now(),
            result_is: start.result_is,
            result_file: result_file::place(&start.private),
            file_fault: None,
            result_bytes_max: start.limits.result_bytes_max,
            secrets,
        }
    }

    /// Takes down what was printed, as text for everyone.
    pub(crate) fn print(&mut self, stream: Stream, bytes: &[u8]) {
        self.output_bytes += bytes.len() as u64;
        if stream == Stream::Out {
            self.last_out.push(bytes);
        }
        let text = self.channel(stream).push(bytes);
        self.pass_printed(stream, text);
    }

    /// Takes down standard output that is not for people: what it means is passed on by [`Recorder::pass`].
    pub(crate) fn keep(&mut self, bytes: &[u8]) {
        self.output_bytes += bytes.len() as u64;
        self.is_out_kept = true;
        let text = self.out.push(bytes);
        self.keep_text(&text);
    }

    /// Takes down what the agent was sent while it ran.
    pub(crate) fn sent(&mut self, line: &str) {
        let line = self.secrets.clean(line.to_owned());
        self.write(LineStream::In, &line);
    }

    /// Passes on what the session says or does.
    pub(crate) fn pass(&mut self, piece: Output) {
        match piece {
            Output::Text(text) => {
                let text = self.said.push(text);
                self.pass_text(text);
            }
            Output::Thinking(text) => {
                let text = self.thought.push(text);
                self.pass_thought(text);
            }
            other => {
                self.pass_held();
                let clean = self.clean_output(other);
                self.hand_on(clean);
            }
        }
    }

    /// Takes down that a file was changed.
    pub(crate) fn edited(&mut self, path: &str, change: Option<Change>) {
        let done = self.clean_output(Output::Edited { path: path.to_owned(), change });
        self.transcript.write_change(LineStream::Edit, path, &Item::from(&done));
        self.feed.push(done);
        self.report_loss();
    }

    /// Takes down that a commit was made.
    pub(crate) fn committed(&mut self, message: &str) {
        let done = Output::Committed { message: message.to_owned() };
        self.transcript.write_change(LineStream::Commit, message, &Item::from(&done));
        self.feed.push(done);
        self.report_loss();
    }

    /// Writes a remark into the transcript only.
    pub(crate) fn note(&mut self, text: &str) {
        let text = self.secrets.clean(text.to_owned());
        self.write(LineStream::Note, &text);
    }

    /// Returns the end of standard error, or else of what was shown, for who must find out why a program failed.
    pub(crate) fn last_errors(&mut self) -> String {
        let errors = self.last_errors.lines();
        if errors.trim().is_empty() { self.last_lines.lines() } else { errors }
    }

    /// Returns the result: of the result file, or at the end of what was printed.
    pub(crate) async fn find_result(&mut self) -> Option<Found> {
        let last_out = std::mem::replace(&mut self.last_out, Tail::new(0));
        self.find_result_in(last_out).await
    }

    /// Returns the result: of the result file, or at the end of a message.
    pub(crate) async fn find_result_in(&mut self, mut message: Tail) -> Option<Found> {
        let (file, bytes_max) = (self.result_file.clone(), self.result_bytes_max);
        // A megabyte of hostile text can take a second, which other sessions must not wait for.
        let search = tokio::task::spawn_blocking(move || {
            let from_file = result_file::load(&file, bytes_max);
            let mut from_message = || {
                let (bytes, is_whole) = message.read();
                find_result(&String::from_utf8_lossy(bytes), is_whole)
            };
            let (from_file, remark) = match from_file {
                Ok(value) => (value, None),
                Err(error) => (None, Some(error.to_string())),
            };
            let found = match from_file {
                Some(value) => Some((value, ResultFrom::File)),
                None => from_message().map(|value| (value, ResultFrom::Message)),
            };
            (found, remark)
        });
        let (found, remark) = search.await.ok().unwrap_or_default();
        if let Some(remark) = &remark {
            self.note(remark);
        }
        self.file_fault = remark;
        found.map(|(value, from)| (self.secrets.clean_value(value), from))
    }

    /// Closes the record: judges the outcome by the result and brings the transcript to the disk.
    pub(crate) async fn finish(mut self, closing: Closing, result: Option<Found>) -> Ended {
        self.pass_held();
        let held_out = self.out.finish();
        if self.is_out_kept {
            self.keep_text(&held_out);
        } else {
            self.pass_printed(Stream::Out, held_out);
        }
        let held_error = self.error.finish();
        self.pass_printed(Stream::Error, held_error);
        let report = result.as_ref().filter(|_| self.result_is == ResultIs::Report);
        let claims = report.map(|(value, _)| read_claims(value)).unwrap_or_default();
        let file_fault = self.file_fault.take().filter(|_| self.result_is == ResultIs::Report);
        let faults = report.map(|(value, from)| find_faults(value, *from)).unwrap_or_default();
        let result_faults: Vec<String> = file_fault.into_iter().chain(faults).collect();
        let outcome = match (closing.outcome, claims.failure) {
            (Outcome::Finished, Some(failure)) => Outcome::Failed(self.complete(failure)),
            (Outcome::Failed(failure), _) => Outcome::Failed(self.complete(failure)),
            (outcome, _) => outcome,
        };
        let summary = claims.summary.or_else(|| summarize(&self.secrets.clean(closing.message?)));
        let Recorder { feed, transcript, output_bytes, started, .. } = self;
        let last_line = outcome.to_string();
        let end = tokio::task::spawn_blocking(move || transcript.finish(&last_line));
        if let Ok(Err(error)) = end.await {
            feed.push(transcript_lost(&error));
        }
        let (result, result_from) = result.unzip();
        Ended {
            outcome,
            turns: closing.turns.or(claims.turns).unwrap_or(1).max(1),
            result,
            result_from,
            result_faults,
            summary,
            usage: closing.usage,
            agent_session: closing.agent_session,
            is_session_gone: closing.is_session_gone,
            output_bytes,
            duration: started.elapsed(),
        }
    }

    fn complete(&mut self, failure: Failure) -> Failure {
        let message = self.secrets.clean(failure.message);
        Failure { tail: self.last_lines.lines(), message, ..failure }
    }

    fn channel(&mut self, stream: Stream) -> &mut Channel {
        match stream {
            Stream::Out => &mut self.out,
            Stream::Error => &mut self.error,
        }
    }

    fn pass_printed(&mut self, stream: Stream, text: String) {
        if text.is_empty() {
            return;
        }
        self.last_lines.push(text.as_bytes());
        match stream {
            Stream::Out => {
                self.write(LineStream::Out, &text);
                self.feed.push(Output::Text(text));
            }
            Stream::Error => {
                self.last_errors.push(text.as_bytes());
                self.write(LineStream::Err, &text);
                self.feed.push(Output::Error(text));
            }
        }
    }

    fn pass_text(&mut self, text: String) {
        if !text.is_empty() {
            self.last_lines.push(text.as_bytes());
            self.hand_on(Output::Text(text));
        }
    }

    fn pass_thought(&mut self, text: String) {
        if !text.is_empty() {
            self.hand_on(Output::Thinking(text));
        }
    }

    /// Gives a clean piece to the reader, and writes it down.
    fn hand_on(&mut self, piece: Output) {
        self.transcript.write_item(&Item::from(&piece));
        self.feed.push(piece);
        self.report_loss();
    }

    fn pass_held(&mut self) {
        let thought = self.thought.finish();
        self.pass_thought(thought);
        let said = self.said.finish();
        self.pass_text(said);
    }

    fn clean_output(&self, piece: Output) -> Output {
        let clean = |text: String| self.secrets.clean(text);
        match piece {
            Output::Error(text) => Output::Error(clean(text)),
            Output::ToolCalled { id, name, about, path } => {
                Output::ToolCalled { id, name: clean(name), about: clean(about), path: path.map(clean) }
            }
            Output::Edited { path, change } => {
                let change = change.map(|mut change| {
                    change.lines = change.lines.into_iter().map(clean).collect();
                    change
                });
                Output::Edited { path, change }
            }
            Output::ToolReturned { id, is_error, text } => {
                Output::ToolReturned { id, is_error, text: clean(text) }
            }
            Output::PermissionAsked { what, answer, by } => {
                Output::PermissionAsked { what: clean(what), answer, by }
            }
            Output::RateLimited { message, until } => Output::RateLimited { message: clean(message), until },
            Output::Planned(mut steps) => {
                for step in &mut steps {
                    step.text = clean(std::mem::take(&mut step.text));
                }
                Output::Planned(steps)
            }
            other => other,
        }
    }

    fn write(&mut self, stream: LineStream, text: &str) {
        self.transcript.write(stream, text);
        self.report_loss();
    }

    fn keep_text(&mut self, text: &str) {
        self.transcript.keep(text);
        self.report_loss();
    }

    fn report_loss(&mut self) {
        if let Some(error) = self.transcript.take_error() {
            self.feed.push(transcript_lost(&error));
        }
    }
}

fn summarize(message: &str) -> Option<String> {
    let message = message.trim();
    let cut = &message[..cut_length(message, SUMMARY_BYTES_MAX)];
    (!cut.is_empty()).then(|| cut.to_owned())
}

fn transcript_lost(error: &std::io::Error) -> Output {
    Output::Error(format!("regatta: the transcript cannot be written any more: {error}\n"))
}
