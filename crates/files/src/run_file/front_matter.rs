//! Markdown with front matter: a line with `key: JSON` for each field, between lines of `---`, then the text.
//!
//! A reader of YAML understands the front matter, because JSON is YAML. An empty line stands between it and the text, and
//! the text ends with one line end more than the field has, so that an editor which ends the last line changes nothing. The
//! file of an object without the field ends with the second `---`.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::json::{self, render_inline};
use super::{RenderError, TextFault};

const RULE: &str = "---";

/// Plain words that a reader of YAML takes for something else than a text.
const RESERVED: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// Writes an object.
pub(super) fn render(value: &Value, body: &str) -> Result<String, RenderError> {
    let Value::Object(fields) = value else { return Err(RenderError::NoObject) };
    let mut text = format!("{RULE}\n");
    for (key, value) in fields.iter().filter(|(key, _)| *key != body) {
        let value = escape_odd(&render_inline(value)?);
        let _ = writeln!(text, "{}: {value}", render_key(key));
    }
    text.push_str(RULE);
    text.push('\n');
    match fields.get(body) {
        None => {}
        Some(Value::String(body)) if body.is_empty() => text.push('\n'),
        Some(Value::String(body)) => {
            let _ = writeln!(text, "\n{body}");
        }
        Some(_) => return Err(RenderError::NoText(body.to_owned())),
    }
    Ok(text)
}

fn render_key(key: &str) -> String {
    if is_plain(key) { key.to_owned() } else { escape_odd(&Value::from(key).to_string()) }
}

fn is_plain(key: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    key.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && key.chars().all(is_letter)
        && !RESERVED.iter().any(|word| key.eq_ignore_ascii_case(word))
}

/// Escapes what JSON leaves as it is within a string, but is a line end or not allowed in YAML.
fn escape_odd(json: &str) -> String {
    let is_odd = |letter: char| {
        matches!(letter, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    let mut escaped = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_odd(letter) {
            let _ = write!(escaped, "\\u{:04x}", u32::from(letter));
        } else {
            escaped.push(letter);
        }
    }
    escaped
}

/// Reads an object.
pub(super) fn parse(text: &str, body: &str) -> Result<Value, TextFault> {
    let fault = |offset: usize, what: &str| TextFault::at(text.as_bytes(), offset, what);
    let first = text.split_inclusive('\n').next().unwrap_or_default();
    if first.trim_end() != RULE {
        return Err(fault(0, "the file does not begin with a line `---`"));
    }
    let mut fields = Map::new();
    let mut offset = first.len();
    loop {
        let Some(line) = text[offset..].split_inclusive('\n').next() else {
            return Err(fault(offset, "the front matter is not ended by a line `---`"));
        };
        let is_end = line.trim_end() == RULE;
        if !is_end && !line.trim().is_empty() {
            let (key, value) = parse_field(text, offset, line, body)?;
            if fields.insert(key, value).is_some() {
                return Err(fault(offset, "the key is there twice"));
            }
        }
        offset += line.len();
        if is_end {
            break;
        }
    }
    if let Some(found) = parse_body(&text[offset..], first.ends_with("\r\n")) {
        fields.insert(body.to_owned(), found.into());
    }
    Ok(fields.into())
}

/// Reads one line of the front matter.
fn parse_field(text: &str, offset: usize, line: &str, body: &str) -> Result<(String, Value), TextFault> {
    let fault = |within: usize, what: String| TextFault::at(text.as_bytes(), offset + within, what);
    let (key, rest) = if line.starts_with('"') {
        let end = end_of_string(line).ok_or_else(|| fault(0, "the key has no closing quote".to_owned()))?;
        let key = json::parse(&line[..end]).map_err(|found| fault(found.column - 1, found.what))?;
        (key.as_str().unwrap_or_default().to_owned(), end)
    } else {
        let end = line.find(':').unwrap_or(line.len());
        (line[..end].trim_end().to_owned(), end)
    };
    let Some(value) = line[rest..].trim_start_matches([' ', '\t']).strip_prefix(':') else {
        return Err(fault(0, "this is no line such as `key: \"value\"`".to_owned()));
    };
    if key == body {
        return Err(fault(0, format!("`{body}` is the text below the front matter, and no key of it")));
    }
    let start = line.len() - value.len();
    let value = json::parse(value.trim_end()).map_err(|found| {
        let hint =
            if value.trim_start().starts_with(['"', '[', '{']) { "" } else { "; a text stands in quotes" };
        fault(
            start + found.column - 1,
            format!("the value of `{}` is not JSON: {}{hint}", key.escape_debug(), found.what),
        )
    })?;
    Ok((key, value))
}

/// Returns where a string of JSON ends that the line begins with.
fn end_of_string(line: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in line.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn parse_body(rest: &str, has_other_line_ends: bool) -> Option<String> {
    if rest.is_empty() {
        return None;
    }
    let strip_first = |text: &str| {
        text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).map_or(text.to_owned(), str::to_owned)
    };
    let rest = if has_other_line_ends { rest.replace("\r\n", "\n") } else { rest.to_owned() };
    let text = strip_first(&rest);
    Some(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text))
}
