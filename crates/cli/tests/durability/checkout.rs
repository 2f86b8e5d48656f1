//! The user's checkouts in four situations, and whether a merge treated them as it must.

use crate::world::World;
use regatta_testkit::repo::{fingerprint, git_in, write_below};
use regatta_testkit::wait::until;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where the user's checkouts stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checkout {
    /// On the target branch, with nothing of its own.
    Clean,
    /// On the target branch, with an edit that is not committed and a file that git does not know.
    Edited,
    /// On another branch, with an edit too.
    Elsewhere,
    /// As edited, and beside it a linked worktree on the target branch, with an edit that is staged.
    Several,
}

/// One checkout at one moment: its files, its index and its branch.
#[derive(Debug, Clone, PartialEq, Eq)]
struct View {
    files: BTreeMap<PathBuf, (u32, Vec<u8>)>,
    index: String,
    branch: String,
}

/// All checkouts at one moment, and the head of the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    views: Vec<View>,
    target: String,
}

impl Checkout {
    /// Brings the checkouts into the situation.
    pub(crate) fn prepare(self, world: &World) {
        let repo = &world.project.repo;
        if self == Checkout::Elsewhere {
            repo.git(&["switch", "--quiet", "--create", "elsewhere"]);
        }
        if self != Checkout::Clean {
            repo.write("README.md", "# A project, being edited\n");
            repo.write("untracked.txt", "not yet in git\n");
        }
        if self == Checkout::Several {
            let linked = linked(world);
            repo.git(&["worktree", "add", "--quiet", "--force", linked.to_str().expect("a path"), "main"]);
            write_below(&linked, "README.md", "# A project, staged\n");
            git_in(&linked, &["add", "README.md"]);
        }
    }

    /// Tells whether a merge passes a point in this situation.
    pub(crate) fn passes(self, point: &str) -> bool {
        let is_of_checkouts =
            ["merge_branch.submodules_moved", "merge_branch.checkout_moved"].contains(&point);
        self != Checkout::Elsewhere || !is_of_checkouts
    }

    /// Fails unless each checkout is what it was, with the target where it was, or shows the merge; never behind, and
    /// never a mix. What is the user's own stays in both cases.
    pub(crate) fn check_not_mixed(self, world: &World, before: &Picture) {
        let now = Picture::take(world);
        if self == Checkout::Elsewhere {
            assert_eq!(now.views, before.views);
            return;
        }
        for (view, before_view) in now.views.iter().zip(&before.views) {
            assert_eq!(view.branch, before_view.branch);
            if view == before_view {
                assert_eq!(now.target, before.target, "a checkout is behind its branch");
                continue;
            }
            let is_own = |(path, content): (&PathBuf, &(u32, Vec<u8>))| view.files.get(path) == Some(content);
            assert!(before_view.files.iter().all(is_own), "something of the user's is gone");
            assert!(before_view.index.lines().all(|line| view.index.contains(line)), "a staged edit is gone");
            for file in ["work-1.txt", "more-1.txt"] {
                assert!(
                    view.files.contains_key(Path::new(file)) && view.index.contains(file),
                    "half of a merge"
                );
            }
        }
    }

    /// Fails unless the checkouts are what they should be when nothing is under way.
    pub(crate) fn check_at_rest(self, world: &World, before: &Picture) {
        let status = |folder: &Path| git_in(folder, &["status", "--porcelain", "--untracked-files=all"]);
        let edited = " M README.md\n?? untracked.txt";
        match self {
            Checkout::Elsewhere => assert_eq!(Picture::take(world).views, before.views),
            Checkout::Clean => assert_eq!(status(world.project.path()), ""),
            Checkout::Edited => assert_eq!(status(world.project.path()), edited),
            Checkout::Several => {
                assert_eq!(status(world.project.path()), edited);
                assert_eq!(status(&linked(world)), "M  README.md");
            }
        }
    }
}

impl Picture {
    /// Looks at the checkouts without changing anything, not even the times kept in their indexes.
    pub(crate) fn take(world: &World) -> Self {
        let path = world.project.path();
        // A git that outlived its engine ends what it began.
        until("no git is at work in the checkout", || !path.join(".git/index.lock").exists());
        let folders = [path.to_path_buf(), linked(world)].into_iter().filter(|folder| folder.exists());
        Picture {
            views: folders.map(|folder| View::take(&folder)).collect(),
            target: world.project.repo.git(&["rev-parse", "main"]),
        }
    }
}

impl View {
    fn take(folder: &Path) -> Self {
        View {
            files: fingerprint(folder),
            index: git_in(folder, &["ls-files", "--stage"]),
            branch: git_in(folder, &["symbolic-ref", "HEAD"]),
        }
    }
}

fn linked(world: &World) -> PathBuf {
    world.project.repo.outside().join("linked")
}
