//! Guards the reading of JSON that an agent wrote.
//!
//! `serde_json` reads an object whose first key is its own mark as a text of JSON within JSON, if anybody in the program asks
//! for its feature `raw_value`; the crate of the Agent Client Protocol does. Each such text may be nested to the full depth
//! again, so 40 KB of them overflow the stack and end the engine. No agent has a reason to write the mark: what holds it
//! between quotes is not read as JSON. Code that lets an agent's JSON in by another path has to guard it too. A short text can
//! also become very much in memory, if it is made of many small values.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde::de::Error as _;
use serde_json::Value;
use tokio::io::{AsyncRead, ReadBuf};

/// The key that makes `serde_json` read what follows as a text of JSON.
const MARK: &[u8] = b"$serde_json::private::RawValue";

/// Why a text is not read.
const REASON: &str = "it holds a mark that is the reader's own";

/// Most values of one text: each takes a few hundred bytes while it is read, and no message seen had a tenth of this.
const VALUES_MAX: usize = 100_000;

/// Reads a text of JSON.
pub(crate) fn parse(text: &[u8]) -> Result<Value, serde_json::Error> {
    if is_deceptive(text) {
        return Err(serde_json::Error::custom(REASON));
    }
    serde_json::from_slice(text)
}

/// Reads a text of JSON from anybody: without the mark, not too deep, and not made of too many values.
pub fn parse_guarded(text: &[u8]) -> Result<Value, serde_json::Error> {
    if is_heavy(text) {
        return Err(serde_json::Error::custom(format!("it is made of more than {VALUES_MAX} values")));
    }
    parse(text)
}

/// Tells whether the mark stands between quotes anywhere, however it is written.
pub(crate) fn is_deceptive(text: &[u8]) -> bool {
    Scanner::default().find(text)
}

/// Tells whether a text is made of so many values that it is not worth the memory.
pub(crate) fn is_heavy(text: &[u8]) -> bool {
    // A value takes two bytes at least.
    text.len() / 2 > VALUES_MAX && is_json(text) && count_values(text) > VALUES_MAX
}

fn is_json(text: &[u8]) -> bool {
    matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// Counts what separates values, outside of strings.
fn count_values(text: &[u8]) -> usize {
    let (mut count, mut is_string, mut at) = (0, false, 0);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => is_string = !is_string,
            b'\\' if is_string => at += 1,
            b',' | b'[' | b'{' if !is_string => count += 1,
            _ => {}
        }
        at += 1;
    }
    count
}

/// A stream of JSON from an agent that breaks off where it becomes deceptive, before anybody reads it.
#[derive(Debug)]
pub struct GuardedReader<R> {
    reader: R,
    scanner: Scanner,
}

impl<R> GuardedReader<R> {
    /// Guards a stream.
    pub fn new(reader: R) -> GuardedReader<R> {
        GuardedReader { reader, scanner: Scanner::default() }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for GuardedReader<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let guarded = self.get_mut();
        let start = buffer.filled().len();
        ready!(Pin::new(&mut guarded.reader).poll_read(context, buffer))?;
        if guarded.scanner.find(&buffer.filled()[start..]) {
            buffer.set_filled(start);
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, REASON)));
        }
        Poll::Ready(Ok(()))
    }
}

/// Looks for the mark piece by piece. After any quote a string may begin; no character of the mark has a short escape.
#[derive(Debug, Default)]
struct Scanner {
    state: State,
}

#[derive(Debug, Default, Clone, Copy)]
enum State {
    /// Nothing of the mark has been seen.
    #[default]
    Elsewhere,
    /// A quote and so many characters of the mark.
    Within(usize),
    /// A backslash after so many.
    Escape(usize),
    /// Digits of a number after so many, and what they come to.
    Number { matched: usize, digits: u32, value: u32 },
}

impl Scanner {
    fn find(&mut self, mut bytes: &[u8]) -> bool {
        loop {
            if matches!(self.state, State::Elsewhere) {
                let Some(quote) = memchr::memchr(b'"', bytes) else { return false };
                self.state = State::Within(0);
                bytes = &bytes[quote + 1..];
            }
            let Some((&byte, rest)) = bytes.split_first() else { return false };
            if byte == b'"' && matches!(self.state, State::Within(matched) if matched == MARK.len()) {
                return true;
            }
            self.state = next(self.state, byte);
            bytes = rest;
        }
    }
}

fn next(state: State, byte: u8) -> State {
    let matches = |matched: usize, value: u32| match MARK.get(matched) {
        Some(&expected) if u32::from(expected) == value => State::Within(matched + 1),
        _ => State::Elsewhere,
    };
    match (state, byte) {
        (_, b'"') => State::Within(0),
        (State::Elsewhere, _) => State::Elsewhere,
        (State::Within(matched), b'\\') => State::Escape(matched),
        (State::Within(matched), _) => matches(matched, u32::from(byte)),
        (State::Escape(matched), b'u') => State::Number { matched, digits: 0, value: 0 },
        (State::Escape(_), _) => State::Elsewhere,
        (State::Number { matched, digits, value }, _) => match char::from(byte).to_digit(16) {
            None => State::Elsewhere,
            Some(digit) if digits == 3 => matches(matched, value * 16 + digit),
            Some(digit) => State::Number { matched, digits: digits + 1, value: value * 16 + digit },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_found_however_it_is_written() {
        for deceptive in [
            r#"{"$serde_json::private::RawValue":"1"}"#,
            r#"[{"a":"\\"},{"\u0024serde_json::private::RawValue":"1"}]"#,
            r#"{"a":1,"$serde_json::priv\u0061te::R\u0061wValu\u0065":"[]"}"#,
            r#"it"s {"$serde_json::private::RawValue":"1"}"#,
            r#"broken {"$serde_json::private::RawValue" and more"#,
        ] {
            assert!(is_deceptive(deceptive.as_bytes()), "{deceptive}");
            assert!(parse(deceptive.as_bytes()).is_err());
        }
    }

    #[tokio::test]
    async fn a_stream_breaks_off_wherever_it_is_cut() {
        use tokio::io::AsyncReadExt as _;
        let text = br#"{"a":"\u0024"} {"\u0024serde_json::private::Raw\u0056alue":"1"}"#;
        for cut in 0..text.len() {
            let pieces = text[..cut].chain(&text[cut..]);
            let mut read = Vec::new();
            let broken = GuardedReader::new(pieces).read_to_end(&mut read).await.unwrap_err();
            assert_eq!(broken.kind(), io::ErrorKind::InvalidData);
        }
        let mut read = Vec::new();
        GuardedReader::new(&text[..40]).read_to_end(&mut read).await.unwrap();
        assert_eq!(read, text[..40]);
    }

    /// Without the guard this ends the whole process.
    #[test]
    fn texts_within_texts_do_not_overflow_the_stack() {
        let mut text = "0".to_owned();
        for _ in 0..200 {
            // Escapes by number, so that a level adds a few characters and does not double what is inside.
            let inside = text.replace('\\', "\\u005c").replace('"', "\\u0022");
            let mark = "$serde_json::private::RawValue";
            text = format!("{}{{\"{mark}\":\"{inside}\"}}{}", "[".repeat(120), "]".repeat(120));
        }
        assert!(text.len() < 500_000);
        assert!(parse(text.as_bytes()).is_err());
    }

    #[test]
    fn a_text_of_many_values_is_heavy_and_a_long_string_is_not() {
        assert!(is_heavy(format!("{{\"a\":[0{}]}}", ",0".repeat(VALUES_MAX)).as_bytes()));
        assert!(!is_heavy(format!("{{\"a\":[0{}]}}", ",0".repeat(VALUES_MAX - 3)).as_bytes()));
        assert!(!is_heavy(format!("{{\"a\":\"\\\"{}\"}}", ",[".repeat(VALUES_MAX)).as_bytes()));
        assert!(!is_heavy(",0".repeat(2 * VALUES_MAX).as_bytes()));
    }

    #[test]
    fn a_text_about_the_mark_is_no_harm() {
        for harmless in [
            r#"{"text":"const TOKEN = \"$serde_json::private::RawValue\";"}"#,
            r#"{"text":"$serde_json::private::RawValues","other":"\u0024serde_json"}"#,
            r#"{"$serde_json::private::Number":"1"}"#,
            r#"{"text":"a \u001b[0m \\u0024"}"#,
            r#""$serde_json::private::RawValu\u00"#,
            "",
            "\"",
            "\"\\",
        ] {
            assert!(!is_deceptive(harmless.as_bytes()), "{harmless}");
        }
    }
}
