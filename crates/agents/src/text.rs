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
    fn bad_bytes_are_shown_and_never_held_for_long() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.push(b"a\xffb\x80"), "a\u{fffd}b\u{fffd}");
        assert_eq!(decoder.push(b"\xe2\x82"), "");
        assert_eq!(decoder.push(b"x"), "\u{fffd}x");
        assert_eq!(decoder.push(b"\xf0"), "");
        assert_eq!(decoder.finish(), "\u{fffd}");
    }
}
