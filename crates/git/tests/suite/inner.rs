//! What an agent plants in git folders inside its worktree is gone before a person runs git there.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use regatta_git::Unclean;
use regatta_testkit::repo::{git_in, write_below, write_program};

use crate::world::World;

/// A worktree with a clone in it that the user made, and a program that leaves a trace when git runs it.
async fn prepare() -> (World, PathBuf, PathBuf, String) {
    let world = World::new().await;
    let path = world.worktree("one").await;
    let program = world.disk.outside().join("program");
    let canary = world.disk.outside().join("canary");
    write_program(&program, &format!("echo ran >> '{}'", canary.display()));
    make_clone(&path, "users");
    let own = "echo mine\n";
    write_below(&path, "users/.git/hooks/pre-push", own);
    git_in(&path.join("users"), &["config", "filter.mine.clean", "cat"]);
    world.repository.note_obeyed(&path, "session 1").await.expect("a note");
    (world, path, canary, program.display().to_string())
}

fn make_clone(path: &Path, name: &str) {
    std::fs::create_dir_all(path.join(name)).expect("a folder");
    let folder = path.join(name);
    git_in(&folder, &["init", "--quiet"]);
    git_in(&folder, &["commit", "--quiet", "--allow-empty", "-m", "one"]);
}

#[tokio::test]
async fn what_is_planted_is_removed_and_the_rest_stays() {
    let (world, path, canary, program) = prepare().await;
    // A clone among the files, with its commit in the index, so that `git status` looks into it.
    make_clone(&path, "clone");
    git_in(&path.join("clone"), &["config", "remote.origin.url", "https://example.com/x.git"]);
    git_in(&path, &["add", "clone", "users"]);
    write_program(&path.join("clone/.git/hooks/post-index-change"), "true");
    // One that the user had.
    git_in(&path.join("users"), &["config", "branch.main.remote", "origin"]);
    write_below(&path, "users/.git/hooks/pre-push", "echo planted\n");
    write_below(&path, "users/.git/info/attributes", "* filter=evil\n");
    // A submodule in the worktree's git folder.
    let git_dir = PathBuf::from(git_in(&path, &["rev-parse", "--absolute-git-dir"]).trim());
    make_clone(&path, "sub");
    std::fs::create_dir_all(git_dir.join("modules")).expect("a folder");
    std::fs::rename(path.join("sub/.git"), git_dir.join("modules/sub")).expect("a move");
    write_below(&path, "sub/.git", &format!("gitdir: {}\n", git_dir.join("modules/sub").display()));
    git_in(&path.join("sub"), &["config", "core.worktree", path.join("sub").to_str().expect("a path")]);
    git_in(&path, &["add", "sub"]);
    // One under another name, and one elsewhere.
    make_clone(&path, "odd");
    std::fs::rename(path.join("odd/.git"), path.join("odd/store")).expect("a move");
    write_below(&path, "odd/.git", "gitdir: store\n");
    git_in(&path, &["add", "odd"]);
    make_clone(world.disk.outside(), "elsewhere");
    let elsewhere = world.disk.outside().join("elsewhere/.git");
    write_below(&path, "far/.git", &format!("gitdir: {}\n", elsewhere.display()));
    std::fs::create_dir_all(path.join("linked")).expect("a folder");
    symlink(&elsewhere, path.join("linked/.git")).expect("a link");
    for folder in ["clone", "users", "sub", "odd"] {
        git_in(&path.join(folder), &["config", "core.fsmonitor", &program]);
    }
    write_below(&git_dir, "config.worktree", &format!("[core]\n\tfsmonitor = {program}\n"));
    let _ = std::fs::remove_file(&canary);

    let removed = world.repository.remove_planted(&path).await.expect("a look");
    assert_eq!(
        removed,
        [
            "far/.git",
            "linked/.git",
            "<git folder>/modules/sub/config (core.fsmonitor)",
            "clone/.git/config (core.fsmonitor)",
            "clone/.git/hooks/post-index-change",
            "odd/store/config (core.fsmonitor)",
            "users/.git/config (core.fsmonitor)",
            "users/.git/hooks/pre-push",
            "users/.git/info/attributes",
            "<git folder>/config.worktree",
        ]
    );
    git_in(&path, &["status", "--short"]);
    for folder in ["clone", "users", "sub", "odd"] {
        git_in(&path.join(folder), &["status", "--short"]);
        git_in(&path.join(folder), &["rev-parse", "--verify", "HEAD"]);
    }
    assert!(!canary.exists(), "git ran what was planted");
    let of =
        |folder: &str, key: &str| git_in(&path.join(folder), &["config", "--get", key]).trim().to_owned();
    assert_eq!(of("users", "filter.mine.clean"), "cat", "what the user had stays");
    assert_eq!(of("users", "branch.main.remote"), "origin", "and so does what runs nothing");
    assert_eq!(of("clone", "remote.origin.url"), "https://example.com/x.git");
    let hook = std::fs::read_to_string(path.join("users/.git/hooks/pre-push")).expect("a hook");
    assert_eq!(hook, "echo mine\n");
    // Nothing was noted since, so what a person does now is left alone.
    git_in(&path.join("clone"), &["config", "core.fsmonitor", "false"]);
    assert_eq!(world.repository.remove_planted(&path).await.expect("a look"), Vec::<String>::new());
}

#[tokio::test]
async fn ordinary_work_is_left_alone() {
    let (world, path, _, _) = prepare().await;
    make_clone(&path, "vendor/tool");
    git_in(&path.join("vendor/tool"), &["branch", "topic"]);
    git_in(&path.join("users"), &["commit", "--quiet", "--allow-empty", "-m", "two"]);
    let unclean = world.repository.list_unclean().await.expect("a list");
    let path = path.canonicalize().expect("the worktree is there");
    assert_eq!(unclean, [Unclean { worktree: path.clone(), worker: "session 1".to_owned() }]);
    assert_eq!(world.repository.remove_planted(&path).await.expect("a look"), Vec::<String>::new());
    assert_eq!(world.repository.list_unclean().await.expect("a list"), []);
}
