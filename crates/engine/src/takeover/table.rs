//! Reads a table with a task per line (CSV, RFC 4180), and makes a task of named fields, for lines of JSON too.
//!
//! The first line names the columns. A column that is no field of a task is kept in the description.

use crate::core::Priority;
use crate::takeover::found::{CriterionFound, Found, TaskFound};
use crate::takeover::gather::Files;
use crate::takeover::kind::Kind;
use std::collections::BTreeMap;

/// What a task has, and the names of columns that mean it.
const FIELDS: [(Field, &[&str]); 8] = [
    (Field::Item, &["id", "key", "issue key", "number", "task", "task id", "task_id"]),
    (Field::Title, &["title", "name", "summary", "subject"]),
    (Field::Description, &["description", "body", "details", "notes"]),
    (Field::Status, &["status", "state", "done", "column"]),
    (
        Field::DependsOn,
        &["depends on", "depends_on", "dependson", "dependencies", "blocked by", "blocked_by", "after"],
    ),
    (Field::Priority, &["priority"]),
    (Field::Criteria, &["criteria", "acceptance criteria", "acceptance_criteria", "acceptancecriteria"]),
    (Field::Epic, &["epic", "epic_id", "epic id", "group", "milestone"]),
];

/// What a task has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    Item,
    Title,
    Description,
    Status,
    DependsOn,
    Priority,
    Criteria,
    Epic,
}

impl Field {
    /// Finds the field that a name means.
    pub(super) fn find(name: &str) -> Option<Field> {
        let name = name.trim().to_lowercase();
        FIELDS.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(field, _)| *field)
    }
}

/// Reads the file.
pub(crate) fn read(files: &Files) -> Found {
    let mut found = Found::new(Kind::Csv);
    let Some((path, bytes)) = files.iter().next() else { return found };
    let path = path.to_owned();
    let Some(text) = text_of(&mut found, &path, bytes) else { return found };
    files.note_used(&path);
    let mut lines = Records::of(text);
    let Some(header) = lines.next() else {
        found.odd(&path, None, "empty; the first line should name the columns");
        return found;
    };
    let columns: Vec<(Option<Field>, String)> =
        header.fields.iter().map(|name| (Field::find(name), name.trim().to_owned())).collect();
    if !columns.iter().any(|(field, _)| *field == Some(Field::Title)) {
        let names: Vec<&str> = columns.iter().map(|(_, name)| name.as_str()).collect();
        found.odd(
            &path,
            Some(1),
            format!("no column is called `title`, so there are no tasks (columns: {})", names.join(", ")),
        );
        return found;
    }
    for (_, name) in columns.iter().filter(|(field, _)| field.is_none()) {
        found.odd(
            &path,
            Some(1),
            format!("the column `{name}` is not a field of a task; its values are kept in the descriptions"),
        );
    }
    for record in lines {
        if record.fields.iter().all(|field| field.trim().is_empty()) {
            continue;
        }
        if record.is_open {
            found.odd(
                &path,
                Some(record.line),
                "a quote is never closed, so the rest of the file belongs to this line",
            );
        }
        let over = record.fields.len().checked_sub(columns.len()).filter(|over| *over > 0);
        if let Some(over) = over {
            found.odd(
                &path,
                Some(record.line),
                format!("{over} fields more than the first line has; they are kept in the description"),
            );
        }
        let mut row = Row::new(&path, record.line, record.raw.as_bytes());
        for (at, text) in record.fields.into_iter().enumerate() {
            match columns.get(at) {
                Some((Some(field), _)) => row.set(*field, text),
                Some((None, name)) => row.add(name, text),
                None => row.add("more", text),
            }
        }
        row.finish(&mut found);
    }
    found.add_epics_of_tasks();
    found
}

/// Returns the text of a file, without a byte order mark.
pub(super) fn text_of<'b>(found: &mut Found, path: &str, bytes: &'b [u8]) -> Option<&'b str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text.trim_start_matches('\u{feff}')),
        Err(error) => {
            let what = format!("not UTF-8 text (byte {}); convert it first", error.valid_up_to());
            found.odd(path, None, what);
            None
        }
    }
}

/// One task as fields with names.
pub(super) struct Row {
    task: TaskFound,
    line: usize,
    fields: BTreeMap<Field, String>,
    more: Vec<(String, String)>,
}

impl Row {
    pub(super) fn new(path: &str, line: usize, said: &[u8]) -> Self {
        let task = TaskFound::new("", path, said);
        Row { task, line, fields: BTreeMap::new(), more: Vec::new() }
    }

    pub(super) fn set(&mut self, field: Field, text: String) {
        if text.trim().is_empty() {
            return;
        }
        if let Some(before) = self.fields.insert(field, text) {
            self.more.push((format!("{field:?}"), before));
        }
    }

    pub(super) fn add(&mut self, name: &str, text: String) {
        if !text.trim().is_empty() {
            self.more.push((name.to_owned(), text));
        }
    }

    pub(super) fn finish(self, found: &mut Found) {
        let Row { mut task, line, mut fields, more } = self;
        let mut take = |field: Field| fields.remove(&field).map(|text| text.trim().to_owned());
        task.item = take(Field::Item).unwrap_or_else(|| format!("line {line}"));
        task.title = take(Field::Title).unwrap_or_default();
        if task.title.is_empty() {
            found.odd(&task.file, Some(line), format!("{} has no title", task.item));
        }
        task.description = take(Field::Description).unwrap_or_default();
        task = task.with_status(take(Field::Status));
        task.epic = take(Field::Epic);
        if let Some(word) = take(Field::Priority) {
            task.priority = find_priority(&word);
            if task.priority.is_none() {
                found.odd(
                    &task.file,
                    Some(line),
                    format!("the priority `{word}` is not high, medium or low; it becomes medium"),
                );
            }
        }
        task.depends_on = split(&take(Field::DependsOn).unwrap_or_default(), &[',', ';', '|', ' ', '\n']);
        let criteria = split(&take(Field::Criteria).unwrap_or_default(), &[';', '|', '\n']);
        task.criteria = criteria.into_iter().map(|text| criterion(&text)).collect();
        if !more.is_empty() {
            let lines: Vec<String> = more.iter().map(|(name, text)| format!("- {name}: {text}")).collect();
            task.description =
                format!("{}\n\n{}", task.description, lines.join("\n")).trim_start().to_owned();
        }
        found.tasks.push(task);
    }
}

fn criterion(text: &str) -> CriterionFound {
    let bare = text.trim().trim_start_matches(['-', '*']).trim_start();
    for (mark, checked) in [("[ ]", false), ("[x]", true), ("[X]", true)] {
        if let Some(text) = bare.strip_prefix(mark) {
            return CriterionFound { text: text.trim().to_owned(), checked };
        }
    }
    CriterionFound { text: bare.to_owned(), checked: false }
}

fn split(text: &str, at: &[char]) -> Vec<String> {
    text.split(at).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn find_priority(word: &str) -> Option<Priority> {
    match word.to_lowercase().as_str() {
        "high" | "highest" | "critical" | "urgent" | "p0" | "p1" => Some(Priority::High),
        "medium" | "normal" | "p2" => Some(Priority::Medium),
        "low" | "lowest" | "minor" | "p3" | "p4" => Some(Priority::Low),
        _ => None,
    }
}

/// One line of a table; a quoted field may hold line breaks.
struct Record<'t> {
    line: usize,
    raw: &'t str,
    fields: Vec<String>,
    is_open: bool,
}

/// Reads records one after the other.
struct Records<'t> {
    text: &'t str,
    line: usize,
    mark: char,
}

impl<'t> Records<'t> {
    /// Reads a text whose fields are separated by what separates them in its first line.
    fn of(text: &'t str) -> Self {
        let first = text.lines().next().unwrap_or_default();
        let count = |mark: char| first.matches(mark).count();
        let mark = [',', ';', '\t'].into_iter().rev().max_by_key(|mark| count(*mark)).unwrap_or(',');
        Records { text, line: 1, mark }
    }
}

impl<'t> Iterator for Records<'t> {
    type Item = Record<'t>;

    fn next(&mut self) -> Option<Record<'t>> {
        if self.text.is_empty() {
            return None;
        }
        let (mut fields, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
        let mut characters = self.text.char_indices().peekable();
        let mut end = self.text.len();
        while let Some((at, character)) = characters.next() {
            match character {
                '"' if is_quoted && characters.next_if(|(_, next)| *next == '"').is_some() => field.push('"'),
                '"' if is_quoted => is_quoted = false,
                '"' if field.trim().is_empty() => {
                    field.clear();
                    is_quoted = true;
                }
                '\n' if !is_quoted => {
                    end = at + 1;
                    break;
                }
                '\r' if !is_quoted && characters.peek().is_none_or(|(_, next)| *next == '\n') => {}
                mark if mark == self.mark && !is_quoted => fields.push(std::mem::take(&mut field)),
                other => field.push(other),
            }
        }
        fields.push(field);
        let (raw, rest) = self.text.split_at(end);
        let line = self.line;
        self.line += raw.matches('\n').count();
        self.text = rest;
        Some(Record { line, raw, fields, is_open: is_quoted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_hold_quotes_marks_and_line_breaks() {
        let text = "id,title\r\n1,\"a, \"\"b\"\"\nc\"\n2,plain \"x\"\n3,\"open\n";
        let read: Vec<(usize, Vec<String>, bool)> =
            Records::of(text).map(|record| (record.line, record.fields, record.is_open)).collect();
        let fields = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            read,
            [
                (1, fields(&["id", "title"]), false),
                (2, fields(&["1", "a, \"b\"\nc"]), false),
                (4, fields(&["2", "plain \"x\""]), false),
                (5, fields(&["3", "open\n"]), true),
            ]
        );
        assert_eq!(Records::of("a;b,c;d\n1;2;3\n").nth(1).unwrap().fields, ["1", "2", "3"]);
    }
}
