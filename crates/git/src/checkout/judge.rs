//! Whether a checkout can move from one commit to another, and what has to be done for that.

use std::path::{Path, PathBuf};

use super::find::find_operation;
use super::look::{Found, View};
use super::obstacle::{Obstacle, Reason};
use super::submodule::SubmodulePlan;
use crate::entry::{EntryChange, TreeEntry, list_changes, to_path};
use crate::error::Error;
use crate::location::Location;
use crate::name::CommitId;
use crate::repository::Repository;
use crate::serial::Serial;
use crate::stage::split;

/// A path and what its index entry shall be.
pub(super) type IndexEntry = (PathBuf, Option<TreeEntry>);

/// How a checkout moves, and how it comes back.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) location: Location,
    pub(super) old: CommitId,
    pub(super) new: CommitId,
    /// The paths that differ between the two commits.
    pub(super) changed: Vec<PathBuf>,
    /// What the index must hold so that git moves the files that are to be moved, and no others.
    pub(super) fixes: Vec<IndexEntry>,
    /// What it held there before.
    pub(super) fixed: Vec<IndexEntry>,
    /// Files that had the new content before the move, and keep it when the move is undone.
    pub(super) had_new: Vec<IndexEntry>,
    /// The submodules that move along, before the checkout itself.
    pub(super) submodules: Vec<SubmodulePlan>,
}

/// A plan, which holds if there are no obstacles.
pub(crate) struct Judged {
    pub(crate) plan: Plan,
    pub(crate) obstacles: Vec<Obstacle>,
    /// The index and the folder as they were seen; nothing when there was no need to look.
    pub(super) view: Option<View>,
}

/// What has to be done at one path.
enum Step {
    /// Nothing: the index has the new entry, and what the folder has on top of it is an edit like any other.
    Stay,
    /// Index and folder have the old entry.
    Move,
    /// The folder has the new content, and the index has not.
    Catch,
    /// The index has the new entry and the folder the old content: a move that was undone half-way.
    Redo,
    /// It is the user's.
    Edited(Vec<String>),
    /// It is the user's, and git does not know it.
    Untracked(Vec<String>),
}

impl Repository {
    /// Judges whether a checkout can move; changes nothing but the times that its index keeps.
    pub(super) async fn judge(
        &self,
        serial: &Serial,
        location: Location,
        old: &CommitId,
        new: &CommitId,
    ) -> Result<Judged, Error> {
        let mut plan = Plan {
            location,
            old: old.clone(),
            new: new.clone(),
            changed: Vec::new(),
            fixes: Vec::new(),
            fixed: Vec::new(),
            had_new: Vec::new(),
            submodules: Vec::new(),
        };
        let refused = |plan, obstacle| Ok(Judged { plan, obstacles: vec![obstacle], view: None });
        if let Some(obstacle) = find_operation(&plan.location) {
            return refused(plan, obstacle);
        }
        let location = plan.location.clone();
        let changes = list_changes(location.git(), old, new).await?;
        if let Some(obstacle) = self.refresh(serial, &location).await? {
            return refused(plan, obstacle);
        }
        plan.changed = changes.iter().map(|change| change.path.clone()).collect();
        let view = self.look(&location, &changes).await?;
        let mut obstacles = plan.judge_files(&changes, &view);
        for change in changes.iter().filter(|change| change.concerns_link()) {
            let verdict = self.judge_link(serial, &location, change, &changes, &view).await?;
            plan.submodules.extend(verdict.plan);
            obstacles.extend(verdict.obstacle);
        }
        let is_written = |entry: &TreeEntry| !entry.is_link();
        let written = changes.iter().filter(|change| change.after.as_ref().is_some_and(is_written));
        let written: Vec<&Path> = written.map(|change| change.path.as_path()).collect();
        obstacles.extend(of_filters(&location.path, self.find_filtered(&location, new, &written).await?));
        Ok(Judged { plan, obstacles, view: Some(view) })
    }

    /// Brings the times in the index up to date, without which files that were only touched would count as edited.
    async fn refresh(&self, serial: &Serial, location: &Location) -> Result<Option<Obstacle>, Error> {
        let refresh = location.git().args(["update-index", "-q", "--refresh"]).holding(serial)?;
        let refreshed = refresh.run().await?;
        // Status 1 says that some files are edited.
        if !matches!(refreshed.code, Some(0 | 1)) {
            return Ok(Some(Obstacle::refused(&location.path, &refreshed.into_error())));
        }
        let unmerged = location.git().args(["ls-files", "-z", "--unmerged"]).success().await?;
        let paths = split(&unmerged.stdout).filter_map(crate::entry::parse_staged).map(|(path, _)| path);
        let mut files: Vec<String> = paths.map(|path| path.to_string_lossy().into_owned()).collect();
        files.dedup();
        let why = "it has conflicts that are not resolved";
        Ok((!files.is_empty()).then(|| Obstacle::new(&location.path, Reason::Operation, files, why)))
    }
}

impl Plan {
    /// Adds what has to be done at each path that is no submodule, and returns what is in the way there.
    fn judge_files(&mut self, changes: &[EntryChange], view: &View) -> Vec<Obstacle> {
        let (mut edited, mut untracked) = (Vec::new(), Vec::new());
        for change in changes.iter().filter(|change| !change.concerns_link()) {
            let EntryChange { path, before, after } = change;
            let staged = view.index.get(path);
            match judge_path(change, staged, view.at(path)) {
                Step::Stay | Step::Move => {}
                Step::Catch => {
                    self.fix(path, staged, after.clone());
                    self.had_new.push((path.clone(), after.clone()));
                }
                Step::Redo => self.fix(path, staged, before.clone()),
                Step::Edited(files) => edited.extend(files),
                Step::Untracked(files) => untracked.extend(files),
            }
        }
        let obstacle = |reason, mut files: Vec<String>, why: &str| {
            files.sort();
            files.dedup();
            (!files.is_empty()).then(|| Obstacle::new(&self.location.path, reason, files, why))
        };
        let of_edits = obstacle(Reason::Edited, edited, "it has edits to files that the merge changes");
        let why = "it has files that git does not track where the merge brings files";
        of_edits.into_iter().chain(obstacle(Reason::Untracked, untracked, why)).collect()
    }

    fn fix(&mut self, path: &Path, staged: Option<&TreeEntry>, wanted: Option<TreeEntry>) {
        self.fixes.push((path.to_path_buf(), wanted));
        self.fixed.push((path.to_path_buf(), staged.cloned()));
    }
}

fn judge_path(change: &EntryChange, staged: Option<&TreeEntry>, found: Found) -> Step {
    let EntryChange { path, before, after } = change;
    let (before, after) = (before.as_ref(), after.as_ref());
    let named = || vec![path.to_string_lossy().into_owned()];
    let found = match found {
        Found::Entry(entry) => entry,
        // On top of the new entry, anything is an edit like any other.
        Found::Other(_) if staged == after => return Step::Stay,
        Found::Other(files) if before.is_none() && staged.is_none() => return Step::Untracked(files),
        Found::Other(files) => return Step::Edited(files),
    };
    let found = found.as_ref();
    if staged == after {
        return if found == before { Step::Redo } else { Step::Stay };
    }
    match () {
        () if staged != before => Step::Edited(named()),
        () if found == before => Step::Move,
        () if found == after => Step::Catch,
        () if before.is_none() => Step::Untracked(named()),
        () => Step::Edited(named()),
    }
}

fn of_filters(checkout: &Path, filtered: Vec<(String, String)>) -> Option<Obstacle> {
    let mut names: Vec<String> = filtered.iter().map(|(_, name)| format!("`{name}`")).collect();
    names.sort();
    names.dedup();
    let why =
        format!("the merge changes files with the filter {}, which is not allowed to run", names.join(", "));
    let files: Vec<String> = filtered.into_iter().map(|(file, _)| file).collect();
    (!files.is_empty()).then(|| Obstacle::new(checkout, Reason::Filter, files, why))
}

/// Lists the paths that differ between a commit and the index.
pub(super) async fn list_staged(location: &Location, commit: &CommitId) -> Result<Vec<PathBuf>, Error> {
    let words = ["diff-index", "--cached", "-z", "--name-only", "--no-renames", "--no-ext-diff"];
    let git = location.git().args(words).args(["--ignore-submodules=dirty", commit.as_str(), "--"]);
    Ok(split(&git.success().await?.stdout).map(to_path).collect())
}
