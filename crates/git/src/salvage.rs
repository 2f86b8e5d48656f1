//! Keeps what would be lost when a worktree and its branch are removed.
//!
//! Uncommitted files go to a separate commit, made with an index of its own, so that neither the worktree nor
//! its index changes. Unmerged commits are kept by pointing at them. Submodules' own commits are copied to
//! the project's objects and kept as further parents of the salvage, since a tree only names a submodule's
//! commit. The worktree may be damaged: files are also salvaged from a folder whose `.git` file or entry was
//! destroyed.

use std::path::PathBuf;

use crate::change::CommitParts;
use crate::error::Error;
use crate::folder;
use crate::location::{Location, settle};
use crate::name::{BranchName, CommitId, RefName, RelativePath};
use crate::repository::Repository;
use crate::serial::Serial;
use crate::signature::Signature;
use crate::stage::Stage;
use crate::submodules::KeptModule;

/// What to look through, and where to keep what is found.
#[derive(Debug, Clone)]
pub struct SalvageRequest {
    /// The worktree's folder; it may be missing or broken.
    pub worktree: PathBuf,
    /// The worktree's branch; it may be missing.
    pub branch: BranchName,
    /// Where the branch began; it stands in when `merged_into` does not exist.
    pub base: CommitId,
    /// The branch whose commits need not be kept again.
    pub merged_into: BranchName,
    /// The refs are `<prefix>/1`, `<prefix>/2`, …
    pub prefix: RefName,
    /// Paths that are not salvaged, such as files copied into the worktree.
    pub ignore: Vec<RelativePath>,
    /// The author and committer of a salvage commit; its time makes a repeat find the first one.
    pub author: Signature,
    /// The message of a salvage commit.
    pub message: String,
}

/// Work that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvage {
    /// The ref that keeps it.
    pub name: RefName,
    /// The commit that holds it.
    pub commit: CommitId,
}

/// The result of a salvage, and the worktree as it was then: while it has not changed, removing it loses
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salvaged {
    /// What was kept; nothing when all of it was merged.
    pub salvage: Option<Salvage>,
    found: Found,
}

/// A worktree as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    is_there: bool,
    head: Option<CommitId>,
    branch_head: Option<CommitId>,
    uncommitted: Option<String>,
    modules: Vec<KeptModule>,
}

impl Repository {
    /// Keeps uncommitted and unmerged work of a worktree; nothing when there is none.
    ///
    /// May be repeated: the same state and the same signature give the ref that is already there.
    pub async fn salvage(&self, request: &SalvageRequest) -> Result<Option<Salvage>, Error> {
        Ok(self.set_aside(request).await?.salvage)
    }

    /// Keeps what is not merged, like [`Self::salvage`], and says what was looked at, so that just that can be removed.
    pub async fn set_aside(&self, request: &SalvageRequest) -> Result<Salvaged, Error> {
        let serial = self.serialise().await?;
        let found = self.look_through(&serial, request).await?;
        let mut tips: Vec<CommitId> = found.head.iter().cloned().collect();
        if let Some(branch_head) = &found.branch_head
            && !self.is_reachable(branch_head, found.head.as_ref()).await?
        {
            // The worktree stood elsewhere, for example in the middle of a rebase: both lines are kept.
            tips.push(branch_head.clone());
        }
        let commit = match (&found.uncommitted, &found.modules) {
            (Some(tree), modules) => Some(self.commit_with(request, tree, tips, modules).await?),
            (None, modules) if modules.is_empty() => self.unmerged(request, tips).await?,
            (None, modules) => {
                if let Some(salvage) = self.find_holding(request, &tips, modules).await? {
                    return Ok(Salvaged { salvage: Some(salvage), found });
                }
                let tips = if tips.is_empty() { vec![request.base.clone()] } else { tips };
                let tree = self.tree_of(&tips[0]).await?;
                Some(self.commit_with(request, &tree, tips, modules).await?)
            }
        };
        let salvage = match commit {
            Some(commit) => Some(self.keep(&serial, &request.prefix, commit).await?),
            None => None,
        };
        Ok(Salvaged { salvage, found })
    }

    /// Tells whether a worktree is still what was salvaged of it.
    pub(crate) async fn is_as_salvaged(
        &self,
        serial: &Serial,
        request: &SalvageRequest,
        salvaged: &Salvaged,
    ) -> Result<bool, Error> {
        Ok(self.look_through(serial, request).await? == salvaged.found)
    }

    /// Reads everything that exists of a worktree.
    async fn look_through(&self, serial: &Serial, request: &SalvageRequest) -> Result<Found, Error> {
        let entry = self.find_location(&settle(&request.worktree)?)?;
        if let Some(location) = &entry {
            // What cannot be taken in, because an agent has spoiled it, must not keep the files from being kept.
            let _ = self.take_in_held(serial, location).await;
        }
        let branch_head = self.find_branch(&request.branch).await?;
        let (location, head) = self.find_remains(request, branch_head.as_ref()).await?;
        let uncommitted = match &location {
            Some(location) => self.uncommitted_tree(serial, location, head.as_ref(), &request.ignore).await?,
            None => None,
        };
        let modules = match entry {
            Some(entry) => {
                let entry = self.seal(entry).await?;
                self.keep_modules(serial, &entry, &request.base, &request.author).await?
            }
            None => Vec::new(),
        };
        Ok(Found { is_there: location.is_some(), head, branch_head, uncommitted, modules })
    }

    /// Keeps a commit that no branch holds any more; a salvage that holds it already is returned.
    pub async fn salvage_commit(&self, prefix: &RefName, commit: &CommitId) -> Result<Salvage, Error> {
        let serial = self.serialise().await?;
        self.keep(&serial, prefix, commit.clone()).await
    }

    /// Lists what was kept under a prefix, in the order of the numbers.
    pub async fn list_salvages(&self, prefix: &RefName) -> Result<Vec<Salvage>, Error> {
        let mut numbered = self.numbered_salvages(prefix).await?;
        numbered.sort_by_key(|(number, _)| *number);
        Ok(numbered.into_iter().map(|(_, salvage)| salvage).collect())
    }

    /// Finds the folder, whatever is left of its git side, and the commit its files are to be compared with.
    async fn find_remains(
        &self,
        request: &SalvageRequest,
        branch_head: Option<&CommitId>,
    ) -> Result<(Option<Location>, Option<CommitId>), Error> {
        let path = settle(&request.worktree)?;
        let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let location = self.find_location(&path)?;
        if let Some(location) = &location
            && let Ok(head) = location.head().await
        {
            let location = self.seal(location.clone()).await?;
            return Ok((is_folder.then_some(location), head));
        }
        let bare_folder = self.seal(self.main_location(path)).await?;
        let is_usable = is_folder && bare_folder.path != self.root();
        Ok((is_usable.then_some(bare_folder), branch_head.cloned()))
    }

    /// Returns the tree of everything in the folder, or nothing when it is the commit's own.
    pub(crate) async fn uncommitted_tree(
        &self,
        serial: &Serial,
        location: &Location,
        head: Option<&CommitId>,
        ignore: &[RelativePath],
    ) -> Result<Option<String>, Error> {
        let index = self.new_index_place()?;
        let stage = Stage { location, index: Some(&index), head, ignore };
        let own_index = location.git_dir.join("index");
        let is_entry = location.git_dir != self.common_dir() || location.path == self.root();
        let is_copied = is_entry && std::fs::copy(&own_index, &index).is_ok();
        let first = if is_copied { self.stage(serial, &stage).await.ok() } else { None };
        let tree = match first {
            Some(tree) => tree,
            None => {
                // No index, or one that git cannot read: what was staged but is not in the folder is lost to us.
                folder::remove(&index)?;
                if let Some(head) = head {
                    let read =
                        location.git().args(["read-tree", head.as_str()]).env("GIT_INDEX_FILE", &index);
                    read.holding(serial)?.success().await?;
                }
                self.stage(serial, &stage).await?
            }
        };
        folder::remove(&index)?;
        // Asked where the folder's own objects are, which may be a submodule's.
        let is_unchanged = match head {
            Some(head) => {
                let committed = ["rev-parse", "--verify", &format!("{head}^{{tree}}")];
                location.git().args(committed).text().await? == tree
            }
            None => location.git().args(["ls-tree", &tree]).success().await?.stdout.is_empty(),
        };
        Ok((!is_unchanged).then_some(tree))
    }

    /// Returns a free place for an index, and removes those of calls that died.
    fn new_index_place(&self) -> Result<PathBuf, Error> {
        let folder = self.own_folder().join("salvage");
        folder::remove(&folder)?;
        std::fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        Ok(folder.join(format!("index-{}", std::process::id())))
    }

    async fn unmerged(
        &self,
        request: &SalvageRequest,
        tips: Vec<CommitId>,
    ) -> Result<Option<CommitId>, Error> {
        let known = self.find_branch(&request.merged_into).await?.unwrap_or_else(|| request.base.clone());
        let mut unmerged = Vec::new();
        for tip in tips {
            if !self.is_reachable(&tip, Some(&known)).await? {
                unmerged.push(tip);
            }
        }
        match unmerged.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(only.clone())),
            [first, ..] => {
                let tree = self.tree_of(first).await?;
                self.commit_aside(request, &tree, &unmerged).await.map(Some)
            }
        }
    }

    async fn is_reachable(&self, commit: &CommitId, from: Option<&CommitId>) -> Result<bool, Error> {
        match from {
            Some(from) => self.is_ancestor(commit, from).await,
            None => Ok(false),
        }
    }

    async fn commit_aside(
        &self,
        request: &SalvageRequest,
        tree: &str,
        parents: &[CommitId],
    ) -> Result<CommitId, Error> {
        let (author, message) = (&request.author, request.message.as_str());
        self.commit_tree(&CommitParts { tree, parents, author, committer: author, message }).await
    }

    /// Makes a commit aside that keeps commits of submodules too, and says which they are.
    async fn commit_with(
        &self,
        request: &SalvageRequest,
        tree: &str,
        mut parents: Vec<CommitId>,
        modules: &[KeptModule],
    ) -> Result<CommitId, Error> {
        let mut message = request.message.clone();
        for (index, module) in modules.iter().enumerate() {
            let gap = if index == 0 { "\n" } else { "" };
            message.push_str(gap);
            message.push_str(&module.render());
            parents.push(module.commit.clone());
        }
        self.commit_aside(&SalvageRequest { message, ..request.clone() }, tree, &parents).await
    }

    /// Finds a salvage that holds all of these: a call that was interrupted while the folders went has made it.
    async fn find_holding(
        &self,
        request: &SalvageRequest,
        tips: &[CommitId],
        modules: &[KeptModule],
    ) -> Result<Option<Salvage>, Error> {
        for (_, salvage) in self.numbered_salvages(&request.prefix).await? {
            let mut holds_all = true;
            for commit in tips.iter().chain(modules.iter().map(|module| &module.commit)) {
                holds_all = holds_all && self.is_ancestor(commit, &salvage.commit).await?;
            }
            if holds_all {
                return Ok(Some(salvage));
            }
        }
        Ok(None)
    }

    async fn keep(&self, serial: &Serial, prefix: &RefName, commit: CommitId) -> Result<Salvage, Error> {
        let numbered = self.numbered_salvages(prefix).await?;
        // One that holds the commit keeps it already. That is more than the same commit when a call was interrupted
        // after it had removed the folder: then only the branch is left, of which the first ref holds more.
        for (_, salvage) in &numbered {
            if self.is_ancestor(&commit, &salvage.commit).await? {
                return Ok(salvage.clone());
            }
        }
        let next = numbered.iter().map(|(number, _)| number + 1).max().unwrap_or(1);
        let name = prefix.numbered(next);
        self.swap_ref(serial, &name, &commit, None).await?;
        Ok(Salvage { name, commit })
    }

    async fn numbered_salvages(&self, prefix: &RefName) -> Result<Vec<(u64, Salvage)>, Error> {
        let folder = format!("{prefix}/");
        let mut found = Vec::new();
        for (name, commit) in self.list_refs(&folder).await? {
            let number = name.strip_prefix(&folder).and_then(|rest| rest.parse().ok());
            if let Some(number) = number {
                found.push((number, Salvage { name: RefName::parse(&name)?, commit }));
            }
        }
        Ok(found)
    }
}
