//! Judges state files by their schemas: the answer of `regatta state validate`.
//!
//! What a file is is found by its name, then by its content. The kinds are the task file, and every file of every workflow
//! that can be run, so a workflow of the project's own is judged like those in the binary. It does not change anything.

mod fix;
mod json_place;
mod kinds;

pub use kinds::FileKind;

use crate::core::{Code, Problem};
use crate::error::Error;
use crate::project::Project;
use crate::task_files;
use crate::task_files::understood::{FaultRead, Understood, understand};
use json_place::line_and_column;
use kinds::Kinds;
use regatta_files::disk;
use regatta_files::run_file::{self, Layout, TextFault, lines};
use regatta_flow::{Content, PathStep, ResolvedPath, SchemaFault, StateFile, Workflow};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// As many errors of one file are reported; the first ones are fixed first.
const FAULTS_MAX: usize = 100;
/// As many files are judged when none is named.
const FILES_MAX: usize = 10_000;
/// The longest piece of a file that is shown with an error, in characters.
const SHOWN_CHARACTERS_MAX: usize = 120;

/// How a state file was judged.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct Validated {
    pub file: String,
    /// What it is: `task`, or the workflow and the file, such as `cycle.plan`.
    pub kind: String,
    pub is_valid: bool,
    pub faults: Vec<FileFault>,
    /// How a task file was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<Understood>>,
}

/// One thing that is wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct FileFault {
    pub line: usize,
    pub column: usize,
    /// The place in the value, such as `tasks[0].status`.
    pub path: String,
    /// What is wrong, and what was expected.
    pub problem: String,
    /// What stands there.
    pub text: String,
    /// The likely fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// Judges a file; what it is is found if it is not said.
pub fn validate(project: Option<&Project>, path: &Path, kind: Option<&FileKind>) -> Result<Validated, Error> {
    let kinds = Kinds::load(project)?;
    validate_as(&kinds, path, kind)
}

/// Judges every state file of a project.
pub fn validate_all(project: &Project) -> Result<Vec<Validated>, Error> {
    let kinds = Kinds::load(Some(project))?;
    let mut judged = Vec::new();
    for path in list_files(project, &kinds) {
        judged.push(validate_as(&kinds, &path, None)?);
    }
    Ok(judged)
}

fn list_files(project: &Project, kinds: &Kinds) -> Vec<PathBuf> {
    let mut paths = BTreeSet::new();
    for entry in
        std::fs::read_dir(project.place(&project.config().task_states)).into_iter().flatten().flatten()
    {
        let path = entry.path();
        paths.extend(kinds::is_task_file(&path).then_some(path));
    }
    for folder in kinds.folders(project) {
        walk(&folder, 0, &mut |path| {
            let below = path.strip_prefix(&folder).unwrap_or(path);
            if kinds.is_of_run(below) || kinds.find_by_path(path).is_some() {
                paths.insert(path.to_owned());
            }
            paths.len() < FILES_MAX
        });
    }
    paths.into_iter().collect()
}

/// Visits files without following a link.
fn walk(folder: &Path, level: usize, visit: &mut impl FnMut(&Path) -> bool) {
    const LEVELS_MAX: usize = 8;
    let mut entries: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && level < LEVELS_MAX => walk(&entry.path(), level + 1, visit),
            Ok(kind) if kind.is_file() && !visit(&entry.path()) => return,
            _ => {}
        }
    }
}

fn validate_as(kinds: &Kinds, path: &Path, kind: Option<&FileKind>) -> Result<Validated, Error> {
    let shown = path.display().to_string();
    let is_task = |kind: &FileKind| *kind == FileKind::Task;
    if kind.map_or_else(|| kinds::is_task_file(path), is_task) {
        return Ok(of_task(shown, understand(path)?));
    }
    let read = disk::read(path).map_err(Error::StateFile)?;
    let Some((bytes, _)) = read else { return Err(task_files::understood::missing(path)) };
    let found = match kind {
        Some(kind) => Some(kinds.get(kind)?),
        None => kinds.find_by_path(path).or_else(|| kinds.find_by_content(&bytes)),
    };
    let Some((name, workflow, file)) = found else {
        // A Markdown text is a task file, or nothing that anybody knows.
        return if path.extension().is_some_and(|end| end == "md") {
            Ok(of_task(shown, understand(path)?))
        } else {
            Err(unknown(path, kinds))
        };
    };
    let mut faults = judge(workflow, file, &bytes);
    faults.truncate(FAULTS_MAX);
    Ok(Validated { file: shown, kind: name, is_valid: faults.is_empty(), faults, task: None })
}

fn of_task(file: String, read: Understood) -> Validated {
    let fault = |fault: &FaultRead| FileFault {
        line: fault.line,
        column: fault.column,
        path: String::new(),
        problem: fault.problem.clone(),
        text: fault.text.clone(),
        fix: None,
    };
    let faults = read.faults.iter().map(fault).collect();
    Validated {
        file,
        kind: FileKind::Task.to_string(),
        is_valid: read.is_valid,
        faults,
        task: Some(Box::new(read)),
    }
}

fn unknown(path: &Path, kinds: &Kinds) -> Error {
    let next = format!("say what it is with `--as`: {}", kinds.names().join(", "));
    let why = "neither its name nor its content is that of a state file";
    Problem::new(Code::ValidationError, format!("{} was not checked", path.display()), why, next).into()
}

/// Judges the bytes of a file of a run.
fn judge(workflow: &Workflow, file: &StateFile, bytes: &[u8]) -> Vec<FileFault> {
    match &file.content {
        Content::Append { template: None, .. } => judge_lines(workflow, file, bytes),
        // What a template renders is for people.
        Content::Append { .. } | Content::Value { template: Some(_), .. } => Vec::new(),
        Content::Place { body: Some(body), .. } | Content::Value { body: Some(body), .. } => {
            judge_document(workflow, file, bytes, Some(&body.name))
        }
        Content::Place { .. } | Content::Value { .. } => judge_document(workflow, file, bytes, None),
    }
}

fn judge_document(workflow: &Workflow, file: &StateFile, bytes: &[u8], body: Option<&str>) -> Vec<FileFault> {
    let layout = body.map_or(Layout::Json, |body| Layout::FrontMatter { body });
    let value = match run_file::parse(bytes, layout) {
        Ok(value) => value,
        Err(fault) => return vec![of_text(fault, bytes)],
    };
    let Err(faults) = workflow.judge_file(file, &value) else { return Vec::new() };
    let text = String::from_utf8_lossy(bytes);
    faults
        .iter()
        .map(|fault| {
            let steps = steps_of(fault);
            let offset = match body {
                None => json_place::find(&text, &steps),
                Some(_) => find_in_front_matter(&text, &steps),
            };
            place(fault, &value, &steps, &text, (offset, 0))
        })
        .collect()
}

fn judge_lines(workflow: &Workflow, file: &StateFile, bytes: &[u8]) -> Vec<FileFault> {
    let (mut faults, mut items, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for (number, line) in lines(bytes).enumerate() {
        match line.value {
            Ok(None) => {}
            Ok(Some(value)) => {
                items.push(value);
                texts.push((number, String::from_utf8_lossy(line.bytes)));
            }
            Err(fault) if faults.len() < FAULTS_MAX => faults.push(of_text(fault, bytes)),
            Err(_) => {}
        }
    }
    let list = Value::Array(items);
    if let Err(found) = workflow.judge_file(file, &list) {
        for fault in found {
            let steps = steps_of(&fault);
            let Some((PathStep::Index(index), rest)) = steps.split_first() else {
                faults.push(place(&fault, &list, &steps, "", (0, 0)));
                continue;
            };
            let Some((number, text)) = texts.get(*index) else { continue };
            faults.push(place(&fault, &list, &steps, text, (json_place::find(text, rest), *number)));
        }
    }
    faults.sort_by_key(|fault| (fault.line, fault.column));
    faults
}

fn steps_of(fault: &SchemaFault) -> Vec<PathStep> {
    ResolvedPath::read(&fault.path).map(|path| path.0).unwrap_or_default()
}

/// Says where a fault is in a text of which so many lines come before.
fn place(
    fault: &SchemaFault,
    root: &Value,
    steps: &[PathStep],
    text: &str,
    (offset, lines_before): (usize, usize),
) -> FileFault {
    let (line, column) = line_and_column(text, offset);
    FileFault {
        line: line + lines_before,
        column,
        path: fault.path.clone(),
        problem: fault.message.clone(),
        text: shorten(text.get(offset..).unwrap_or_default()),
        fix: fix::find(fault, root, steps),
    }
}

fn of_text(fault: TextFault, bytes: &[u8]) -> FileFault {
    let line = bytes.split(|byte| *byte == b'\n').nth(fault.line.saturating_sub(1)).unwrap_or_default();
    FileFault {
        line: fault.line,
        column: fault.column,
        path: String::new(),
        problem: fault.what,
        text: shorten(&String::from_utf8_lossy(line)),
        fix: None,
    }
}

/// Finds the line of a field in front matter.
fn find_in_front_matter(text: &str, steps: &[PathStep]) -> usize {
    let Some(PathStep::Key(name)) = steps.first() else { return 0 };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.strip_prefix(&**name).is_some_and(|rest| rest.trim_start().starts_with(':')) {
            return at;
        }
        at += line.len();
    }
    0
}

fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(SHOWN_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
