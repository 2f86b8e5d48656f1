//! What stands at paths of commits.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use regatta_testkit::repo::{commit_in, write_below};

use crate::world::{World, commit};

#[tokio::test]
async fn paths_are_told_byte_for_byte_with_what_stood_and_stands_there() {
    let world = World::new().await;
    world.disk.write("gone", "1\n");
    world.disk.write("folder/same", "1\n");
    let base = commit(&world.disk.commit("base"));
    let path = world.worktree("one").await;
    let odd = Path::new(OsStr::from_bytes(b"bad-\xff*")).to_owned();
    std::fs::remove_file(path.join("gone")).unwrap();
    write_below(&path, "README.md", "other\n");
    std::fs::write(path.join(&odd), "1\n").unwrap();
    let head = commit(&commit_in(&path, "three kinds"));

    let changes = world.repository.changed_entries(&base, &head).await.expect("a list");
    let shown: Vec<(&Path, bool, bool)> = changes
        .iter()
        .map(|change| (change.path.as_path(), change.before.is_some(), change.after.is_some()))
        .collect();
    let readme = Path::new("README.md");
    assert_eq!(shown, [(readme, true, true), (&odd, false, true), (Path::new("gone"), true, false)]);
    assert_eq!(changes[1].after, changes[2].before, "the same content has the same id");

    let asked: Vec<PathBuf> = ["README.md", "gone", "folder", "folder/same", "never"]
        .map(PathBuf::from)
        .into_iter()
        .chain([odd])
        .collect();
    for (at, side) in [(&base, 0), (&head, 1)] {
        let found = world.repository.find_entries(at, &asked).await.expect("a list");
        for change in &changes {
            let wanted = if side == 0 { &change.before } else { &change.after };
            assert_eq!(found.get(&change.path), wanted.as_ref(), "{} {side}", change.path.display());
        }
        assert!(found.contains_key(Path::new("folder/same")));
        assert!(!found.contains_key(Path::new("folder")), "a folder is nothing that a tape writes");
        assert!(!found.contains_key(Path::new("never")));
    }
    assert!(world.repository.find_entries(&head, &[]).await.expect("a list").is_empty());
}
