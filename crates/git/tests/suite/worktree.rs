//! Making and listing worktrees, and copying files into them.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use regatta_git::{Error, Repository};
use regatta_testkit::repo::{commit_in, git_in, write_below};

use crate::world::{World, branch, paths, task};

/// Asserts that a failed call left no folder, no entry and no branch.
async fn assert_nothing_left(world: &World, name: &str) {
    assert!(!world.disk.outside().join("worktrees").exists());
    assert_eq!(world.repository.list_worktrees().await.expect("a list").len(), 1);
    assert_eq!(world.repository.find_branch(&task(name)).await.expect("a look-up"), None);
    let entries = world.repository.common_dir().join("worktrees");
    assert!(is_empty(&entries));
    let notes = world.repository.common_dir().join("regatta/making");
    assert!(is_empty(&notes));
}

/// Tells whether a folder is missing or has nothing in it.
fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().next().is_none()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_worktrees_are_made_at_once() {
    let world = World::new().await;
    let start = world.main_head().await;
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..64 {
        // Half of them through a handle of their own, as another process would.
        let repository = match number % 2 {
            0 => world.repository.clone(),
            _ => Repository::open(world.disk.path()).await.expect("it opens"),
        };
        let (path, branch, start) =
            (world.place(&number.to_string()), task(&number.to_string()), start.clone());
        calls.spawn(async move { repository.ensure_worktree(&path, &branch, &start).await });
    }
    while let Some(call) = calls.join_next().await {
        call.expect("no panic").expect("the worktree is made");
    }
    let entries = world.repository.list_worktrees().await.expect("a list");
    assert_eq!(entries.len(), 65);
    assert!(
        entries.iter().all(|entry| entry.head == Some(start.clone()) && !entry.locked && !entry.prunable)
    );
    assert_eq!(world.repository.list_branches("task/").await.expect("a list").len(), 64);
    assert_eq!(git_in(&world.place("63"), &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_worktree_may_be_asked_for_again_and_keeps_its_work() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    write_below(&path, "new", "work");
    let done = commit_in(&path, "work");
    write_below(&path, "newer", "uncommitted");
    world.worktree("one").await;
    assert_eq!(world.repository.head_of_worktree(&path).await.expect("a commit").as_str(), done);
    assert!(path.join("newer").exists());
    assert_eq!(world.disk.git(&["config", "--list", "--local"]).matches("branch.").count(), 0);
}

#[tokio::test]
async fn a_folder_that_someone_deleted_is_made_again_from_its_branch() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    write_below(&path, "new", "work");
    let done = commit_in(&path, "work");
    std::fs::remove_dir_all(&path).expect("it is deleted");
    world.worktree("one").await;
    assert_eq!(world.repository.head_of_worktree(&path).await.expect("a commit").as_str(), done);
    assert_eq!(std::fs::read_to_string(path.join("new")).unwrap(), "work");
}

#[tokio::test]
async fn what_is_not_ours_is_refused_by_name() {
    let world = World::new().await;
    let start = world.main_head().await;
    let path = world.worktree("one").await;

    let other_branch = world.repository.ensure_worktree(&path, &task("two"), &start).await;
    assert!(
        matches!(other_branch, Err(Error::WorktreeElsewhere { found, .. }) if found == Some(task("one")))
    );
    let other_place = world.repository.ensure_worktree(&world.place("two"), &task("one"), &start).await;
    assert!(matches!(other_place, Err(Error::BranchTaken { .. })));
    let main = world.repository.ensure_worktree(world.disk.path(), &branch("main"), &start).await;
    assert!(matches!(main, Err(Error::PathTaken { .. })));

    std::fs::remove_file(path.join(".git")).expect("it is deleted");
    let broken = world.repository.ensure_worktree(&path, &task("one"), &start).await;
    assert!(matches!(broken, Err(Error::WorktreeBroken { .. })));
}

#[tokio::test]
async fn a_path_in_use_leaves_nothing_behind() {
    let world = World::new().await;
    let start = world.main_head().await;
    let blocked = world.disk.outside().join("file");
    std::fs::write(&blocked, "mine").expect("a file");
    let at_file = world.repository.ensure_worktree(&blocked, &task("one"), &start).await;
    assert!(matches!(at_file, Err(Error::PathTaken { .. })));
    let below_file = world.repository.ensure_worktree(&blocked.join("a/b"), &task("one"), &start).await;
    assert!(matches!(below_file, Err(Error::Io { .. })));
    assert_eq!(std::fs::read_to_string(&blocked).unwrap(), "mine");
    assert_nothing_left(&world, "one").await;
}

#[tokio::test]
async fn a_checkout_that_fails_leaves_nothing_behind() {
    let world = World::new().await;
    world.disk.write("big", "content that will be missing");
    let start = crate::world::commit(&world.disk.commit("second"));
    let blob = world.disk.git(&["rev-parse", "HEAD:big"]);
    let object = world.disk.path().join(".git/objects").join(&blob[..2]).join(&blob[2..]);
    std::fs::remove_file(object).expect("the object is there");

    let made = world.repository.ensure_worktree(&world.place("deep/one"), &task("one"), &start).await;
    assert!(matches!(made, Err(Error::Failed { .. })), "{made:?}");
    assert_nothing_left(&world, "one").await;

    let unknown = crate::world::commit(&"1".repeat(40));
    let made = world.repository.ensure_worktree(&world.place("one"), &task("one"), &unknown).await;
    assert!(matches!(made, Err(Error::Failed { .. })), "{made:?}");
    assert_nothing_left(&world, "one").await;
}

#[tokio::test]
async fn a_call_cut_short_at_any_moment_is_made_good_by_the_next() {
    let world = World::new().await;
    for number in 0..100 {
        world.disk.write(&format!("folder/{number}"), "some text\n");
    }
    world.disk.commit("many files");
    let start = world.main_head().await;
    for pause in 0..25 {
        let name = pause.to_string();
        let (place, branch) = (world.place(&name), task(&name));
        let call = world.repository.ensure_worktree(&place, &branch, &start);
        // Dropping the call kills git wherever it is.
        let _ = tokio::time::timeout(Duration::from_millis(pause), call).await;
        let path = world.worktree(&name).await;
        assert_eq!(git_in(&path, &["status", "--porcelain"]), "", "after {pause} ms");
        assert_eq!(world.repository.head_of_worktree(&path).await.expect("a commit"), start);
    }
    assert_eq!(world.repository.list_worktrees().await.expect("a list").len(), 26);
}

#[tokio::test]
async fn files_are_copied_only_where_nothing_stands() {
    let world = World::new().await;
    world.disk.write(".gitignore", ".env\nlocal/\nlink\nbehind\n");
    world.disk.commit("ignore");
    let path = world.worktree("one").await;
    world.disk.write(".env", "SECRET=1");
    std::fs::set_permissions(world.disk.path().join(".env"), PermissionsExt::from_mode(0o640)).unwrap();
    world.disk.write("local/deep/settings", "x");
    symlink("local/deep", world.disk.path().join("link")).unwrap();
    let files = paths(&[".env", "local/deep/settings", "link", "missing", "README.md"]);

    let copied = world.repository.copy_into(&files, &path).await.expect("a copy");
    assert_eq!(copied, paths(&[".env", "local/deep/settings", "link"]));
    assert_eq!(std::fs::read_link(path.join("link")).unwrap(), Path::new("local/deep"));
    assert_eq!(std::fs::read_to_string(path.join(".env")).unwrap(), "SECRET=1");
    assert_eq!(path.join(".env").metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(world.repository.copy_into(&files, &path).await.expect("a copy"), []);
}

#[tokio::test]
async fn a_link_that_leads_out_of_the_project_is_not_copied() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    world.disk.write("local/deep/settings", "x");
    let link = |target: &str, name: &str| symlink(target, world.disk.path().join(name)).unwrap();
    link("/etc/hostname", "absolute");
    link("../outside", "above");
    link("local/../../outside", "around");
    link("local", "behind");
    for name in ["absolute", "above", "around", "behind/deep/settings"] {
        let refused = world.repository.copy_into(&paths(&[name]), &path).await;
        assert!(matches!(refused, Err(Error::LinkRefused { .. })), "{name}: {refused:?}");
        assert!(path.join(name).symlink_metadata().is_err(), "{name}");
    }
}

#[tokio::test]
async fn a_copy_does_not_leave_the_worktree_through_a_symlink() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    let outside = world.disk.outside().join("outside");
    std::fs::create_dir(&outside).unwrap();
    symlink(&outside, path.join("local")).unwrap();
    symlink(outside.join("target"), path.join(".env")).unwrap();
    world.disk.write("local/settings", "x");
    world.disk.write(".env", "x");
    let copied =
        world.repository.copy_into(&paths(&["local/settings", ".env"]), &path).await.expect("a copy");
    assert_eq!(copied, []);
    assert!(std::fs::read_dir(&outside).unwrap().next().is_none());
    let elsewhere = world.repository.copy_into(&paths(&[".env"]), Path::new("/")).await;
    assert!(matches!(elsewhere, Err(Error::NotAWorktree { .. })));
}
