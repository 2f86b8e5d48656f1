//! Imports an export: everything is checked before anything changes, and the log comes last.
//!
//! ```text
//!   unpack and check ─▶ objects ─▶ refs and branches ─▶ files ─▶ log.db ─▶ worktrees of tasks in work
//! ```
//!
//! Until the log is in place nothing refers to the rest, so an import that was killed can simply be run
//! again.

use crate::core::{Code, Problem, Task, TaskId};
use crate::crash;
use crate::error::Error;
use crate::log;
use crate::log::NO_SNAPSHOT;
use crate::project::Project;
use crate::project::config::Config;
use crate::project::location::Location;
use crate::project::old_place;
use crate::transfer::container::{Fault, Reader};
use crate::transfer::export::{KEPT, is_in_work, load_tasks};
use crate::transfer::manifest::{self, Manifest, Room};
use regatta_git::{BranchName, CommitId, RefName, Repository};
use regatta_store::{DatabaseFile, OpenMode, Seq, SqliteStore, Store};
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

const STAGING: &str = "importing-";
/// Far more than a project has; it bounds what an endless stream can write.
const FILES_MAX: usize = 1_000_000;
const BYTES_MAX: u64 = 1 << 36;

/// What was imported.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// How many events the log has.
    pub events: u64,
    /// How many tasks there are.
    pub tasks: usize,
    /// How many transcripts, task files and archives were in it.
    pub files: usize,
    /// How many refs were in it.
    pub refs: usize,
    /// The tasks in work, and what of them exists here.
    pub in_work: Vec<MissingWork>,
}

/// What exists of a task that was in work where it was exported.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MissingWork {
    /// The task.
    pub task_id: TaskId,
    /// Its branch.
    pub branch: String,
    /// Whether its worktree was recreated, at the last commit of its branch.
    pub has_worktree: bool,
}

/// Imports an export into the project that holds `dir`; `name` is the name of the file, for messages.
pub async fn import_state(dir: &Path, name: &str, source: impl Read) -> Result<Imported, Error> {
    let location = Location::find(dir)?;
    let config = Config::load(&location.config())?;
    let repository = Repository::open(&location.root).await?;
    old_place::take_over(&location)?;
    let _turn = old_place::take_turn(&location)?;
    sweep(&location.home, STAGING);
    let staging = tempfile::Builder::new().prefix(STAGING).tempdir_in(&location.home);
    let staging = staging.map_err(Error::io("create a folder in", &location.home))?;
    let invalid = |why: String| not_whole(name, &why);
    let manifest = unpack(source, staging.path()).map_err(|fault| invalid(fault.to_string()))?;
    let import =
        Import { location: &location, config: &config, repository: &repository, staging: staging.path() };
    let is_there = import.check(&manifest, &invalid).await?;
    let refs = import.take_objects(&manifest, &invalid).await?;
    crash::point("import.objects");
    repository.restore_refs(&refs).await?;
    crash::point("import.refs");
    import.place_files(&manifest)?;
    crash::point("import.files");
    if !is_there {
        import.place_log()?;
    }
    crash::point("import.log");
    drop(_turn);
    let project = Project::open_own(&location.root).await?;
    let tasks = load_tasks(&project).await?;
    let in_work = make_worktrees(&project, &tasks).await;
    Ok(Imported {
        events: manifest.head,
        tasks: tasks.len(),
        files: manifest.files.iter().filter(|file| file.name.contains('/')).count(),
        refs: manifest.refs.len() + manifest.branches.len(),
        in_work,
    })
}

/// Removes folders that a killed export or import left.
pub(crate) fn sweep(home: &Path, prefix: &str) {
    for entry in std::fs::read_dir(home).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Unpacks the container below a folder, and checks the files against the manifest.
fn unpack(source: impl Read, folder: &Path) -> Result<Manifest, Fault> {
    for room in [Room::Sessions, Room::TaskStates, Room::Archives] {
        std::fs::create_dir(folder.join(room.folder()))?;
    }
    let mut reader = Reader::new(std::io::BufReader::new(source));
    let (mut found, mut total) = (Vec::new(), 0_u64);
    let (mut text, mut digest) = (None, None);
    while let Some((name, bytes)) = reader.next()? {
        total = total.saturating_add(bytes);
        if total > BYTES_MAX || found.len() >= FILES_MAX {
            return Err(Fault::Wrong("it is larger than any export".to_owned()));
        }
        let Some((room, _)) = Room::of(&name) else {
            return Err(Fault::Wrong(format!("`{}` is not a file of an export", name.escape_debug())));
        };
        if room == Room::Top && [manifest::MANIFEST, manifest::MANIFEST_DIGEST].contains(&name.as_str()) {
            if bytes > manifest::MANIFEST_BYTES_MAX {
                return Err(Fault::Wrong(format!("its {name} is too large")));
            }
            let mut content = Vec::new();
            reader.copy(bytes, &mut content)?;
            if name == manifest::MANIFEST {
                text = Some(content)
            } else {
                digest = Some(content)
            }
            continue;
        }
        // Never over another file: the file system refuses a name that comes twice.
        let mut file = File::create_new(folder.join(&name))?;
        let sha256 = reader.copy(bytes, &mut file)?;
        file.sync_all()?;
        found.push(manifest::File { name, bytes, sha256 });
    }
    let (Some(text), Some(digest)) = (text, digest) else {
        return Err(Fault::Wrong(format!("it has no {}", manifest::MANIFEST)));
    };
    let manifest = Manifest::read(&text, &String::from_utf8_lossy(&digest), &found)?;
    if !found.iter().any(|file| file.name == manifest::LOG) {
        return Err(Fault::Wrong(format!("{} is missing in it", manifest::LOG)));
    }
    Ok(manifest)
}

/// An unpacked export, and its destination.
struct Import<'a> {
    location: &'a Location,
    config: &'a Config,
    repository: &'a Repository,
    staging: &'a Path,
}

impl Import<'_> {
    /// Checks everything that can be checked without changing anything; tells whether the same log is here
    /// already.
    async fn check(&self, manifest: &Manifest, invalid: &impl Fn(String) -> Error) -> Result<bool, Error> {
        let staged = self.staging.join(manifest::LOG);
        self.check_log(&staged, manifest, invalid).await?;
        let is_there = self.compare_logs(&staged)?;
        for file in &manifest.files {
            if let Some(target) = self.target_of(&file.name)
                && target.symlink_metadata().is_ok()
                && std::fs::read(&target).ok() != std::fs::read(self.staging.join(&file.name)).ok()
                // If it is the same log, a file may have changed since.
                && !is_there
            {
                return Err(exists(&target.display().to_string()));
            }
        }
        for (name, commit) in &manifest.refs {
            let name = RefName::parse(name)
                .ok()
                .filter(|name| KEPT.iter().any(|kept| name.as_str().starts_with(kept)));
            let name = name.ok_or_else(|| invalid("it names a ref that is none of an export".to_owned()))?;
            let commit = CommitId::parse(commit).map_err(|error| invalid(error.to_string()))?;
            let found = self.repository.find_commit(&name).await?;
            if found.is_some_and(|found| found != commit) {
                return Err(exists(&name.to_string()));
            }
        }
        Ok(is_there)
    }

    /// Checks that the log is valid and consistent, and that its tasks stay in the folder of worktrees.
    async fn check_log(
        &self,
        staged: &Path,
        manifest: &Manifest,
        invalid: &impl Fn(String) -> Error,
    ) -> Result<(), Error> {
        let of_log = |error: regatta_store::Error| invalid(format!("its log cannot be used: {error}"));
        {
            let file = DatabaseFile::take(staged).map_err(of_log)?;
            file.check_tables().map_err(of_log)?;
            if file.head().map_err(of_log)? != Seq(manifest.head) {
                return Err(invalid("its log is not the one that it names".to_owned()));
            }
        }
        let store = SqliteStore::open(staged, OpenMode::Existing).map_err(of_log)?;
        store.verify().await.map_err(of_log)?;
        if let Some(held) = store.find_lease(crate::runtime::engine::LEASE).await.map_err(of_log)? {
            // The lease of the engine that ran where it was exported.
            store.release_lease(&held.token).await.map_err(of_log)?;
        }
        let mut paths = Vec::new();
        for loaded in store.load_prefix("task/", NO_SNAPSHOT).await.map_err(of_log)? {
            let folded = log::Stream::<Option<Task>>::from_loaded(loaded);
            let task = folded.map_err(|error| invalid(format!("its log cannot be used: {error}")))?.state;
            paths.extend(task.as_ref().and_then(Task::worktree).map(|worktree| worktree.path.clone()));
        }
        for intent in store.open_intents().await.map_err(of_log)? {
            let data: serde_json::Value = serde_json::from_str(&intent.data).unwrap_or_default();
            find_paths(&data, &mut paths);
        }
        let worktrees = self.location.root.join(&self.config.worktrees);
        match paths.iter().find(|path| !is_within(&self.location.root, &worktrees, path)) {
            Some(path) => Err(invalid(format!(
                "a task in it works in `{}`, and worktrees of this project are in {}",
                path.escape_debug(),
                worktrees.display()
            ))),
            None => Ok(()),
        }
    }

    /// Tells whether the same log is here; refuses another one that has events, and one that is in use.
    fn compare_logs(&self, staged: &Path) -> Result<bool, Error> {
        let here = self.location.log();
        if !here.is_file() {
            return Ok(false);
        }
        let (found, new) = (DatabaseFile::look(&here)?, DatabaseFile::look(staged)?);
        let (head, new_head) = (found.head()?, new.head()?);
        if head == Seq(0) {
            drop(found);
            old_place::refuse_held(&here)?;
            // Proves that nobody has it open; it is locked again when it is replaced.
            drop(old_place::take(&here)?);
            return Ok(false);
        }
        let id = |file: &DatabaseFile| Ok::<_, Error>(file.find_event(new_head)?.map(|row| row.id));
        if head >= new_head && new_head > Seq(0) && id(&found)? == id(&new)? {
            return Ok(true);
        }
        Err(exists(&format!("{} ({} events)", here.display(), head.0)))
    }

    /// Imports the objects, and returns the refs to create.
    async fn take_objects(
        &self,
        manifest: &Manifest,
        invalid: &impl Fn(String) -> Error,
    ) -> Result<Vec<(RefName, CommitId)>, Error> {
        let bundle = self.staging.join(manifest::BUNDLE);
        if bundle.is_file() {
            if let Some(missing) = self.repository.find_missing(&bundle).await? {
                return Err(foreign(&missing));
            }
            self.repository.read_bundle(&bundle).await.map_err(|error| invalid(error.to_string()))?;
        }
        let mut refs = Vec::new();
        for (name, commit) in &manifest.refs {
            refs.push((name.clone(), commit));
        }
        for (name, commit) in &manifest.branches {
            let branch = BranchName::parse(name).map_err(|error| invalid(error.to_string()))?;
            refs.push((branch.to_ref().to_string(), commit));
        }
        let mut parsed = Vec::new();
        for (name, commit) in refs {
            let name = RefName::parse(&name).map_err(|error| invalid(error.to_string()))?;
            parsed.push((name, CommitId::parse(commit).map_err(|error| invalid(error.to_string()))?));
        }
        let commits: Vec<CommitId> = parsed.iter().map(|(_, commit)| commit.clone()).collect();
        if !self.repository.is_whole(&commits).await? {
            return Err(foreign("a commit that a ref of it names"));
        }
        Ok(parsed)
    }

    fn place_files(&self, manifest: &Manifest) -> Result<(), Error> {
        for file in &manifest.files {
            let Some(target) = self.target_of(&file.name) else { continue };
            if target.symlink_metadata().is_ok() {
                continue;
            }
            let folder = target.parent().unwrap_or(&self.location.root);
            std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
            let bytes = self.staging.join(&file.name);
            let bytes = std::fs::read(&bytes).map_err(Error::io("read", &bytes))?;
            regatta_files::disk::write_atomically(&target, &bytes).map_err(Error::StateFile)?;
        }
        Ok(())
    }

    /// Returns where a transcript, a task file or an archive belongs.
    fn target_of(&self, name: &str) -> Option<PathBuf> {
        let (room, name) = Room::of(name)?;
        let folder = match room {
            Room::Top => return None,
            Room::Sessions => self.location.sessions(),
            Room::TaskStates => self.location.root.join(&self.config.task_states),
            Room::Archives => self.location.root.join(&self.config.archives),
        };
        Some(folder.join(name))
    }

    fn place_log(&self) -> Result<(), Error> {
        let (staged, here) = (self.staging.join(manifest::LOG), self.location.log());
        // One file, with nothing beside it.
        drop(old_place::take(&staged)?);
        if here.is_file() {
            drop(old_place::take(&here)?);
        }
        std::fs::rename(&staged, &here).map_err(Error::io("move", &staged))?;
        let home = &self.location.home;
        File::open(home).and_then(|home| home.sync_all()).map_err(Error::io("sync", home))
    }
}

/// Tells whether a task may have its worktree at a path: nothing else may be removed with a task.
fn is_within(root: &Path, worktrees: &Path, path: &str) -> bool {
    let is_plain = Path::new(path).components().all(|part| !matches!(part, Component::ParentDir));
    let place = root.join(path);
    is_plain && place.starts_with(worktrees) && place != worktrees
}

/// Finds every text under the key `path`.
fn find_paths(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str() {
                    Some(text) if key == "path" => found.push(text.to_owned()),
                    _ => find_paths(value, found),
                }
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| find_paths(item, found)),
        _ => {}
    }
}

/// Recreates the worktrees of tasks in work, at the last commits of their branches.
async fn make_worktrees(project: &Project, tasks: &[Task]) -> Vec<MissingWork> {
    let mut found = Vec::new();
    for task in tasks.iter().filter(|task| is_in_work(task)) {
        let Some(worktree) = task.worktree() else { continue };
        let place = project.place(&worktree.path);
        let mut has_worktree = place.is_dir();
        if let Ok(branch) = BranchName::parse(&worktree.branch)
            && !has_worktree
        {
            has_worktree = project.repository().attach_worktree(&place, &branch).await.is_ok();
        }
        found.push(MissingWork { task_id: task.id, branch: worktree.branch.clone(), has_worktree });
    }
    found
}

/// Explains that an import would replace something that is there.
fn exists(what: &str) -> Error {
    Problem::new(
        Code::StateExists,
        "nothing was imported",
        format!("{what} already exists and differs from the export"),
        "import into a clone of the repository that has no tasks yet; to replace what is here, export \
                 it and move it away first",
    )
    .into()
}

/// Explains that a file is not a whole export.
fn not_whole(name: &str, why: &str) -> Error {
    Problem::new(
        Code::ExportInvalid,
        "nothing was imported",
        format!("{name}: {why}"),
        "copy the file again, or create it again with `regatta state export FILE`",
    )
    .into()
}

/// Explains that an export builds on commits that the repository lacks; `missing` is what git says.
fn foreign(missing: &str) -> Error {
    Problem::new(
        Code::ExportForeign,
        "nothing was imported",
        format!("the export builds on commits that this repository does not have: {}", missing.trim()),
        "fetch the missing commits (`git fetch --all`) and try again; an export works only between \
                 clones of one repository",
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_of_an_intent_is_found() {
        let data = serde_json::json!({ "a": { "path": "/etc" }, "list": [{ "path": "x" }], "path": 1, "other": "y" });
        let mut found = Vec::new();
        find_paths(&data, &mut found);
        assert_eq!(found, ["/etc", "x"]);
    }

    #[test]
    fn a_worktree_belongs_into_the_folder_of_worktrees() {
        let (root, worktrees) = (Path::new("/p"), Path::new("/p/.regatta/worktrees"));
        let is_ours = |path: &str| is_within(root, worktrees, path);
        assert!(is_ours(".regatta/worktrees/task-1") && is_ours("/p/.regatta/worktrees/task-1"));
        for path in ["/etc", "..", ".regatta/worktrees/../../src", ".regatta/worktrees", "src", "", "/"] {
            assert!(!is_ours(path), "{path}");
        }
    }
}
