//! What a merge does when there are several checkouts of its target, or special ones.

use std::path::{Path, PathBuf};

use regatta_git::{MergeOutcome, MergeStep, Reason, Repository};
use regatta_testkit::repo::{TestRepo, commit_in, fingerprint, git_in, sealed_git, write_below};

use crate::merge::{STEPS, merge_killed_after, request};
use crate::merge_checkout::{assert_merged, merge, obstacles};
use crate::world::{World, commit, task};

/// Adds a linked worktree that stands on `main` too.
fn link(world: &World, name: &str) -> PathBuf {
    let path = world.disk.outside().join(name);
    world.disk.git(&["worktree", "add", "--quiet", "--force", path.to_str().expect("a path"), "main"]);
    path
}

fn read(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).expect("the file can be read")
}

#[tokio::test]
async fn every_checkout_moves() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("README.md", "changed\n"), ("new", "1\n")]).await;
    let (one, two) = (link(&world, "linked-1"), link(&world, "linked-2"));
    write_below(&two, "mine", "mine\n");
    git_in(&two, &["add", "mine"]);
    let outcome = merge(&world, &head).await;
    let MergeOutcome::Merged { checkouts, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(checkouts, [world.disk.path(), &one, &two]);
    for path in [world.disk.path(), &one, &two] {
        assert_eq!((read(path, "README.md"), read(path, "new")), ("changed\n".to_owned(), "1\n".to_owned()));
    }
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "");
    assert_eq!(git_in(&one, &["status", "--porcelain"]), "");
    assert_eq!(git_in(&two, &["status", "--porcelain"]), "A  mine");
}

#[tokio::test]
async fn if_one_has_something_in_the_way_none_moves() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("README.md", "changed\n")]).await;
    let linked = link(&world, "linked");
    write_below(&linked, "README.md", "mine\n");
    let (before, refs) = (fingerprint(world.disk.path()), world.refs());
    let found = obstacles(merge(&world, &head).await);
    assert_eq!((found.len(), found[0].reason, &found[0].checkout), (1, Reason::Edited, &linked));
    assert_eq!((fingerprint(world.disk.path()), world.refs()), (before, refs));
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn those_that_moved_go_back_when_a_later_one_refuses() {
    let world = World::new().await;
    world.disk.write("gone", "x\n");
    world.disk.write("other", "x\n");
    world.disk.commit("base");
    let path = world.worktree("one").await;
    std::fs::remove_file(path.join("gone")).unwrap();
    write_below(&path, "README.md", "changed\n");
    write_below(&path, "new/file", "1\n");
    write_below(&path, "same", "same\n");
    let head = commit(&commit_in(&path, "work"));
    let linked = link(&world, "linked");
    world.disk.write("other", "staged\n");
    world.disk.git(&["add", "other"]);
    world.disk.write("same", "same\n");
    let (before, refs) = (fingerprint(world.disk.path()), world.refs());
    let index = world.disk.git(&["ls-files", "--stage"]);
    // Both were judged; then the user of the second edits a file.
    let observer = |step| {
        if step == MergeStep::CheckoutMoved {
            write_below(&linked, "README.md", "mine\n");
        }
    };
    let outcome = world.repository.merge(&request(&head), &observer).await.expect("an outcome");
    let found = obstacles(outcome);
    assert_eq!(
        (found.len(), found[0].reason, &found[0].checkout),
        (1, Reason::Refused, &linked),
        "{found:?}"
    );
    assert_eq!((fingerprint(world.disk.path()), world.refs()), (before, refs));
    assert_eq!(world.disk.git(&["ls-files", "--stage"]), index);
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "M  other\n?? same");
    assert_eq!(read(&linked, "README.md"), "mine\n");
    git_in(&linked, &["checkout", "--quiet", "--", "README.md"]);
    assert_merged(&merge(&world, &head).await);
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "M  other");
}

#[tokio::test]
async fn a_kill_between_two_checkouts_is_finished() {
    for step in STEPS {
        let world = World::new().await;
        let head = world.task_commit("one", &[("README.md", "changed\n"), ("new", "1\n")]).await;
        let linked = link(&world, "linked");
        write_below(&linked, "mine", "mine\n");
        merge_killed_after(&world, &head, step).await;
        merge(&world, &head).await;
        assert_eq!(world.disk.git(&["status", "--porcelain"]), "", "{step:?}");
        assert_eq!(git_in(&linked, &["status", "--porcelain"]), "?? mine", "{step:?}");
        assert_eq!(
            (read(&linked, "new"), world.file("new")),
            ("1\n".to_owned(), "1\n".to_owned()),
            "{step:?}"
        );
    }
}

#[tokio::test]
async fn a_sparse_checkout_stays_sparse() {
    let world = World::new().await;
    world.disk.write("in/file", "x\n");
    world.disk.write("out/file", "x\n");
    world.disk.commit("base");
    let head =
        world.task_commit("one", &[("in/new", "1\n"), ("out/file", "changed\n"), ("out/new", "1\n")]).await;
    let linked = link(&world, "linked");
    git_in(&linked, &["sparse-checkout", "set", "in"]);
    write_below(&linked, "in/file", "mine\n");
    assert!(!linked.join("out").exists());
    assert_merged(&merge(&world, &head).await);
    assert_eq!(read(&linked, "in/new"), "1\n");
    assert!(!linked.join("out").exists(), "what is left out stays out");
    assert_eq!(git_in(&linked, &["status", "--porcelain"]), " M in/file");
    assert_eq!(git_in(&linked, &["show", ":out/new"]), "1");
    assert_eq!(world.file("out/file"), "changed\n");
}

#[tokio::test]
async fn a_detached_head_and_another_branch_have_nothing_to_move() {
    for words in [&["checkout", "--quiet", "--detach"][..], &["checkout", "--quiet", "-b", "mine"]] {
        let world = World::new().await;
        let head = world.task_commit("one", &[("one", "1")]).await;
        world.disk.git(words);
        world.disk.write("one", "mine\n");
        let before = fingerprint(world.disk.path());
        let outcome = merge(&world, &head).await;
        assert!(
            matches!(&outcome, MergeOutcome::Merged { checkouts, .. } if checkouts.is_empty()),
            "{outcome:?}"
        );
        assert_eq!(fingerprint(world.disk.path()), before);
    }
}

#[tokio::test]
async fn a_rebase_of_a_linked_worktree_that_moves_the_target_is_in_the_way() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("one", "1")]).await;
    world.disk.git(&["checkout", "--quiet", "-b", "elsewhere"]);
    let linked = link(&world, "linked");
    write_below(&linked, "README.md", "mine\n");
    commit_in(&linked, "mine");
    world.disk.write("README.md", "theirs\n");
    world.disk.commit("theirs");
    assert!(!sealed_git(&linked).args(["rebase", "elsewhere"]).output().unwrap().status.success());
    let found = obstacles(merge(&world, &head).await);
    assert_eq!((found[0].reason, &found[0].checkout), (Reason::Operation, &linked));
    git_in(&linked, &["rebase", "--abort"]);
    assert_merged(&merge(&world, &head).await);
}

#[tokio::test]
async fn a_deleted_linked_worktree_is_no_checkout_unless_it_is_locked() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("one", "1")]).await;
    let linked = link(&world, "linked");
    world.disk.git(&["worktree", "lock", linked.to_str().unwrap()]);
    std::fs::remove_dir_all(&linked).unwrap();
    let found = obstacles(merge(&world, &head).await);
    assert_eq!((found[0].reason, &found[0].checkout), (Reason::Missing, &linked));
    world.disk.git(&["worktree", "unlock", linked.to_str().unwrap()]);
    assert_merged(&merge(&world, &head).await);
}

#[tokio::test]
async fn a_repository_with_reftables_works_too() {
    let world = World::around(TestRepo::with_init_arguments(&["--ref-format=reftable"])).await;
    let head = world.task_commit("one", &[("README.md", "changed\n")]).await;
    let linked = link(&world, "linked");
    world.disk.write("README.md", "mine\n");
    assert_eq!(obstacles(merge(&world, &head).await)[0].reason, Reason::Edited);
    world.disk.git(&["checkout", "--quiet", "--", "README.md"]);
    merge_killed_after(&world, &head, MergeStep::CheckoutMoved).await;
    assert_merged(&merge(&world, &head).await);
    assert_eq!(read(&linked, "README.md"), "changed\n");
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_bare_repository_has_only_linked_checkouts() {
    let world = World::new().await;
    let bare = world.disk.outside().join("bare.git");
    world.disk.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let repository = Repository::open(&bare).await.expect("it opens");
    let start = world.main_head().await;
    let path = world.place("bare");
    repository.ensure_worktree(&path, &task("one"), &start).await.expect("it is made");
    write_below(&path, "one", "1");
    let head = commit(&commit_in(&path, "one"));
    let linked = world.disk.outside().join("linked");
    git_in(&bare, &["worktree", "add", "--quiet", linked.to_str().unwrap(), "main"]);
    let outcome = repository.merge(&request(&head), &|_| {}).await.expect("a merge");
    assert!(
        matches!(&outcome, MergeOutcome::Merged { checkouts, .. } if *checkouts == [linked.clone()]),
        "{outcome:?}"
    );
    assert_eq!(read(&linked, "one"), "1");
}
