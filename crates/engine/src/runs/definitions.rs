//! The definitions of workflows: the project's own, those in the binary, and those that the log keeps.
//!
//! A run plays the definition that it started with. The log keeps that once per digest, so editing the folder
//! does not change a run that has started.

use crate::core::run::Event;
use crate::core::{Code, Problem, find_nearest};
use crate::error::Error;
use crate::log;
use crate::log::SNAPSHOT_FORMAT;
use crate::project::Project;
use crate::runs::files::read_folder;
use crate::runs::shipped;
use regatta_flow::{Fault, Folder, Workflow};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The project's folder of workflows.
pub(crate) const HOME: &str = ".regatta/workflows";

/// Where a workflow comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The project's folder of workflows.
    Project(PathBuf),
    /// The binary.
    Binary,
}

/// A workflow that can be run.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Its files.
    pub folder: Folder,
}

impl Listed {
    /// Returns its name on the command line: its name, or the path of a folder that is not among the
    /// project's.
    pub fn address(&self) -> String {
        match &self.origin {
            Origin::Project(path) if !path.parent().is_some_and(|home| home.ends_with(HOME)) => {
                path.display().to_string()
            }
            Origin::Project(_) | Origin::Binary => self.name.clone(),
        }
    }
}

/// Why there is no such workflow to play.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// There is no workflow of that name.
    #[error("there is no workflow `{name}`")]
    NotFound {
        /// The name.
        name: String,
        /// Those that exist.
        known: Vec<String>,
    },
    /// Its files have errors.
    #[error("the workflow `{name}` has {} errors", faults.len())]
    Faulty {
        /// The name.
        name: String,
        /// All of them.
        faults: Vec<Fault>,
    },
}

impl DefinitionError {
    pub(crate) fn explain(&self) -> Problem {
        match self {
            DefinitionError::NotFound { name, known } => {
                let nearest = find_nearest(name, known.iter().map(String::as_str));
                let next = match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`? See `regatta workflow list`"),
                    None => format!(
                        "choose one of: {}; or create one with `regatta workflow new`",
                        known.join(", ")
                    ),
                };
                let why = "neither .regatta/workflows nor Regatta itself has one with that name";
                Problem::new(Code::WorkflowNotFound, self.to_string(), why, next)
            }
            DefinitionError::Faulty { name, faults } => {
                let mut problem = Problem::new(
                    Code::WorkflowInvalid,
                    format!("the workflow `{name}` cannot be used"),
                    "",
                    format!("see all errors with `regatta workflow check {name}`"),
                );
                problem.why =
                    faults.iter().filter(|fault| fault.is_error()).map(ToString::to_string).collect();
                problem.with("faults", serde_json::to_value(faults).unwrap_or_default())
            }
        }
    }
}

/// The definitions that were compiled, by digest.
#[derive(Default)]
pub(crate) struct Definitions {
    compiled: Mutex<HashMap<String, Arc<Workflow>>>,
}

impl Definitions {
    /// Returns the definition with this digest, compiled once.
    pub(crate) async fn get(&self, project: &Project, digest: &str) -> Result<Arc<Workflow>, Error> {
        if let Some(found) = self.find(digest) {
            return Ok(found);
        }
        let loaded = project.store().load(&log::workflow_stream(digest), SNAPSHOT_FORMAT).await?;
        let lost = || Error::LogUnsound { seq: 0, why: format!("the workflow {digest} is not in it") };
        let kept = loaded.tail.first().ok_or_else(lost)?;
        let Event::WorkflowKept { name, files, .. } = log::fact_of::<Event>(kept)?.event else {
            return Err(lost());
        };
        self.compile(&name, &Folder::new(files)).map_err(Error::from)
    }

    /// Compiles a folder and caches it.
    pub(crate) fn compile(&self, name: &str, folder: &Folder) -> Result<Arc<Workflow>, DefinitionError> {
        let digest = folder.digest();
        if let Some(found) = self.find(&digest) {
            return Ok(found);
        }
        let faulty = |faults| DefinitionError::Faulty { name: name.to_owned(), faults };
        let workflow = Arc::new(Workflow::load(folder).map_err(faulty)?);
        self.lock().insert(digest, Arc::clone(&workflow));
        Ok(workflow)
    }

    fn find(&self, digest: &str) -> Option<Arc<Workflow>> {
        self.lock().get(digest).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Workflow>>> {
        self.compiled.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Lists the workflows that can be run; one of the project takes precedence over one of the binary with the
/// same name.
pub fn list_workflows(project: Option<&Project>) -> Result<Vec<Listed>, Error> {
    let mut listed = BTreeMap::new();
    for name in shipped::names() {
        let folder = shipped::find(name).expect("a listed workflow is there");
        listed.insert(name.to_owned(), Listed { name: name.to_owned(), origin: Origin::Binary, folder });
    }
    if let Some(project) = project {
        for (name, path) in own_workflows(project) {
            let folder = read_folder(&path);
            listed.insert(name.clone(), Listed { name, origin: Origin::Project(path), folder });
        }
    }
    Ok(listed.into_values().collect())
}

/// Finds a workflow by name, or by the path of its folder.
pub fn find_workflow(project: Option<&Project>, name: &str) -> Result<Listed, Error> {
    let path = Path::new(name);
    if name.contains('/') && path.is_dir() {
        let origin = Origin::Project(path.to_owned());
        let called =
            path.file_name().map_or_else(|| name.to_owned(), |name| name.to_string_lossy().into_owned());
        return Ok(Listed { name: called, origin, folder: read_folder(path) });
    }
    let all = list_workflows(project)?;
    let known = || all.iter().map(|listed| listed.name.clone()).collect();
    let missing = || DefinitionError::NotFound { name: name.to_owned(), known: known() };
    Ok(all.iter().find(|listed| listed.name == name).cloned().ok_or_else(missing)?)
}

fn own_workflows(project: &Project) -> Vec<(String, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(project.place(HOME)) else { return Vec::new() };
    let folders = entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir());
    let named = folders.filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), path)));
    named.filter(|(name, _)| !name.starts_with('.')).collect()
}
