//! Opening, names, look-ups, branches and pins.

use std::process::Stdio;

use regatta_git::{BranchName, Error, Repository};
use regatta_testkit::repo::{TestRepo, sealed_git};

use crate::world::{World, branch, commit, ref_name};

#[tokio::test]
async fn a_repository_is_found_from_below_and_from_a_linked_worktree() {
    let world = World::new().await;
    world.disk.write("a/b/file", "x");
    let below = Repository::open(&world.disk.path().join("a/b")).await.expect("it opens");
    assert_eq!(below.root(), world.disk.path());
    assert_eq!(below.common_dir(), world.disk.path().join(".git"));

    let linked = Repository::open(&world.worktree("one").await).await.expect("it opens");
    assert_eq!(linked.root(), world.disk.path());
    assert_eq!(linked.common_dir(), world.disk.path().join(".git"));
}

#[tokio::test]
async fn a_folder_without_a_repository_is_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = Repository::open(folder.path()).await.expect_err("there is no repository");
    assert!(
        matches!(&error, Error::NotARepository { path, .. } if path.ends_with(folder.path().file_name().unwrap()))
    );
    assert!(error.to_string().contains("not a git repository"), "{error}");
    assert!(matches!(Repository::open(&folder.path().join("missing")).await, Err(Error::Io { .. })));
}

#[tokio::test]
async fn a_new_repository_has_its_branch_and_no_commit() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("demo");
    let repository = Repository::init(&place, &branch("trunk")).await.expect("it is made");
    assert_eq!(repository.current_branch().await.expect("a look-up"), Some(branch("trunk")));
    assert_eq!(repository.find_branch(&branch("trunk")).await.expect("a look-up"), None);
    assert!(matches!(repository.head_of_worktree(&place).await, Err(Error::NoCommit { .. })));
}

#[tokio::test]
async fn a_detached_head_is_no_branch() {
    let world = World::new().await;
    assert_eq!(world.repository.current_branch().await.expect("a look-up"), Some(branch("main")));
    world.disk.git(&["checkout", "--quiet", "--detach"]);
    assert_eq!(world.repository.current_branch().await.expect("a look-up"), None);
}

#[tokio::test]
async fn a_ref_is_found_by_its_full_name_only() {
    let world = World::new().await;
    let head = world.main_head().await;
    // Git itself would take refs/heads/x for refs/heads/refs/heads/x.
    world.disk.git(&["update-ref", "refs/heads/refs/heads/x", head.as_str()]);
    assert_eq!(world.repository.find_branch(&branch("x")).await.expect("a look-up"), None);
    world.disk.git(&["tag", "-a", "-m", "a tag", "v1"]);
    assert_eq!(
        world.repository.find_commit(&ref_name("refs/tags/v1")).await.expect("a look-up"),
        Some(head.clone())
    );
    world.disk.git(&["tag", "tree", "HEAD^{tree}"]);
    assert_eq!(world.repository.find_commit(&ref_name("refs/tags/tree")).await.expect("a look-up"), None);
}

#[tokio::test]
async fn digits_name_a_commit_even_when_a_branch_has_that_name() {
    let world = World::new().await;
    let first = world.main_head().await;
    world.disk.write("more", "x");
    world.disk.commit("second");
    let digits = &first.as_str()[..8];
    world.disk.git(&["branch", digits]);
    let find = |text: String| {
        let repository = world.repository.clone();
        async move { repository.resolve_commit(&text).await.expect("a look-up") }
    };
    assert_eq!(find(digits.to_owned()).await, Some(first.clone()));
    assert_eq!(find(first.as_str().to_uppercase()).await, Some(first.clone()));
    assert_eq!(find("f".repeat(40)).await, None);
    assert_eq!(find("main".to_owned()).await, None);
    assert_eq!(find("--all".to_owned()).await, None);
    assert_eq!(find("ab".to_owned()).await, None);
    let tree = world.disk.git(&["rev-parse", "HEAD^{tree}"]);
    assert_eq!(find(tree).await, None);
}

#[tokio::test]
async fn ancestry_is_answered() {
    let world = World::new().await;
    let first = world.main_head().await;
    let second = commit(&world.disk.commit("second"));
    assert!(world.repository.is_ancestor(&first, &second).await.expect("an answer"));
    assert!(world.repository.is_ancestor(&first, &first).await.expect("an answer"));
    assert!(!world.repository.is_ancestor(&second, &first).await.expect("an answer"));
    let unknown = commit(&"1".repeat(40));
    assert!(matches!(world.repository.is_ancestor(&unknown, &first).await, Err(Error::Failed { .. })));
}

#[tokio::test]
async fn branches_are_listed_by_prefix_and_never_made_twice() {
    let world = World::new().await;
    let head = world.main_head().await;
    for name in ["task/2", "task/1", "tasks"] {
        world.repository.create_branch(&branch(name), &head).await.expect("the branch is made");
    }
    let listed = world.repository.list_branches("task/").await.expect("a list");
    assert_eq!(listed, [(branch("task/1"), head.clone()), (branch("task/2"), head.clone())]);
    let again = world.repository.create_branch(&branch("tasks"), &head).await;
    assert!(matches!(again, Err(Error::BranchTaken { at, .. }) if at == head));
}

#[tokio::test]
async fn a_pin_may_be_repeated_but_not_moved() {
    let world = World::new().await;
    let (name, first) = (ref_name("refs/regatta/pins/1"), world.main_head().await);
    let second = commit(&world.disk.commit("second"));
    for _ in 0..2 {
        world.repository.pin(&name, &first).await.expect("it is pinned");
    }
    let moved = world.repository.pin(&name, &second).await;
    assert!(matches!(moved, Err(Error::RefElsewhere { found, .. }) if found == first));
    for _ in 0..2 {
        world.repository.unpin(&name).await.expect("it is unpinned");
    }
    assert_eq!(world.repository.find_commit(&name).await.expect("a look-up"), None);
}

#[tokio::test]
async fn whatever_parses_as_a_branch_is_one_for_git() {
    let disk = TestRepo::new();
    let mut accepted = Vec::new();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    const PIECES: [&str; 24] = [
        "a",
        "B",
        "1",
        "/",
        ".",
        "..",
        "-",
        "@",
        "{",
        "}",
        "@{",
        ".lock",
        "~",
        "^",
        ":",
        "?",
        "*",
        "[",
        "\\",
        " ",
        "ä",
        "HEAD",
        "refs/heads/",
        "\u{7f}",
    ];
    while accepted.len() < 200 {
        let mut text = String::new();
        for _ in 0..6 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            text.push_str(PIECES[usize::try_from(seed % 24).unwrap()]);
            if seed >> 61 == 0 {
                break;
            }
        }
        if BranchName::parse(&text).is_ok() {
            accepted.push(text);
        }
    }
    for text in accepted {
        let mut command = sealed_git(disk.path());
        let status = command.args(["check-ref-format", "--branch", &text]).stdout(Stdio::null()).status();
        assert!(status.expect("git runs").success(), "{text:?}");
    }
}

#[tokio::test]
async fn two_lines_of_work_have_a_commit_at_which_they_part() {
    let world = World::new().await;
    let disk = &world.disk;
    let base = commit(&disk.git(&["rev-parse", "HEAD"]));
    disk.git(&["checkout", "--quiet", "-b", "one"]);
    disk.write("one", "1");
    let one = commit(&disk.commit("one"));
    disk.git(&["checkout", "--quiet", "--orphan", "alone"]);
    disk.write("alone", "1");
    let alone = commit(&disk.commit("alone"));
    disk.git(&["checkout", "--quiet", "-b", "two", base.as_str()]);
    disk.write("two", "2");
    let two = commit(&disk.commit("two"));
    let find = async |one, other| world.repository.find_merge_base(one, other).await.expect("a look-up");
    assert_eq!(find(&one, &two).await, Some(base.clone()));
    assert_eq!(find(&base, &two).await, Some(base.clone()));
    assert_eq!(find(&one, &alone).await, None);
    let missing = commit(&"1".repeat(40));
    assert!(world.repository.find_merge_base(&one, &missing).await.is_err());
}
