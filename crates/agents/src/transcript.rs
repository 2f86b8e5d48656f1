//! Writes the input, the output and the actions of a session to disk: one JSON object per line.
//!
//! `{"at":"…","stream":"prompt|in|out|err|note|edit|commit","text":"…"}`, and `{"at":"…","stream":"item","item":{…}}` for what
//! the output of an agent means ([`Item`]); such output itself is `"kept":true`. The last line is `"end":true`. The file is only ever appended to, also
//! when an interrupted session is played again, and its size is bounded. A disk that fails does not end the
//! session: the fault is reported once and the rest is not kept.
//!
//! [`Item`]: crate::item::Item

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;

use crate::item::Item;
use crate::text::cut_length;

/// Largest text of one line, so that a reader can go through the file in bounded memory.
const LINE_TEXT_BYTES_MAX: usize = 64 * 1024;

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LineStream {
    Prompt,
    In,
    Out,
    Err,
    Note,
    Edit,
    Commit,
    Item,
}

/// An open transcript.
#[derive(Debug)]
pub(crate) struct Transcript {
    file: File,
    written: u64,
    bytes_max: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    Writing,
    Full { left_out: u64 },
    Broken { error: Option<io::Error> },
}

#[derive(Serialize)]
struct Line<'a> {
    at: Timestamp,
    stream: LineStream,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    kept: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    end: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<&'a Item>,
}

impl<'a> Line<'a> {
    fn new(stream: LineStream) -> Line<'a> {
        Line { at: Timestamp::now(), stream, text: None, item: None, kept: false, end: false }
    }

    fn of_text(stream: LineStream, text: &'a str) -> Line<'a> {
        Line { text: Some(text), ..Line::new(stream) }
    }
}

impl Transcript {
    /// Opens a transcript for its owner only, after what an earlier try of the session may have left.
    pub(crate) fn open(path: &Path, bytes_max: u64) -> io::Result<Transcript> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        let written = file.metadata()?.len();
        let is_torn = written > 0 && !ends_with_newline(&mut file)?;
        let mut transcript = Transcript { file, written, bytes_max, state: State::Writing };
        if is_torn {
            transcript.append(b"\n");
        }
        if written > 0 {
            transcript.write(LineStream::Note, "started again after an interruption");
        }
        match transcript.take_error() {
            Some(error) => Err(error),
            None => Ok(transcript),
        }
    }

    /// Appends text as one or more lines; nothing for an empty text.
    pub(crate) fn write(&mut self, stream: LineStream, text: &str) {
        self.write_pieces(text, |piece| Line::of_text(stream, piece));
    }

    /// Appends output whose meaning is written as items.
    pub(crate) fn keep(&mut self, text: &str) {
        self.write_pieces(text, |piece| Line { kept: true, ..Line::of_text(LineStream::Out, piece) });
    }

    /// Appends what happened.
    pub(crate) fn write_item(&mut self, item: &Item) {
        self.write_line(&Line { item: Some(item), ..Line::new(LineStream::Item) });
    }

    /// Appends what happened to a file, or which commit was made, with its plain text.
    pub(crate) fn write_change(&mut self, stream: LineStream, text: &str, item: &Item) {
        self.write_line(&Line { item: Some(item), ..Line::of_text(stream, text) });
    }

    fn write_pieces<'a>(&mut self, text: &'a str, make: impl Fn(&'a str) -> Line<'a>) {
        let mut rest = text;
        while !rest.is_empty() {
            let (piece, later) = rest.split_at(cut_length(rest, LINE_TEXT_BYTES_MAX));
            self.write_line(&make(piece));
            rest = later;
        }
    }

    /// Returns the error that ended the writing, once.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        match &mut self.state {
            State::Broken { error } => error.take(),
            _ => None,
        }
    }

    /// Writes the outcome as the last line, also when the transcript is full, and brings all to the disk.
    pub(crate) fn finish(mut self, outcome: &str) -> io::Result<()> {
        if let State::Full { left_out } = self.state {
            let note = format!("{left_out} bytes of text were left out");
            self.append_line(&Line::of_text(LineStream::Note, &note));
        }
        let end = cut_length(outcome, LINE_TEXT_BYTES_MAX);
        self.append_line(&Line { end: true, ..Line::of_text(LineStream::Note, &outcome[..end]) });
        match self.state {
            State::Broken { error: Some(error) } => Err(error),
            _ => self.file.sync_all(),
        }
    }

    fn write_line(&mut self, line: &Line<'_>) {
        // Items repeat what is kept, so they are not counted as left out.
        let length = line.text.map_or(0, str::len) as u64;
        match &mut self.state {
            State::Writing if self.written.saturating_add(length) <= self.bytes_max => self.append_line(line),
            State::Writing => {
                let note = format!("the transcript is full at {} bytes; the rest is counted", self.bytes_max);
                self.append_line(&Line::of_text(LineStream::Note, &note));
                if matches!(self.state, State::Writing) {
                    self.state = State::Full { left_out: length };
                }
            }
            State::Full { left_out } => *left_out += length,
            State::Broken { .. } => {}
        }
    }

    fn append_line(&mut self, line: &Line<'_>) {
        match serde_json::to_vec(line) {
            Ok(mut bytes) => {
                bytes.push(b'\n');
                self.append(&bytes);
            }
            Err(error) => self.state = State::Broken { error: Some(error.into()) },
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        if matches!(self.state, State::Broken { .. }) {
            return;
        }
        match self.file.write_all(bytes) {
            Ok(()) => self.written += bytes.len() as u64,
            Err(error) => self.state = State::Broken { error: Some(error) },
        }
    }
}

fn ends_with_newline(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn read(path: &Path) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(path).unwrap();
        let read_line = |line: &str| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            value["at"].as_str().unwrap().parse::<Timestamp>().unwrap();
            (value["stream"].as_str().unwrap().to_owned(), value["text"].as_str().unwrap().to_owned())
        };
        text.lines().map(read_line).collect()
    }

    fn line(stream: &str, text: &str) -> (String, String) {
        (stream.to_owned(), text.to_owned())
    }

    #[test]
    fn lines_are_private_and_split_between_characters() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/session.jsonl");
        let mut transcript = Transcript::open(&path, u64::MAX).unwrap();
        transcript.write(LineStream::Prompt, "do it\n");
        let long = format!("x{}", "ä".repeat(LINE_TEXT_BYTES_MAX / 2));
        transcript.write(LineStream::Out, &long);
        transcript.finish("finished").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let lines = read(&path);
        assert_eq!(lines[0], line("prompt", "do it\n"));
        assert_eq!(format!("{}{}", lines[1].1, lines[2].1), long);
        assert_eq!(lines[3..], [line("note", "finished")]);
    }

    #[test]
    fn an_earlier_try_is_kept_even_with_a_torn_last_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        let torn = "{\"at\":\"2024-";
        std::fs::write(&path, torn).unwrap();
        Transcript::open(&path, u64::MAX).unwrap().finish("finished").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[0]), (3, torn));
        assert!(lines[1].contains("started again after an interruption"), "{}", lines[1]);
        assert!(lines[2].contains("finished"), "{}", lines[2]);
    }

    #[test]
    fn a_full_transcript_says_so_once_and_still_tells_the_outcome() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        let mut transcript = Transcript::open(&path, 100).unwrap();
        for _ in 0..1000 {
            transcript.write(LineStream::Out, "0123456789");
        }
        transcript.finish("finished").unwrap();
        assert_eq!(
            read(&path),
            [
                line("out", "0123456789"),
                line("out", "0123456789"),
                line("note", "the transcript is full at 100 bytes; the rest is counted"),
                line("note", "9980 bytes of text were left out"),
                line("note", "finished"),
            ]
        );
    }
}
