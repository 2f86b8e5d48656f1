//! Takes in what an agent committed in its stand-in: first the objects, then the branch.
//!
//! The branch is the worktree's own and goes wherever the agent moved it. All its other refs stay behind. A
//! HEAD on a branch that only the agent has is put back on the worktree's branch if that loses nothing, and
//! otherwise on the commit itself.

use std::path::Path;

use super::Place;
use super::open::finish_or_undo;
use super::refs::{self, Head};
use crate::change::read_merge_heads;
use crate::error::Error;
use crate::location::Location;
use crate::name::{BranchName, CommitId};
use crate::repository::Repository;
use crate::serial::Serial;

impl Repository {
    /// Takes in what was committed in a worktree's stand-in; may be repeated, and does nothing where there is none.
    pub async fn take_in(&self, worktree: &Path) -> Result<(), Error> {
        let location = self.get_location(worktree)?;
        let has_stand_in = self.stand_in_place(&location.git_dir).is_some_and(|folder| folder.exists());
        if !has_stand_in {
            return Ok(());
        }
        let serial = self.serialise().await?;
        self.take_in_held(&serial, &location).await
    }

    pub(crate) async fn take_in_held(&self, serial: &Serial, location: &Location) -> Result<(), Error> {
        let Some(folder) = self.stand_in_place(&location.git_dir) else { return Ok(()) };
        let place = Place { folder };
        finish_or_undo(&place)?;
        if !place.git().exists() {
            return Ok(());
        }
        let Some(branch) = read_branch(&place) else { return Ok(()) };
        let stand_in = place.git();
        let tip = refs::find(&stand_in, branch.to_ref().as_str());
        let head = refs::read_head(&location.git_dir);
        let stands_at = match &head {
            Some(Head::On(name)) => refs::find(&stand_in, name.as_str()),
            Some(Head::Detached(commit)) => Some(commit.clone()),
            None => None,
        };
        let mut commits: Vec<CommitId> = stands_at.iter().chain(&tip).cloned().collect();
        commits.extend(read_merge_heads(location)?);
        commits.dedup();
        self.import(serial, &place, location, &commits).await?;
        // Only the agent's own moves are followed: the real branch moved when we committed the rest.
        if let Some(tip) = tip.filter(|tip| read_text(&place.seen()).as_deref() != Some(tip.as_str())) {
            let known = self.find_branch(&branch).await?;
            if known.as_ref() != Some(&tip) {
                self.swap_ref(serial, &branch.to_ref(), &tip, known.as_ref()).await?;
            }
            std::fs::write(place.seen(), tip.as_str()).map_err(Error::io("write", &place.seen()))?;
        }
        match head {
            Some(Head::On(name)) if name == branch.to_ref() => Ok(()),
            Some(Head::Detached(_)) => Ok(()),
            _ => self.put_back(serial, location, &branch, stands_at.as_ref()).await,
        }
    }

    /// Puts a HEAD that stands where only the agent has something to a place that the repository knows.
    async fn put_back(
        &self,
        serial: &Serial,
        location: &Location,
        branch: &BranchName,
        stands_at: Option<&CommitId>,
    ) -> Result<(), Error> {
        let tip = self.find_branch(branch).await?;
        let name = branch.to_ref();
        let onto_branch = location.git().args(["symbolic-ref", "-m", "regatta", "HEAD", name.as_str()]);
        let git = match (stands_at, &tip) {
            (None, _) => onto_branch,
            (Some(commit), Some(tip)) if !self.is_ancestor(tip, commit).await? => {
                location.git().args(["update-ref", "--no-deref", "-m", "regatta", "HEAD", commit.as_str()])
            }
            (Some(commit), tip) => {
                self.swap_ref(serial, &name, commit, tip.as_ref()).await?;
                onto_branch
            }
        };
        git.holding(serial)?.success().await.map(drop)
    }
}

fn read_branch(place: &Place) -> Option<BranchName> {
    BranchName::parse(&read_text(&place.branch())?).ok()
}

fn read_text(path: &Path) -> Option<String> {
    String::from_utf8(refs::read_plain(path)?).ok()
}
