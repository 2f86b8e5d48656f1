//! What a state file can be, and which of these a file is.

use crate::commands::orders::invalid;
use crate::core::FieldFault;
use crate::core::find_nearest;
use crate::error::Error;
use crate::project::Project;
use crate::run_files::place;
use crate::runs::definitions::list_workflows;
use regatta_files::run_file::{self, Layout};
use regatta_flow::{Content, StateFile, Workflow};
use serde_json::Value;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// A task file.
    Task,
    /// A file of a run: the workflow and its name there, or the name alone.
    OfRun(String),
}

impl FromStr for FileKind {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text == "task" { FileKind::Task } else { FileKind::OfRun(text.to_owned()) })
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileKind::Task => f.write_str("task"),
            FileKind::OfRun(name) => f.write_str(name),
        }
    }
}

/// A kind of file with its name.
type Known<'k> = (String, &'k Workflow, &'k StateFile);

/// The files of all workflows that can be run.
pub(super) struct Kinds {
    workflows: Vec<(String, Arc<Workflow>)>,
}

impl Kinds {
    /// Loads the workflows; one that has errors knows no files.
    pub(super) fn load(project: Option<&Project>) -> Result<Self, Error> {
        let mut workflows = Vec::new();
        for listed in list_workflows(project)? {
            let compiled = match project {
                Some(project) => project.definitions().compile(&listed.address(), &listed.folder).ok(),
                None => Workflow::load(&listed.folder).ok().map(Arc::new),
            };
            workflows.extend(compiled.map(|workflow| (listed.name, workflow)));
        }
        Ok(Kinds { workflows })
    }

    fn files(&self) -> impl Iterator<Item = Known<'_>> {
        self.workflows.iter().flat_map(|(name, workflow)| {
            workflow.files.iter().map(move |file| (format!("{name}.{}", file.name), workflow.as_ref(), file))
        })
    }

    /// Returns the names of all kinds.
    pub(super) fn names(&self) -> Vec<String> {
        std::iter::once(FileKind::Task.to_string()).chain(self.files().map(|(name, ..)| name)).collect()
    }

    /// Returns the folders that hold files of runs.
    pub(super) fn folders(&self, project: &Project) -> BTreeSet<PathBuf> {
        let folders = self.workflows.iter().filter(|(_, workflow)| !workflow.files.is_empty());
        let folders = folders.filter_map(|(_, workflow)| workflow.files_folder.as_ref());
        let located = |name: &str| place::locate(project, &format!("{name}/file")).path;
        folders.filter_map(|folder| located(&folder.name).parent().map(Path::to_owned)).collect()
    }

    /// Returns the kind of a name.
    pub(super) fn get(&self, kind: &FileKind) -> Result<Known<'_>, Error> {
        let wanted = kind.to_string();
        let matches: Vec<Known<'_>> =
            self.files().filter(|(name, _, file)| *name == wanted || file.name == wanted).collect();
        let names = self.names();
        let problem = match matches.len() {
            1 => return Ok(matches.into_iter().next().expect("there is one")),
            0 => {
                let nearest = find_nearest(&wanted, names.iter().map(String::as_str));
                let meant = nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
                format!("is none of {}{meant}", names.join(", "))
            }
            _ => {
                let named: Vec<&str> = matches.iter().map(|(name, ..)| name.as_str()).collect();
                format!("means several: {}", named.join(", "))
            }
        };
        Err(invalid(vec![FieldFault { field: "as", problem }]))
    }

    /// Tells whether a path below the folder of a workflow is that of a file of a run.
    pub(super) fn is_of_run(&self, below: &Path) -> bool {
        below
            .to_str()
            .is_some_and(|path| self.files().any(|(_, _, file)| file.path.find_views(path).is_some()))
    }

    /// Finds what a file is by its path: by the whole of it, or by a name that only one kind has.
    pub(super) fn find_by_path(&self, path: &Path) -> Option<Known<'_>> {
        let parts: Vec<&str> = path.iter().filter_map(std::ffi::OsStr::to_str).collect();
        let ends = (0..parts.len()).map(|from| parts[from..].join("/"));
        let ends: Vec<String> = ends.rev().take(8).collect();
        let name = ends.first()?;
        let score = |file: &StateFile| {
            let views = ends.iter().find_map(|end| file.path.find_views(end).map(|views| (end, views)))?;
            // What is the same in all such paths. A name made of a view and `.json` fits any file.
            let fixed = views.0.len() - views.1.values().map(String::len).sum::<usize>();
            (fixed > ".json".len()).then_some(fixed)
        };
        let by_path =
            self.files().filter_map(|known| Some((score(known.2)?, known))).max_by_key(|(score, _)| *score);
        let by_name = || {
            let is_named = |file: &StateFile| file.path.text.rsplit('/').next() == Some(name);
            let mut named = self.files().filter(|(_, _, file)| is_named(file));
            named.next().filter(|_| named.next().is_none())
        };
        by_path.map(|(_, known)| known).or_else(by_name)
    }

    /// Finds what a document is by its fields: most of them must be known, and so must most of what is required.
    pub(super) fn find_by_content(&self, bytes: &[u8]) -> Option<Known<'_>> {
        let Ok(Value::Object(fields)) = run_file::parse(bytes, Layout::Json) else { return None };
        let score = |file: &StateFile| {
            let Content::Value { schema: Some(schema), .. } = &file.content else { return None };
            let known = schema.document()["properties"].as_object()?;
            let count = fields.keys().filter(|key| known.contains_key(*key)).count();
            (count >= 3 && count * 2 > fields.len()).then_some(count)
        };
        self.files()
            .filter_map(|known| Some((score(known.2)?, known)))
            .max_by_key(|(score, _)| *score)
            .map(|(_, known)| known)
    }
}

/// Tells whether a file has the name of a task file.
pub(super) fn is_task_file(path: &Path) -> bool {
    let name = path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    name.starts_with("task-") && name.ends_with("-state.md")
}
