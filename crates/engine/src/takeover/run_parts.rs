//! Reads the files of runs: which run each belongs to by its path, and what it holds by the workflow that it is of.

use crate::core::run::{ImportNote, ImportedFile};
use crate::digest::sha256;
use crate::error::Error;
use crate::project::Project;
use crate::runs::definitions::{Listed, find_workflow};
use crate::takeover::gather::Files;
use regatta_files::run_file::{self, Layout, lines};
use regatta_flow::{Content, Imported, StateFile, Workflow};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// More bad lines of one file are only counted.
const BAD_LINES_MAX: usize = 20;

/// The parts of one run, as they were found.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RunParts {
    /// What the paths tell, such as `cycle_id`.
    pub(crate) views: BTreeMap<String, String>,
    /// The files by their numbers in the workflow.
    pub(crate) files: Vec<(usize, Value)>,
    /// All of its files, also those that nothing is made of.
    pub(crate) sources: Vec<ImportedFile>,
    /// Those of the files that were a text without front matter.
    pub(crate) plain: Vec<usize>,
    /// What could not be read.
    pub(crate) left_out: Vec<String>,
}

/// A workflow with what names it.
pub(crate) struct Definition {
    pub(crate) listed: Listed,
    pub(crate) workflow: Arc<Workflow>,
}

/// Finds a workflow of the project or of the binary.
pub(crate) fn definition(project: &Project, name: &str) -> Result<Definition, Error> {
    let listed = find_workflow(Some(project), name)?;
    let workflow = project.definitions().compile(&listed.address(), &listed.folder)?;
    Ok(Definition { listed, workflow })
}

/// Finds the runs whose files these are.
pub(crate) fn find_runs(workflow: &Workflow, files: &Files) -> Vec<RunParts> {
    let mut runs: BTreeMap<BTreeMap<String, String>, RunParts> = BTreeMap::new();
    for (path, bytes) in files.iter() {
        let matches = |file: &StateFile| file.path.find_views(path);
        let Some((number, views)) =
            workflow.files.iter().enumerate().find_map(|(number, file)| Some((number, matches(file)?)))
        else {
            continue;
        };
        files.note_used(path);
        let run = runs.entry(views.clone()).or_insert_with(|| RunParts { views, ..RunParts::default() });
        run.sources.push(ImportedFile { path: path.to_owned(), digest: sha256(bytes) });
        run.take(number, &workflow.files[number], (path, bytes));
    }
    for path in files.unread.keys() {
        let views = workflow.files.iter().find_map(|file| file.path.find_views(path));
        if let Some(run) = views.and_then(|views| runs.get_mut(&views)) {
            run.left_out.push(format!("{path}: too large to be read"));
        }
    }
    runs.into_values().collect()
}

impl RunParts {
    fn take(&mut self, number: usize, file: &StateFile, (path, bytes): (&str, &[u8])) {
        match &file.content {
            Content::Append { template: None, .. } => {
                let items = self.read_lines(path, bytes);
                self.files.push((number, items.into()));
            }
            // What a template rendered is not read back: another file has it.
            Content::Append { .. } | Content::Value { template: Some(_), .. } => {}
            Content::Value { .. } if file.import.is_empty() => {}
            Content::Place { body: Some(body), .. } | Content::Value { body: Some(body), .. } => {
                self.take_text(number, &body.name, (path, bytes));
            }
            Content::Place { .. } | Content::Value { .. } => {
                self.take_parsed(number, path, run_file::parse(bytes, Layout::Json));
            }
        }
    }

    /// Takes a text with front matter; another tool may have written none.
    fn take_text(&mut self, number: usize, body: &str, (path, bytes): (&str, &[u8])) {
        let is_plain = !bytes.starts_with(b"---") && !bytes.is_empty();
        match std::str::from_utf8(bytes) {
            Ok(text) if is_plain => {
                self.left_out.push(format!("{path}: no front matter; only the text was imported"));
                self.plain.push(number);
                self.files.push((
                    number,
                    Value::Object(Map::from_iter([(body.to_owned(), text.trim_end().into())])),
                ));
            }
            _ => self.take_parsed(number, path, run_file::parse(bytes, Layout::FrontMatter { body })),
        }
    }

    fn take_parsed(&mut self, number: usize, path: &str, parsed: Result<Value, run_file::TextFault>) {
        match parsed {
            Ok(value) => self.files.push((number, value)),
            Err(fault) => {
                self.left_out.push(format!("{path}:{}:{}: {}", fault.line, fault.column, fault.what))
            }
        }
    }

    fn read_lines(&mut self, path: &str, bytes: &[u8]) -> Vec<Value> {
        let (mut items, mut bad) = (Vec::new(), 0);
        for line in lines(bytes) {
            match line.value {
                Ok(value) => items.extend(value),
                Err(fault) => {
                    bad += 1;
                    if bad <= BAD_LINES_MAX {
                        self.left_out.push(format!("{path}:{}:{}: {}", fault.line, fault.column, fault.what));
                    }
                }
            }
        }
        if bad > BAD_LINES_MAX {
            self.left_out.push(format!("{path}: and {} more bad lines", bad - BAD_LINES_MAX));
        }
        items
    }

    /// Returns the paths of its files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &String> {
        self.sources.iter().map(|source| &source.path)
    }

    /// Makes the input and the state of a run of the parts.
    pub(crate) fn import(&self, workflow: &Workflow, given: Map<String, Value>) -> Imported {
        let mut files = self.files.clone();
        if !self.plain.is_empty() {
            files.retain(|(number, _)| !self.plain.contains(number));
            let known = workflow.import(&self.views, files.clone(), Map::new()).state;
            for (number, value) in self.files.iter().filter(|(number, _)| self.plain.contains(number)) {
                files.push((*number, fill(&workflow.files[*number], value, &known)));
            }
        }
        workflow.import(&self.views, files, given)
    }

    /// Returns what is recorded of the import.
    pub(crate) fn note(&self, folder: &str) -> ImportNote {
        ImportNote { folder: folder.to_owned(), files: self.sources.clone(), left_out: self.left_out.clone() }
    }

    /// Names the run as its files do.
    pub(crate) fn name(&self) -> String {
        let names: Vec<&str> = self.views.values().map(String::as_str).collect();
        names.join(" ")
    }
}

/// Adds to a bare text what other files know: of its own place, or what a plan or results beside it say of themselves.
fn fill(file: &StateFile, value: &Value, state: &Value) -> Value {
    /// What every part of a run has, and each part has of the same iteration.
    const SHARED: [&str; 2] = ["version", "last_updated"];
    let (Content::Place { place, .. }, Value::Object(text)) = (&file.content, value) else {
        return value.clone();
    };
    let mut filled = match place.find(state) {
        Some(Value::Object(known)) => known.clone(),
        _ => {
            let parts = || state.as_object().into_iter().flatten().map(|(_, part)| part);
            let find = |name: &str| parts().find_map(|part| part.get(name).filter(|value| value.is_string()));
            let shared = SHARED.into_iter().filter_map(|name| Some((name.to_owned(), find(name)?.clone())));
            shared.collect()
        }
    };
    filled.extend(text.clone());
    filled.into()
}

/// Returns the input that a workflow requires, and that is not there.
pub(crate) fn find_missing(workflow: &Workflow, input: &Map<String, Value>) -> Vec<String> {
    let schema = workflow.input.as_ref().map(|schema| schema.document());
    let required = schema.and_then(|schema| schema["required"].as_array()).into_iter().flatten();
    let names = required.filter_map(Value::as_str).filter(|name| !input.contains_key(*name));
    names.map(str::to_owned).collect()
}
