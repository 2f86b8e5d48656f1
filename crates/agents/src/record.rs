//! Takes down what a session prints and does, once, for everyone who needs it: reader, transcript, result, tail.
//!
//! It has one owner, the task that drives the session, and its memory is bounded whatever is printed.

use std::time::Instant;

use crate::failure::Failure;
use crate::feed::FeedWriter;
use crate::outcome::{Ended, Outcome};
use crate::output::Output;
use crate::process::Stream;
use crate::report::{find_result, read_claims};
use crate::start::ResultIs;
use crate::tail::Tail;
use crate::text::Decoder;
use crate::transcript::{LineStream, Transcript};
use crate::usage::Usage;

/// How much of the last output goes with a failure: about a screen.
const FAILURE_TAIL_BYTES_MAX: usize = 4096;

/// The record of a running session.
#[derive(Debug)]
pub(crate) struct Recorder {
    feed: FeedWriter,
    transcript: Transcript,
    out: Decoder,
    error: Decoder,
    last_lines: Tail,
    last_out: Tail,
    output_bytes: u64,
    started: Instant,
    result_is: ResultIs,
}

impl Recorder {
    pub(crate) fn new(
        feed: FeedWriter,
        transcript: Transcript,
        result_bytes_max: usize,
        result_is: ResultIs,
    ) -> Recorder {
        Recorder {
            feed,
            transcript,
            out: Decoder::default(),
            error: Decoder::default(),
            last_lines: Tail::new(FAILURE_TAIL_BYTES_MAX),
            last_out: Tail::new(result_bytes_max),
            output_bytes: 0,
            started: Instant::now(),
            result_is,
        }
    }

    /// Takes down what was printed.
    pub(crate) fn print(&mut self, stream: Stream, bytes: &[u8]) {
        self.output_bytes += bytes.len() as u64;
        self.last_lines.push(bytes);
        let text = match stream {
            Stream::Out => {
                self.last_out.push(bytes);
                self.out.push(bytes)
            }
            Stream::Error => self.error.push(bytes),
        };
        self.pass_on(stream, text);
    }

    /// Takes down that a file was changed.
    pub(crate) fn edited(&mut self, path: &str) {
        self.write(LineStream::Edit, path);
        self.feed.push(Output::Edited { path: path.to_owned() });
    }

    /// Takes down that a commit was made.
    pub(crate) fn committed(&mut self, message: &str) {
        self.write(LineStream::Commit, message);
        self.feed.push(Output::Committed { message: message.to_owned() });
    }

    /// Writes a remark into the transcript only.
    pub(crate) fn note(&mut self, text: &str) {
        self.write(LineStream::Note, text);
    }

    /// Returns the result at the end of what was printed, if there is one.
    pub(crate) async fn find_result(&mut self) -> Option<serde_json::Value> {
        let mut last_out = std::mem::replace(&mut self.last_out, Tail::new(0));
        // A megabyte of hostile text can take a second, which other sessions must not wait for.
        let search = tokio::task::spawn_blocking(move || {
            let (bytes, is_whole) = last_out.read();
            find_result(&String::from_utf8_lossy(bytes), is_whole)
        });
        search.await.ok().flatten()
    }

    /// Closes the record: judges the outcome by the result and brings the transcript to the disk.
    pub(crate) async fn finish(
        mut self,
        outcome: Outcome,
        result: Option<serde_json::Value>,
        turns: Option<u32>,
    ) -> Ended {
        for stream in [Stream::Out, Stream::Error] {
            let held = match stream {
                Stream::Out => self.out.finish(),
                Stream::Error => self.error.finish(),
            };
            self.pass_on(stream, held);
        }
        let report = result.as_ref().filter(|_| self.result_is == ResultIs::Report);
        let claims = report.map(read_claims).unwrap_or_default();
        let outcome = match (outcome, claims.failure) {
            (Outcome::Finished, Some(failure)) => Outcome::Failed(self.with_tail(failure)),
            (Outcome::Failed(failure), _) => Outcome::Failed(self.with_tail(failure)),
            (outcome, _) => outcome,
        };
        let Recorder { feed, transcript, output_bytes, started, .. } = self;
        let last_line = outcome.to_string();
        let closing = tokio::task::spawn_blocking(move || transcript.finish(&last_line));
        if let Ok(Err(error)) = closing.await {
            feed.push(transcript_lost(&error));
        }
        Ended {
            outcome,
            turns: turns.or(claims.turns).unwrap_or(1).max(1),
            result,
            summary: claims.summary,
            usage: Usage::default(),
            agent_session: None,
            output_bytes,
            duration: started.elapsed(),
        }
    }

    fn with_tail(&mut self, failure: Failure) -> Failure {
        Failure { tail: self.last_lines.lines(), ..failure }
    }

    fn pass_on(&mut self, stream: Stream, text: String) {
        if text.is_empty() {
            return;
        }
        match stream {
            Stream::Out => {
                self.write(LineStream::Out, &text);
                self.feed.push(Output::Text(text));
            }
            Stream::Error => {
                self.write(LineStream::Err, &text);
                self.feed.push(Output::Error(text));
            }
        }
    }

    fn write(&mut self, stream: LineStream, text: &str) {
        self.transcript.write(stream, text);
        if let Some(error) = self.transcript.take_error() {
            self.feed.push(transcript_lost(&error));
        }
    }
}

fn transcript_lost(error: &std::io::Error) -> Output {
    Output::Error(format!("regatta: the transcript cannot be written any more: {error}\n"))
}
