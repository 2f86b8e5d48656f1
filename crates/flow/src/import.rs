//! What a run is made of again from its files, when its log is gone or they were another program's.
//!
//! A `place` and a list with `append` say where they belong; `import` of a file says it for the rest, in assignments over
//! `$file`. Nothing is guessed and nothing is lost in silence: what does not fit the schema of the state is left out and
//! named. Whoever calls this has found the files ([`FilePath::find_views`]) and parsed them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::expression::Expression;
use crate::fault::Position;
use crate::fill::fill;
use crate::patch::{set, unset};
use crate::path::{PathStep, ResolvedPath};
use crate::schema::{Changed, SchemaFault};
use crate::shown::{Content, FilePath, PathPart, SHOWN_BYTES_MAX, StateFile};
use crate::step::StepFault;
use crate::trial::{Given, Trial};
use crate::variables::{Local, Variables};
use crate::workflow::Workflow;

/// The most errors that are listed for one file; a list of a million lines may have as many.
const FAULTS_MAX: usize = 20;

/// One assignment of an `import`.
#[derive(Debug, Clone)]
pub struct ImportRule {
    /// What is set.
    pub target: ImportTarget,
    /// The value.
    pub value: Expression,
    /// Where the target stands.
    pub at: Position,
}

/// What an import can set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportTarget {
    /// A place of the state.
    State(ResolvedPath),
    /// A property of what the run is given.
    Input(String),
    /// Something that only the engine knows otherwise.
    Run(RunField),
    /// Messages that were sent, which are added.
    Messages,
}

/// What an import can say of the run itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunField {
    /// How far it was: one of the five words.
    Status,
    /// When it was created.
    CreatedAt,
    /// When it ended.
    EndedAt,
    /// Why it failed.
    Error,
}

impl RunField {
    /// All of them, by the names in a workflow.
    pub(crate) const ALL: [(&'static str, RunField); 4] = [
        ("status", RunField::Status),
        ("createdAt", RunField::CreatedAt),
        ("endedAt", RunField::EndedAt),
        ("error", RunField::Error),
    ];
}

/// What came of an import.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Imported {
    /// What the run is given, without the defaults of its schema.
    pub input: Map<String, Value>,
    /// The state, which fits its schema.
    pub state: Value,
    /// What is known of the run itself.
    pub run: BTreeMap<RunField, String>,
    /// The messages that were sent, the oldest first.
    pub messages: Vec<Map<String, Value>>,
    /// The fields of the state that something was found for.
    pub found: BTreeSet<String>,
    /// What was left out.
    pub faults: Vec<ImportFault>,
}

/// Something that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportFault {
    /// The file, by its name in the workflow.
    pub file: String,
    /// What was to be set.
    pub target: String,
    /// Why it was not.
    pub why: String,
    /// Whether it was set all the same, with what was missing in it left empty.
    pub is_set: bool,
}

impl Workflow {
    /// Makes the input and the state of a run from what was found: the views in the paths of its files, and the files
    /// themselves by their numbers, parsed. What a person gives comes last. Files are taken in the order of the workflow.
    pub fn import(
        &self,
        views: &BTreeMap<String, String>,
        files: Vec<(usize, Value)>,
        given: Map<String, Value>,
    ) -> Imported {
        let mut importing = Importing { workflow: self, imported: Imported::default() };
        importing.imported.state = self.schema.initial();
        let has_property = |name: &str| {
            let input = self.input.as_ref().map(|schema| schema.document());
            input.is_none_or(|input| input.pointer(&format!("/properties/{name}")).is_some())
        };
        let mut files = files;
        files.sort_by_key(|(place, _)| *place);
        for (place, value) in files {
            if let Some(file) = self.files.get(place) {
                importing.take(file, value);
            }
        }
        let Importing { mut imported, .. } = importing;
        for (name, text) in views.iter().filter(|(name, _)| has_property(name)) {
            imported.input.insert(name.clone(), text.clone().into());
        }
        imported.input.extend(given);
        imported
    }
}

struct Importing<'w> {
    workflow: &'w Workflow,
    imported: Imported,
}

impl Importing<'_> {
    fn take(&mut self, file: &StateFile, value: Value) {
        let before = self.imported.faults.len();
        if !file.import.is_empty() {
            let variables = Variables::default().with(Local::File, value.clone());
            for rule in &file.import {
                self.follow(file, rule, &variables);
            }
        }
        match &file.content {
            Content::Place { place, .. } => self.assign(file, place, value),
            Content::Append { list, .. } => self.fill(file, list, value),
            Content::Value { .. } => {}
        }
        let more = self.imported.faults.len() - before;
        if more > FAULTS_MAX {
            self.imported.faults.truncate(before + FAULTS_MAX);
            let why = format!("and {} more", more - FAULTS_MAX);
            let (file, target) = (file.name.clone(), String::new());
            self.imported.faults.push(ImportFault { file, target, why, is_set: false });
        }
    }

    fn follow(&mut self, file: &StateFile, rule: &ImportRule, variables: &Variables) {
        let told = rule.target.to_string();
        let value = match self.evaluate(rule, variables) {
            Ok(Some(value)) => value,
            Ok(None) => return,
            Err(fault) => return self.leave_out(file, told, tell(&fault)),
        };
        match (&rule.target, value) {
            (ImportTarget::State(place), value) => self.assign(file, place, value),
            (ImportTarget::Input(_) | ImportTarget::Run(_), Value::Null) => {}
            (ImportTarget::Input(name), value) => drop(self.imported.input.insert(name.clone(), value)),
            (ImportTarget::Run(field), Value::String(text)) => drop(self.imported.run.insert(*field, text)),
            (ImportTarget::Run(_), _) => self.leave_out(file, told, "it is no text".to_owned()),
            (ImportTarget::Messages, Value::Array(messages)) => {
                messages.into_iter().for_each(|message| self.add_message(file, message));
            }
            (ImportTarget::Messages, message) => self.add_message(file, message),
        }
    }

    fn evaluate(&mut self, rule: &ImportRule, variables: &Variables) -> Result<Option<Value>, StepFault> {
        let mut given = Given { variables: variables.clone(), ..Given::default() };
        let trial = Trial::begin(&mut self.imported.state, &mut given, 0);
        trial.look(self.workflow).evaluate_items(&rule.value, SHOWN_BYTES_MAX)
    }

    fn add_message(&mut self, file: &StateFile, message: Value) {
        match message {
            Value::Object(fields) => self.imported.messages.push(fields),
            _ => self.leave_out(file, ImportTarget::Messages.to_string(), "it is no object".to_owned()),
        }
    }

    /// Sets a place, unless the state would no longer fit its schema. What is required and means nothing if it is empty may
    /// be missing in the file of another program.
    fn assign(&mut self, file: &StateFile, place: &ResolvedPath, value: Value) {
        let mut set = self.set(place, value.clone());
        if set.is_err() {
            let mut filled = value;
            let paths = fill(self.workflow.schema.document(), place, &mut filled);
            if !paths.is_empty() && self.set(place, filled).is_ok() {
                set = Ok(());
                for path in paths {
                    let why = format!("`{path}` is missing; it is empty now");
                    let (file, target) = (file.name.clone(), place.to_string());
                    self.imported.faults.push(ImportFault { file, target, why, is_set: true });
                }
            }
        }
        match set {
            Ok(()) => {
                let field = place.steps().first().map(|step| match step {
                    PathStep::Key(name) => name.to_string(),
                    PathStep::Index(index) => index.to_string(),
                });
                self.imported.found.extend(field);
            }
            Err(why) => self.leave_out(file, place.to_string(), why),
        }
    }

    /// Fills a list. If it does not fit as a whole, the items that do are kept.
    fn fill(&mut self, file: &StateFile, list: &ResolvedPath, value: Value) {
        let Value::Array(items) = value else {
            return self.leave_out(file, list.to_string(), "it is no list".to_owned());
        };
        if self.set(list, Value::Array(items.clone())).is_err() {
            if let Err(why) = self.set(list, Value::Array(Vec::new())) {
                return self.leave_out(file, list.to_string(), why);
            }
            let mut length = 0;
            for (number, item) in items.into_iter().enumerate() {
                let mut place = list.clone();
                place.0.push(PathStep::Index(length));
                match self.set(&place, item) {
                    Ok(()) => length += 1,
                    Err(why) => self.leave_out(file, format!("{list}, item {}", number + 1), why),
                }
            }
        }
        self.imported.found.extend(list.steps().first().and_then(|step| match step {
            PathStep::Key(name) => Some(name.to_string()),
            PathStep::Index(_) => None,
        }));
    }

    fn set(&mut self, place: &ResolvedPath, value: Value) -> Result<(), String> {
        let state = &mut self.imported.state;
        let before = set(state, place, value).map_err(|fault| fault.to_string())?;
        let changed = [Changed { place, added: before.is_none() }];
        let Err(faults) = self.workflow.schema.check(state, &changed) else { return Ok(()) };
        unset(state, place, before);
        let told: Vec<String> = faults.iter().map(SchemaFault::to_string).collect();
        Err(told.join("; "))
    }

    fn leave_out(&mut self, file: &StateFile, target: String, why: String) {
        self.imported.faults.push(ImportFault { file: file.name.clone(), target, why, is_set: false });
    }
}

fn tell(fault: &StepFault) -> String {
    let mut told = fault.to_string();
    let mut source = std::error::Error::source(fault);
    while let Some(cause) = source {
        told = format!("{told}: {cause}");
        source = cause.source();
    }
    told
}

impl std::fmt::Display for ImportTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ImportTarget::State(place) => place.fmt(f),
            ImportTarget::Input(name) => write!(f, "input.{name}"),
            ImportTarget::Messages => f.write_str("messages"),
            ImportTarget::Run(field) => {
                let known = RunField::ALL.iter().find(|(_, known)| known == field);
                write!(f, "run.{}", known.map_or("", |(name, _)| name))
            }
        }
    }
}

impl FilePath {
    /// Finds the views that make this path of a pattern; nothing if it is none of the pattern.
    pub fn find_views(&self, path: &str) -> Option<BTreeMap<String, String>> {
        let mut views = BTreeMap::new();
        find_parts(&self.parts, path, &mut views).then_some(views)
    }
}

/// A view is a name without `/`. Of several ways to read a path, the one with the longest first name counts.
fn find_parts(parts: &[PathPart], path: &str, views: &mut BTreeMap<String, String>) -> bool {
    match parts.split_first() {
        None => path.is_empty(),
        Some((PathPart::Text(text), rest)) => {
            path.strip_prefix(text.as_str()).is_some_and(|path| find_parts(rest, path, views))
        }
        Some((PathPart::View(name), rest)) => {
            if let Some(known) = views.get(name) {
                let known = known.clone();
                return path.strip_prefix(&*known).is_some_and(|path| find_parts(rest, path, views));
            }
            let end = path.find('/').unwrap_or(path.len());
            let ends: Vec<usize> = path[..end].char_indices().map(|(at, one)| at + one.len_utf8()).collect();
            for end in ends.into_iter().rev() {
                views.insert(name.clone(), path[..end].to_owned());
                if find_parts(rest, &path[end..], views) {
                    return true;
                }
            }
            views.remove(name);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_views_of_a_path_are_found() {
        let found = |pattern: &str, path: &str| {
            let views = FilePath::parse(pattern).unwrap().find_views(path)?;
            Some(views.into_iter().map(|(name, text)| format!("{name}={text}")).collect::<Vec<_>>().join(" "))
        };
        let is = |text: &str| Some(text.to_owned());
        assert_eq!(found("{id}.json", "a.b.json"), is("id=a.b"));
        assert_eq!(found("{id}.progress/ra/x.md", "c-1.progress/ra/x.md"), is("id=c-1"));
        assert_eq!(found("{id}.progress/{id}.md", "c.progress/c.md"), is("id=c"));
        assert_eq!(found("{a}-{b}.md", "x-y-z.md"), is("a=x-y b=z"));
        assert_eq!(found("plan.json", "plan.json"), is(""));
        for (pattern, path) in [
            ("{id}.json", ".json"),
            ("{id}.json", "a/b.json"),
            ("{id}.json", "a.json.bak"),
            ("{id}.progress/{id}.md", "c.progress/d.md"),
            ("plan.json", "x/plan.json"),
        ] {
            assert_eq!(found(pattern, path), None, "{pattern} {path}");
        }
    }
}
