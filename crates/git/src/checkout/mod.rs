//! The checkouts of a branch: moves all of them to a new commit, or none.
//!
//! A checkout is the main worktree or a linked one whose HEAD stands on the branch. It is moved before the
//! branch is, so that an interruption leaves it ahead of the branch and never behind: from behind, the next
//! `git commit -a` would silently revert the new commit.
//!
//! ```text
//! find ─▶ judge every one ─▶ advance one after the other ─▶ (the caller moves the branch)
//!          │ in the way        │ git refuses
//!          └─▶ nothing moves   └─▶ those that moved go back
//! ```
//!
//! Each path that changes is judged by its content, not by a record: the index and the folder hold the old
//! entry, the new one, or the user's own. So a checkout that an interrupted call left half moved is simply
//! finished, and edits to other files stay, staged or not. `git merge --ff-only` is not used, since it
//! overwrites ignored files and leaves submodules behind.

mod advance;
mod filters;
mod find;
mod judge;
mod look;
mod obstacle;
mod submodule;

pub use obstacle::{Obstacle, Reason};
pub(crate) use submodule::find_git_dir;

use std::path::PathBuf;

use crate::error::Error;
use crate::folder;
use crate::name::{BranchName, CommitId};
use crate::repository::Repository;
use crate::serial::Serial;
use judge::Plan;

/// What a move of all checkouts came to.
pub(crate) enum Moved {
    /// All of them show the new commit.
    All(Vec<Plan>),
    /// Nothing has changed, because of these.
    None(Vec<Obstacle>),
}

/// Called between the steps of a move.
pub(crate) enum MoveStep {
    /// The submodules of a checkout show what the new commit wants.
    Submodules,
    /// A checkout shows the new commit.
    Checkout,
}

impl Repository {
    /// Moves every checkout of a branch from one commit to another, or none of them.
    pub(crate) async fn move_checkouts(
        &self,
        serial: &Serial,
        branch: &BranchName,
        old: &CommitId,
        new: &CommitId,
        observer: &(dyn Fn(MoveStep) + Send + Sync),
    ) -> Result<Moved, Error> {
        let (checkouts, mut obstacles) = self.find_checkouts(branch).await?;
        let mut plans = Vec::new();
        for location in checkouts {
            let judged = self.judge(serial, location, old, new).await?;
            obstacles.extend(judged.obstacles);
            plans.push(judged.plan);
        }
        if !obstacles.is_empty() {
            return Ok(Moved::None(obstacles));
        }
        for index in 0..plans.len() {
            let Err(error) = self.advance(serial, &plans[index], observer).await else { continue };
            // Git refused, because something changed since it was judged; it may have moved submodules already.
            obstacles.push(Obstacle::refused(&plans[index].location.path, &error));
            obstacles.extend(self.put_checkouts_back(serial, &plans[..=index]).await);
            return Ok(Moved::None(obstacles));
        }
        Ok(Moved::All(plans))
    }

    /// Puts checkouts back to where they were, the last first, and returns those that could not be.
    ///
    /// One that stays ahead is safe, and the next merge finds it so.
    pub(crate) async fn put_checkouts_back(&self, serial: &Serial, plans: &[Plan]) -> Vec<Obstacle> {
        let mut stuck = Vec::new();
        for plan in plans.iter().rev() {
            if let Err(error) = self.retreat(serial, plan).await {
                stuck.push(Obstacle::stuck(&plan.location.path, &error));
            }
        }
        stuck
    }

    /// Returns the folder for what is only needed while checkouts are judged and moved.
    fn landing_folder(&self) -> Result<PathBuf, Error> {
        let place = self.own_folder().join("landing");
        std::fs::create_dir_all(&place).map_err(Error::io("create", &place))?;
        Ok(place)
    }

    /// Removes what was only needed for a move, also what an interrupted call left.
    pub(crate) fn clear_landing(&self) -> Result<(), Error> {
        folder::remove(&self.own_folder().join("landing"))
    }
}
