//! What an agent can leave in its worktree, or without a sandbox in the git folder, leads no operation astray.

use std::os::unix::fs::symlink;
use std::path::Path;

use regatta_git::{CommitId, SalvageRequest};
use regatta_testkit::repo::{TestRepo, git_in, write_below, write_program};

use crate::world::{World, branch, ref_name, signature, task};

fn salvage_of(path: &Path, base: &CommitId) -> SalvageRequest {
    SalvageRequest {
        worktree: path.to_path_buf(),
        branch: task("one"),
        base: base.clone(),
        merged_into: branch("main"),
        prefix: ref_name("refs/regatta/salvage/1"),
        ignore: Vec::new(),
        author: signature(),
        message: "salvage".to_owned(),
    }
}

/// A repository elsewhere that runs a program whenever git looks at it.
fn trap(world: &World) -> (TestRepo, std::path::PathBuf) {
    let other = TestRepo::new();
    let canary = world.disk.outside().join("canary");
    let program = other.outside().join("program");
    write_program(&program, &format!("echo ran >> '{}'", canary.display()));
    other.git(&["config", "core.fsmonitor", program.to_str().expect("a path")]);
    (other, canary)
}

#[tokio::test]
async fn a_replaced_git_file_is_not_followed() {
    let world = World::new().await;
    let (other, canary) = trap(&world);
    let before = other.git(&["rev-parse", "HEAD"]);
    let gitdir = format!("gitdir: {}\n", other.path().join(".git").display());
    let author = signature();
    for number in 0..3 {
        let path = world.worktree("one").await;
        let place = path.join(".git");
        std::fs::remove_file(&place).expect("it is removed");
        match number {
            0 => std::fs::write(&place, &gitdir).expect("another file"),
            1 => symlink(other.path().join(".git"), &place).expect("a symlink"),
            _ => {
                std::fs::create_dir(&place).expect("a folder");
                write_below(
                    &path,
                    ".git/config",
                    &std::fs::read_to_string(other.path().join(".git/config")).expect("a config"),
                );
                write_below(&path, ".git/HEAD", "ref: refs/heads/main\n");
            }
        }
        write_below(&path, "new", "x\n");
        let repository = &world.repository;
        let names: Vec<String> = repository
            .status(&path, &[])
            .await
            .expect("a status")
            .into_iter()
            .map(|entry| entry.path)
            .collect();
        assert_eq!(names, ["new"], "case {number}");
        let base = world.main_head().await;
        repository.salvage(&salvage_of(&path, &base)).await.expect("a salvage").expect("there is work");
        let made = repository.commit_all(&path, &[], &author, &author, "work").await.expect("a commit");
        let made = made.expect("there is work");
        assert_eq!(repository.find_branch(&task("one")).await.expect("a look-up"), Some(made.clone()));
        assert_eq!(world.disk.git(&["ls-tree", "-r", "--name-only", made.as_str()]), "README.md\nnew");
        repository.remove_worktree(&path, &task("one")).await.expect("it is removed");
    }
    assert_eq!(other.git(&["-c", "core.fsmonitor=false", "rev-parse", "HEAD"]), before);
    assert!(!canary.exists());
}

#[tokio::test]
async fn an_entry_that_leads_to_another_repository_is_not_followed() {
    let world = World::new().await;
    let (other, canary) = trap(&world);
    let path = world.worktree("one").await;
    write_below(&path, "new", "x\n");
    let entry = world.disk.path().join(".git/worktrees/one/commondir");
    std::fs::write(entry, other.path().join(".git").display().to_string()).expect("it leads elsewhere");
    let author = signature();
    assert!(world.repository.status(&path, &[]).await.is_err());
    assert!(world.repository.commit_all(&path, &[], &author, &author, "work").await.is_err());
    let kept =
        world.repository.salvage(&salvage_of(&path, &world.main_head().await)).await.expect("a salvage");
    let kept = kept.expect("there is work");
    assert_eq!(world.disk.git(&["show", &format!("{}:new", kept.commit)]), "x");
    world.repository.remove_worktree(&path, &task("one")).await.expect("it is removed");
    assert!(!canary.exists());
}

#[tokio::test]
async fn a_symlink_is_committed_as_a_link_and_never_as_what_it_points_to() {
    let world = World::new().await;
    world.disk.write("folder/file", "mine\n");
    world.disk.commit("a folder");
    let secret = world.disk.outside().join("secret");
    write_below(&secret, "file", "secret\n");
    let path = world.worktree("one").await;
    symlink(secret.join("file"), path.join("link")).expect("a symlink");
    std::fs::remove_file(path.join("README.md")).expect("removed");
    symlink(secret.join("file"), path.join("README.md")).expect("a symlink in place of a file");
    std::fs::remove_dir_all(path.join("folder")).expect("removed");
    symlink(&secret, path.join("folder")).expect("a symlink in place of a folder");
    world.disk.git(&["config", "core.symlinks", "false"]);
    let base = world.main_head().await;
    let kept = world.repository.salvage(&salvage_of(&path, &base)).await.expect("a salvage").expect("work");
    let author = signature();
    let made = world.repository.commit_all(&path, &[], &author, &author, "work").await.expect("a commit");
    for commit in [kept.commit, made.expect("there is work")] {
        let tree = world.disk.git(&["ls-tree", "-r", commit.as_str()]);
        assert_eq!(tree.lines().filter(|line| line.starts_with("120000")).count(), 3, "{tree}");
        assert_eq!(tree.lines().count(), 3, "{tree}");
        let patch = world.repository.patch(&base, &commit, 10_000).await.expect("a patch");
        let patch = String::from_utf8_lossy(&patch.text).into_owned();
        assert!(!patch.contains("+secret\n"), "{patch}");
    }
}

#[tokio::test]
async fn history_that_is_told_differently_is_not_believed() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("new", "x\n")]).await;
    let main = world.main_head().await;
    // A graft and a replacement, each of which makes main a descendant of the task's commit.
    world.disk.write(".git/info/grafts", &format!("{main} {head}\n"));
    let tree = world.disk.git(&["rev-parse", "main^{tree}"]);
    let replaced = world.disk.git(&["commit-tree", &tree, "-p", head.as_str(), "-m", "x"]);
    world.disk.git(&["update-ref", &format!("refs/replace/{main}"), &replaced]);
    assert!(!world.repository.is_ancestor(&head, &main).await.expect("an answer"));
}

#[tokio::test]
async fn a_folder_that_says_it_is_another_does_not_move_ours() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    let elsewhere = world.disk.outside().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    world.disk.git(&["config", "core.worktree", elsewhere.to_str().expect("a path")]);
    write_below(&path, "new", "x\n");
    let author = signature();
    let made = world.repository.commit_all(&path, &[], &author, &author, "work").await.expect("a commit");
    assert!(made.is_some());
    let submodule = "[submodule \"x\"]\n\tpath = sub\n\turl = ext::touch canary\n\tupdate = !touch canary\n";
    write_below(&path, ".gitmodules", submodule);
    let id = "1".repeat(40);
    git_in(&path, &["update-index", "--add", "--cacheinfo", &format!("160000,{id},sub")]);
    let made = world.repository.commit_all(&path, &[], &author, &author, "more").await.expect("a commit");
    let merged = world.repository.merge(&crate::merge::request(&made.expect("work")), &|_| {}).await;
    merged.expect("a merge");
    world.repository.remove_worktree(&path, &task("one")).await.expect("it is removed");
    assert_eq!(std::fs::read_dir(&elsewhere).expect("a folder").count(), 0);
    assert!(!world.disk.path().join("canary").exists() && !world.disk.path().join("sub/canary").exists());
}
