//! Carries out what was found: copies first, then PRDs, epics, tasks in their order, what was written in their files, and runs.
//!
//! An import can be repeated, also one that a crash broke off. A task knows the item it was made of, so nothing is made
//! twice; what differs from what was imported before is reported and left alone. Each command has an ID made of its item,
//! so that two imports at the same time make everything once.

use crate::commands::documents;
use crate::commands::notes;
use crate::commands::orders::{self, Caller, invalid};
use crate::core::document::{AddEpic, AddPrd};
use crate::core::{Create, EpicId, FieldFault, PrdSlug, Priority, TaskId, TaskSource};
use crate::digest::sha256;
use crate::error::Error;
use crate::project::Project;
use crate::takeover::found::{EpicFound, Found, PrdFound, TaskFound};
use crate::takeover::keep::Copies;
use crate::takeover::rebuild::{self, Made};
use crate::takeover::specflux::NUMBER_MAX;
use crate::task_files::{self, adopted, edits};
use regatta_files::disk;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// More tasks are not taken over at once: each is several appends and a file.
const TASKS_MAX: usize = 5_000;

/// What an import did.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Applied {
    /// The folder or file.
    pub folder: String,
    /// Where the copies are, from the project's root.
    pub copies: String,
    /// What was made.
    pub made: Vec<AppliedItem>,
    /// What an earlier import had made.
    pub known: Vec<AppliedItem>,
    /// What was imported before and says something else now; it was left alone.
    pub changed: Vec<AppliedItem>,
    /// What could not be carried out, a line each.
    pub problems: Vec<String>,
}

/// Something that was made of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct AppliedItem {
    /// `task`, `epic`, `prd` or `run`.
    pub what: &'static str,
    /// What it is called in the files.
    pub item: String,
    /// What it is called here.
    pub id: String,
    pub title: String,
    /// Whether it was done there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub done: bool,
}

/// Takes over everything that was found.
pub async fn apply(
    project: &Project,
    caller: &Caller,
    found: &Found,
    input: &Map<String, Value>,
) -> Result<Applied, Error> {
    if found.tasks.len() > TASKS_MAX {
        let problem =
            format!("has {} tasks, and at most {TASKS_MAX} are imported at once", found.tasks.len());
        return Err(invalid(vec![FieldFault { field: "path", problem }]));
    }
    let copies = Copies::of(found);
    copies.make(project, found)?;
    let applied =
        Applied { folder: found.folder.clone(), copies: copies.folder.clone(), ..Applied::default() };
    let mut applying = Applying {
        project,
        caller,
        found,
        copies,
        known: load_known(project).await?,
        prds: BTreeMap::new(),
        epics: BTreeMap::new(),
        tasks: BTreeMap::new(),
        applied,
    };
    for prd in &found.prds {
        applying.add_prd(prd).await?;
    }
    for epic in &found.epics {
        applying.add_epic(epic).await?;
    }
    for task in &found.tasks {
        applying.add_task(task).await?;
    }
    for run in &found.runs {
        let given = if found.runs.len() == 1 { input.clone() } else { Map::new() };
        let made = rebuild::make(project, caller, run, (&found.sources.root, &found.folder), given).await?;
        let (list, id) = match made {
            Made::New(id) => (&mut applying.applied.made, id),
            Made::Known(id) => (&mut applying.applied.known, id),
            Made::Lacks(missing) => {
                let wanted: Vec<String> = missing.iter().map(|name| format!("--set {name}=…")).collect();
                let what = format!(
                    "{} is incomplete, because its files do not contain everything: add {}",
                    run.item,
                    wanted.join(" ")
                );
                applying.applied.problems.push(what);
                continue;
            }
        };
        let (item, title) = (run.item.clone(), run.title.clone());
        list.push(AppliedItem { what: "run", item, id: id.to_string(), title, done: false });
    }
    Ok(applying.applied)
}

/// The tasks that were imported earlier.
#[derive(Default)]
struct Known {
    /// By kind, item and digest.
    same: BTreeMap<(String, String, String), TaskId>,
    /// By kind, item and folder.
    items: BTreeMap<(String, String, String), TaskId>,
    numbers: BTreeSet<u32>,
}

async fn load_known(project: &Project) -> Result<Known, Error> {
    let mut known = Known::default();
    for task in crate::log::list::load_tasks(project).await? {
        known.numbers.insert(task.id.number());
        let Some(TaskSource { kind, folder, item, digest, .. }) = task.source.as_deref().cloned() else {
            continue;
        };
        known.same.insert((kind.clone(), item.clone(), digest), task.id);
        known.items.insert((kind, item, folder), task.id);
    }
    Ok(known)
}

struct Applying<'a> {
    project: &'a Project,
    caller: &'a Caller,
    found: &'a Found,
    copies: Copies,
    known: Known,
    prds: BTreeMap<String, PrdSlug>,
    epics: BTreeMap<String, EpicId>,
    tasks: BTreeMap<String, TaskId>,
    applied: Applied,
}

impl Applying<'_> {
    /// Returns who gives the command for a part of an item, which has always the same ID.
    fn caller(&self, part: &str, item: &str, digest: &str) -> Caller {
        let text = json!(["import", self.found.kind, part, item, digest]).to_string();
        let digest = sha256(text);
        let id = u128::from_str_radix(&digest[..32], 16).expect("a digest has hexadecimal digits");
        Caller { command_id: Some(Uuid::from_u128(id)), ..self.caller.clone() }
    }

    async fn add_prd(&mut self, prd: &PrdFound) -> Result<(), Error> {
        let catalogue = documents::load_catalogue(self.project).await?.state;
        // One of the same name may say something else.
        let names =
            std::iter::once(prd.slug.clone()).chain((2..100).map(|number| format!("{}-{number}", prd.slug)));
        for name in names {
            let Ok(slug) = name.parse::<PrdSlug>() else { continue };
            if catalogue.prds.contains_key(&slug) {
                if documents::get_prd(self.project, &slug).await?.text != prd.text {
                    continue;
                }
                self.applied.known.push(item("prd", &prd.slug, slug.to_string(), &prd.title));
                self.prds.insert(prd.slug.clone(), slug);
                return Ok(());
            }
            let add = AddPrd::new(slug.as_str(), &prd.title, prd.text.clone()).map_err(invalid)?;
            let slug = documents::add_prd(self.project, &Caller::new(self.caller.actor.clone()), add).await?;
            self.applied.made.push(item("prd", &prd.slug, slug.to_string(), &prd.title));
            self.prds.insert(prd.slug.clone(), slug);
            return Ok(());
        }
        self.applied.problems.push(format!("{}: no PRD could be made of it: its names are taken", prd.slug));
        Ok(())
    }

    async fn add_epic(&mut self, epic: &EpicFound) -> Result<(), Error> {
        let catalogue = documents::load_catalogue(self.project).await?.state;
        let there =
            catalogue.epics.iter().find(|(_, entry)| entry.title == epic.title.trim()).map(|(id, _)| *id);
        let id = match there {
            Some(id) => {
                self.applied.known.push(item("epic", &epic.item, id.to_string(), &epic.title));
                id
            }
            None => {
                let prd = epic.prd.as_ref().and_then(|slug| self.prds.get(slug)).cloned();
                let number = epic.item.parse().ok().filter(|number| (1..=NUMBER_MAX).contains(number));
                let number = number.and_then(|number| EpicId::new(number).ok());
                let add = AddEpic::new(&epic.title, epic.description.clone(), prd)
                    .map_err(invalid)?
                    .numbered(number);
                let caller = Caller::new(self.caller.actor.clone());
                let id = documents::add_epic(self.project, &caller, add).await?;
                self.applied.made.push(item("epic", &epic.item, id.to_string(), &epic.title));
                id
            }
        };
        self.epics.insert(epic.item.clone(), id);
        Ok(())
    }

    async fn add_task(&mut self, task: &TaskFound) -> Result<(), Error> {
        let kind = self.found.kind.to_string();
        let same = self.known.same.get(&(kind.clone(), task.item.clone(), task.digest.clone())).copied();
        let other = self.known.items.get(&(kind, task.item.clone(), self.found.folder.clone())).copied();
        if let Some(own) = self.find_own(task) {
            self.tasks.insert(task.item.clone(), own);
            self.applied.known.push(item("task", &task.item, own.to_string(), &task.title));
            return Ok(());
        }
        let is_new = same.is_none() && other.is_none();
        let id = match same.or(other) {
            Some(id) => id,
            None => self.create(task).await?,
        };
        self.tasks.insert(task.item.clone(), id);
        let done = AppliedItem { done: task.done, ..item("task", &task.item, id.to_string(), &task.title) };
        if same.is_none() && other.is_some() {
            self.applied.changed.push(done);
            return Ok(());
        }
        // A crash may have broken off an earlier import after it had made the task.
        let finished = match task.text {
            Some(_) => self.take_text(task, id).await,
            None => self.take_parts(task, id).await,
        };
        match finished {
            Err(error) if !error.is_of_engine() => {
                self.applied.problems.push(format!("{}: {}", task.item, error.explain().what));
            }
            other => other?,
        }
        let list = if is_new { &mut self.applied.made } else { &mut self.applied.known };
        list.push(done);
        Ok(())
    }

    /// Finds the task whose own file this is: the folder may be where this project has its task files.
    fn find_own(&self, task: &TaskFound) -> Option<TaskId> {
        let number = task.number.filter(|number| self.known.numbers.contains(number))?;
        let id = TaskId::new(number).ok()?;
        let own = task_files::file_path(self.project, id).canonicalize().ok()?;
        (own == self.found.sources.root.join(&task.file)).then_some(id)
    }

    async fn create(&mut self, task: &TaskFound) -> Result<TaskId, Error> {
        let on: BTreeSet<TaskId> =
            task.depends_on.iter().filter_map(|item| self.tasks.get(item)).copied().collect();
        let criteria = task.criteria.iter().map(|criterion| criterion.text.clone()).collect();
        let priority = task.priority.unwrap_or(Priority::Medium);
        let create = Create::new(task.title.clone(), task.description.clone(), criteria, on, priority);
        let epic = task.epic.as_ref().and_then(|item| self.epics.get(item)).copied();
        let prd = task.prd.as_ref().and_then(|slug| self.prds.get(slug)).cloned();
        let source = TaskSource {
            kind: self.found.kind.to_string(),
            folder: self.found.folder.clone(),
            item: task.item.clone(),
            digest: task.digest.clone(),
            status: task.status.clone(),
            done: task.done,
            kept: Some(self.copies.path(&task.file)),
        };
        let create = create.map_err(invalid)?.filed_under(epic, prd).imported(source.clone());
        let caller = self.caller("task", &task.item, &task.digest);
        let number = task.number.filter(|number| !self.known.numbers.contains(number));
        let number = number.and_then(|number| TaskId::new(number).ok());
        let given = match orders::import(self.project, &caller, number, create.clone(), &source).await {
            // The number is that of a task that was deleted.
            Err(Error::Refused(crate::core::Refusal::Invalid { faults }))
                if number.is_some() && faults.iter().any(|fault| fault.field == "taskId") =>
            {
                orders::import(self.project, &caller, None, create, &source).await?
            }
            other => other?,
        };
        self.known.numbers.insert(given.number());
        Ok(given)
    }

    /// Makes the text of a task file the first version of the task's file.
    async fn take_text(&self, task: &TaskFound, id: TaskId) -> Result<(), Error> {
        let Some(text) = &task.text else { return Ok(()) };
        self.take_archive(task, id)?;
        let epic = task.epic.as_ref().and_then(|item| self.epics.get(item)).copied();
        let number_of = |number: u32| self.tasks.get(&number.to_string()).copied();
        let text = adopted::readdress(text, id, epic, number_of);
        let caller = self.caller("file", &task.item, &task.digest);
        if adopted::adopt(self.project, &caller, id, (&text, &task.digest)).await? {
            return Ok(());
        }
        // It lacks the sections of a task file; the copy has all of it.
        self.take_parts(task, id).await
    }

    /// Puts the archived sessions where they belong, unless there are any.
    fn take_archive(&self, task: &TaskFound, id: TaskId) -> Result<(), Error> {
        let Some(bytes) = task.archive.as_ref().and_then(|path| self.found.sources.texts.get(path)) else {
            return Ok(());
        };
        let path = task_files::archive_path(self.project, id);
        if path.symlink_metadata().is_err() {
            task_files::ensure_archives(self.project)?;
            disk::write_new(&task_files::archive_root(self.project), &path, bytes)
                .map_err(Error::StateFile)?;
        }
        Ok(())
    }

    /// Ticks what was ticked there, and hands over what nobody has read.
    async fn take_parts(&self, task: &TaskFound, id: TaskId) -> Result<(), Error> {
        task_files::sync_or_report(self.project, id).await?;
        let ticked = task.criteria.iter().enumerate().filter(|(_, criterion)| criterion.checked);
        let numbers: Vec<(usize, bool)> = ticked.map(|(at, _)| (at + 1, true)).collect();
        if !numbers.is_empty() {
            let caller = self.caller("ticks", &task.item, &task.digest);
            edits::tick(self.project, &caller, id, &numbers).await?;
        }
        for message in &task.messages {
            let caller = self.caller("message", &message.item, &sha256(&message.text));
            notes::send(self.project, &caller, id, message.text.clone()).await?;
        }
        Ok(())
    }
}

fn item(what: &'static str, item: &str, id: String, title: &str) -> AppliedItem {
    AppliedItem { what, item: item.to_owned(), id, title: title.to_owned(), done: false }
}
