//! What an agent makes inside a submodule is found, and kept when the worktree goes.

use std::path::{Path, PathBuf};

use regatta_git::{CommitId, Salvage, SalvageRequest, SubmoduleWork};
use regatta_testkit::repo::{TestRepo, commit_in, git_in, write_below};

use crate::world::{World, branch, ref_name, signature, task};

const ALLOW: [&str; 2] = ["-c", "protocol.file.allow=always"];

/// A project with the submodule `lib`, filled in the worktree of a task.
struct Project {
    world: World,
    base: CommitId,
    worktree: PathBuf,
    lib: PathBuf,
    _upstream: TestRepo,
}

impl Project {
    async fn new() -> Self {
        Self::with_update(&[]).await
    }

    async fn with_update(arguments: &[&str]) -> Self {
        let upstream = TestRepo::new();
        upstream.write("lib.txt", "1\n");
        upstream.commit("one");
        let world = World::new().await;
        let url = format!("file://{}", upstream.path().display());
        world.disk.git(&[&ALLOW[..], &["submodule", "--quiet", "add", &url, "lib"]].concat());
        world.disk.commit("with a submodule");
        let base = world.main_head().await;
        let worktree = world.worktree("one").await;
        let update = ["submodule", "--quiet", "update", "--init"];
        git_in(&worktree, &[&ALLOW[..], &update, arguments].concat());
        let lib = worktree.join("lib");
        Self { world, base, worktree, lib, _upstream: upstream }
    }

    async fn find(&self) -> Vec<SubmoduleWork> {
        self.world.repository.find_submodule_work(&self.worktree, &self.base).await.expect("a look")
    }

    async fn salvage(&self) -> Option<Salvage> {
        self.try_salvage().await.expect("a salvage or nothing")
    }

    async fn try_salvage(&self) -> Result<Option<Salvage>, regatta_git::Error> {
        let request = SalvageRequest {
            worktree: self.worktree.clone(),
            branch: task("one"),
            base: self.base.clone(),
            merged_into: branch("main"),
            prefix: ref_name("refs/regatta/salvage/12"),
            ignore: Vec::new(),
            author: signature(),
            message: "salvage of task 12\n".to_owned(),
        };
        self.world.repository.salvage(&request).await
    }

    /// Removes the worktree and everything that no ref leads to, then reads a file of the salvage's last parent.
    async fn read_after_removal(&self, kept: &Salvage, file: &str) -> String {
        self.world.repository.remove_worktree(&self.worktree, &task("one")).await.expect("removed");
        self.world.disk.git(&["reflog", "expire", "--expire=now", "--all"]);
        self.world.disk.git(&["gc", "--quiet", "--prune=now"]);
        self.world.disk.git(&["fsck", "--no-progress", "--strict"]);
        let parents = self.world.disk.git(&["log", "-1", "--format=%P", kept.commit.as_str()]);
        let last = parents.split(' ').next_back().expect("a parent").to_owned();
        self.world.disk.git(&["show", &format!("{last}:{file}")])
    }
}

fn assert_names(found: &[SubmoduleWork], commits: &[&str], edits: &[&str]) {
    let [work] = found else { panic!("{found:?}") };
    let subjects: Vec<&str> =
        work.commits.iter().map(|line| line.split_once(' ').expect("an id and a subject").1).collect();
    assert_eq!((work.path.as_str(), subjects.as_slice()), ("lib", commits));
    assert_eq!(work.edits, edits);
}

fn work_in(lib: &Path) -> String {
    write_below(lib, "lib.txt", "2\n");
    commit_in(lib, "two")
}

#[tokio::test]
async fn a_submodule_that_nobody_touched_has_no_work() {
    let project = Project::new().await;
    assert_eq!(project.find().await, []);
    assert_eq!(project.salvage().await, None);
}

#[tokio::test]
async fn commits_and_edits_are_found() {
    let project = Project::new().await;
    work_in(&project.lib);
    write_below(&project.lib, "new.txt", "new\n");
    assert_names(&project.find().await, &["two"], &["new.txt"]);
    // The project's own commit names the submodule's, and does not keep it.
    commit_in(&project.worktree, "names it");
    assert_names(&project.find().await, &["two"], &["new.txt"]);
}

#[tokio::test]
async fn commits_that_the_remote_or_the_user_has_are_no_work() {
    let project = Project::new().await;
    let made = work_in(&project.lib);
    let users = project.world.disk.path().join("lib");
    let from = project.lib.to_str().expect("a path");
    git_in(&users, &[&ALLOW[..], &["fetch", "--quiet", from, "HEAD:task-12"]].concat());
    assert_eq!(git_in(&users, &["rev-parse", "task-12"]), made);
    assert_eq!(project.find().await, []);
    let project = Project::new().await;
    work_in(&project.lib);
    git_in(&project.lib, &[&ALLOW[..], &["push", "--quiet", "origin", "HEAD:refs/heads/pushed"]].concat());
    assert_eq!(project.find().await, []);
}

#[tokio::test]
async fn commits_of_a_submodule_are_kept_by_the_salvage() {
    let project = Project::new().await;
    let made = work_in(&project.lib);
    let kept = project.salvage().await.expect("a salvage");
    assert_eq!(project.salvage().await.as_ref(), Some(&kept), "a repetition finds it");
    let message = project.world.disk.git(&["log", "-1", "--format=%B", kept.commit.as_str()]);
    assert!(message.contains(&format!("Submodule lib: {made}")), "{message}");
    assert_eq!(project.world.disk.git(&["rev-parse", &format!("{}:lib", kept.commit)]), made);
    assert_eq!(project.read_after_removal(&kept, "lib.txt").await, "2");
    // They come back by a fetch from the project.
    let users = project.world.disk.path().join("lib");
    let from = project.world.disk.path().to_str().expect("a path");
    git_in(&users, &[&ALLOW[..], &["fetch", "--quiet", from, &made]].concat());
    assert_eq!(git_in(&users, &["show", "FETCH_HEAD:lib.txt"]), "2");
}

#[tokio::test]
async fn edits_in_a_submodule_are_kept_by_the_salvage() {
    let project = Project::new().await;
    work_in(&project.lib);
    write_below(&project.lib, "new.txt", "new\n");
    write_below(&project.lib, "lib.txt", "3\n");
    let before = git_in(&project.lib, &["status", "--porcelain"]);
    let kept = project.salvage().await.expect("a salvage");
    assert_eq!(git_in(&project.lib, &["status", "--porcelain"]), before);
    assert_eq!(project.salvage().await.as_ref(), Some(&kept), "a repetition finds it");
    assert_eq!(project.read_after_removal(&kept, "new.txt").await, "new");
}

#[tokio::test]
async fn only_edits_without_a_commit_are_kept_too() {
    let project = Project::new().await;
    write_below(&project.lib, "lib.txt", "three\n");
    let kept = project.salvage().await.expect("a salvage");
    assert_eq!(project.read_after_removal(&kept, "lib.txt").await, "three");
}

#[tokio::test]
async fn commits_on_other_branches_and_stashes_are_kept() {
    let project = Project::new().await;
    git_in(&project.lib, &["switch", "--quiet", "--create", "side"]);
    work_in(&project.lib);
    git_in(&project.lib, &["checkout", "--quiet", "--detach", "HEAD^"]);
    write_below(&project.lib, "lib.txt", "stashed\n");
    git_in(&project.lib, &["stash", "--quiet"]);
    let kept = project.salvage().await.expect("a salvage");
    let parents = project.world.disk.git(&["log", "-1", "--format=%P", kept.commit.as_str()]);
    let contents: Vec<String> = parents
        .split(' ')
        .skip(1)
        .map(|parent| project.world.disk.git(&["show", &format!("{parent}:lib.txt")]))
        .collect();
    assert_eq!(contents, ["2", "stashed"]);
}

#[tokio::test]
async fn commits_are_kept_when_the_folder_is_gone() {
    let project = Project::new().await;
    work_in(&project.lib);
    std::fs::remove_dir_all(&project.worktree).unwrap();
    let kept = project.salvage().await.expect("a salvage");
    assert_eq!(project.read_after_removal(&kept, "lib.txt").await, "2");
}

#[tokio::test]
async fn a_salvage_that_was_interrupted_while_folders_went_is_found_again() {
    let project = Project::new().await;
    work_in(&project.lib);
    write_below(&project.lib, "new.txt", "new\n");
    let kept = project.salvage().await.expect("a salvage");
    std::fs::remove_dir_all(&project.worktree).unwrap();
    assert_eq!(project.salvage().await.as_ref(), Some(&kept));
    assert_eq!(project.read_after_removal(&kept, "new.txt").await, "new");
}

#[tokio::test]
async fn a_shallow_submodule_is_kept_without_its_history() {
    let project = Project::with_update(&["--depth", "1"]).await;
    assert_eq!(git_in(&project.lib, &["rev-parse", "--is-shallow-repository"]), "true");
    let made = work_in(&project.lib);
    write_below(&project.lib, "lib.txt", "3\n");
    commit_in(&project.lib, "three");
    let kept = project.salvage().await.expect("a salvage");
    assert_eq!(project.salvage().await.as_ref(), Some(&kept), "a repetition finds it");
    let log = project.world.disk.git(&["log", "--format=%B", &format!("{}^2", kept.commit)]);
    assert!(log.contains(&format!("Commit {made} of the submodule lib")), "{log}");
    assert_eq!(project.read_after_removal(&kept, "lib.txt").await, "3");
}

#[tokio::test]
async fn a_git_folder_elsewhere_is_not_looked_at() {
    let project = Project::new().await;
    let secret = TestRepo::new();
    secret.write("secret", "x\n");
    secret.commit("secret");
    std::fs::write(project.lib.join(".git"), format!("gitdir: {}\n", secret.path().join(".git").display()))
        .unwrap();
    let found = project.find().await;
    assert!(found.iter().all(|work| work.commits.iter().all(|line| !line.contains("secret"))), "{found:?}");
}

#[tokio::test]
async fn objects_of_another_repository_are_not_brought_in() {
    let secret = TestRepo::new();
    secret.write("secret", "x\n");
    let hidden = secret.commit("secret");
    let objects = secret.path().join(".git/objects");
    let project = Project::new().await;
    let git_dir = PathBuf::from(git_in(&project.lib, &["rev-parse", "--absolute-git-dir"]));
    std::fs::write(git_dir.join("objects/info/alternates"), format!("{}\n", objects.display())).unwrap();
    std::fs::write(git_dir.join("HEAD"), format!("{hidden}\n")).unwrap();
    let error = project.try_salvage().await.expect_err("it is refused");
    assert!(error.to_string().contains("outside of its git folder"), "{error}");
    assert!(project.worktree.exists());
}
