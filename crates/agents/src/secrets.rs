//! Keeps secrets out of what is written down and passed on: each is replaced by its name in brackets.
//!
//! A secret may be split between two pieces of text, so the end of a piece that could be the beginning of one is held
//! back until more comes. A secret that an agent prints in another form (reversed, encoded) is not found: this guards
//! against accidents, the sandbox and the allow-list of the environment against the rest.

use serde_json::Value;

/// Parts of a variable's name that make its value a secret.
const SECRET_NAMES: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD"];

/// Shorter values are left alone: they are no secrets worth the name, and would be found everywhere.
const SECRET_BYTES_MIN: usize = 6;

/// The secrets of one session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets {
    /// Longest first, so that one that contains another is found whole.
    found: Vec<Secret>,
}

#[derive(Debug, Clone)]
struct Secret {
    value: String,
    shown: String,
}

/// Replaces the secrets in one stream of text.
#[derive(Debug)]
pub(crate) struct Redactor {
    secrets: Secrets,
    held: String,
}

impl Secrets {
    /// Picks the secrets of an environment: by the names of the variables, and those that are marked.
    pub(crate) fn of(environment: &[(String, String)], marked: &[String]) -> Secrets {
        let mut found = Vec::new();
        for (name, value) in environment {
            if value.len() >= SECRET_BYTES_MIN && (looks_secret(name) || marked.contains(name)) {
                let shown = format!("[{name}]");
                let escaped = escape(value);
                if escaped != *value {
                    found.push(Secret { value: escaped, shown: shown.clone() });
                }
                found.push(Secret { value: value.clone(), shown });
            }
        }
        found.sort_by_key(|secret| std::cmp::Reverse(secret.value.len()));
        Secrets { found }
    }

    /// Replaces the secrets in a whole text.
    pub(crate) fn clean(&self, text: String) -> String {
        if self.found.is_empty() { text } else { self.scan(&text, true).0 }
    }

    /// Replaces the secrets in every string of a value.
    pub(crate) fn clean_value(&self, value: Value) -> Value {
        if self.found.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.clean(text)),
            Value::Array(elements) => elements.into_iter().map(|element| self.clean_value(element)).collect(),
            Value::Object(fields) => {
                let clean = |(key, value)| (self.clean(key), self.clean_value(value));
                Value::Object(fields.into_iter().map(clean).collect())
            }
            other => other,
        }
    }

    /// Replaces the secrets from left to right, and returns the length of the end that may be the beginning of one.
    fn scan(&self, text: &str, is_end: bool) -> (String, usize) {
        let mut clean = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.bytes().position(|byte| self.begins_with(byte)) {
            clean += &rest[..start];
            rest = &rest[start..];
            if !is_end && self.found.iter().any(|secret| secret.is_begun_by(rest)) {
                return (clean, rest.len());
            }
            let length = match self.found.iter().find(|secret| rest.starts_with(&secret.value)) {
                Some(secret) => {
                    clean += &secret.shown;
                    secret.value.len()
                }
                None => {
                    let length = rest.chars().next().map_or(1, char::len_utf8);
                    clean += &rest[..length];
                    length
                }
            };
            rest = &rest[length..];
        }
        (clean + rest, 0)
    }

    /// Tells whether a secret begins with a byte; such a byte also begins a character.
    fn begins_with(&self, byte: u8) -> bool {
        self.found.iter().any(|secret| secret.value.as_bytes()[0] == byte)
    }
}

impl Secret {
    fn is_begun_by(&self, text: &str) -> bool {
        self.value.len() > text.len() && self.value.starts_with(text)
    }
}

impl Redactor {
    pub(crate) fn new(secrets: &Secrets) -> Redactor {
        Redactor { secrets: secrets.clone(), held: String::new() }
    }

    /// Takes a piece and returns what can be passed on.
    pub(crate) fn push(&mut self, piece: String) -> String {
        if self.secrets.found.is_empty() {
            return piece;
        }
        let mut text = std::mem::take(&mut self.held) + &piece;
        let (clean, unfinished) = self.secrets.scan(&text, false);
        self.held = text.split_off(text.len() - unfinished);
        clean
    }

    /// Returns what is still held at the end of the stream.
    pub(crate) fn finish(&mut self) -> String {
        self.secrets.clean(std::mem::take(&mut self.held))
    }
}

fn looks_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// Returns the value as it stands inside a JSON string.
fn escape(value: &str) -> String {
    let quoted = Value::String(value.to_owned()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets() -> Secrets {
        let environment = [
            ("API_KEY", "sk-123456"),
            ("LONG_TOKEN", "sk-123456-long"),
            ("QUOTED_SECRET", "a\"b\\cdef"),
            ("SHORT_KEY", "abc"),
            ("PLAIN", "visible-value"),
            ("MARKED", "märked-välue"),
        ];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Secrets::of(&environment, &["MARKED".to_owned()])
    }

    #[test]
    fn any_split_gives_the_same_text() {
        let text = "x sk-123456-long sk-12345 märked-välue sk-123456 abc visible-value sk-1";
        let expected = "x [LONG_TOKEN] sk-12345 [MARKED] [API_KEY] abc visible-value sk-1";
        for split in (0..=text.len()).filter(|split| text.is_char_boundary(*split)) {
            let mut redactor = Redactor::new(&secrets());
            let mut shown = redactor.push(text[..split].to_owned());
            shown += &redactor.push(text[split..].to_owned());
            shown += &redactor.finish();
            assert_eq!(shown, expected, "split at {split}");
        }
        let mut redactor = Redactor::new(&secrets());
        let mut shown: String = text.chars().map(|one| redactor.push(one.to_string())).collect();
        shown += &redactor.finish();
        assert_eq!(shown, expected);
    }

    #[test]
    fn json_texts_and_values_are_cleaned_too() {
        let value = json!({ "a": ["a\"b\\cdef"], "sk-123456": 1 });
        assert_eq!(secrets().clean(value.to_string()), r#"{"a":["[QUOTED_SECRET]"],"[API_KEY]":1}"#);
        assert_eq!(secrets().clean_value(value), json!({ "a": ["[QUOTED_SECRET]"], "[API_KEY]": 1 }));
    }

    #[test]
    fn without_secrets_nothing_is_held() {
        let mut redactor = Redactor::new(&Secrets::default());
        assert_eq!(redactor.push("sk-".to_owned()), "sk-");
        assert_eq!(redactor.finish(), "");
    }
}
