//! Reads a file with a JSON object per line, each a task. Their fields have the names that columns of a table have.

use crate::takeover::found::Found;
use crate::takeover::gather::Files;
use crate::takeover::kind::Kind;
use crate::takeover::table::{Field, Row, text_of};
use regatta_files::run_file::lines;
use serde_json::{Map, Value};

/// Reads the file.
pub(crate) fn read(files: &Files) -> Found {
    let mut found = Found::new(Kind::JsonLines);
    let Some((path, bytes)) = files.iter().next() else { return found };
    let path = path.to_owned();
    let Some(text) = text_of(&mut found, &path, bytes) else { return found };
    files.note_used(&path);
    for (at, line) in lines(text.as_bytes()).enumerate() {
        let number = at + 1;
        match line.value {
            Ok(None) => {}
            Ok(Some(Value::Object(fields))) => add(&mut found, &path, number, line.bytes, fields),
            Ok(Some(_)) => found.odd(&path, Some(number), "not a JSON object; not imported"),
            Err(fault) => {
                let end = if line.is_whole { "" } else { "; the line is cut off" };
                let what = format!("column {}: {}{end}; not imported", fault.column, fault.what);
                found.odd(&path, Some(number), what);
            }
        }
    }
    found.add_epics_of_tasks();
    found
}

fn add(found: &mut Found, path: &str, line: usize, said: &[u8], fields: Map<String, Value>) {
    let mut row = Row::new(path, line, said);
    for (name, value) in fields {
        match Field::find(&name) {
            Some(field) => row.set(field, words(&value)),
            None => row.add(&name, words(&value)),
        }
    }
    row.finish(found);
}

/// Returns a value as the field of a table would have it: lists a line each.
fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => match (fields.get("text"), fields.get("checked")) {
            (Some(Value::String(text)), checked) => {
                format!("[{}] {text}", if checked == Some(&Value::Bool(true)) { "x" } else { " " })
            }
            _ => value.to_string(),
        },
        other => other.to_string(),
    }
}
