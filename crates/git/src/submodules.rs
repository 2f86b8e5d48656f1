//! Work inside the submodules of a worktree, which would be removed with it.
//!
//! A submodule's git folder lies in the worktree's own entry (`<common dir>/worktrees/<id>/modules`) or in
//! its folder, and both are removed with the worktree. A commit of the project only names a submodule's
//! commit, and does not keep it. So this module finds what was made there: commits that neither the
//! submodule's remote nor the user's own submodule has, and edits. A git folder elsewhere is not removed and
//! not examined; an agent could name any.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::change::{CommitParts, commit_tree_in};
use crate::checkout::find_git_dir;
use crate::command::Git;
use crate::entry::parse_staged;
use crate::error::Error;
use crate::location::Location;
use crate::name::CommitId;
use crate::programs::Overrides;
use crate::repository::Repository;
use crate::serial::Serial;
use crate::signature::Signature;
use crate::stage::split;

/// Submodules in submodules in … : what lies deeper is not looked at.
const NESTING_MAX: usize = 4;
/// More git folders than any project has; the search then ends with what it has.
const FOLDERS_MAX: usize = 10_000;
/// More commits and files than a reader looks at.
const SHOWN_MAX: usize = 20;

/// What a submodule of a worktree has that nobody else has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmoduleWork {
    /// Its path below the worktree's root.
    pub path: String,
    /// The newest of its commits that exist nowhere else, each as a short id and a subject.
    pub commits: Vec<String>,
    /// Files in it that are not committed.
    pub edits: Vec<String>,
}

/// A submodule of a worktree.
struct Module {
    /// Its path below the worktree's root, or its name where the files are gone.
    name: String,
    location: Location,
    /// Whether its files are there.
    is_filled: bool,
    /// The commit that the project names.
    recorded: Option<String>,
    /// The user's own copy of it, if there is one.
    users: Option<PathBuf>,
}

/// A commit of a submodule that is among the project's objects, kept by a salvage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptModule {
    /// The submodule's path below the worktree's root.
    pub name: String,
    /// The commit.
    pub commit: CommitId,
}

impl KeptModule {
    /// Writes the line of a salvage's message that names it.
    pub(crate) fn render(&self) -> String {
        format!("Submodule {}: {}\n", self.name, self.commit)
    }

    fn parse(line: &str) -> Option<Self> {
        let (name, commit) = line.strip_prefix("Submodule ")?.rsplit_once(": ")?;
        Some(KeptModule { name: name.to_owned(), commit: CommitId::parse(commit).ok()? })
    }
}

impl Repository {
    /// Lists the submodules of a worktree that have commits which exist nowhere else, or edits.
    ///
    /// What the project named at `base` is nobody's work.
    pub async fn find_submodule_work(
        &self,
        worktree: &Path,
        base: &CommitId,
    ) -> Result<Vec<SubmoduleWork>, Error> {
        let location = self.get_location(worktree)?;
        let mut found = Vec::new();
        for module in self.find_modules(&location, base).await? {
            let mut work =
                SubmoduleWork { path: module.name.clone(), commits: Vec::new(), edits: Vec::new() };
            for tip in self.own_tips(&module).await? {
                let words = ["log", "--oneline", "--no-decorate", "--no-color", "--ignore-missing"];
                let git = module.location.git().args(words).arg(format!("--max-count={SHOWN_MAX}"));
                let listed = git.arg(tip.as_str()).args(module.known()).success().await?;
                let text = String::from_utf8_lossy(&listed.stdout).into_owned();
                work.commits.extend(text.lines().map(str::to_owned));
            }
            work.commits.dedup();
            work.commits.truncate(SHOWN_MAX);
            if module.is_filled {
                work.edits = list_edits(&module.location).await?;
            }
            if !work.commits.is_empty() || !work.edits.is_empty() {
                found.push(work);
            }
        }
        Ok(found)
    }

    /// Lists the commits of submodules that a salvage keeps.
    pub async fn list_kept_modules(&self, salvage: &CommitId) -> Result<Vec<KeptModule>, Error> {
        let text = self.git().args(["log", "-1", "--format=%P%n%B", salvage.as_str()]).text().await?;
        let mut lines = text.lines();
        let parents: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        // A message that an agent wrote keeps nothing, so its word is not enough.
        let is_kept = |module: &KeptModule| parents.contains(&module.commit.as_str());
        Ok(lines.filter_map(KeptModule::parse).filter(is_kept).collect())
    }

    /// Brings what submodules of a worktree have of their own among the project's objects, edits as a commit.
    pub(crate) async fn keep_modules(
        &self,
        serial: &Serial,
        location: &Location,
        base: &CommitId,
        author: &Signature,
    ) -> Result<Vec<KeptModule>, Error> {
        let mut kept = Vec::new();
        for module in self.find_modules(location, base).await? {
            let mut tips = self.own_tips(&module).await?;
            let head = module.location.head().await?;
            let edits = match module.is_filled {
                true => self.uncommitted_tree(serial, &module.location, head.as_ref(), &[]).await?,
                false => None,
            };
            if let Some(tree) = edits {
                let message = format!("What was not committed in the submodule {}\n", module.name);
                let parents: Vec<CommitId> = head.iter().cloned().collect();
                tips.retain(|tip| Some(tip) != head.as_ref());
                let parts = CommitParts {
                    tree: &tree,
                    parents: &parents,
                    author,
                    committer: author,
                    message: &message,
                };
                tips.insert(0, commit_tree_in(module.location.git(), &parts).await?);
            }
            for tip in tips {
                let commit = self.bring(serial, &module, tip, author).await?;
                kept.push(KeptModule { name: module.name.clone(), commit });
            }
        }
        Ok(kept)
    }

    /// Brings a commit of a submodule, with all that it needs, among the project's objects.
    async fn bring(
        &self,
        serial: &Serial,
        module: &Module,
        tip: CommitId,
        author: &Signature,
    ) -> Result<CommitId, Error> {
        let Location { git_dir, .. } = &module.location;
        if self.borrows(git_dir) {
            return Err(Error::SubmoduleBorrows { path: git_dir.clone() });
        }
        // A shallow history has commits whose parents are missing, and git repairs nothing around such a gap. Its own
        // commits are made again without it.
        let tip = match git_dir.join("shallow").exists() {
            true => self.copy_own_commits(module, &tip, author).await?,
            false => tip,
        };
        self.import_commits(serial, &git_dir.join("objects"), std::slice::from_ref(&tip)).await?;
        Ok(tip)
    }

    /// Tells whether a git folder has objects from elsewhere: an agent could use that to import objects from
    /// a repository that it may not read. The project's own objects do not count.
    fn borrows(&self, git_dir: &Path) -> bool {
        let objects = git_dir.join("objects");
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let mut inside = std::fs::read_dir(&objects).into_iter().flatten().flatten();
        let alternates = std::fs::read_to_string(objects.join("info/alternates")).unwrap_or_default();
        let is_known = |line: &str| {
            objects.join(line).canonicalize().is_ok_and(|place| place.starts_with(self.common_dir()))
        };
        is_link(&objects)
            || git_dir.join("commondir").exists()
            || inside.any(|entry| is_link(&entry.path()))
            || !alternates.lines().all(is_known)
    }

    /// Makes the commits that only a submodule has again, in one line that begins at nothing.
    async fn copy_own_commits(
        &self,
        module: &Module,
        tip: &CommitId,
        author: &Signature,
    ) -> Result<CommitId, Error> {
        let git = module.location.git().args(["rev-list", "--reverse", "--topo-order", "--ignore-missing"]);
        let listed = git.arg(tip.as_str()).args(module.known()).success().await?;
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        let mut last: Option<CommitId> = None;
        for id in text.lines() {
            let tree = module.location.git().args(["rev-parse", "--verify", &format!("{id}^{{tree}}")]);
            let tree = tree.text().await?;
            let shown = module.location.git().args(["log", "-1", "--format=%B", id]).text().await?;
            let message = format!("{shown}\n\nCommit {id} of the submodule {}\n", module.name);
            let parents: Vec<CommitId> = last.iter().cloned().collect();
            let parts =
                CommitParts { tree: &tree, parents: &parents, author, committer: author, message: &message };
            last = Some(commit_tree_in(module.location.git(), &parts).await?);
        }
        Ok(last.unwrap_or_else(|| tip.clone()))
    }

    /// Returns the branches, the stash and the HEAD of a submodule that lead to commits which exist nowhere else.
    async fn own_tips(&self, module: &Module) -> Result<Vec<CommitId>, Error> {
        let git = module.location.git().args(["for-each-ref", "--format=%(objectname)"]);
        let listed = git.args(["refs/heads/", "refs/stash"]).success().await?;
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        let mut tips: Vec<CommitId> = module.location.head().await?.into_iter().collect();
        for id in text.lines() {
            tips.push(CommitId::parse(id)?);
        }
        let mut own: Vec<CommitId> = Vec::new();
        for tip in tips {
            if !own.contains(&tip) && self.is_own(module, &tip).await? {
                own.push(tip);
            }
        }
        Ok(own)
    }

    async fn is_own(&self, module: &Module, tip: &CommitId) -> Result<bool, Error> {
        let git = module.location.git().args(["rev-list", "--max-count=1", "--ignore-missing", tip.as_str()]);
        if git.args(module.known()).success().await?.stdout.is_empty() {
            return Ok(false);
        }
        let Some(users) = &module.users else { return Ok(true) };
        // A user who fetched it has it.
        let git = Git::of(users, None).args(["rev-list", "--max-count=1", tip.as_str(), "--not", "--all"]);
        let found = git.run().await?;
        Ok(found.code != Some(0) || !found.stdout.is_empty())
    }

    /// Finds the submodules whose git folder goes with a worktree.
    async fn find_modules(&self, worktree: &Location, base: &CommitId) -> Result<Vec<Module>, Error> {
        let (mut modules, mut seen) = (Vec::new(), BTreeSet::new());
        let mut waiting = vec![(worktree.clone(), String::new(), NESTING_MAX)];
        while let Some((location, prefix, levels_left)) = waiting.pop() {
            // What cannot be listed, because an agent spoiled it, shows no submodule; their git folders are found below.
            let listed = location.git().args(["ls-files", "-z", "--stage"]).run().await?;
            for (path, entry) in split(&listed.stdout).filter_map(parse_staged) {
                let place = location.path.join(&path);
                let found = entry.is_link().then(|| find_git_dir(&place)?.canonicalize().ok()).flatten();
                let Some(git_dir) = found.filter(|found| goes_with(worktree, found)) else { continue };
                if !seen.insert(git_dir.clone()) {
                    continue;
                }
                let name = format!("{prefix}{}", path.to_string_lossy());
                let users = find_git_dir(&self.root().join(&name));
                let own = Location { git_dir, path: place, overrides: Overrides::default() };
                let own = self.seal(own).await?;
                if levels_left > 0 {
                    waiting.push((own.clone(), format!("{name}/"), levels_left - 1));
                }
                modules.push(Module { name, location: own, is_filled: true, recorded: None, users });
            }
        }
        let folder =
            worktree.git_dir.canonicalize().unwrap_or_else(|_| worktree.git_dir.clone()).join("modules");
        for git_dir in find_git_folders(&folder) {
            if seen.insert(git_dir.clone()) {
                let name = git_dir.strip_prefix(&folder).unwrap_or(&git_dir).to_string_lossy().into_owned();
                let users =
                    Some(self.common_dir().join("modules").join(&name)).filter(|users| users.is_dir());
                let own = Location { path: git_dir.clone(), git_dir, overrides: Overrides::default() };
                modules.push(Module { name, location: own, is_filled: false, recorded: None, users });
            }
        }
        if modules.is_empty() {
            return Ok(modules);
        }
        let paths: Vec<PathBuf> = modules.iter().map(|module| PathBuf::from(&module.name)).collect();
        let named = self.find_entries(base, &paths).await?;
        for module in &mut modules {
            let entry = named.get(Path::new(&module.name)).filter(|entry| entry.is_link());
            module.recorded = entry.map(|entry| entry.id.clone());
        }
        Ok(modules)
    }
}

impl Module {
    /// Returns the arguments that leave out what the submodule's remote has, and what the project names.
    fn known(&self) -> Vec<String> {
        let fixed = ["--not", "--remotes", "--tags"].map(str::to_owned);
        fixed.into_iter().chain(self.recorded.clone()).collect()
    }
}

/// Tells whether a git folder is removed with a worktree.
fn goes_with(worktree: &Location, git_dir: &Path) -> bool {
    let is_below = |folder: &Path| folder.canonicalize().is_ok_and(|folder| git_dir.starts_with(folder));
    is_below(&worktree.path) || is_below(&worktree.git_dir)
}

async fn list_edits(location: &Location) -> Result<Vec<String>, Error> {
    let words = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"];
    let listed = location.git().args(words).arg("--ignore-submodules=dirty").success().await?;
    let paths = split(&listed.stdout).filter_map(|line| line.get(3..));
    Ok(paths.take(SHOWN_MAX).map(|path| String::from_utf8_lossy(path).into_owned()).collect())
}

/// Finds the git folders below a folder, also those in one another's `modules`.
fn find_git_folders(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders, mut count) = (Vec::new(), vec![folder.to_path_buf()], 0);
    while let Some(folder) = folders.pop() {
        count += 1;
        if count > FOLDERS_MAX {
            break;
        }
        let is_git_folder = folder.join("HEAD").is_file() && folder.join("objects").is_dir();
        let next = if is_git_folder { folder.join("modules") } else { folder.clone() };
        if is_git_folder {
            found.extend(folder.canonicalize());
        }
        let entries = std::fs::read_dir(next).into_iter().flatten().flatten();
        let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        folders.extend(entries.filter(is_folder).map(|entry| entry.path()));
    }
    found.sort();
    found
}
