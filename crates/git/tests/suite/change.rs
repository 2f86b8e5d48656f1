//! Status and commits of a worktree.

use std::os::unix::fs::{PermissionsExt, symlink};

use regatta_git::{Error, Repository};
use regatta_testkit::repo::{TestRepo, commit_in, git_in, sealed_git, write_below};

use crate::world::{World, branch, committed, paths, signature, task};

async fn status(world: &World, path: &std::path::Path, ignore: &[&str]) -> Vec<String> {
    let entries = world.repository.status(path, &paths(ignore)).await.expect("a status");
    entries.iter().map(|entry| format!("{} {}", entry.code, entry.path)).collect()
}

async fn commit_all(world: &World, path: &std::path::Path, ignore: &[&str]) -> Option<regatta_git::CommitId> {
    let author = signature();
    let committed =
        world.repository.commit_all(path, &paths(ignore), &author, &author, "task 1, session 1").await;
    committed.expect("a commit or nothing")
}

#[tokio::test]
async fn status_lists_every_file_but_the_ignored() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    assert_eq!(status(&world, &path, &[]).await, [""; 0]);
    write_below(&path, "folder/a b\n\"c\"", "x");
    write_below(&path, ".env", "x");
    write_below(&path, ".envelope", "x");
    std::fs::remove_file(path.join("README.md")).unwrap();
    assert_eq!(
        status(&world, &path, &[".env"]).await,
        [".D README.md", "?? .envelope", "?? folder/a b\n\"c\""]
    );
}

#[tokio::test]
async fn everything_but_the_ignored_is_committed() {
    let world = World::new().await;
    world.disk.write("deleted", "x");
    world.disk.write("becomes-link/file", "x");
    world.disk.write("becomes-folder", "x");
    world.disk.write(".gitignore", "*.log\n");
    world.disk.commit("files");
    let path = world.worktree("one").await;
    write_below(&path, "README.md", "changed\n");
    std::fs::remove_file(path.join("deleted")).unwrap();
    std::fs::remove_dir_all(path.join("becomes-link")).unwrap();
    symlink("README.md", path.join("becomes-link")).unwrap();
    std::fs::remove_file(path.join("becomes-folder")).unwrap();
    write_below(&path, "becomes-folder/inside", "x");
    write_below(&path, "run.sh", "x");
    std::fs::set_permissions(path.join("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    write_below(&path, "x.log", "ignored by git");
    write_below(&path, ".env", "SECRET");
    // The agent staged what must not be committed.
    git_in(&path, &["add", "--force", ".env"]);

    let made = commit_all(&world, &path, &[".env"]).await.expect("a commit");
    assert_eq!(world.repository.head_of_worktree(&path).await.expect("a commit"), made);
    let listed = git_in(&path, &["diff-tree", "-r", "--no-renames", "--name-status", "HEAD^", "HEAD"]);
    let expected = "M\tREADME.md\nD\tbecomes-folder\nA\tbecomes-folder/inside\nA\tbecomes-link\nD\tbecomes-link/file\nD\tdeleted\nA\trun.sh";
    assert_eq!(listed, expected);
    assert!(git_in(&path, &["ls-tree", "HEAD", "run.sh"]).starts_with("100755"));
    assert!(git_in(&path, &["ls-tree", "HEAD", "becomes-link"]).starts_with("120000"));
    let author = git_in(&path, &["log", "-1", "--format=%an <%ae> %at %cn %s"]);
    assert_eq!(author, "Agent One <agent-one@example.com> 1750000000 Agent One task 1, session 1");
    assert_eq!(git_in(&path, &["status", "--porcelain"]), "?? .env");
    assert_eq!(commit_all(&world, &path, &[".env"]).await, None);
    assert_eq!(world.disk.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_tracked_file_that_is_ignored_keeps_its_committed_content() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    write_below(&path, "README.md", "staged\n");
    git_in(&path, &["add", "README.md"]);
    write_below(&path, "new", "x");
    let made = commit_all(&world, &path, &["README.md"]).await.expect("a commit");
    assert_eq!(committed(&path, &made, "README.md"), "# A project");
    assert_eq!(committed(&path, &made, "new"), "x");
}

#[tokio::test]
async fn files_of_a_nested_repository_are_committed_as_files() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    for nested in ["with-commit", "without-commit"] {
        write_below(&path, &format!("{nested}/deep/file"), nested);
        write_below(&path, &format!("{nested}/.gitignore"), "junk\n");
        write_below(&path, &format!("{nested}/junk"), "x");
        git_in(&path.join(nested), &["init", "--quiet"]);
    }
    commit_in(&path.join("with-commit"), "nested");
    let made = commit_all(&world, &path, &[]).await.expect("a commit");
    assert_eq!(committed(&path, &made, "with-commit/deep/file"), "with-commit");
    assert_eq!(committed(&path, &made, "without-commit/deep/file"), "without-commit");
    assert!(!git_in(&path, &["ls-tree", "-r", "HEAD"]).contains("junk"));
    assert_eq!(commit_all(&world, &path, &[]).await, None);
}

#[tokio::test]
async fn other_worktrees_inside_the_checkout_are_not_committed() {
    let world = World::new().await;
    let inside = world.disk.path().join("worktrees/one");
    let start = world.main_head().await;
    world.repository.ensure_worktree(&inside, &task("one"), &start).await.expect("it is made");
    assert_eq!(commit_all(&world, world.disk.path(), &[]).await, None);
}

#[tokio::test]
async fn a_merge_that_the_agent_began_is_concluded() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    write_below(&path, "README.md", "mine\n");
    commit_in(&path, "mine");
    world.disk.write("README.md", "theirs\n");
    let theirs = world.disk.commit("theirs");
    let merge = sealed_git(&path).args(["merge", "--quiet", "main"]).output().expect("git runs");
    assert!(!merge.status.success());
    write_below(&path, "README.md", "both\n");
    commit_all(&world, &path, &[]).await.expect("a commit");
    assert_eq!(git_in(&path, &["rev-parse", "HEAD^2"]), theirs);
    assert_eq!(git_in(&path, &["status", "--porcelain"]), "");
    assert_eq!(commit_all(&world, &path, &[]).await, None);
}

#[tokio::test]
async fn the_first_commit_of_a_repository_can_be_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let repository = Repository::init(folder.path(), &branch("main")).await.expect("it is made");
    let author = signature();
    let none = repository.commit_all(folder.path(), &[], &author, &author, "first").await.expect("nothing");
    assert_eq!(none, None);
    write_below(folder.path(), "file", "x");
    let first = repository.commit_all(folder.path(), &[], &author, &author, "first").await.expect("a commit");
    assert_eq!(repository.find_branch(&branch("main")).await.expect("a look-up"), first);
    assert!(first.is_some());
}

#[tokio::test]
async fn a_worktree_without_its_git_file_never_reaches_the_checkout_above() {
    let world = World::new().await;
    let inside = world.disk.path().join("worktrees/one");
    let start = world.main_head().await;
    world.repository.ensure_worktree(&inside, &task("one"), &start).await.expect("it is made");
    std::fs::remove_file(inside.join(".git")).unwrap();
    write_below(&inside, "new", "x");
    let made = commit_all(&world, &inside, &[]).await.expect("a commit");
    assert_eq!(world.main_head().await, start);
    assert_eq!(world.repository.find_branch(&task("one")).await.expect("a look-up"), Some(made));

    let elsewhere = world.repository.status(&world.disk.path().join("worktrees"), &[]).await;
    assert!(matches!(elsewhere, Err(Error::NotAWorktree { .. })));
}

#[tokio::test]
async fn sha256_repositories_work() {
    let world = World::around(TestRepo::with_init_arguments(&["--object-format=sha256"])).await;
    let path = world.worktree("one").await;
    write_below(&path, "new", "x");
    let made = commit_all(&world, &path, &[]).await.expect("a commit");
    assert_eq!(made.as_str().len(), 64);
    let base = world.main_head().await;
    assert_eq!(
        world.repository.resolve_commit(&made.as_str()[..12]).await.expect("a look-up"),
        Some(made.clone())
    );
    let diff = world.repository.diff(&base, &made).await.expect("a diff");
    assert_eq!((diff.files.len(), diff.lines_added), (1, 1));
    let request = crate::merge::request(&made);
    world.repository.merge(&request, &|_| {}).await.expect("a merge");
    assert_eq!(world.file("new"), "x");
    world.repository.remove_worktree(&path, &task("one")).await.expect("it is removed");
}
