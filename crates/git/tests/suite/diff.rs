//! Differences between commits.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use regatta_git::{ChangeKind, Error};
use regatta_testkit::repo::{commit_in, write_below};

use crate::world::{World, commit};

#[tokio::test]
async fn every_kind_of_change_is_counted_and_hostile_names_survive() {
    let world = World::new().await;
    world.disk.write("gone", "1\n2\n");
    world.disk.write("mode", "x\n");
    world.disk.write("type", "x\n");
    let base = commit(&world.disk.commit("base"));
    let path = world.worktree("one").await;
    std::fs::remove_file(path.join("gone")).unwrap();
    std::fs::set_permissions(path.join("mode"), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::remove_file(path.join("type")).unwrap();
    symlink("mode", path.join("type")).unwrap();
    write_below(&path, "README.md", "one\ntwo\n");
    write_below(&path, "binary", "a\0b");
    write_below(&path, "line\nbreak\t\"q\"", "1\n");
    write_below(&path, ":100644 x", "1\n");
    std::fs::write(path.join(OsStr::from_bytes(b"bad-\xff")), "1\n").unwrap();
    let head = commit(&commit_in(&path, "all kinds"));

    let diff = world.repository.diff(&base, &head).await.expect("a diff");
    let shown: Vec<_> = diff
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.status.letter(), file.added, file.removed, file.is_binary))
        .collect();
    assert_eq!(
        shown,
        [
            (":100644 x", 'A', 1, 0, false),
            ("README.md", 'M', 2, 1, false),
            ("bad-\u{fffd}", 'A', 1, 0, false),
            ("binary", 'A', 0, 0, true),
            ("gone", 'D', 0, 2, false),
            ("line\nbreak\t\"q\"", 'A', 1, 0, false),
            ("mode", 'M', 0, 0, false),
            ("type", 'T', 1, 1, false),
        ]
    );
    assert_eq!((diff.lines_added, diff.lines_removed), (6, 4));
    assert_eq!(diff.files[7].status, ChangeKind::TypeChanged);
    assert!(diff.digest.starts_with("sha256:") && diff.digest.len() == 71);
}

#[tokio::test]
async fn the_digest_depends_on_the_commits_only() {
    let world = World::new().await;
    let base = world.main_head().await;
    let head = world.task_commit("one", &[("file.txt", "a\nb\n"), ("data.bin", "a\0b")]).await;
    let other = world.task_commit("two", &[("file.txt", "a\nb\n"), ("data.bin", "a\0c")]).await;
    let digest = world.repository.diff(&base, &head).await.expect("a diff").digest;
    assert_ne!(digest, world.repository.diff(&base, &other).await.expect("a diff").digest);

    for setting in [
        ["diff.noprefix", "true"],
        ["diff.context", "0"],
        ["diff.algorithm", "patience"],
        ["diff.renames", "copies"],
        ["diff.mnemonicPrefix", "true"],
        ["color.ui", "always"],
        ["core.quotePath", "false"],
        ["core.abbrev", "4"],
    ] {
        world.disk.git(&["config", setting[0], setting[1]]);
    }
    world.disk.write(".gitattributes", "*.txt binary\n*.bin text\n");
    world.disk.commit("attributes");
    assert_eq!(digest, world.repository.diff(&base, &head).await.expect("a diff").digest);
}

#[tokio::test]
async fn a_patch_is_cut_where_asked() {
    let world = World::new().await;
    let base = world.main_head().await;
    let head = world.task_commit("one", &[("file.txt", &"line\n".repeat(100_000))]).await;
    let whole = world.repository.patch(&base, &head, 10_000_000).await.expect("a patch");
    assert!(!whole.is_truncated && whole.text.starts_with(b"diff --git a/file.txt b/file.txt\n"));
    let part = world.repository.patch(&base, &head, 1000).await.expect("a patch");
    assert!(part.is_truncated);
    assert_eq!(part.text, whole.text[..1000]);
    let exact = world.repository.patch(&base, &head, whole.text.len()).await.expect("a patch");
    assert_eq!(exact, whole);
    let same = world.repository.patch(&base, &base, 0).await.expect("a patch");
    assert!(same.text.is_empty() && !same.is_truncated);
}

#[tokio::test]
async fn a_commit_that_is_not_there_is_an_error_that_quotes_git() {
    let world = World::new().await;
    let base = world.main_head().await;
    let error = world.repository.diff(&base, &commit(&"1".repeat(40))).await.expect_err("no such commit");
    assert!(matches!(&error, Error::Failed { status: Some(128), .. }), "{error:?}");
    assert!(error.to_string().contains("bad object 1111"), "{error}");
}
