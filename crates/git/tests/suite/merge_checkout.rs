//! What a merge does to a checkout that stands on its target: it moves with its user's edits, or nothing moves.

use std::path::Path;

use regatta_git::{CommitId, MergeOutcome, MergeStep, Obstacle, Reason};
use regatta_testkit::repo::{commit_in, fingerprint, git_in, sealed_git, write_below};

use crate::merge::{STEPS, merge_killed_after, request};
use crate::world::{World, commit};

pub(crate) async fn merge(world: &World, head: &CommitId) -> MergeOutcome {
    world.repository.merge(&request(head), &|_| {}).await.expect("an outcome")
}

pub(crate) fn assert_merged(outcome: &MergeOutcome) {
    assert!(matches!(outcome, MergeOutcome::Merged { .. }), "{outcome:?}");
}

pub(crate) fn obstacles(outcome: MergeOutcome) -> Vec<Obstacle> {
    match outcome {
        MergeOutcome::InTheWay { obstacles } => obstacles,
        other => panic!("{other:?}"),
    }
}

/// A repository with `README.md`, `old`, `other` and a `.gitignore`, and a commit that changes the first, removes the
/// second, and adds `new/file` and the ignored `run.log`.
async fn with_work() -> (World, CommitId) {
    let world = World::new().await;
    world.disk.write("old", "x\n");
    world.disk.write("other", "x\n");
    world.disk.write(".gitignore", "*.log\n");
    world.disk.commit("old");
    let path = world.worktree("one").await;
    std::fs::remove_file(path.join("old")).expect("the file is there");
    write_below(&path, "README.md", "changed\n");
    write_below(&path, "new/file", "work\n");
    write_below(&path, "run.log", "forced\n");
    git_in(&path, &["add", "--force", "run.log"]);
    let head = commit(&commit_in(&path, "work"));
    (world, head)
}

/// Asserts that a merge into a checkout prepared by the test changes nothing and names the obstacle.
async fn assert_in_the_way(prepare: impl FnOnce(&Path, &World), reason: Reason, files: &[&str], why: &str) {
    let (world, head) = with_work().await;
    prepare(world.disk.path(), &world);
    let (before, refs) = (fingerprint(world.disk.path()), world.refs());
    let index = world.disk.git(&["ls-files", "--stage"]);
    for _ in 0..2 {
        let found = obstacles(merge(&world, &head).await);
        let [obstacle] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (obstacle.reason, obstacle.checkout.as_path()),
            (reason, world.disk.path()),
            "{obstacle:?}"
        );
        assert_eq!(obstacle.files, files, "{obstacle:?}");
        assert!(obstacle.why.contains(why), "{obstacle:?}");
        assert_eq!((fingerprint(world.disk.path()), world.refs()), (before.clone(), refs.clone()));
        assert_eq!(world.disk.git(&["ls-files", "--stage"]), index);
    }
}

#[tokio::test]
async fn edits_to_the_same_file_are_in_the_way() {
    let why = "edits to files that the merge changes";
    let edited = |files| (Reason::Edited, files, why);
    let (reason, files, why) = edited(&["README.md"][..]);
    assert_in_the_way(|root, _| write_below(root, "README.md", "mine\n"), reason, files, why).await;
    assert_in_the_way(|root, _| std::fs::remove_file(root.join("README.md")).unwrap(), reason, files, why)
        .await;
    let staged = |root: &Path, world: &World| {
        write_below(root, "README.md", "mine\n");
        world.disk.git(&["add", "README.md"]);
    };
    assert_in_the_way(staged, reason, files, why).await;
    // Staged, and then taken back in the folder: the index alone still has the edit.
    let staged_only = |root: &Path, world: &World| {
        staged(root, world);
        write_below(root, "README.md", "# A project\n");
    };
    assert_in_the_way(staged_only, reason, files, why).await;
    let removed = |_: &Path, world: &World| drop(world.disk.git(&["rm", "--quiet", "README.md"]));
    assert_in_the_way(removed, reason, files, why).await;
    let executable = |root: &Path, _: &World| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(root.join("README.md"), PermissionsExt::from_mode(0o755)).unwrap();
    };
    assert_in_the_way(executable, reason, files, why).await;
    let (reason, files, why) = edited(&["new/file"][..]);
    let added = |root: &Path, world: &World| {
        write_below(root, "new/file", "mine\n");
        world.disk.git(&["add", "new/file"]);
    };
    assert_in_the_way(added, reason, files, why).await;
}

#[tokio::test]
async fn untracked_and_ignored_files_are_in_the_way() {
    let why = "git does not track";
    let untracked = Reason::Untracked;
    assert_in_the_way(|root, _| write_below(root, "new/file", "mine\n"), untracked, &["new/file"], why).await;
    assert_in_the_way(|root, _| write_below(root, "new", "mine\n"), untracked, &["new"], why).await;
    assert_in_the_way(
        |root, _| write_below(root, "new/file/deep", "mine\n"),
        untracked,
        &["new/file/deep"],
        why,
    )
    .await;
    assert_in_the_way(|root, _| write_below(root, "run.log", "mine\n"), untracked, &["run.log"], why).await;
    let ignored_below = |root: &Path, _: &World| write_below(root, "new/file/x.log", "mine\n");
    assert_in_the_way(ignored_below, untracked, &["new/file/x.log"], why).await;
}

#[tokio::test]
async fn operations_in_progress_are_in_the_way() {
    fn diverge(root: &Path, world: &World) {
        world.disk.git(&["checkout", "--quiet", "-b", "side"]);
        write_below(root, "other", "side\n");
        world.disk.commit("side");
        world.disk.git(&["checkout", "--quiet", "main"]);
    }
    fn fail(root: &Path, arguments: &[&str]) {
        let output = sealed_git(root).args(arguments).output().expect("git runs");
        assert!(!output.status.success(), "{output:?}");
    }
    let merging = |root: &Path, world: &World| {
        diverge(root, world);
        world.disk.git(&["merge", "--quiet", "--no-ff", "--no-commit", "side"]);
    };
    assert_in_the_way(merging, Reason::Operation, &[], "a merge is in progress").await;
    let picking = |root: &Path, world: &World| {
        diverge(root, world);
        write_below(root, "other", "mine\n");
        world.disk.commit("mine");
        fail(root, &["cherry-pick", "side"]);
    };
    assert_in_the_way(picking, Reason::Operation, &[], "a cherry-pick is in progress").await;
    let rebasing = |root: &Path, world: &World| {
        diverge(root, world);
        write_below(root, "other", "mine\n");
        world.disk.commit("mine");
        fail(root, &["rebase", "side"]);
        assert_eq!(world.disk.git(&["branch", "--show-current"]), "", "a rebase detaches HEAD");
    };
    let why = "a rebase that began on the branch is in progress";
    assert_in_the_way(rebasing, Reason::Operation, &[], why).await;
    let applying = |root: &Path, world: &World| {
        diverge(root, world);
        write_below(root, "other", "mine\n");
        world.disk.commit("mine");
        fail(root, &["rebase", "--apply", "side"]);
    };
    assert_in_the_way(applying, Reason::Operation, &[], why).await;
    let bisecting = |_: &Path, world: &World| {
        world.disk.git(&["commit", "--quiet", "--allow-empty", "--message", "x"]);
        world.disk.git(&["commit", "--quiet", "--allow-empty", "--message", "y"]);
        world.disk.git(&["bisect", "start", "HEAD", "HEAD~2"]);
    };
    assert_in_the_way(bisecting, Reason::Operation, &[], "a bisect that began on the branch").await;
    let unresolved = |root: &Path, world: &World| {
        write_below(root, "other", "stashed\n");
        world.disk.git(&["stash", "--quiet"]);
        write_below(root, "other", "mine\n");
        world.disk.commit("mine");
        fail(root, &["stash", "pop"]);
    };
    assert_in_the_way(unresolved, Reason::Operation, &["other"], "conflicts that are not resolved").await;
}

#[tokio::test]
async fn an_index_that_someone_has_locked_is_in_the_way() {
    let lock = |root: &Path, _: &World| std::fs::write(root.join(".git/index.lock"), "").unwrap();
    assert_in_the_way(lock, Reason::Locked, &[], "index.lock").await;
}

#[tokio::test]
async fn a_filter_that_is_not_allowed_is_in_the_way_only_of_its_files() {
    let define = |_: &Path, world: &World| {
        world.disk.git(&["config", "filter.shout.smudge", "tr a-z A-Z"]);
        write_below(&world.disk.path().join(".git"), "info/attributes", "*.md filter=shout\n");
    };
    assert_in_the_way(define, Reason::Filter, &["README.md"], "`shout`, which is not allowed to run").await;
    let (world, head) = with_work().await;
    define(world.disk.path(), &world);
    write_below(&world.disk.path().join(".git"), "info/attributes", "other filter=shout\n");
    assert_merged(&merge(&world, &head).await);
}

#[tokio::test]
async fn an_allowed_filter_writes_the_checkout() {
    let (world, head) = with_work().await;
    world.disk.git(&["config", "filter.shout.smudge", "tr a-z A-Z"]);
    world.disk.git(&["config", "filter.shout.clean", "tr A-Z a-z"]);
    write_below(&world.disk.path().join(".git"), "info/attributes", "new/file filter=shout\n");
    let repository = world.repository.clone().allowing(&["shout".to_owned()], &[]).await.expect("allowed");
    let outcome = repository.merge(&request(&head), &|_| {}).await.expect("an outcome");
    assert_merged(&outcome);
    assert_eq!(world.file("new/file"), "WORK\n");
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn edits_to_other_files_stay_and_a_commit_keeps_the_merge() {
    let (world, head) = with_work().await;
    world.disk.write("staged", "staged\n");
    world.disk.git(&["add", "staged"]);
    world.disk.write("other", "staged\n");
    world.disk.git(&["add", "other"]);
    world.disk.write("other", "and edited\n");
    world.disk.write("untracked", "mine\n");
    world.disk.write("mine.log", "ignored\n");
    assert_merged(&merge(&world, &head).await);
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "MM other\nA  staged\n?? untracked");
    assert_eq!(world.disk.git(&["show", ":other"]), "staged");
    assert_eq!(
        (world.file("other"), world.file("mine.log")),
        ("and edited\n".to_owned(), "ignored\n".to_owned())
    );
    assert_eq!(
        (world.file("README.md"), world.file("new/file")),
        ("changed\n".to_owned(), "work\n".to_owned())
    );
    world.disk.git(&["commit", "--quiet", "--all", "--message", "mine"]);
    let taken = world.disk.git(&["show", "--name-only", "--format=", "HEAD"]);
    assert_eq!(taken, "other\nstaged", "the commit takes nothing of the merge back");
}

#[tokio::test]
async fn a_file_that_was_only_touched_is_no_edit() {
    let (world, head) = with_work().await;
    let file = std::fs::File::options().append(true).open(world.disk.path().join("README.md")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000))
        .unwrap();
    assert_merged(&merge(&world, &head).await);
    assert_eq!(world.file("README.md"), "changed\n");
}

#[tokio::test]
async fn a_file_may_become_a_folder_and_a_folder_a_file() {
    let world = World::new().await;
    world.disk.write("thing", "x\n");
    world.disk.write("folder/inside", "x\n");
    world.disk.commit("thing");
    let path = world.worktree("one").await;
    std::fs::remove_file(path.join("thing")).unwrap();
    std::fs::remove_dir_all(path.join("folder")).unwrap();
    write_below(&path, "thing/inside", "y\n");
    write_below(&path, "folder", "y\n");
    let head = commit(&commit_in(&path, "swapped"));
    world.disk.write("folder/mine", "mine\n");
    let found = obstacles(merge(&world, &head).await);
    assert_eq!(
        (found[0].reason, found[0].files.as_slice()),
        (Reason::Untracked, &["folder/mine".to_owned()][..])
    );
    std::fs::remove_file(world.disk.path().join("folder/mine")).unwrap();
    assert_merged(&merge(&world, &head).await);
    assert_eq!((world.file("thing/inside"), world.file("folder")), ("y\n".to_owned(), "y\n".to_owned()));
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_checkout_that_was_left_half_moved_is_finished() {
    let (world, head) = with_work().await;
    // As a git that was killed leaves it: some files are written, and the index is not.
    world.disk.write("README.md", "changed\n");
    world.disk.write("new/file", "work\n");
    std::fs::remove_file(world.disk.path().join("old")).unwrap();
    std::fs::write(world.disk.path().join(".git/index.lock"), "half").unwrap();
    assert_eq!(obstacles(merge(&world, &head).await)[0].reason, Reason::Locked);
    std::fs::remove_file(world.disk.path().join(".git/index.lock")).unwrap();
    assert_merged(&merge(&world, &head).await);
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "");
    assert_eq!(world.file("run.log"), "forced\n");
}

#[tokio::test]
async fn a_checkout_that_was_put_back_by_half_is_moved_again() {
    let (world, head) = with_work().await;
    world.disk.git(&["read-tree", "-m", "-u", "HEAD", head.as_str()]);
    world.disk.write("README.md", "# A project\n");
    std::fs::remove_file(world.disk.path().join("new/file")).unwrap();
    assert_merged(&merge(&world, &head).await);
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn work_begun_after_a_crash_stays_on_top_of_the_merge() {
    let (world, head) = with_work().await;
    merge_killed_after(&world, &head, MergeStep::CheckoutMoved).await;
    assert_eq!(world.disk.git(&["show", "main:README.md"]), "# A project", "the branch has not moved");
    assert_eq!(world.file("README.md"), "changed\n", "the checkout is ahead");
    world.disk.write("README.md", "changed, and mine\n");
    assert_merged(&merge(&world, &head).await);
    assert_eq!(world.file("README.md"), "changed, and mine\n");
    assert_eq!(world.disk.git(&["status", "--porcelain"]), " M README.md");
}

#[tokio::test]
async fn what_was_committed_after_a_crash_is_merged_into() {
    let (world, head) = with_work().await;
    merge_killed_after(&world, &head, MergeStep::CheckoutMoved).await;
    world.disk.write("other", "mine\n");
    world.disk.git(&["commit", "--quiet", "--all", "--message", "with the merge in it"]);
    assert_merged(&merge(&world, &head).await);
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "");
    assert_eq!((world.file("README.md"), world.file("other")), ("changed\n".to_owned(), "mine\n".to_owned()));
}

#[tokio::test]
async fn a_target_that_moved_after_a_crash_is_merged_into_without_losing_edits() {
    let (world, head) = with_work().await;
    merge_killed_after(&world, &head, MergeStep::CheckoutMoved).await;
    world.disk.write("other", "mine\n");
    let tree = world.disk.git(&["rev-parse", "HEAD^{tree}"]);
    let moved = world.disk.git(&["commit-tree", "-p", "HEAD", "-m", "someone else", &tree]);
    world.disk.git(&["update-ref", "refs/heads/main", &moved]);
    assert_merged(&merge(&world, &head).await);
    assert_eq!(world.disk.git(&["status", "--porcelain"]), " M other");
}

#[tokio::test]
async fn edits_survive_a_kill_after_any_step() {
    for step in STEPS {
        let (world, head) = with_work().await;
        world.disk.write("other", "staged\n");
        world.disk.git(&["add", "other"]);
        world.disk.write("other", "edited\n");
        merge_killed_after(&world, &head, step).await;
        let outcome = merge(&world, &head).await;
        assert!(
            matches!(outcome, MergeOutcome::Merged { .. } | MergeOutcome::AlreadyMerged { .. }),
            "{step:?}: {outcome:?}"
        );
        assert_eq!(world.disk.git(&["status", "--porcelain"]), "MM other", "{step:?}");
        assert_eq!(world.disk.git(&["show", ":other"]), "staged", "{step:?}");
        assert_eq!(world.file("README.md"), "changed\n", "{step:?}");
    }
}

#[tokio::test]
async fn a_file_with_the_very_same_content_is_not_in_the_way() {
    let (world, head) = with_work().await;
    world.disk.write("new/file", "work\n");
    world.disk.write("README.md", "changed\n");
    assert_merged(&merge(&world, &head).await);
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "");
}
