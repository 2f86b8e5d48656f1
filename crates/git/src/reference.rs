//! Branches and other refs: looks them up, and makes and deletes them by compare-and-swap.
//!
//! A ref is always given by its full name, so that one name cannot be mistaken for another.

use crate::command::Finished;
use crate::error::Error;
use crate::name::{BranchName, CommitId, RefName};
use crate::repository::Repository;
use crate::serial::Serial;
use std::collections::BTreeMap;

/// Fewer digits than git itself accepts as an abbreviation.
const PREFIX_DIGITS_MIN: usize = 4;
const PREFIX_DIGITS_MAX: usize = 64;
/// What is listed of an ambiguous abbreviation.
const CANDIDATES_MAX: usize = 10;
/// So many names fit the arguments of one call however long they are.
const BRANCHES_AT_ONCE: usize = 200;

/// Where refs are that nothing but a decision moves.
const KEPT: [&str; 3] = ["refs/heads/", "refs/tags/", "refs/regatta/"];

impl Repository {
    /// Returns the branch of the main worktree, or nothing when its HEAD is detached.
    pub async fn current_branch(&self) -> Result<Option<BranchName>, Error> {
        self.main_location(self.root().to_path_buf()).branch().await
    }

    /// Returns the commit a ref points to, or nothing when there is no such ref or it is no commit.
    pub async fn find_commit(&self, name: &RefName) -> Result<Option<CommitId>, Error> {
        let finished = self.git().args(["show-ref", "--verify", "--hash", "--", name.as_str()]).run().await?;
        let id = match finished.code {
            Some(0) => parse_commit(&finished)?,
            _ if finished.stderr.contains("not a valid ref") => return Ok(None),
            _ => return Err(finished.into_error()),
        };
        if name.as_str().starts_with("refs/heads/") {
            return Ok(Some(id));
        }
        self.peel(&id).await
    }

    /// Returns the head of a branch, or nothing when there is no such branch.
    pub async fn find_branch(&self, branch: &BranchName) -> Result<Option<CommitId>, Error> {
        self.find_commit(&branch.to_ref()).await
    }

    /// Returns the heads of branches, of those that are there, with one call of git.
    pub async fn find_branches(
        &self,
        branches: &[BranchName],
    ) -> Result<BTreeMap<BranchName, CommitId>, Error> {
        let mut found = BTreeMap::new();
        for some in branches.chunks(BRANCHES_AT_ONCE) {
            let git = self.git().args(["for-each-ref", "--format=%(objectname) %(refname)"]);
            let listed =
                git.args(some.iter().map(|branch| branch.to_ref().as_str().to_owned())).success().await?;
            let heads = read_refs(&listed)?;
            // A branch `a` is also found below a folder `a/`; only those that were asked for count.
            found.extend(some.iter().filter_map(|branch| {
                let full = branch.to_ref();
                let head = heads.iter().find(|(name, _)| name == full.as_str())?.1.clone();
                Some((branch.clone(), head))
            }));
        }
        Ok(found)
    }

    /// Returns the commit whose id begins with the given hex digits; never takes them for a branch name.
    pub async fn resolve_commit(&self, prefix: &str) -> Result<Option<CommitId>, Error> {
        let prefix = prefix.to_ascii_lowercase();
        let is_hex = prefix.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex || !(PREFIX_DIGITS_MIN..=PREFIX_DIGITS_MAX).contains(&prefix.len()) {
            return Ok(None);
        }
        let listed = self.git().args(["rev-parse", &format!("--disambiguate={prefix}")]).success().await?;
        let typed = self
            .git()
            .args(["cat-file", "--batch-check=%(objectname) %(objecttype)"])
            .input(listed.stdout)
            .success()
            .await?;
        let text = String::from_utf8_lossy(&typed.stdout);
        let commits = text.lines().filter_map(|line| line.strip_suffix(" commit"));
        let mut commits = commits.map(CommitId::parse).collect::<Result<Vec<_>, _>>()?;
        match commits.len() {
            0 | 1 => Ok(commits.pop()),
            _ => {
                commits.truncate(CANDIDATES_MAX);
                Err(Error::Ambiguous { prefix, candidates: commits })
            }
        }
    }

    /// Tells whether a commit is the other one or among its ancestors.
    pub async fn is_ancestor(&self, older: &CommitId, newer: &CommitId) -> Result<bool, Error> {
        self.git().args(["merge-base", "--is-ancestor", older.as_str(), newer.as_str()]).answer().await
    }

    /// Returns the commit at which two lines of work parted, or nothing when they have none in common.
    pub async fn find_merge_base(&self, one: &CommitId, other: &CommitId) -> Result<Option<CommitId>, Error> {
        let finished = self.git().args(["merge-base", one.as_str(), other.as_str()]).run().await?;
        match finished.code {
            Some(0) => parse_commit(&finished).map(Some),
            Some(1) => Ok(None),
            _ => Err(finished.into_error()),
        }
    }

    /// Tells whether a commit is one of a line of work's own commits, and did not come in by merging another.
    pub async fn is_in_line(&self, from: &CommitId, to: &CommitId, commit: &CommitId) -> Result<bool, Error> {
        let words = ["rev-list", "--first-parent", to.as_str(), &format!("^{from}")];
        let listed = self.git().args(words).success().await?;
        Ok(listed.stdout.split(|byte| *byte == b'\n').any(|line| line == commit.as_str().as_bytes()))
    }

    /// Lists the branches whose name begins with the prefix, in the order of their names.
    pub async fn list_branches(&self, prefix: &str) -> Result<Vec<(BranchName, CommitId)>, Error> {
        let refs = self.list_refs("refs/heads/").await?;
        let short = |name: &str| {
            name.strip_prefix("refs/heads/").filter(|short| short.starts_with(prefix)).map(str::to_owned)
        };
        // A name longer than we allow was not made by us.
        let named = |(name, id): (String, CommitId)| Some((BranchName::parse(&short(&name)?).ok()?, id));
        Ok(refs.into_iter().filter_map(named).collect())
    }

    /// Lists the branches, the tags and our own refs by their full names. What was fetched or stashed is not among them.
    pub async fn list_kept_refs(&self) -> Result<BTreeMap<String, CommitId>, Error> {
        let is_kept = |(name, _): &(String, CommitId)| KEPT.iter().any(|folder| name.starts_with(folder));
        Ok(self.list_refs("refs/").await?.into_iter().filter(is_kept).collect())
    }

    /// Counts the refs whose names begin so, and the bytes of what they hold and no branch, tag or remote does.
    pub async fn weigh_refs(&self, folder: &str) -> Result<(u64, u64), Error> {
        let count = self.list_refs(folder).await?.len() as u64;
        if count == 0 {
            return Ok((0, 0));
        }
        let git = self.git().args(["rev-list", "--objects", "--disk-usage", &format!("--glob={folder}*")]);
        let bytes = git.args(["--not", "--branches", "--tags", "--remotes"]).text().await?;
        Ok((count, bytes.parse().unwrap_or_default()))
    }

    /// Makes a branch at a commit; refuses one that exists.
    pub async fn create_branch(&self, branch: &BranchName, at: &CommitId) -> Result<(), Error> {
        let serial = self.serialise().await?;
        if let Some(at) = self.find_branch(branch).await? {
            return Err(Error::BranchTaken { branch: branch.clone(), at });
        }
        self.swap_ref(&serial, &branch.to_ref(), at, None).await
    }

    /// Makes a ref that keeps a commit alive; may be repeated, but does not move a ref that points elsewhere.
    pub async fn pin(&self, name: &RefName, commit: &CommitId) -> Result<(), Error> {
        let serial = self.serialise().await?;
        match self.find_commit(name).await? {
            Some(found) if found == *commit => Ok(()),
            Some(found) => Err(Error::RefElsewhere { name: name.clone(), found, wanted: commit.clone() }),
            None => self.swap_ref(&serial, name, commit, None).await,
        }
    }

    /// Deletes a ref made by [`Self::pin`]; may be repeated.
    pub async fn unpin(&self, name: &RefName) -> Result<(), Error> {
        let serial = self.serialise().await?;
        match self.find_commit(name).await? {
            Some(found) => self.delete_ref(&serial, name, &found).await,
            None => Ok(()),
        }
    }

    /// Lists refs by the leading part of their name, which ends with a slash, in the order of their names.
    pub(crate) async fn list_refs(&self, folder: &str) -> Result<Vec<(String, CommitId)>, Error> {
        let git = self.git().args(["for-each-ref", "--format=%(objectname) %(refname)", folder]);
        read_refs(&git.success().await?)
    }

    /// Moves a ref from one value to another, or makes it when it should not be there yet; fails when it differs.
    pub(crate) async fn swap_ref(
        &self,
        serial: &Serial,
        name: &RefName,
        new: &CommitId,
        old: Option<&CommitId>,
    ) -> Result<(), Error> {
        let old = old.map_or("", CommitId::as_str);
        let words = ["update-ref", "--no-deref", "-m", "regatta", name.as_str(), new.as_str(), old];
        self.git().args(words).holding(serial)?.success().await.map(drop)
    }

    /// Deletes a ref that has the given value.
    pub(crate) async fn delete_ref(
        &self,
        serial: &Serial,
        name: &RefName,
        old: &CommitId,
    ) -> Result<(), Error> {
        let words = ["update-ref", "--no-deref", "-d", name.as_str(), old.as_str()];
        self.git().args(words).holding(serial)?.success().await.map(drop)
    }

    async fn peel(&self, id: &CommitId) -> Result<Option<CommitId>, Error> {
        let words = ["rev-parse", "--verify", "--quiet", &format!("{id}^{{commit}}")];
        let finished = self.git().args(words).run().await?;
        match finished.code {
            Some(0) => parse_commit(&finished).map(Some),
            Some(1 | 128) => Ok(None),
            _ => Err(finished.into_error()),
        }
    }
}

/// Reads a list of refs with their values.
fn read_refs(listed: &Finished) -> Result<Vec<(String, CommitId)>, Error> {
    let text = String::from_utf8_lossy(&listed.stdout);
    let read = |line: &str| {
        let (id, name) = line.split_once(' ').ok_or_else(|| listed.unexpected(line.as_bytes()))?;
        Ok((name.to_owned(), CommitId::parse(id)?))
    };
    text.lines().map(read).collect()
}

/// Reads an output that is one commit id and a newline.
pub(crate) fn parse_commit(finished: &Finished) -> Result<CommitId, Error> {
    let text = std::str::from_utf8(finished.stdout.trim_ascii_end())
        .map_err(|_| finished.unexpected(&finished.stdout))?;
    CommitId::parse(text).map_err(|_| finished.unexpected(&finished.stdout))
}
