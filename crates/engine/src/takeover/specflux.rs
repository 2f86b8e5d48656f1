//! Reads a folder of task files: `task-states/task-101-state.md`, `archives/task-101-archive.md`, and epics and PRDs
//! beside them if there are any.
//!
//! The text of a task file is taken over as it is: it becomes the first version of the task's file here.

use crate::core::PrdSlug;
use crate::core::document::{find_title, slug_from};
use crate::takeover::found::{CriterionFound, EpicFound, Found, PrdFound, TaskFound};
use crate::takeover::gather::Files;
use crate::takeover::kind::Kind;
use regatta_files::TaskFile;
use serde_json::Value;
use std::collections::BTreeMap;

/// The next task gets the number after the highest, so a wild one must not use them up.
pub(super) const NUMBER_MAX: u32 = 1_000_000;

/// Reads the files.
pub(crate) fn read(files: &Files) -> Found {
    let mut found = Found::new(Kind::SpecFlux);
    let mut epics: BTreeMap<String, EpicFound> = BTreeMap::new();
    let of_folder = |wanted: &'static str| {
        let is_in = move |path: &str| path.rsplit('/').nth(1) == Some(wanted) && path.ends_with(".md");
        files.iter().filter(move |(path, _)| is_in(path))
    };
    for (path, bytes) in of_folder("prds") {
        read_prd(&mut found, path, path.rsplit('/').next().unwrap_or(path), bytes);
    }
    for (path, bytes) in of_folder("epics") {
        read_epic(&mut found, files, &mut epics, path, bytes);
    }
    for (path, bytes) in files.iter() {
        let Some(number) = find_number(path, "-state.md") else { continue };
        let Some(task) = read_task(&mut found, files, (path, bytes), number, &mut epics) else { continue };
        found.tasks.push(task);
    }
    // Tasks in the order of their numbers, and not of their names.
    found.tasks.sort_by_key(|task| task.number);
    found.epics = epics.into_values().collect();
    found
}

/// Returns the number in `task-101-state.md`.
fn find_number(path: &str, end: &str) -> Option<u32> {
    let name = path.rsplit('/').next()?;
    name.strip_prefix("task-")?.strip_suffix(end)?.parse().ok()
}

fn read_task(
    found: &mut Found,
    files: &Files,
    (path, bytes): (&str, &[u8]),
    number: u32,
    epics: &mut BTreeMap<String, EpicFound>,
) -> Option<TaskFound> {
    let file = match TaskFile::parse_bytes(bytes) {
        Ok(file) => file,
        Err(error) => {
            found.odd(path, None, format!("not UTF-8 text ({error}); only a copy is kept"));
            return None;
        }
    };
    if file.text().trim().is_empty() {
        found.odd(path, None, "empty; not imported");
        return None;
    }
    files.note_used(path);
    for fault in file.faults() {
        found.odd(path, Some(fault.line), fault.what.to_string());
    }
    for unknown in file.unknown() {
        found.odd(path, Some(unknown.line), format!("unknown, and kept in the task file: {}", unknown.text));
    }
    let title = file.title();
    if let Some(id) = title.and_then(|title| title.id).filter(|id| *id != number) {
        found.odd(path, Some(1), format!("the title says task #{id}; the number in the file name counts"));
    }
    let metadata = file.metadata().ok();
    let field = |name: &str| metadata.and_then(|map| map.get(name)).filter(|value| !value.is_null());
    let mut task =
        TaskFound::new(number.to_string(), path, bytes).with_status(field("status").and_then(text_of));
    task.number = Some(number).filter(|number| (1..=NUMBER_MAX).contains(number));
    if task.number.is_none() {
        found.odd(path, None, "its number cannot be kept; it gets the next one");
    }
    task.title = title.map(regatta_files::Title::plain).unwrap_or_default();
    task.description = file.requirements().unwrap_or_default().to_owned();
    let criterion =
        |one: &regatta_files::Criterion| CriterionFound { text: one.text.clone(), checked: one.checked };
    task.criteria = file.criteria().iter().map(criterion).collect();
    let listed = field("dependencies").and_then(Value::as_array).into_iter().flatten().filter_map(text_of);
    task.depends_on = listed.collect();
    let inputs = file.chain_inputs().iter().filter_map(|input| input.task).map(|task| task.to_string());
    for input in inputs.collect::<Vec<_>>() {
        if !task.depends_on.contains(&input) {
            task.depends_on.push(input);
        }
    }
    let archived =
        file.archived().map_or(0, |archived| archived.last.saturating_sub(archived.first) as usize + 1);
    task.sessions = file.sessions().len() + archived;
    task.has_output = file.chain_output().is_some();
    task.epic = find_epic(found, file.text(), field("epic_id"), epics);
    task.prd = find_prd(found, file.text());
    task.archive = find_archive(files, number);
    if archived > 0 && task.archive.is_none() {
        found.odd(path, None, "its archived sessions are missing: there is no archive");
    }
    task.text = Some(file.into_text());
    Some(task)
}

/// Returns the words of a value that is a text or a number.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Finds the epic that a task file names, with its title from the line `**Epic:** User Authentication (#10)`.
fn find_epic(
    found: &mut Found,
    text: &str,
    id: Option<&Value>,
    epics: &mut BTreeMap<String, EpicFound>,
) -> Option<String> {
    let line = find_line(text, "**Epic:**").map(plain_of_link);
    let (title, named) = match line.as_deref().and_then(|line| line.rsplit_once("(#")) {
        Some((title, rest)) => (Some(title.trim().to_owned()), rest.split(')').next().map(str::to_owned)),
        None => (line, None),
    };
    let item = id.and_then(text_of).or(named)?;
    let prd = find_prd(found, text);
    epics.entry(item.clone()).or_insert_with(|| EpicFound {
        title: title.filter(|title| !title.is_empty()).unwrap_or_else(|| format!("Epic {item}")),
        description: String::new(),
        item: item.clone(),
        prd,
    });
    Some(item)
}

/// Finds the PRD in `**PRD:** [user-auth.md](/api/prds/user-auth)`, if it is among the files.
fn find_prd(found: &Found, text: &str) -> Option<String> {
    let line = find_line(text, "**PRD:**")?;
    let link = line.rsplit_once('(').and_then(|(_, rest)| rest.split(')').next());
    let name = link.unwrap_or(line).trim().rsplit('/').next()?.trim_end_matches(".md").to_owned();
    found.prds.iter().any(|prd| prd.slug == name).then_some(name)
}

fn find_line<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.trim().strip_prefix(label)).map(str::trim)
}

/// Leaves out a link: `User Auth (#10) [details](/api/epics/10)`, `[User Auth](/x)`.
fn plain_of_link(line: &str) -> String {
    match line.split_once('[') {
        Some(("", rest)) => rest.split(']').next().unwrap_or_default().to_owned(),
        Some((before, _)) => before.trim().to_owned(),
        None => line.to_owned(),
    }
}

fn find_archive(files: &Files, number: u32) -> Option<String> {
    let mut archives = files.iter().map(|(path, _)| path);
    archives.find(|path| find_number(path, "-archive.md") == Some(number)).map(str::to_owned)
}

fn read_prd(found: &mut Found, path: &str, name: &str, bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return found.odd(path, None, "not UTF-8 text; only a copy is kept");
    };
    let stem = name.trim_end_matches(".md");
    let Some(slug) = stem.parse::<PrdSlug>().ok().or_else(|| slug_from(stem)) else {
        return found.odd(path, None, "its name makes no slug; only a copy is kept");
    };
    let slug = slug.to_string();
    let title = find_title(text).unwrap_or(stem).to_owned();
    found.prds.push(PrdFound { slug, title, text: text.to_owned(), file: path.to_owned() });
}

fn read_epic(
    found: &mut Found,
    files: &Files,
    epics: &mut BTreeMap<String, EpicFound>,
    path: &str,
    bytes: &[u8],
) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return found.odd(path, None, "not UTF-8 text; only a copy is kept");
    };
    let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md");
    let digits: String =
        name.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    let item = if digits.is_empty() { name.to_owned() } else { digits };
    let title = find_title(text).unwrap_or(name).to_owned();
    let prd = find_prd(found, text);
    files.note_used(path);
    epics.insert(item.clone(), EpicFound { item, title, description: text.to_owned(), prd });
}
