//! Reports what Regatta keeps in the git folder and how large it is, and removes what is no longer needed.
//!
//! Only what belongs to finished work is removed: a task that is verified or deleted, a run that has ended.
//! Salvages are never removed: they are the only copy of somebody's work. The log itself is not touched.

use crate::clock;
use crate::commands::orders;
use crate::core::{RunId, Stage, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::runs;
use jiff::Timestamp;
use regatta_git::RefName;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const REVIEWS: &str = "refs/regatta/review/";
const SALVAGES: &str = "refs/regatta/salvage/";

/// How much one kind of data takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Weight {
    /// Which kind.
    pub kind: Kept,
    /// How many files, folders or refs.
    pub count: u64,
    /// How many bytes they take; for refs, only what no branch or tag holds as well.
    pub bytes: u64,
}

/// What is kept in the git folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Kept {
    Log,
    Transcripts,
    Homes,
    Cache,
    Reviews,
    Viewed,
    Salvages,
}

/// What was removed, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pruned {
    /// Only what is older than this is removed.
    pub before: Timestamp,
    /// Whether nothing was removed, only listed.
    pub is_dry_run: bool,
    /// What was removed, by kind.
    pub removed: Vec<Weight>,
    /// How many bytes that frees. Git frees the objects behind removed refs at its next garbage collection.
    pub bytes: u64,
}

/// A file or folder of one piece of work.
struct Entry {
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
}

/// Measures everything.
pub async fn weigh(project: &Project) -> Result<Vec<Weight>, Error> {
    let location = project.location();
    let folder = |kind, path: PathBuf| {
        let entries = list(&path);
        Weight { kind, count: entries.len() as u64, bytes: entries.iter().map(|entry| entry.bytes).sum() }
    };
    let log = list(&location.home).into_iter().filter(|entry| is_log(&entry.path));
    let log: Vec<u64> = log.map(|entry| entry.bytes).collect();
    let mut weights = vec![
        Weight { kind: Kept::Log, count: log.len() as u64, bytes: log.iter().sum() },
        folder(Kept::Transcripts, location.sessions()),
        folder(Kept::Homes, project.location().homes()),
        folder(Kept::Cache, project.location().cache()),
    ];
    for (kind, prefix) in [(Kept::Reviews, REVIEWS), (Kept::Salvages, SALVAGES)] {
        let (count, bytes) = project.repository().weigh_refs(prefix).await?;
        weights.push(Weight { kind, count, bytes });
    }
    Ok(weights)
}

/// Removes transcripts, homes and review refs of finished work that are older than `age`, and caches that
/// were not used since.
pub async fn prune(project: &Project, age: Duration, is_dry_run: bool) -> Result<Pruned, Error> {
    let span = jiff::SignedDuration::try_from(age).unwrap_or(jiff::SignedDuration::MAX);
    let before = clock::now().checked_sub(span).unwrap_or(Timestamp::UNIX_EPOCH);
    let limit = SystemTime::from(before);
    let mut finished = Finished::default();
    let mut removed = Vec::new();
    for (kind, folder) in
        [(Kept::Transcripts, project.location().sessions()), (Kept::Homes, project.location().homes())]
    {
        let mut weight = Weight { kind, count: 0, bytes: 0 };
        for entry in list(&folder).into_iter().filter(|entry| entry.modified < limit) {
            let name = entry.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if finished.is(project, name).await? {
                weight.remove(&entry, is_dry_run)?;
            }
        }
        removed.push(weight);
    }
    let mut weight = Weight { kind: Kept::Cache, count: 0, bytes: 0 };
    for entry in list(&project.location().cache()).into_iter().filter(|entry| entry.modified < limit) {
        weight.remove(&entry, is_dry_run)?;
    }
    removed.push(weight);
    removed.push(prune_reviews(project, &mut finished, before, is_dry_run).await?);
    let mut weight = Weight { kind: Kept::Viewed, count: 0, bytes: 0 };
    for entry in list_viewed(project).into_iter().filter(|entry| entry.modified < limit) {
        let name = entry.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if finished.is(project, name).await? {
            weight.remove(&entry, is_dry_run)?;
        }
    }
    removed.push(weight);
    let bytes = removed.iter().map(|weight| weight.bytes).sum();
    Ok(Pruned { before, is_dry_run, removed, bytes })
}

/// Lists what people have viewed of diffs, which the server keeps: a folder for each person, a file for each task.
fn list_viewed(project: &Project) -> Vec<Entry> {
    let people = list(&project.location().home.join("server/viewed"));
    people.iter().flat_map(|person| list(&person.path)).collect()
}

/// Reads `90s`, `10m`, `12h` or `30d`.
pub fn parse_age(text: &str) -> Result<Duration, String> {
    crate::project::config::parse_span(text)
        .ok_or_else(|| format!("`{text}` is not a time such as `12h` or `30d`"))
}

async fn prune_reviews(
    project: &Project,
    finished: &mut Finished,
    before: Timestamp,
    is_dry_run: bool,
) -> Result<Weight, Error> {
    let repository = project.repository();
    let (_, bytes_before) = repository.weigh_refs(REVIEWS).await?;
    let mut weight = Weight { kind: Kept::Reviews, count: 0, bytes: 0 };
    for name in repository.list_kept_refs().await?.into_keys().filter(|name| name.starts_with(REVIEWS)) {
        let task = name[REVIEWS.len()..].split('/').next().unwrap_or_default();
        let owner = format!("task-{task}");
        if !finished.is(project, &owner).await? || finished.ended_at(&owner) >= Some(before) {
            continue;
        }
        weight.count += 1;
        if !is_dry_run {
            repository.unpin(&RefName::parse(&name).map_err(regatta_git::Error::from)?).await?;
        }
    }
    let (_, bytes_after) = repository.weigh_refs(REVIEWS).await?;
    // What the refs alone kept alive is only known once they are gone.
    weight.bytes = bytes_before.saturating_sub(bytes_after);
    Ok(weight)
}

impl Weight {
    fn remove(&mut self, entry: &Entry, is_dry_run: bool) -> Result<(), Error> {
        if !is_dry_run {
            let removed = if entry.path.is_dir() {
                std::fs::remove_dir_all(&entry.path)
            } else {
                std::fs::remove_file(&entry.path)
            };
            match removed {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
                other => other.map_err(Error::io("remove", &entry.path))?,
            }
        }
        self.count += 1;
        self.bytes += entry.bytes;
        Ok(())
    }
}

/// Which work is finished, looked up once each.
#[derive(Default)]
struct Finished {
    known: BTreeMap<String, Option<Timestamp>>,
}

impl Finished {
    /// Tells whether something named like `task-3-session-1.jsonl` or `run-2-step-7.jsonl` belongs to finished work.
    async fn is(&mut self, project: &Project, name: &str) -> Result<bool, Error> {
        let Some(owner) = owner_of(name) else { return Ok(false) };
        let key = owner.name();
        if !self.known.contains_key(&key) {
            let ended = match owner {
                Owner::Task(task) => find_end_of_task(project, task).await?,
                Owner::Run(run) => find_end_of_run(project, run).await?,
            };
            self.known.insert(key.clone(), ended);
        }
        Ok(self.known[&key].is_some())
    }

    fn ended_at(&self, name: &str) -> Option<Timestamp> {
        self.known.get(name).copied().flatten()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Task(TaskId),
    Run(RunId),
}

impl Owner {
    fn name(self) -> String {
        match self {
            Owner::Task(task) => format!("task-{task}"),
            Owner::Run(run) => format!("run-{run}"),
        }
    }
}

fn owner_of(name: &str) -> Option<Owner> {
    let mut words = name.split(['-', '.']);
    match (words.next()?, words.next()?) {
        ("task", number) => number.parse().ok().map(Owner::Task),
        ("run", number) => number.parse().ok().map(Owner::Run),
        _ => None,
    }
}

async fn find_end_of_task(project: &Project, task: TaskId) -> Result<Option<Timestamp>, Error> {
    match orders::get_task(project, task).await {
        Ok(task) if matches!(task.stage, Stage::Verified(_)) => Ok(Some(task.updated_at)),
        Ok(_) => Ok(None),
        // Deleted, so nobody needs it again.
        Err(Error::Refused(_)) => Ok(Some(Timestamp::UNIX_EPOCH)),
        Err(other) => Err(other),
    }
}

async fn find_end_of_run(project: &Project, run: RunId) -> Result<Option<Timestamp>, Error> {
    use crate::core::run::Turn;
    match runs::get_run(project, run).await {
        Ok(run) => Ok((run.turn() == Turn::Nobody).then_some(run.updated_at)),
        Err(Error::Refused(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

fn is_log(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("log.db"))
}

/// Lists the entries of a folder, each with everything below it; links are not followed.
fn list(folder: &Path) -> Vec<Entry> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| {
            let path = entry.path();
            let (bytes, modified) = measure(&path);
            Entry { path, bytes, modified }
        })
        .collect()
}

/// Returns the bytes of a file or folder, and when something in it was last changed.
fn measure(path: &Path) -> (u64, SystemTime) {
    let mut total = (0, SystemTime::UNIX_EPOCH);
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let Ok(found) = path.symlink_metadata() else { continue };
        let modified = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        total.1 = total.1.max(modified);
        if found.is_dir() {
            open.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else {
            total.0 += found.len();
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_whose_a_file_is() {
        let show = |name: &str| owner_of(name).map(Owner::name);
        assert_eq!(show("task-12-session-3.jsonl").as_deref(), Some("task-12"));
        assert_eq!(show("task-12").as_deref(), Some("task-12"));
        assert_eq!(show("run-2-step-7.jsonl").as_deref(), Some("run-2"));
        assert_eq!(show("run-2-claude-planner").as_deref(), Some("run-2"));
        for strange in ["task-x", "task", "tasks-1", "", "notes.txt", "task-0"] {
            assert_eq!(show(strange), None, "{strange}");
        }
    }

    #[test]
    fn a_folder_weighs_what_is_below_it_and_no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
        std::fs::write(folder.path().join("a/b/c"), "12345").unwrap();
        std::fs::write(folder.path().join("a/d"), "123").unwrap();
        std::os::unix::fs::symlink("/usr", folder.path().join("a/usr")).unwrap();
        let (bytes, _) = measure(&folder.path().join("a"));
        assert_eq!(bytes, 8 + 4);
        assert_eq!(list(folder.path()).len(), 1);
        assert!(list(&folder.path().join("missing")).is_empty());
    }
}
