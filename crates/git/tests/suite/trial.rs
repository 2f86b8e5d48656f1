//! Trial merges: what they find, and that they leave nothing.

use regatta_git::CommitId;
use regatta_testkit::repo::{commit_in, fingerprint, write_below};

use crate::world::{World, branch, commit, task};

const BEFORE: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

/// A world with a file on main.
async fn world() -> World {
    let world = World::new().await;
    write_below(world.disk.path(), "a.txt", BEFORE);
    write_below(world.disk.path(), "b.txt", BEFORE);
    commit_in(world.disk.path(), "two files");
    world
}

fn objects(world: &World) -> String {
    world.disk.git(&["count-objects", "-v"])
}

async fn conflicts(world: &World, ours: &CommitId, theirs: &CommitId) -> Vec<String> {
    let trial = world.repository.begin_trial().await.expect("a trial");
    trial.find_conflicts(ours, theirs).await.expect("an answer")
}

#[tokio::test]
async fn a_trial_names_the_files_in_conflict_and_leaves_nothing() {
    let world = world().await;
    let one = world.task_commit("1", &[("a.txt", "one\n"), ("new.txt", "one\n")]).await;
    let two = world.task_commit("2", &[("a.txt", "two\n"), ("new.txt", "two\n"), ("b.txt", "2\n")]).await;
    let apart = world.task_commit("3", &[("c.txt", "three\n")]).await;
    let before = (world.refs(), objects(&world), fingerprint(world.disk.path()));
    assert_eq!(conflicts(&world, &one, &two).await, ["a.txt", "new.txt"]);
    assert_eq!(conflicts(&world, &two, &one).await, ["a.txt", "new.txt"]);
    assert_eq!(conflicts(&world, &one, &apart).await, [""; 0]);
    assert_eq!(conflicts(&world, &one, &world.main_head().await).await, [""; 0]);
    assert_eq!((world.refs(), objects(&world), fingerprint(world.disk.path())), before);
    assert!(!world.repository.common_dir().join("regatta/trial").exists());
}

#[tokio::test]
async fn changes_to_other_lines_of_a_file_are_no_conflict() {
    let world = world().await;
    let one = world.task_commit("1", &[("a.txt", &BEFORE.replace('1', "one"))]).await;
    let two = world.task_commit("2", &[("a.txt", &BEFORE.replace('9', "nine"))]).await;
    assert_eq!(conflicts(&world, &one, &two).await, [""; 0]);
}

#[tokio::test]
async fn a_file_that_one_renamed_and_the_other_deleted_is_found() {
    let world = world().await;
    let path = world.worktree("1").await;
    std::fs::rename(path.join("a.txt"), path.join("moved.txt")).expect("it can be renamed");
    let one = commit(&commit_in(&path, "renamed"));
    let path = world.worktree("2").await;
    std::fs::remove_file(path.join("a.txt")).expect("it can be removed");
    let two = commit(&commit_in(&path, "deleted"));
    let found = conflicts(&world, &one, &two).await;
    assert!(found.iter().any(|file| file == "moved.txt" || file == "a.txt"), "{found:?}");
}

#[tokio::test]
async fn a_merge_driver_that_is_not_allowed_does_not_run_and_conflicts() {
    let world = world().await;
    let mark = world.disk.outside().join("ran");
    world.disk.git(&["config", "merge.evil.driver", &format!("touch '{}'", mark.display())]);
    write_below(world.disk.path(), ".gitattributes", "a.txt merge=evil\n");
    commit_in(world.disk.path(), "attributes");
    let one = world.task_commit("1", &[("a.txt", &BEFORE.replace('1', "one"))]).await;
    let two = world.task_commit("2", &[("a.txt", &BEFORE.replace('9', "nine"))]).await;
    assert_eq!(conflicts(&world, &one, &two).await, ["a.txt"]);
    assert!(!mark.exists());
}

#[tokio::test]
async fn what_has_no_history_in_common_is_an_error_and_a_left_over_is_removed() {
    let world = world().await;
    let left = world.repository.common_dir().join("regatta/trial/12");
    std::fs::create_dir_all(&left).expect("a folder");
    let tree = world.disk.git(&["write-tree"]);
    let alone = commit(&world.disk.git(&["commit-tree", &tree, "-m", "alone"]));
    let trial = world.repository.begin_trial().await.expect("a trial");
    assert!(!left.exists());
    trial.find_conflicts(&alone, &world.main_head().await).await.expect_err("they do not merge");
}

#[tokio::test]
async fn heads_and_names_are_read_at_once_and_bounded() {
    let world = world().await;
    let main = world.main_head().await;
    let one = world.task_commit("1", &[("z", "1"), ("a b\n", "1"), ("d/e", "1")]).await;
    world.disk.git(&["branch", "tasks/1", "main"]);
    let asked = [task("1"), task("7"), branch("main"), branch("tasks")];
    let found = world.repository.find_branches(&asked).await.expect("the heads");
    assert_eq!(
        found.into_iter().collect::<Vec<_>>(),
        [(branch("main"), main.clone()), (task("1"), one.clone())]
    );
    let changed = |count| world.repository.changed_paths(&main, &one, count);
    assert_eq!(changed(10).await.expect("the names"), ["a b\n", "d/e", "z"]);
    assert_eq!(changed(2).await.expect("the names"), ["a b\n", "d/e"]);
    let none = world.repository.changed_paths(&one, &one, 10).await.expect("the names");
    assert_eq!(none, [""; 0]);
}
