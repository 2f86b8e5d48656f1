//! The user's checkout in three situations, and whether a merge treated it as it must.

use crate::world::World;
use regatta_testkit::repo::fingerprint;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Where the user's checkout stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checkout {
    /// On the target branch, with nothing of its own.
    Clean,
    /// On the target branch, with an edit that is not committed and a file that git does not know.
    Edited,
    /// On another branch, with an edit too.
    Elsewhere,
}

/// The checkout at one moment: its files, its index and its branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    files: BTreeMap<PathBuf, (u32, Vec<u8>)>,
    index: String,
    branch: String,
}

impl Checkout {
    /// Brings the checkout into the situation.
    pub(crate) fn prepare(self, world: &World) {
        let repo = &world.project.repo;
        if self == Checkout::Elsewhere {
            repo.git(&["switch", "--quiet", "--create", "elsewhere"]);
        }
        if self != Checkout::Clean {
            repo.write("README.md", "# A project, being edited\n");
            repo.write("untracked.txt", "not yet in git\n");
        }
    }

    /// Fails unless the checkout is what it was, or, where it may follow, at the branch's head; never a mix.
    pub(crate) fn check_not_mixed(self, world: &World, before: &Picture) {
        let now = Picture::take(world);
        if now == *before {
            return;
        }
        assert_eq!(self, Checkout::Clean, "a checkout that is not clean was touched");
        assert_shows_head(world);
    }

    /// Fails unless the checkout is what it should be when nothing is under way.
    pub(crate) fn check_at_rest(self, world: &World, before: &Picture) {
        match self {
            Checkout::Clean => assert_shows_head(world),
            Checkout::Edited | Checkout::Elsewhere => assert_eq!(Picture::take(world), *before),
        }
    }
}

impl Picture {
    /// Looks at the checkout without changing anything, not even the times kept in its index.
    pub(crate) fn take(world: &World) -> Self {
        let repo = &world.project.repo;
        Picture {
            files: fingerprint(world.project.path()),
            index: repo.git(&["ls-files", "--stage"]),
            branch: repo.git(&["symbolic-ref", "HEAD"]),
        }
    }
}

fn assert_shows_head(world: &World) {
    let repo = &world.project.repo;
    assert_eq!(
        repo.git(&["status", "--porcelain", "--untracked-files=all"]),
        "",
        "the checkout is not clean"
    );
    assert_eq!(repo.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
}
