//! The metadata: the JSON object of section 0, and splices of single members of it.
//!
//! `serde_json` checks the JSON; the small scanner here only finds the members of an object that is known to
//! be valid, so that one value can be changed and the spacing of the others stays.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::fault::FaultKind;

/// The keys that the format knows.
pub(crate) const KNOWN_KEYS: &[&str] = &["task_id", "epic_id", "status", "dependencies", "total_sessions"];

/// A key by which `serde_json` reads JSON within JSON, without a bound on how deep, if any part of the program asks for its
/// feature `raw_value`: a short text overflows the stack. A task has no use for such a key.
const RESERVED_KEY: &str = "$serde_json::private::RawValue";

/// The JSON object of section 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Metadata {
    pub(crate) map: Map<String, Value>,
    /// The lines between the fences.
    pub(crate) content: Range<usize>,
    /// Its members; ranges count from the beginning of the content.
    pub(crate) members: Vec<Member>,
}

/// One member of a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) key: String,
    /// From its key to the end of its value.
    pub(crate) range: Range<usize>,
    pub(crate) value: Range<usize>,
}

/// Why the JSON is not what it should be, and where in it (offset).
pub(crate) type JsonFault = (FaultKind, usize);

/// Reads the JSON of the metadata.
pub(crate) fn parse(json: &str, content: Range<usize>) -> Result<Metadata, JsonFault> {
    if let Some(at) = find_reserved(json) {
        return Err((FaultKind::BadJson(format!("the key `{RESERVED_KEY}` is reserved")), at));
    }
    match serde_json::from_str(json) {
        Ok(Value::Object(map)) => Ok(Metadata { map, content, members: find_members(json) }),
        Ok(_) => Err((FaultKind::NotAnObject, 0)),
        Err(error) => Err((FaultKind::BadJson(describe(&error)), offset_of(json, &error))),
    }
}

/// Finds the reserved key, or a string of that text, however it is escaped.
fn find_reserved(json: &str) -> Option<usize> {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(offset) = json.get(at..)?.find('"') {
        let start = at + offset;
        at = skip_string(bytes, start);
        let text = serde_json::from_str::<String>(json.get(start..at)?);
        if text.is_ok_and(|text| text == RESERVED_KEY) {
            return Some(start);
        }
    }
    None
}

/// The message without the position: that one counts from the fence, and the fault has its own.
fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}

fn offset_of(json: &str, error: &serde_json::Error) -> usize {
    let lines = json.split_inclusive('\n').take(error.line().saturating_sub(1));
    let start: usize = lines.map(str::len).sum();
    let mut at = (start + error.column().saturating_sub(1)).min(json.len());
    while !json.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Finds the members of a valid JSON object.
fn find_members(json: &str) -> Vec<Member> {
    let bytes = json.as_bytes();
    let mut members = Vec::new();
    let mut at = skip_space(bytes, 0) + 1;
    loop {
        at = skip_space(bytes, at);
        match bytes.get(at) {
            Some(b'"') => {}
            Some(b',') => {
                at += 1;
                continue;
            }
            _ => return members,
        }
        let key_end = skip_string(bytes, at);
        let start = skip_space(bytes, skip_space(bytes, key_end) + 1);
        let end = skip_value(bytes, start);
        let key = serde_json::from_str(&json[at..key_end]).unwrap_or_default();
        members.push(Member { key, range: at..end, value: start..end });
        at = end;
    }
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

fn skip_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn skip_value(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = skip_string(bytes, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => break,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    while at > start && bytes[at - 1].is_ascii_whitespace() {
        at -= 1;
    }
    at
}

/// A change of one range of a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) range: Range<usize>,
    pub(crate) with: String,
}

impl Metadata {
    /// Returns the splice of the content that gives a key this value, written as JSON.
    pub(crate) fn set(&self, json: &str, key: &str, value: &str, ending: &str) -> Splice {
        if let Some(member) = self.members.iter().rev().find(|member| member.key == key) {
            return Splice { range: member.value.clone(), with: value.to_owned() };
        }
        let member = format!("{}: {value}", Value::from(key));
        match self.members.last() {
            Some(last) => {
                let before = &json[..last.range.start];
                let space = &before[before.trim_end().len()..];
                Splice { range: last.range.end..last.range.end, with: format!(",{space}{member}") }
            }
            None => {
                let open = json.find('{').unwrap_or(0) + 1;
                let close = json.rfind('}').unwrap_or(json.len()).max(open);
                Splice { range: open..close, with: format!("{ending}  {member}{ending}") }
            }
        }
    }

    /// Returns the splice that takes a key out, if it is there.
    pub(crate) fn remove(&self, json: &str, key: &str) -> Option<Splice> {
        let index = self.members.iter().rposition(|member| member.key == key)?;
        let member = &self.members[index];
        let range = match (index.checked_sub(1), self.members.get(index + 1)) {
            (_, Some(next)) => member.range.start..next.range.start,
            (Some(previous), None) => self.members[previous].range.end..member.range.end,
            (None, None) => json[..member.range.start].trim_end().len()..member.range.end,
        };
        Some(Splice { range, with: String::new() })
    }

    /// Returns the value of a key, as written.
    pub(crate) fn raw<'a>(&self, json: &'a str, key: &str) -> Option<&'a str> {
        let member = self.members.iter().rev().find(|member| member.key == key)?;
        Some(&json[member.value.clone()])
    }
}

/// Writes a value on one line, with a space after each comma and colon.
pub(crate) fn render_value(value: &Value) -> String {
    match value {
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(render_value).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(map) if !map.is_empty() => {
            let member = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), render_value(value))
            };
            format!("{{ {} }}", map.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(json: &str) -> Metadata {
        parse(json, 0..json.len()).unwrap()
    }

    fn spliced(json: &str, splice: &Splice) -> String {
        format!("{}{}{}", &json[..splice.range.start], splice.with, &json[splice.range.end..])
    }

    #[test]
    fn members_are_found_whatever_they_hold() {
        let json = "{ \"a\" : [1, {\"b\": \"],}\"}] ,\n\t\"c\\\"\":\"\\\\\",\"d\":null }\n";
        let found = metadata(json);
        let members: Vec<_> =
            found.members.iter().map(|member| (member.key.as_str(), &json[member.value.clone()])).collect();
        assert_eq!(members, [("a", "[1, {\"b\": \"],}\"}]"), ("c\"", "\"\\\\\""), ("d", "null")]);
    }

    #[test]
    fn the_reserved_key_is_found_however_it_is_written() {
        for json in [
            r#"{"a": 1, "$serde_json::private::RawValue": "{}"}"#,
            r#"{"a": [{"\u0024serde_json::private::R\u0061wValue": "[]"}]}"#,
        ] {
            let (kind, at) = parse(json, 0..json.len()).unwrap_err();
            assert!(matches!(kind, FaultKind::BadJson(_)) && json[at..].starts_with('"'), "{kind:?} {at}");
        }
        metadata(r#"{"a": "the key \"$serde_json::private::RawValue\"", "b": "\u0024"}"#);
    }

    #[test]
    fn a_value_is_changed_in_place_and_a_key_joins_the_others() {
        let json = "{\n    \"a\": 1,\n    \"b\": 2\n}\n";
        let found = metadata(json);
        assert_eq!(spliced(json, &found.set(json, "a", "3", "\n")), "{\n    \"a\": 3,\n    \"b\": 2\n}\n");
        assert_eq!(
            spliced(json, &found.set(json, "c", "3", "\n")),
            "{\n    \"a\": 1,\n    \"b\": 2,\n    \"c\": 3\n}\n"
        );
        assert_eq!(spliced("{}\n", &metadata("{}\n").set("{}\n", "a", "1", "\n")), "{\n  \"a\": 1\n}\n");
    }

    #[test]
    fn a_key_is_taken_out_with_its_comma() {
        let json = "{ \"a\": 1, \"b\": 2 }";
        let found = metadata(json);
        assert_eq!(spliced(json, &found.remove(json, "a").unwrap()), "{ \"b\": 2 }");
        assert_eq!(spliced(json, &found.remove(json, "b").unwrap()), "{ \"a\": 1 }");
        assert_eq!(
            spliced("{ \"a\": 1 }", &metadata("{ \"a\": 1 }").remove("{ \"a\": 1 }", "a").unwrap()),
            "{ }"
        );
        assert_eq!(found.remove(json, "c"), None);
    }

    #[test]
    fn a_fault_has_its_place_in_the_json() {
        assert_eq!(parse("{\n  \"a\": ,\n}", 0..1), Err((FaultKind::BadJson("expected value".into()), 9)));
        assert_eq!(parse("[1]", 0..3), Err((FaultKind::NotAnObject, 0)));
        assert!(parse("", 0..0).is_err());
    }

    #[test]
    fn values_are_written_on_one_line() {
        let value = serde_json::json!({"a": [100, 101], "b": {}, "c": "x\ny"});
        assert_eq!(render_value(&value), r#"{ "a": [100, 101], "b": {}, "c": "x\ny" }"#);
    }
}
