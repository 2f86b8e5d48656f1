//! Submodules of a checkout move along, or are in the way.

use std::path::PathBuf;

use regatta_git::{CommitId, MergeOutcome, Reason};
use regatta_testkit::repo::{TestRepo, commit_in, fingerprint, git_in, write_below};

use crate::merge::{STEPS, merge_killed_after};
use crate::merge_checkout::{assert_merged, merge, obstacles};
use crate::world::{World, commit};

/// A project whose submodule `lib` has a second commit, and a task that moves it there.
struct Project {
    world: World,
    head: CommitId,
    lib: PathBuf,
    first: String,
    second: String,
    _upstream: TestRepo,
}

impl Project {
    async fn new() -> Self {
        let upstream = TestRepo::new();
        upstream.write("lib.txt", "1\n");
        let first = upstream.commit("one");
        let world = World::new().await;
        let url = upstream.path().to_str().expect("a path").to_owned();
        world.disk.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "lib"]);
        world.disk.commit("with a submodule");
        upstream.write("lib.txt", "2\n");
        upstream.write("new.txt", "2\n");
        let second = upstream.commit("two");
        let path = world.worktree("one").await;
        write_below(&path, "README.md", "changed\n");
        git_in(&path, &["update-index", "--cacheinfo", &format!("160000,{second},lib")]);
        git_in(&path, &["commit", "--quiet", "--all", "--message", "moved"]);
        let head = commit(&git_in(&path, &["rev-parse", "HEAD"]));
        let lib = world.disk.path().join("lib");
        Self { world, head, lib, first, second, _upstream: upstream }
    }

    fn fetch(&self) {
        git_in(&self.lib, &["-c", "protocol.file.allow=always", "fetch", "--quiet"]);
    }

    async fn assert_in_the_way(&self, why: &str) {
        let before = (fingerprint(self.world.disk.path()), self.world.refs());
        let found = obstacles(merge(&self.world, &self.head).await);
        assert_eq!((found.len(), found[0].reason), (1, Reason::Submodule), "{found:?}");
        assert_eq!(found[0].files, ["lib"]);
        assert!(found[0].why.contains(why), "{found:?}");
        assert_eq!((fingerprint(self.world.disk.path()), self.world.refs()), before);
    }

    fn assert_moved(&self) {
        assert_eq!(git_in(&self.lib, &["rev-parse", "HEAD"]), self.second);
        assert_eq!(std::fs::read_to_string(self.lib.join("lib.txt")).expect("a file"), "2\n");
        assert_eq!(self.world.disk.git(&["status", "--porcelain"]), "");
        assert_eq!(self.world.file("README.md"), "changed\n");
    }
}

#[tokio::test]
async fn a_clean_submodule_that_has_the_commit_moves_along() {
    let project = Project::new().await;
    project.fetch();
    assert_merged(&merge(&project.world, &project.head).await);
    project.assert_moved();
}

#[tokio::test]
async fn a_submodule_without_the_commit_is_in_the_way() {
    let project = Project::new().await;
    let why = format!("it does not have the commit {}", project.second);
    project.assert_in_the_way(&why).await;
    project.fetch();
    assert_merged(&merge(&project.world, &project.head).await);
}

#[tokio::test]
async fn a_submodule_with_edits_is_in_the_way() {
    let project = Project::new().await;
    project.fetch();
    write_below(&project.lib, "README.md", "mine\n");
    project.assert_in_the_way("it has edits that are not committed (README.md)").await;
    git_in(&project.lib, &["add", "README.md"]);
    project.assert_in_the_way("it has edits that are not committed (README.md)").await;
    git_in(&project.lib, &["reset", "--quiet", "--hard"]);
    write_below(&project.lib, "lib.txt", "mine\n");
    project.assert_in_the_way("(lib.txt)").await;
    git_in(&project.lib, &["reset", "--quiet", "--hard"]);
    write_below(&project.lib, "new.txt", "mine\n");
    project.assert_in_the_way("(new.txt)").await;
}

#[tokio::test]
async fn a_submodule_that_stands_elsewhere_is_in_the_way() {
    let project = Project::new().await;
    project.fetch();
    write_below(&project.lib, "mine", "mine\n");
    commit_in(&project.lib, "mine");
    project.assert_in_the_way(&format!("another commit than {}", project.first)).await;
}

#[tokio::test]
async fn a_submodule_that_is_not_filled_has_nothing_to_move() {
    let project = Project::new().await;
    project.world.disk.git(&["submodule", "--quiet", "deinit", "lib"]);
    assert_merged(&merge(&project.world, &project.head).await);
    assert_eq!(project.world.disk.git(&["status", "--porcelain"]), "");
    assert_eq!(
        project.world.disk.git(&["ls-files", "--stage", "lib"]),
        format!("160000 {} 0\tlib", project.second)
    );
}

#[tokio::test]
async fn a_kill_after_any_step_leaves_the_submodule_ahead() {
    for step in STEPS {
        let project = Project::new().await;
        project.fetch();
        merge_killed_after(&project.world, &project.head, step).await;
        // Committing everything at this point never reverts the new commit to the old one.
        let staged = project.world.disk.git(&["ls-files", "--stage", "lib"]);
        let stands_at = git_in(&project.lib, &["rev-parse", "HEAD"]);
        assert!(stands_at == project.second || staged.contains(&project.first), "{step:?}");
        let outcome = merge(&project.world, &project.head).await;
        assert!(!matches!(outcome, MergeOutcome::InTheWay { .. }), "{step:?}: {outcome:?}");
        project.assert_moved();
    }
}

#[tokio::test]
async fn a_submodule_goes_back_with_its_branch_when_the_checkout_cannot_move() {
    let project = Project::new().await;
    project.fetch();
    let branch = git_in(&project.lib, &["symbolic-ref", "HEAD"]);
    let readme = project.world.disk.path().join("README.md");
    let observer = |step| {
        if step == regatta_git::MergeStep::SubmodulesMoved {
            std::fs::write(&readme, "mine\n").unwrap();
        }
    };
    let asked = crate::merge::request(&project.head);
    let outcome = project.world.repository.merge(&asked, &observer).await.expect("an outcome");
    assert_eq!(obstacles(outcome)[0].reason, Reason::Refused);
    assert_eq!(git_in(&project.lib, &["symbolic-ref", "HEAD"]), branch);
    assert_eq!(git_in(&project.lib, &["status", "--porcelain"]), "");
    assert_eq!(project.world.disk.git(&["status", "--porcelain"]), " M README.md");
}
