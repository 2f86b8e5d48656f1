//! Makes runs of their files, when the log is gone or another program wrote them.
//!
//! Each is one recorded event, which names the files and says what could not be recovered. A run that was under way starts
//! paused. The same files make one run, however often they are imported.

use crate::commands::orders::{Caller, invalid};
use crate::commands::run_orders;
use crate::core::{FieldFault, RunId};
use crate::error::Error;
use crate::project::Project;
use crate::run_files::place;
use crate::takeover::found::{Found, Oddity, RunFound};
use crate::takeover::keep::Copies;
use crate::takeover::kind::Kind;
use crate::takeover::run_parts::{Definition, definition, find_missing, find_runs};
use crate::takeover::{cycle, gather, show_folder};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What to make runs of.
#[derive(Debug, Clone)]
pub struct Rebuilding {
    /// The workflow whose files they are.
    pub workflow: String,
    /// The folder.
    pub folder: PathBuf,
    /// The one that is meant, by what its files are called; all of them if none is named.
    pub item: Option<String>,
    /// What the files do not contain.
    pub input: Map<String, Value>,
}

/// A run that was made of files.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rebuilt {
    /// The run.
    pub run_id: RunId,
    /// What it is called in the files.
    pub item: String,
    /// Its title.
    pub title: String,
    /// The workflow.
    pub workflow: String,
    /// The files.
    pub files: Vec<String>,
    /// Whether an earlier import had made it.
    pub known: bool,
    /// What could not be recovered.
    pub left_out: Vec<Oddity>,
}

/// What became of the files of one run.
pub(super) enum Made {
    New(RunId),
    Known(RunId),
    Lacks(Vec<String>),
}

/// Makes a run of every set of files in a folder.
pub async fn rebuild(project: &Project, caller: &Caller, order: &Rebuilding) -> Result<Vec<Rebuilt>, Error> {
    let definition = definition(project, &order.workflow)?;
    let root = order.folder.canonicalize().map_err(Error::io("read", &order.folder))?;
    let files = gather::gather(&root, Kind::Cycle)?;
    let mut found = Found::new(Kind::Cycle);
    found.folder = show_folder(project, &root);
    for parts in find_runs(&definition.workflow, &files) {
        if order.item.as_ref().is_none_or(|item| *item == parts.name()) {
            cycle::add(&mut found, &definition.workflow, &order.workflow, parts);
        }
    }
    if found.runs.is_empty() {
        let wanted = order.item.as_deref().map_or_else(String::new, |item| format!(" called {item}"));
        let problem = format!("holds no files of a run of `{}`{wanted}: {}", order.workflow, root.display());
        return Err(invalid(vec![FieldFault { field: "folder", problem }]));
    }
    check_input(&definition, &found, &order.input)?;
    let runs = std::mem::take(&mut found.runs);
    found.settle(files);
    Copies::of(&found).make(project, &found)?;
    let mut rebuilt = Vec::new();
    for run in runs {
        let made = make(project, caller, &run, (&root, &found.folder), order.input.clone()).await?;
        let (run_id, known) = match made {
            Made::New(id) => (id, false),
            Made::Known(id) => (id, true),
            Made::Lacks(missing) => return Err(lacks(&run, &missing)),
        };
        let paths: BTreeSet<String> = run.parts.paths().cloned().collect();
        let left_out = found.oddities.iter().filter(|oddity| paths.contains(&oddity.file)).cloned().collect();
        rebuilt.push(Rebuilt {
            run_id,
            item: run.item,
            title: order.input.get("title").and_then(Value::as_str).unwrap_or(&run.title).to_owned(),
            workflow: run.workflow,
            files: paths.into_iter().collect(),
            known,
            left_out,
        });
    }
    Ok(rebuilt)
}

/// Refuses before anything is made: what is missing, of every run.
fn check_input(definition: &Definition, found: &Found, given: &Map<String, Value>) -> Result<(), Error> {
    for run in &found.runs {
        let imported = run.parts.import(&definition.workflow, given.clone());
        let missing = find_missing(&definition.workflow, &imported.input);
        if !missing.is_empty() {
            return Err(lacks(run, &missing));
        }
    }
    Ok(())
}

fn lacks(run: &RunFound, missing: &[String]) -> Error {
    let wanted = missing.iter().map(|name| format!("--set {name}=…")).collect::<Vec<_>>().join(" ");
    let problem =
        format!("of {} is incomplete, because its files do not contain everything: add {wanted}", run.item);
    invalid(vec![FieldFault { field: "input", problem }])
}

/// Makes the run, unless it was made of the same files before.
pub(super) async fn make(
    project: &Project,
    caller: &Caller,
    run: &RunFound,
    (root, folder): (&Path, &str),
    given: Map<String, Value>,
) -> Result<Made, Error> {
    if let Some(known) = find_known(project, run, root).await? {
        return Ok(Made::Known(known));
    }
    let definition = definition(project, &run.workflow)?;
    let imported = run.parts.import(&definition.workflow, given);
    let missing = find_missing(&definition.workflow, &imported.input);
    if !missing.is_empty() {
        return Ok(Made::Lacks(missing));
    }
    let note = run.parts.note(folder);
    run_orders::import(project, caller, definition.listed, imported, note).await.map(Made::New)
}

/// Finds the run that was made of the same files, or whose own files they are.
async fn find_known(project: &Project, run: &RunFound, root: &Path) -> Result<Option<RunId>, Error> {
    let paths: BTreeSet<PathBuf> = run.parts.paths().map(|path| root.join(path)).collect();
    let is_own = |file: &String| {
        place::locate(project, file).path.canonicalize().is_ok_and(|path| paths.contains(&path))
    };
    let Some(last) = run_orders::load_index(project).await?.state.last() else { return Ok(None) };
    for id in (1..=last.number()).filter_map(|number| RunId::new(number).ok()) {
        let there = run_orders::get_run(project, id).await?;
        let is_same = there.imported.as_ref().is_some_and(|note| note.files == run.parts.sources);
        if is_same || there.files.values().any(is_own) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}
