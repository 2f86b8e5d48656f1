//! Turns a stream of bytes into text piece by piece.
//!
//! A character may be split between two reads; its first bytes are held back until the rest arrives. Bytes that
//! are not UTF-8 become the replacement character. Never holds more than three bytes.

/// Decodes one stream.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    held: Vec<u8>,
}

impl Decoder {
    /// Decodes a piece; an unfinished character at its end waits for the next piece.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(bytes);
        let unfinished = unfinished_length(&all);
        self.held = all.split_off(all.len() - unfinished);
        match String::from_utf8(all) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }
    }

    /// Returns what is still held at the end of the stream.
    pub(crate) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.held)).into_owned()
    }
}

/// Returns the largest length up to a bound at which a text can be cut between two characters.
pub(crate) fn cut_length(text: &str, length_max: usize) -> usize {
    let length = text.len().min(length_max);
    (0..=length).rev().find(|position| text.is_char_boundary(*position)).unwrap_or_default()
}

/// Returns a text on one line, with single spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Makes text of an agent safe to show: no control character is left but the end of a line and the tab.
///
/// Colours and other escape sequences of terminals go; a return without a new line, by which programs paint over a line,
/// ends the line; whatever else is not to be seen is written out.
pub(crate) fn neutralize(text: &str) -> String {
    if text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) {
        return text.to_owned();
    }
    let mut safe = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\n' | '\t' => safe.push(character),
            '\r' => {
                if characters.peek() != Some(&'\n') {
                    safe.push('\n');
                }
            }
            '\u{1b}' => skip_sequence(&mut characters),
            hidden if is_hidden(hidden) => safe.extend(hidden.escape_unicode()),
            other => safe.push(other),
        }
    }
    safe
}

/// Tells whether a character is not seen, or changes how others are.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Passes over an escape sequence: `ESC [ … letter`, `ESC ] … BEL`, or two characters.
fn skip_sequence(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match characters.next_if(|next| !next.is_control()) {
        Some('[') => {
            while characters.next_if(|next| matches!(next, ' '..='?')).is_some() {}
            characters.next_if(|next| matches!(next, '@'..='~'));
        }
        Some(']' | 'P' | '_' | '^') => {
            while characters.next_if(|next| !next.is_control()).is_some() {}
            characters.next_if_eq(&'\u{7}');
        }
        _ => {}
    }
}

/// Returns how many bytes at the end begin a character that is not complete.
fn unfinished_length(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let needed = match byte {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            0x80..=0xBF => continue,
            _ => return 0,
        };
        return if needed > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_split_gives_the_same_text() {
        let bytes = "aä€😀z".as_bytes();
        for split in 0..=bytes.len() {
            let mut decoder = Decoder::default();
            let mut text = decoder.push(&bytes[..split]);
            text += &decoder.push(&bytes[split..]);
            text += &decoder.finish();
            assert_eq!(text, "aä€😀z", "split at {split}");
        }
    }

    #[test]
    fn no_control_character_is_left() {
        assert_eq!(neutralize("plain\n\ttext"), "plain\n\ttext");
        assert_eq!(neutralize("\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7}x"), "red x");
        assert_eq!(neutralize("10%\r20%\r\ndone"), "10%\n20%\ndone");
        assert_eq!(neutralize("a\u{8}b\u{202e}c\u{9b}31m"), "a\\u{8}b\\u{202e}c\\u{9b}31m");
        assert_eq!(neutralize("\u{1b}"), "");
        assert_eq!(neutralize("\u{1b}[12\u{1b}[0m"), "");
    }

    #[test]
    fn bad_bytes_are_shown_and_never_held_for_long() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.push(b"a\xffb\x80"), "a\u{fffd}b\u{fffd}");
        assert_eq!(decoder.push(b"\xe2\x82"), "");
        assert_eq!(decoder.push(b"x"), "\u{fffd}x");
        assert_eq!(decoder.push(b"\xf0"), "");
        assert_eq!(decoder.finish(), "\u{fffd}");
    }
}
