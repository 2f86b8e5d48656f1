//! Where in the text of a JSON document a JSON pointer leads.
//!
//! Parsed values do not know where they stood, so the text is walked once more, only for documents with a fault.

use std::ops::Range;

/// Returns the bytes of a member (with its key) or item. A pointer that leads nowhere gives the last part that is
/// there, and the empty one the first line of the document.
pub(crate) fn find(text: &str, pointer: &str) -> Range<usize> {
    let mut walk = Walk { bytes: text.as_bytes(), at: 0 };
    walk.skip_space();
    let mut found = walk.at..text.len();
    for part in pointer.split('/').skip(1) {
        let name = part.replace("~1", "/").replace("~0", "~");
        match walk.enter(text, &name) {
            Some(bytes) => found = bytes,
            None => break,
        }
    }
    found
}

struct Walk<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Walk<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace() || byte == b',' || byte == b':') {
            self.at += 1;
        }
    }

    /// Goes to the value of a member or item, and returns where it is.
    fn enter(&mut self, text: &str, name: &str) -> Option<Range<usize>> {
        let open = self.peek()?;
        let is_object = open == b'{';
        if !is_object && open != b'[' {
            return None;
        }
        self.at += 1;
        let mut number = 0_usize;
        loop {
            self.skip_space();
            let start = self.at;
            if matches!(self.peek()?, b'}' | b']') {
                return None;
            }
            let is_wanted = if is_object {
                self.skip_value();
                let key: Option<String> = serde_json::from_str(text.get(start..self.at)?).ok();
                self.skip_space();
                key.as_deref() == Some(name)
            } else {
                number.to_string() == name
            };
            let value = self.at;
            self.skip_value();
            if is_wanted {
                let end = self.at;
                self.at = value;
                return Some(start..end);
            }
            number += 1;
        }
    }

    /// Skips a value of any kind.
    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.skip_text(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' if depth == 0 => return,
                byte if byte.is_ascii_whitespace() && depth == 0 => return,
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_text(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                return;
            }
        }
        self.at = self.at.min(self.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_leads_to_its_member() {
        let text = r#" { "a": [1, {"b/c": "]}\""} , true], "d": {} } "#;
        let at = |pointer: &str| text[find(text, pointer)].to_owned();
        assert_eq!(at("/a/0"), "1");
        assert_eq!(at("/a/1/b~1c"), r#""b/c": "]}\"""#);
        assert_eq!(at("/a/2"), "true");
        assert_eq!(at("/d"), r#""d": {}"#);
        assert_eq!(at("/d/x"), r#""d": {}"#);
        assert_eq!(at("/x"), text.trim_start());
        assert_eq!(&"{\"a"[find("{\"a", "/a")], "{\"a");
    }
}
