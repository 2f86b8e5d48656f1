//! Salvaging what a worktree holds.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use regatta_git::{Salvage, SalvageRequest};
use regatta_testkit::repo::{commit_in, fingerprint, git_in, sealed_git, write_below};

use crate::world::{World, branch, commit, committed, paths, ref_name, signature, task};

async fn request(world: &World, path: &Path, name: &str) -> SalvageRequest {
    SalvageRequest {
        worktree: path.to_path_buf(),
        branch: task(name),
        base: world.main_head().await,
        merged_into: branch("main"),
        prefix: ref_name("refs/regatta/salvage/12"),
        ignore: paths(&[".env"]),
        author: signature(),
        message: "salvage of task 12".to_owned(),
    }
}

async fn salvage(world: &World, path: &Path, name: &str) -> Option<Salvage> {
    let request = request(world, path, name).await;
    world.repository.salvage(&request).await.expect("a salvage or nothing")
}

#[tokio::test]
async fn every_kind_of_uncommitted_work_is_kept_and_nothing_is_touched() {
    let world = World::new().await;
    world.disk.write("deleted", "x");
    world.disk.write(".gitignore", "*.log\n");
    world.disk.commit("files");
    let path = world.worktree("one").await;
    write_below(&path, "README.md", "changed\n");
    write_below(&path, "staged", "staged");
    write_below(&path, "forced.log", "forced");
    git_in(&path, &["add", "--force", "staged", "forced.log"]);
    write_below(&path, "folder/untracked", "untracked");
    std::fs::remove_file(path.join("deleted")).unwrap();
    write_below(&path, "run.sh", "x");
    std::fs::set_permissions(path.join("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    symlink("/etc/hostname", path.join("link")).unwrap();
    write_below(&path, "x.log", "ignored");
    write_below(&path, ".env", "SECRET");
    let before = (fingerprint(&path), git_in(&path, &["status", "--porcelain"]), world.refs());

    let kept = salvage(&world, &path, "one").await.expect("a salvage");
    assert_eq!(kept.name.as_str(), "refs/regatta/salvage/12/1");
    assert_eq!(git_in(&path, &["status", "--porcelain"]), before.1);
    assert_eq!(fingerprint(&path), before.0);
    let listed = git_in(
        &path,
        &["diff-tree", "-r", "--name-status", &format!("{}^", kept.commit), kept.commit.as_str()],
    );
    assert_eq!(
        listed,
        "M\tREADME.md\nD\tdeleted\nA\tfolder/untracked\nA\tforced.log\nA\tlink\nA\trun.sh\nA\tstaged"
    );
    assert!(git_in(&path, &["ls-tree", kept.commit.as_str(), "run.sh"]).starts_with("100755"));
    assert!(git_in(&path, &["ls-tree", kept.commit.as_str(), "link"]).starts_with("120000"));
    assert_eq!(git_in(&path, &["rev-parse", &format!("{}^", kept.commit)]), world.main_head().await.as_str());

    assert_eq!(salvage(&world, &path, "one").await, Some(kept.clone()));
    let own = world.repository.common_dir().join("regatta/salvage");
    assert!(std::fs::read_dir(own).unwrap().next().is_none());
}

#[tokio::test]
async fn the_next_state_gets_the_next_number() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    let mut expected = Vec::new();
    for number in 1..=11 {
        write_below(&path, "file", &number.to_string());
        expected.push(salvage(&world, &path, "one").await.expect("a salvage"));
    }
    assert_eq!(expected[10].name.as_str(), "refs/regatta/salvage/12/11");
    let prefix = ref_name("refs/regatta/salvage/12");
    assert_eq!(world.repository.list_salvages(&prefix).await.expect("a list"), expected);
    let other = ref_name("refs/regatta/salvage/1");
    assert_eq!(world.repository.list_salvages(&other).await.expect("a list"), []);
}

#[tokio::test]
async fn unmerged_commits_are_kept_as_they_are() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("one", "1")]).await;
    let path = world.place("one");
    let kept = salvage(&world, &path, "one").await.expect("a salvage");
    assert_eq!(kept.commit, head);
    assert_eq!(salvage(&world, &path, "one").await, Some(kept));
    world.disk.git(&["merge", "--quiet", "task/one"]);
    assert_eq!(salvage(&world, &path, "one").await, None);
}

#[tokio::test]
async fn nothing_gives_nothing() {
    let world = World::new().await;
    let path = world.worktree("one").await;
    write_below(&path, ".env", "SECRET");
    assert_eq!(salvage(&world, &path, "one").await, None);
    let none = world.place("none");
    assert_eq!(salvage(&world, &none, "none").await, None);
    assert_eq!(world.disk.git(&["for-each-ref", "refs/regatta"]), "");
}

#[tokio::test]
async fn the_branch_is_kept_when_the_folder_is_gone() {
    let world = World::new().await;
    let head = world.task_commit("one", &[("one", "1")]).await;
    let path = world.place("one");
    std::fs::remove_dir_all(&path).unwrap();
    assert_eq!(salvage(&world, &path, "one").await.expect("a salvage").commit, head);
    std::fs::remove_dir_all(world.repository.common_dir().join("worktrees")).unwrap();
    assert_eq!(salvage(&world, &path, "one").await.expect("a salvage").commit, head);
}

#[tokio::test]
async fn files_are_kept_from_a_worktree_that_git_would_not_open() {
    type Damage = fn(&Path, &Path);
    let damages: [Damage; 5] = [
        |path, _| std::fs::remove_file(path.join(".git")).unwrap(),
        |path, _| {
            std::fs::remove_file(path.join(".git")).unwrap();
            git_in(path, &["init", "--quiet"]);
        },
        |_, entry| std::fs::remove_dir_all(entry).unwrap(),
        |_, entry| std::fs::write(entry.join("index"), "garbage").unwrap(),
        |_, entry| std::fs::write(entry.join("HEAD"), "garbage").unwrap(),
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let world = World::new().await;
        let head = world.task_commit("one", &[("one", "1")]).await;
        let path = world.place("one");
        write_below(&path, "uncommitted", "work");
        damage(&path, &world.repository.common_dir().join("worktrees/one"));
        let kept = salvage(&world, &path, "one").await.expect("a salvage");
        assert_eq!(committed(world.disk.path(), &kept.commit, "uncommitted"), "work", "damage {number}");
        assert_eq!(
            world.disk.git(&["rev-parse", &format!("{}^", kept.commit)]),
            head.as_str(),
            "damage {number}"
        );
        assert_eq!(world.disk.git(&["status", "--porcelain"]), "", "damage {number}");
    }
}

#[tokio::test]
async fn both_lines_are_kept_when_the_agent_left_its_branch() {
    let world = World::new().await;
    let on_branch = world.task_commit("one", &[("one", "1")]).await;
    let path = world.place("one");
    git_in(&path, &["checkout", "--quiet", "--detach", "main"]);
    write_below(&path, "aside", "x");
    let aside = commit(&commit_in(&path, "aside"));
    let kept = salvage(&world, &path, "one").await.expect("a salvage");
    for line in [&on_branch, &aside] {
        assert!(world.repository.is_ancestor(line, &kept.commit).await.expect("an answer"));
    }
    write_below(&path, "uncommitted", "x");
    let more = salvage(&world, &path, "one").await.expect("a salvage");
    for line in [&on_branch, &aside] {
        assert!(world.repository.is_ancestor(line, &more.commit).await.expect("an answer"));
    }
    assert_eq!(committed(&path, &more.commit, "uncommitted"), "x");
}

#[tokio::test]
async fn a_conflict_that_was_left_open_is_kept_as_it_stands() {
    let world = World::new().await;
    world.task_commit("one", &[("README.md", "mine\n")]).await;
    let path = world.place("one");
    world.disk.write("README.md", "theirs\n");
    world.disk.commit("theirs");
    assert!(!sealed_git(&path).args(["merge", "main"]).output().expect("git runs").status.success());
    let kept = salvage(&world, &path, "one").await.expect("a salvage");
    assert!(committed(&path, &kept.commit, "README.md").contains("<<<<<<<"));
    assert_eq!(git_in(&path, &["status", "--porcelain"]), "UU README.md");
}

#[tokio::test]
async fn what_a_salvage_holds_already_is_not_kept_again() {
    let world = World::new().await;
    world.task_commit("one", &[("committed", "x")]).await;
    let path = world.place("one");
    write_below(&path, "uncommitted", "y");
    let whole = salvage(&world, &path, "one").await.expect("a salvage");
    // An interrupted removal has taken the folder, and the branch alone is left.
    std::fs::remove_dir_all(&path).unwrap();
    assert_eq!(salvage(&world, &path, "one").await, Some(whole));
}
