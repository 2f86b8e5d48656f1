//! Removing worktrees in every shape an agent may leave them in.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use regatta_git::Error;
use regatta_testkit::repo::{git_in, write_below};

use crate::world::{World, branch, task};

async fn assert_removed(world: &World, path: &Path, name: &str) {
    for _ in 0..2 {
        world.repository.remove_worktree(path, &task(name)).await.expect("it is removed");
        assert!(path.symlink_metadata().is_err());
        assert_eq!(world.repository.find_branch(&task(name)).await.expect("a look-up"), None);
        assert_eq!(world.repository.list_worktrees().await.expect("a list").len(), 1);
    }
    assert!(!world.repository.common_dir().join("worktrees").exists());
    let again = world.worktree(name).await;
    assert_eq!(git_in(&again, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_worktree_is_removed_with_its_files_and_its_branch() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    write_below(&path, "untracked", "x");
    write_below(&path, "protected/file", "x");
    std::fs::set_permissions(path.join("protected"), PermissionsExt::from_mode(0o500)).unwrap();
    assert_removed(&world, &path, "one").await;
}

#[tokio::test]
async fn a_locked_worktree_is_removed() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    world.disk.git(&["worktree", "lock", path.to_str().unwrap()]);
    assert_removed(&world, &path, "one").await;
}

#[tokio::test]
async fn a_worktree_whose_git_file_was_replaced_is_removed() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    std::fs::write(path.join(".git"), "gitdir: /nowhere\n").unwrap();
    assert_removed(&world, &path, "one").await;

    std::fs::remove_file(path.join(".git")).unwrap();
    git_in(&path, &["init", "--quiet"]);
    assert_removed(&world, &path, "one").await;
}

#[tokio::test]
async fn a_worktree_of_which_half_is_gone_is_removed() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    std::fs::remove_dir_all(&path).unwrap();
    assert_removed(&world, &path, "one").await;

    std::fs::remove_dir_all(world.repository.common_dir().join("worktrees")).unwrap();
    assert_removed(&world, &path, "one").await;

    world.disk.git(&["update-ref", "-d", "refs/heads/task/one"]);
    assert_removed(&world, &path, "one").await;
}

#[tokio::test]
async fn what_a_symlink_points_to_is_not_touched() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    let outside = world.disk.outside().join("outside");
    write_below(&outside, "precious", "x");
    symlink(&outside, path.join("link")).unwrap();
    assert_removed(&world, &path, "one").await;
    assert!(outside.join("precious").exists());

    std::fs::remove_dir_all(&path).unwrap();
    symlink(&outside, &path).unwrap();
    assert_removed(&world, &path, "one").await;
    assert!(outside.join("precious").exists());
}

#[tokio::test]
async fn the_main_worktree_and_what_holds_it_are_refused() {
    let world = World::new().await;
    let refs = world.refs();
    world.disk.git(&["branch", "spare"]);
    for place in
        [world.disk.path(), world.disk.outside(), Path::new("/"), &world.disk.path().join(".git/objects")]
    {
        let removed = world.repository.remove_worktree(place, &branch("spare")).await;
        assert!(matches!(removed, Err(Error::MainWorktree { .. })), "{}", place.display());
    }
    let in_use = world.repository.remove_worktree(&world.place("none"), &branch("main")).await;
    assert!(matches!(in_use, Err(Error::BranchInUse { .. })));
    world.disk.git(&["branch", "-D", "spare"]);
    assert_eq!(world.refs(), refs);
    assert!(world.disk.path().join("README.md").exists());
}

#[tokio::test]
async fn what_an_interrupted_call_had_moved_aside_is_removed() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    write_below(&path, "untracked", "x");
    let aside = path.with_file_name(".removing-one");
    std::fs::rename(&path, &aside).unwrap();
    assert_removed(&world, &path, "one").await;
    assert!(!aside.exists());
}
