//! Writes an export, even while an engine runs: the log first, then files that can only be newer.

use crate::clock;
use crate::core::{Stage, Task, TaskId};
use crate::digest::sha256;
use crate::error::Error;
use crate::log;
use crate::log::SNAPSHOT_FORMAT;
use crate::project::Project;
use crate::project::old_place;
use crate::transfer::container::{FILE_BYTES_MAX, Writer};
use crate::transfer::manifest::{self, Manifest, Room, is_plain};
use regatta_git::{BranchName, RefName};
use regatta_store::DatabaseFile;
use rustix::fs::FlockOperation;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The refs outside any branch, whose commits exist nowhere else.
pub(crate) const KEPT: [&str; 2] = ["refs/regatta/review/", "refs/regatta/salvage/"];
pub(crate) const STAGING: &str = "exporting-";

/// What was exported.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Exported {
    /// How many events the log has.
    pub events: u64,
    /// How many files are in it, including the log.
    pub files: usize,
    /// How many refs are in it.
    pub refs: usize,
    /// How many bytes it has.
    pub bytes: u64,
    /// The tasks whose worktrees have uncommitted files, which are not in it.
    pub uncommitted: Vec<TaskId>,
}

/// Writes everything that an import needs.
pub async fn export_state(project: &Project, target: impl Write) -> Result<Exported, Error> {
    let location = project.location();
    let _turn = old_place::lock(&location.home, "exporting", FlockOperation::NonBlockingLockExclusive)?;
    crate::transfer::import::sweep(&location.home, STAGING);
    let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(&location.home);
    let staging = staging.map_err(Error::io("create a folder in", &location.home))?;
    let log = staging.path().join(manifest::LOG);
    DatabaseFile::look(&location.log())?.copy_into(&log)?;
    let head = DatabaseFile::look(&log)?.head()?.0;
    let tasks = load_tasks(project).await?;
    let (refs, branches) = (find_refs(project).await?, find_branches(project, &tasks).await?);
    let bundle = staging.path().join(manifest::BUNDLE);
    let names =
        parse_names(refs.keys().cloned().chain(branches.keys().map(|name| format!("refs/heads/{name}"))))?;
    let has_bundle = project.repository().write_bundle(&names, &bundle).await?;
    let mut writing =
        Writing { writer: Writer::new(BufWriter::new(Counting::new(target))), files: Vec::new() };
    writing.add(manifest::LOG, &log)?;
    let config = project.config();
    for (room, folder) in [
        (Room::Sessions, location.sessions()),
        (Room::TaskStates, project.place(&config.task_states)),
        (Room::Archives, project.place(&config.archives)),
    ] {
        writing.add_folder(room, &folder)?;
    }
    if has_bundle {
        writing.add(manifest::BUNDLE, &bundle)?;
    }
    let (files, count) = (writing.files.len(), refs.len() + branches.len());
    let bytes = writing.finish(Manifest {
        format: manifest::FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        created: clock::now(),
        head,
        files: Vec::new(),
        refs,
        branches,
    })?;
    let uncommitted = find_uncommitted(project, &tasks).await;
    Ok(Exported { events: head, files, refs: count, bytes, uncommitted })
}

/// An export that is being written.
struct Writing<W: Write> {
    writer: Writer<BufWriter<Counting<W>>>,
    files: Vec<manifest::File>,
}

impl<W: Write> Writing<W> {
    fn add_folder(&mut self, room: Room, folder: &Path) -> Result<(), Error> {
        let mut names: Vec<String> = Vec::new();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            // No link is followed: a task file in a private folder is read where it is.
            let is_ours = entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_symlink());
            names.extend(entry.file_name().into_string().ok().filter(|name| is_ours && is_plain(name)));
        }
        names.sort();
        for name in names {
            let path = folder.join(&name);
            if let Some(path) = find_plain(folder, &path) {
                self.add(&format!("{}/{name}", room.folder()), &path)?;
            }
        }
        Ok(())
    }

    /// Adds a file at its current length; what is appended meanwhile is not in it. A file that has just been
    /// removed is left out.
    fn add(&mut self, name: &str, path: &Path) -> Result<(), Error> {
        let mut file = match File::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(Error::io("open", path))?,
        };
        let bytes = file.metadata().map_err(Error::io("read", path))?.len();
        if bytes > FILE_BYTES_MAX {
            let error =
                std::io::Error::other("it is larger than the 8 GiB that an export can hold of one file");
            return Err(Error::io("export", path)(error));
        }
        let sha256 = self.writer.add(name, bytes, &mut file).map_err(Error::io("export", path))?;
        self.files.push(manifest::File { name: name.to_owned(), bytes, sha256 });
        Ok(())
    }

    fn finish(mut self, manifest: Manifest) -> Result<u64, Error> {
        let manifest = Manifest { files: std::mem::take(&mut self.files), ..manifest };
        let text = serde_json::to_vec_pretty(&manifest).expect("a manifest is plain data");
        let digest = format!("{}\n", sha256(&text));
        let written = self.write_end(&text, digest.as_bytes());
        written.map_err(Error::io("write", manifest::MANIFEST))
    }

    fn write_end(mut self, text: &[u8], digest: &[u8]) -> std::io::Result<u64> {
        for (name, bytes) in [(manifest::MANIFEST, text), (manifest::MANIFEST_DIGEST, digest)] {
            self.writer.add(name, bytes.len() as u64, &mut &*bytes)?;
        }
        let counting = self.writer.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        Ok(counting.bytes)
    }
}

/// Returns the plain file at a path, or in the private folder that a link in the folder of the task files leads to.
fn find_plain(folder: &Path, path: &Path) -> Option<PathBuf> {
    let is_file = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_file());
    if is_file(path) {
        return Some(path.to_owned());
    }
    let target = folder.join(std::fs::read_link(path).ok()?);
    let is_below = target.canonicalize().ok()?.starts_with(folder.canonicalize().ok()?);
    (is_below && is_file(&target)).then_some(target)
}

struct Counting<W> {
    target: W,
    bytes: u64,
}

impl<W> Counting<W> {
    fn new(target: W) -> Self {
        Counting { target, bytes: 0 }
    }
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.target.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.target.flush()
    }
}

/// Loads all tasks.
pub(crate) async fn load_tasks(project: &Project) -> Result<Vec<Task>, Error> {
    let mut tasks = Vec::new();
    for loaded in project.store().load_prefix("task/", SNAPSHOT_FORMAT).await? {
        tasks.extend(log::Stream::<Option<Task>>::from_loaded(loaded)?.state);
    }
    Ok(tasks)
}

/// Tells whether a task has a worktree that somebody still needs.
pub(crate) fn is_in_work(task: &Task) -> bool {
    matches!(task.stage, Stage::InProgress(_) | Stage::WaitingApproval(_))
}

async fn find_refs(project: &Project) -> Result<BTreeMap<String, String>, Error> {
    let all = project.repository().list_kept_refs().await?;
    let is_kept = |name: &String| KEPT.iter().any(|folder| name.starts_with(folder));
    Ok(all.into_iter().filter(|(name, _)| is_kept(name)).map(|(name, at)| (name, at.to_string())).collect())
}

async fn find_branches(project: &Project, tasks: &[Task]) -> Result<BTreeMap<String, String>, Error> {
    let mut branches = BTreeMap::new();
    for worktree in tasks.iter().filter(|task| is_in_work(task)).filter_map(Task::worktree) {
        let branch = BranchName::parse(&worktree.branch).map_err(regatta_git::Error::from)?;
        if let Some(head) = project.repository().find_branch(&branch).await? {
            branches.insert(worktree.branch.clone(), head.to_string());
        }
    }
    Ok(branches)
}

async fn find_uncommitted(project: &Project, tasks: &[Task]) -> Vec<TaskId> {
    let mut found = Vec::new();
    for task in tasks.iter().filter(|task| is_in_work(task)) {
        let Some(worktree) = task.worktree() else { continue };
        let place = project.place(&worktree.path);
        let status = project.repository().status(&place, &project.config().copy).await;
        if status.is_ok_and(|entries| !entries.is_empty()) {
            found.push(task.id);
        }
    }
    found
}

fn parse_names(names: impl Iterator<Item = String>) -> Result<Vec<RefName>, Error> {
    let parse = |name: String| RefName::parse(&name).map_err(|error| Error::Git(error.into()));
    names.map(parse).collect()
}
