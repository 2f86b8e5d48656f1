//! Finding lock files that nobody holds.

use std::fs::File;
use std::time::{Duration, SystemTime};

use crate::world::World;

#[tokio::test]
async fn old_locks_that_nobody_has_open_are_listed() {
    let world = World::new().await;
    world.worktree("one").await;
    let common_dir = world.repository.common_dir();
    let hour = Duration::from_secs(3600);
    let old = ["config.lock", "index.lock", "refs/heads/task/one.lock", "worktrees/one/index.lock"];
    for name in old.iter().chain(&["objects/x.lock", "packed-refs.lock", "HEAD.lock"]) {
        let file = File::create(common_dir.join(name)).unwrap();
        file.set_modified(SystemTime::now() - 2 * hour).unwrap();
    }
    std::fs::write(common_dir.join("packed-refs.lock"), "being written").unwrap();
    let held = File::open(common_dir.join("HEAD.lock")).unwrap();

    let found = world.repository.stale_locks(hour).await.expect("a list");
    assert_eq!(found, old.map(|name| common_dir.join(name)));
    drop(held);
    assert_eq!(world.repository.stale_locks(hour).await.expect("a list").len(), 5);
}
