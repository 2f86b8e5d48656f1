//! Guards the reading of JSON that an agent wrote.
//!
//! `serde_json` reads an object whose first key is its own mark as a text of JSON within JSON, if anybody in the program asks
//! for its feature `raw_value`; the crate of the Agent Client Protocol does. Each such text may be nested to the full depth
//! again, so 40 KB of them overflow the stack and end the engine. No agent has a reason to write the mark: a text that
//! holds it between quotes is not read as JSON.

use serde::de::Error as _;
use serde_json::Value;

/// The key that makes `serde_json` read what follows as a text of JSON.
const MARK: &[u8] = b"$serde_json::private::RawValue";

/// Reads a text of JSON.
pub(crate) fn parse(text: &[u8]) -> Result<Value, serde_json::Error> {
    if is_deceptive(text) {
        return Err(serde_json::Error::custom("it holds a mark that is the reader's own"));
    }
    serde_json::from_slice(text)
}

/// Tells whether the mark stands between quotes anywhere, however it is written.
pub(crate) fn is_deceptive(text: &[u8]) -> bool {
    // Whoever does not write the mark plainly must write some letter of it as a number.
    let is_suspect =
        memchr::memmem::find(text, MARK).is_some() || memchr::memmem::find(text, b"\\u").is_some();
    is_suspect && memchr::memchr_iter(b'"', text).any(|quote| is_marked(&text[quote + 1..]))
}

/// Tells whether a text begins with the mark and a quote. No character of the mark has a short escape.
fn is_marked(text: &[u8]) -> bool {
    let mut rest = text;
    for &expected in MARK {
        let (character, after) = match rest {
            [b'\\', b'u', after @ ..] => (read_number(after), after.get(4..).unwrap_or_default()),
            [first, after @ ..] => (Some(u32::from(*first)), after),
            [] => return false,
        };
        if character != Some(u32::from(expected)) {
            return false;
        }
        rest = after;
    }
    rest.starts_with(b"\"")
}

fn read_number(text: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(text.get(..4)?).ok()?;
    u32::from_str_radix(digits, 16).ok()
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
