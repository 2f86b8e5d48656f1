//! Reads what an agent reports about its own work: finds the result in what it printed, and what the result claims.
//!
//! Pure. A result is a claim of the agent and is never trusted here beyond its shape: what is not well-formed is
//! left in the value and not used, and is named as a fault.

use serde_json::{Map, Value};

use crate::failure::{Failure, FailureClass};
use crate::json;
use crate::outcome::ResultFrom;
use crate::text::cut_length;

/// How much of a wrong value is shown.
const SHOWN_BYTES_MAX: usize = 60;

/// A rejection has no more comments.
const ANSWERS_MAX: usize = 200;

/// The fields that make an object in a text a report; any other may be about anything.
const REPORT_FIELDS: [&str; 4] = ["summary", "turns", "turnCount", "answers"];

/// What a result says about the session.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Claims {
    pub(crate) turns: Option<u32>,
    pub(crate) summary: Option<String>,
    pub(crate) failure: Option<Failure>,
}

/// Returns the last JSON object of the printed text; `is_whole` tells whether the text is all that was printed.
pub(crate) fn find_result(printed: &str, is_whole: bool) -> Option<Value> {
    let printed = printed.trim();
    if json::is_deceptive(printed.as_bytes()) {
        return None;
    }
    if is_whole && let Ok(document) = serde_json::from_str::<Value>(printed) {
        return last_object(document);
    }
    let last_line = printed.lines().next_back().unwrap_or_default();
    if let Some(object) = parse_object(last_line) {
        return Some(object);
    }
    find_last_block(printed, is_whole)
}

/// Reads the claims of a result.
pub(crate) fn read_claims(result: &Value) -> Claims {
    let Value::Object(fields) = result else { return Claims::default() };
    Claims {
        turns: ["turns", "turnCount"].into_iter().find_map(|key| read_count(fields.get(key)?)),
        summary: read_text(fields, "summary"),
        failure: read_failure(fields),
    }
}

/// Returns what is wrong with a report, a sentence each; a field that is not read may hold anything.
pub fn check_report(result: &Value) -> Vec<String> {
    let Value::Object(fields) = result else {
        return vec![format!("the result must be an object, and is {}", show(result))];
    };
    let mut faults = Vec::new();
    let mut check = |key: &str, must: &str, is_fine: fn(&Value) -> bool| {
        if let Some(value) = fields.get(key).filter(|value| !value.is_null() && !is_fine(value)) {
            faults.push(format!("`{key}` must be {must}, and is {}", show(value)));
        }
    };
    let is_count = |value: &Value| read_count(value).is_some();
    let is_text = |value: &Value| value.is_string() || value["message"].is_string();
    check("summary", "a text", is_text);
    check("turns", "a whole number from 1 on", is_count);
    check("turnCount", "a whole number from 1 on", is_count);
    check("status", "a text", Value::is_string);
    check("answers", "a list of objects with `comment`, a number from 1 on, and `text`", is_answers);
    faults
}

/// Returns what is wrong with a result; an object in a text is judged only if it looks like a report.
pub(crate) fn find_faults(result: &Value, from: ResultFrom) -> Vec<String> {
    let looks_like_it = || REPORT_FIELDS.iter().any(|key| result.get(key).is_some());
    if from == ResultFrom::Message && !looks_like_it() { Vec::new() } else { check_report(result) }
}

/// Returns what a result says to the comments of a reviewer, by their numbers; what is not well-formed is left out.
pub fn read_answers(result: &Value) -> Vec<(u32, String)> {
    let answers = result.get("answers").and_then(Value::as_array);
    let read = |answer: &Value| {
        Some((read_count(answer.get("comment")?)?, answer.get("text")?.as_str()?.to_owned()))
    };
    answers.into_iter().flatten().filter_map(read).take(ANSWERS_MAX).collect()
}

fn is_answers(value: &Value) -> bool {
    let is_answer = |answer: &Value| read_count(&answer["comment"]).is_some() && answer["text"].is_string();
    value.as_array().is_some_and(|answers| answers.iter().all(is_answer))
}

fn show(value: &Value) -> String {
    let text = value.to_string();
    let cut = &text[..cut_length(&text, SHOWN_BYTES_MAX)];
    if cut.len() < text.len() { format!("{cut}…") } else { text }
}

/// Returns the object itself, or the last element of a list if that is an object.
fn last_object(document: Value) -> Option<Value> {
    match document {
        Value::Object(_) => Some(document),
        Value::Array(mut elements) => elements.pop().filter(Value::is_object),
        _ => None,
    }
}

fn parse_object(text: &str) -> Option<Value> {
    serde_json::from_str(text.trim()).ok().filter(Value::is_object)
}

/// Returns the last `{…}` that is an object and not part of another one.
///
/// Each brace is tried once, from the front. An object that is read is jumped over, and one that fails does so
/// within the parser's depth of 128, so the time is at worst 128 times that of reading the text once.
fn find_last_block(printed: &str, is_whole: bool) -> Option<Value> {
    let mut last = None;
    let mut position = 0;
    while let Some(offset) = printed[position..].find('{') {
        let start = position + offset;
        let mut objects =
            serde_json::Deserializer::from_str(&printed[start..]).into_iter::<Map<String, Value>>();
        if let Some(Ok(object)) = objects.next() {
            position = start + objects.byte_offset();
            last = Some((object, position));
        } else {
            position = start + 1;
        }
    }
    let (object, end) = last?;
    // With the beginning lost, a further closing brace means that this is only the inside of a larger object.
    let is_inside = !is_whole && printed[end..].contains('}');
    (!is_inside).then_some(Value::Object(object))
}

fn read_count(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|count| u32::try_from(count).ok()).filter(|count| *count >= 1)
}

fn read_text(fields: &Map<String, Value>, key: &str) -> Option<String> {
    let text = match fields.get(key)? {
        Value::String(text) => text,
        Value::Object(inner) => inner.get("message")?.as_str()?,
        _ => return None,
    };
    Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn read_failure(fields: &Map<String, Value>) -> Option<Failure> {
    let status = fields.get("status")?.as_str()?;
    let class = match status {
        "failed" | "error" | "blocked" | "refused" => FailureClass::Refused,
        _ => return None,
    };
    let message = ["error", "message", "summary"].into_iter().find_map(|key| read_text(fields, key));
    Some(Failure::new(class, message.unwrap_or_else(|| format!("the agent reports the status `{status}`"))))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(printed: &str, is_whole: bool, expected: Expect) {
        let result = find_result(printed, is_whole);
        let claims = result.as_ref().map(read_claims).unwrap_or_default();
        let mut shown = result.map_or("none".to_owned(), |value| value.to_string());
        if let Some(turns) = claims.turns {
            shown += &format!(" turns={turns}");
        }
        if let Some(summary) = claims.summary {
            shown += &format!(" summary={summary}");
        }
        if let Some(failure) = claims.failure {
            shown += &format!(" {failure}");
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn where_a_result_is_found() {
        check("", true, expect!["none"]);
        check("done\n", true, expect!["none"]);
        check("{\n \"a\": {\"b\": 1}\n}\n", true, expect![[r#"{"a":{"b":1}}"#]]);
        check("[{\"a\":1},{\"b\":2}]", true, expect![[r#"{"b":2}"#]]);
        check("42", true, expect!["none"]);
        check("\"{}\"", true, expect!["none"]);
        check("{\"a\":1}\n{\"b\":2}\n", true, expect![[r#"{"b":2}"#]]);
        check("text\n{\"a\":1}\n\n", true, expect![[r#"{"a":1}"#]]);
        check("use {braces}\n```json\n{\n\"a\": \"}{\"\n}\n```\nbye", true, expect![[r#"{"a":"}{"}"#]]);
        check("x {\"a\": {\"b\": 1}} y", true, expect![[r#"{"a":{"b":1}}"#]]);
        check("{\"a\": \n{\"b\": 1}", true, expect![[r#"{"b":1}"#]]);
        check("{\"a\":1} {\"broken\":", true, expect![[r#"{"a":1}"#]]);
    }

    #[test]
    fn the_inside_of_a_cut_object_is_not_a_result() {
        check("4, \"x\": {\"y\": 1}\n}\n", false, expect!["none"]);
        check("4}\n{\"y\": 1}\n", false, expect![[r#"{"y":1}"#]]);
        check("{\"y\": 1}", false, expect![[r#"{"y":1}"#]]);
    }

    #[test]
    fn what_a_result_claims() {
        check(
            r#"{"turns":3,"summary":" s "}"#,
            true,
            expect![[r#"{"turns":3,"summary":" s "} turns=3 summary=s"#]],
        );
        check(r#"{"turns":[1],"turnCount":2}"#, true, expect![[r#"{"turns":[1],"turnCount":2} turns=2"#]]);
        check(r#"{"turns":0}"#, true, expect![[r#"{"turns":0}"#]]);
        check(r#"{"turns":-1}"#, true, expect![[r#"{"turns":-1}"#]]);
        check(r#"{"turns":5000000000}"#, true, expect![[r#"{"turns":5000000000}"#]]);
        check(r#"{"summary":7}"#, true, expect![[r#"{"summary":7}"#]]);
        check(r#"{"status":"done"}"#, true, expect![[r#"{"status":"done"}"#]]);
        check(
            r#"{"status":"failed"}"#,
            true,
            expect![[r#"{"status":"failed"} refused: the agent reports the status `failed`"#]],
        );
        check(
            r#"{"status":"error","error":{"message":"no"}}"#,
            true,
            expect![[r#"{"status":"error","error":{"message":"no"}} refused: no"#]],
        );
        check(
            r#"{"status":"refused","message":"m"}"#,
            true,
            expect![[r#"{"status":"refused","message":"m"} refused: m"#]],
        );
        check(
            r#"{"status":"blocked","summary":"s"}"#,
            true,
            expect![[r#"{"status":"blocked","summary":"s"} summary=s refused: s"#]],
        );
    }

    #[test]
    fn what_is_wrong_with_a_report() {
        let faults = |text: &str, from| find_faults(&serde_json::from_str(text).unwrap(), from).join("; ");
        for fine in [
            "{}",
            r#"{"summary":"s","turns":2,"status":"done","more":[1]}"#,
            r#"{"summary":null,"turnCount":1}"#,
            r#"{"summary":{"message":"s"}}"#,
        ] {
            assert_eq!(faults(fine, ResultFrom::File), "", "{fine}");
        }
        expect![[r#"`summary` must be a text, and is 7; `turns` must be a whole number from 1 on, and is "two"; `turnCount` must be a whole number from 1 on, and is 0; `status` must be a text, and is true"#]]
            .assert_eq(&faults(r#"{"summary":7,"turns":"two","turnCount":0,"status":true}"#, ResultFrom::Message));
        expect!["the result must be an object, and is [1,2]"].assert_eq(&faults("[1,2]", ResultFrom::File));
        assert_eq!(faults(r#"{"status":200}"#, ResultFrom::Message), "", "it is about something else");
        assert_eq!(faults(r#"{"status":200}"#, ResultFrom::Tool), "`status` must be a text, and is 200");
        let long = faults(&format!("{{\"turns\":{:?}}}", "é".repeat(500)), ResultFrom::File);
        assert!(long.len() < 200 && long.ends_with('…'), "{long}");
    }

    #[test]
    fn hostile_text_has_no_result_and_ends() {
        for unit in ["{", "{\"a\":", "{\"a\":[", "{\"", "{\"a\":1,"] {
            let text = unit.repeat(50_000 / unit.len());
            assert_eq!(find_result(&text, true), None, "{unit}");
            let with_result = text + "\n{\"ok\":1}\n";
            assert_eq!(find_result(&with_result, false), Some(serde_json::json!({"ok": 1})), "{unit}");
        }
    }
}
