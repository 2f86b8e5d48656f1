//! What a merge does to the checkout that stands on its target.

use std::path::Path;

use regatta_git::{Checkout, CommitId, MergeOutcome, MergeStep};
use regatta_testkit::repo::{fingerprint, sealed_git, write_below};

use crate::merge::request;
use crate::world::World;

async fn merge(world: &World, head: &CommitId) -> Checkout {
    match world.repository.merge(&request(head), &|_| {}).await.expect("a merge") {
        MergeOutcome::Merged { checkout, .. } => checkout,
        other => panic!("{other:?}"),
    }
}

/// Merges a commit that changes `README.md`, adds `new/file` and removes `old` into a checkout prepared by the test,
/// and asserts that the files and the index stay as they were.
async fn assert_left_alone(prepare: impl FnOnce(&Path, &World), reason: &str) {
    let world = World::new().await;
    world.disk.write("old", "x\n");
    world.disk.write(".gitignore", "*.log\n");
    world.disk.commit("old");
    let path = world.worktree("one").await;
    std::fs::remove_file(path.join("old")).expect("the file is there");
    write_below(&path, "README.md", "changed\n");
    write_below(&path, "new/file", "work\n");
    write_below(&path, "run.log", "forced\n");
    regatta_testkit::repo::git_in(&path, &["add", "--force", "run.log"]);
    let head = crate::world::commit(&regatta_testkit::repo::commit_in(&path, "work"));

    prepare(world.disk.path(), &world);
    let before = fingerprint(world.disk.path());
    let index = world.disk.git(&["ls-files", "--stage"]);
    let checkout = merge(&world, &head).await;
    let Checkout::LeftAlone { why, path } = &checkout else { panic!("{checkout:?}") };
    assert_eq!((why.as_str(), path.as_path()), (reason, world.disk.path()));
    assert_eq!(fingerprint(world.disk.path()), before);
    assert_eq!(world.disk.git(&["ls-files", "--stage"]), index);

    let again = world.repository.merge(&request(&head), &|_| {}).await.expect("a merge");
    assert!(
        matches!(again, MergeOutcome::AlreadyMerged { checkout: Checkout::LeftAlone { .. }, .. }),
        "{again:?}"
    );
    assert_eq!(fingerprint(world.disk.path()), before);
}

#[tokio::test]
async fn changed_files_are_left_alone() {
    let reason = "it has changes that are not committed";
    assert_left_alone(|root, _| write_below(root, "README.md", "mine\n"), reason).await;
    assert_left_alone(|root, _| std::fs::remove_file(root.join("old")).unwrap(), reason).await;
}

#[tokio::test]
async fn staged_changes_are_left_alone() {
    let prepare = |root: &Path, world: &World| {
        write_below(root, "staged", "mine\n");
        world.disk.git(&["add", "staged"]);
    };
    assert_left_alone(prepare, "it has staged changes").await;
}

#[tokio::test]
async fn untracked_files_in_the_way_are_left_alone() {
    let reason = |file: &str| format!("the merge would overwrite its untracked file {file}");
    assert_left_alone(|root, _| write_below(root, "new/file", "mine\n"), &reason("new/file")).await;
    assert_left_alone(|root, _| write_below(root, "new", "mine\n"), &reason("new/file")).await;
    assert_left_alone(|root, _| write_below(root, "new/file/deep", "mine\n"), &reason("new/file")).await;
    // Ignored files are the user's too, and git would overwrite them without a word.
    assert_left_alone(|root, _| write_below(root, "run.log", "mine\n"), &reason("run.log")).await;
}

#[tokio::test]
async fn a_merge_in_progress_is_left_alone() {
    let prepare = |root: &Path, world: &World| {
        world.disk.git(&["checkout", "--quiet", "-b", "side"]);
        write_below(root, "side", "x\n");
        world.disk.commit("side");
        world.disk.git(&["checkout", "--quiet", "main"]);
        world.disk.git(&["merge", "--quiet", "--no-ff", "--no-commit", "side"]);
    };
    assert_left_alone(prepare, "a merge is in progress").await;
}

#[tokio::test]
async fn an_index_that_someone_has_locked_is_left_alone() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("one", "1")]).await;
    let before = fingerprint(world.disk.path());
    std::fs::write(world.disk.path().join(".git/index.lock"), "").unwrap();
    let checkout = merge(&world, &head).await;
    assert!(
        matches!(&checkout, Checkout::LeftAlone { why, .. } if why.contains("index.lock")),
        "{checkout:?}"
    );
    assert_eq!(fingerprint(world.disk.path()), before);
}

#[tokio::test]
async fn a_file_that_was_only_touched_is_clean() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("README.md", "changed\n")]).await;
    let file = std::fs::File::options().append(true).open(world.disk.path().join("README.md")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000))
        .unwrap();
    assert!(matches!(merge(&world, &head).await, Checkout::FastForwarded { .. }));
    assert_eq!(world.file("README.md"), "changed\n");
}

#[tokio::test]
async fn untracked_files_elsewhere_do_not_matter() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("one", "1")]).await;
    world.disk.write("notes", "mine\n");
    assert!(matches!(merge(&world, &head).await, Checkout::FastForwarded { .. }));
    assert_eq!(world.file("notes"), "mine\n");
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "?? notes");
}

#[tokio::test]
async fn a_file_may_become_a_folder() {
    let world = World::new().await;
    world.disk.write("thing", "x\n");
    world.disk.commit("thing");
    let path = world.worktree("one").await;
    std::fs::remove_file(path.join("thing")).unwrap();
    write_below(&path, "thing/inside", "x\n");
    let head = crate::world::commit(&regatta_testkit::repo::commit_in(&path, "folder"));
    assert!(matches!(merge(&world, &head).await, Checkout::FastForwarded { .. }));
    assert_eq!(world.file("thing/inside"), "x\n");
}

#[tokio::test]
async fn a_checkout_elsewhere_is_not_there() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("one", "1")]).await;
    world.disk.git(&["checkout", "--quiet", "--detach"]);
    let before = fingerprint(world.disk.path());
    assert_eq!(merge(&world, &head).await, Checkout::NotThere);
    assert_eq!(fingerprint(world.disk.path()), before);
}

#[tokio::test]
async fn a_linked_worktree_on_the_target_follows_too() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("one", "1")]).await;
    world.disk.git(&["checkout", "--quiet", "--detach"]);
    let linked = world.disk.outside().join("linked");
    world.disk.git(&["worktree", "add", "--quiet", linked.to_str().unwrap(), "main"]);
    assert_eq!(merge(&world, &head).await, Checkout::FastForwarded { path: linked.clone() });
    assert_eq!(std::fs::read_to_string(linked.join("one")).unwrap(), "1");
}

#[tokio::test]
async fn work_begun_after_a_crash_is_not_overwritten_by_the_repeat() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("README.md", "merged\n")]).await;
    let (repository, asked) = (world.repository.clone(), request(&head));
    let killed = tokio::spawn(async move {
        repository
            .merge(&asked, &|step| assert!(step != MergeStep::RefSwapped, "killed on purpose"))
            .await
            .map(drop)
    });
    assert!(killed.await.is_err());
    world.disk.write("README.md", "mine\n");
    let outcome = world.repository.merge(&request(&head), &|_| {}).await.expect("a merge");
    assert!(matches!(outcome, MergeOutcome::AlreadyMerged { checkout: Checkout::LeftAlone { .. }, .. }));
    assert_eq!(world.file("README.md"), "mine\n");
}

#[tokio::test]
async fn a_bare_repository_has_no_checkout() {
    let world = World::new().await;
    let bare = world.disk.outside().join("bare.git");
    world.disk.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let repository = regatta_git::Repository::open(&bare).await.expect("it opens");
    assert_eq!(repository.root(), bare);
    let start = world.main_head().await;
    let path = world.place("bare");
    repository.ensure_worktree(&path, &crate::world::task("one"), &start).await.expect("it is made");
    write_below(&path, "one", "1");
    let head = crate::world::commit(&regatta_testkit::repo::commit_in(&path, "one"));
    let outcome = repository.merge(&request(&head), &|_| {}).await.expect("a merge");
    assert!(matches!(outcome, MergeOutcome::Merged { checkout: Checkout::NotThere, .. }));
    assert!(sealed_git(&bare).args(["cat-file", "-e", "main:one"]).status().unwrap().success());
}
