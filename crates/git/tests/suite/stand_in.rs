//! The git folder that an agent in a sandbox sees, used by a plain git the way the sandbox would use it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use regatta_git::{CommitId, Error, Mount, SalvageRequest};
use regatta_testkit::repo::{sealed_git, write_below};

use crate::world::{World, branch, commit, committed, ref_name, signature, task};

/// Enough that their removal takes longer than a look at all of them.
const MANY_FOLDERS: usize = 300;

/// A worktree with a stand-in, and git as it finds it inside.
struct Inside {
    world: World,
    worktree: PathBuf,
    mounts: Vec<Mount>,
}

impl Inside {
    async fn new() -> Self {
        let world = World::new().await;
        world.disk.git(&["tag", "v1"]);
        world.disk.git(&["update-ref", "refs/regatta/salvage/9/1", "HEAD"]);
        let worktree = world.worktree("one").await;
        let mounts = open(&world, &worktree).await;
        Inside { world, worktree, mounts }
    }

    /// The folder that is mounted over the git folder.
    fn folder(&self) -> PathBuf {
        self.source(self.world.repository.common_dir())
    }

    fn source(&self, path: &Path) -> PathBuf {
        self.mounts.iter().find(|mount| mount.path == path).expect("it is mounted").source.clone()
    }

    /// Runs git as in the sandbox: the worktree's entry leads to the stand-in, which sees the real objects.
    fn git(&self, words: &[&str]) -> String {
        let entry = self.world.repository.common_dir().join("worktrees/one");
        let leads_to = |folder: &Path| {
            std::fs::write(entry.join("commondir"), folder.display().to_string()).expect("it is written");
        };
        leads_to(&self.folder());
        let mut git = sealed_git(&self.worktree);
        git.args(words).env("GIT_DIR", &entry).env("GIT_WORK_TREE", &self.worktree);
        git.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.world.repository.common_dir().join("objects"));
        let output = git.output().expect("git can be started");
        leads_to(Path::new("../.."));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn commit(&self, file: &str, text: &str) -> CommitId {
        write_below(&self.worktree, file, text);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", file]);
        commit(&self.git(&["rev-parse", "HEAD"]))
    }

    async fn take_in(&self) {
        self.world.repository.take_in(&self.worktree).await.expect("it is taken in");
    }

    async fn tip(&self) -> CommitId {
        self.world.repository.find_branch(&task("one")).await.expect("a look-up").expect("a branch")
    }

    fn outside(&self, words: &[&str]) -> String {
        regatta_testkit::repo::git_in(&self.worktree, words)
    }
}

async fn open(world: &World, worktree: &Path) -> Vec<Mount> {
    world.repository.open_stand_in(worktree, &task("one")).await.expect("it is made")
}

#[tokio::test]
async fn commits_come_back_and_nothing_else_is_reached() {
    let inside = Inside::new().await;
    let before = inside.world.refs();
    let config = inside.world.repository.common_dir().join("config");
    let config_before = std::fs::read(&config).expect("a config");
    assert_eq!(inside.git(&["status", "--porcelain", "--branch"]), "## task/one");
    assert!(!inside.git(&["for-each-ref"]).contains("refs/regatta/"));
    let made = inside.commit("new", "text\n");
    for words in [
        &["update-ref", "refs/heads/main", "HEAD"][..],
        &["tag", "--force", "v1", "HEAD"],
        &["update-ref", "refs/regatta/salvage/9/1", "HEAD"],
        &["config", "core.fsmonitor", "/bin/evil"],
        &["gc", "--quiet", "--prune=now"],
    ] {
        inside.git(words);
    }
    assert_eq!(inside.world.refs(), before, "nothing is reached while it works");
    inside.take_in().await;
    inside.take_in().await;
    assert_eq!(inside.tip().await, made);
    let moved = inside.world.refs();
    let others = |refs: &str| {
        refs.lines().filter(|line| !line.contains("task/one")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(others(&moved), others(&before));
    assert_eq!(std::fs::read(&config).expect("a config"), config_before);
    assert_eq!(committed(&inside.worktree, &made, "new"), "text");
    assert_eq!(inside.outside(&["status", "--porcelain", "--branch"]), "## task/one");
    inside.outside(&["fsck", "--strict"]);
}

#[tokio::test]
async fn many_objects_come_as_one_pack() {
    let inside = Inside::new().await;
    for number in 0..150 {
        write_below(&inside.worktree, &format!("file-{number}"), &format!("{number}\n"));
    }
    let made = inside.commit("last", "x\n");
    inside.take_in().await;
    assert_eq!(inside.tip().await, made);
    let packs = inside.world.repository.common_dir().join("objects/pack");
    let is_pack = |name: &std::ffi::OsString| Path::new(name).extension() == Some(OsStr::new("pack"));
    let count =
        std::fs::read_dir(packs).expect("packs").flatten().filter(|entry| is_pack(&entry.file_name()));
    assert_eq!(count.count(), 1);
    inside.outside(&["fsck", "--strict"]);
}

#[tokio::test]
async fn what_is_only_staged_can_be_committed_by_us() {
    let inside = Inside::new().await;
    write_below(&inside.worktree, "kept", "x\n");
    write_below(&inside.worktree, "gone", "y\n");
    inside.git(&["add", "--all"]);
    std::fs::remove_file(inside.worktree.join("gone")).expect("it is removed");
    let author = signature();
    let made = inside.world.repository.commit_all(&inside.worktree, &[], &author, &author, "rest").await;
    let made = made.expect("a commit").expect("there is work");
    assert_eq!(committed(&inside.worktree, &made, "kept"), "x");
    assert_eq!(inside.outside(&["ls-tree", "-r", "--name-only", "HEAD"]), "README.md\nkept");
    inside.take_in().await;
    assert_eq!(inside.tip().await, made, "what we committed stays, although the agent never had it");
}

#[tokio::test]
async fn an_index_that_cannot_be_read_is_made_anew() {
    let inside = Inside::new().await;
    let made = inside.commit("new", "text\n");
    std::fs::write(inside.world.repository.common_dir().join("worktrees/one/index"), "no index")
        .expect("spoiled");
    inside.take_in().await;
    assert_eq!(inside.tip().await, made);
    assert_eq!(inside.outside(&["status", "--porcelain", "--branch"]), "## task/one");
}

#[tokio::test]
async fn a_branch_of_its_own_becomes_the_worktrees_branch_or_a_detached_head() {
    let inside = Inside::new().await;
    inside.git(&["checkout", "--quiet", "-b", "feature"]);
    let made = inside.commit("new", "text\n");
    inside.take_in().await;
    assert_eq!(inside.tip().await, made);
    assert_eq!(inside.outside(&["symbolic-ref", "HEAD"]), "refs/heads/task/one");

    // A line that does not hold what the branch holds: both are kept.
    open(&inside.world, &inside.worktree).await;
    inside.git(&["checkout", "--quiet", "-b", "aside", "main"]);
    let aside = inside.commit("aside", "text\n");
    inside.take_in().await;
    assert_eq!(inside.tip().await, made);
    assert_eq!(inside.outside(&["rev-parse", "HEAD"]), aside.as_str());
    assert_eq!(inside.world.repository.list_branches("").await.expect("a list").len(), 2);
}

#[tokio::test]
async fn a_head_that_leads_nowhere_is_put_back() {
    let inside = Inside::new().await;
    let start = inside.tip().await;
    inside.git(&["checkout", "--quiet", "--orphan", "nothing"]);
    inside.take_in().await;
    assert_eq!(inside.tip().await, start);
    assert_eq!(inside.outside(&["symbolic-ref", "HEAD"]), "refs/heads/task/one");
}

#[tokio::test]
async fn the_next_session_sees_what_has_moved_and_still_has_its_stash() {
    let inside = Inside::new().await;
    write_below(&inside.worktree, "README.md", "stashed\n");
    inside.git(&["stash", "--quiet"]);
    inside.git(&["branch", "left-over"]);
    inside.world.disk.commit("the user continues");
    let main = inside.world.main_head().await;
    open(&inside.world, &inside.worktree).await;
    assert_eq!(inside.git(&["rev-parse", "main"]), main.as_str());
    assert_eq!(inside.git(&["branch", "--list", "left-over"]), "");
    inside.git(&["stash", "pop", "--quiet"]);
    assert_eq!(std::fs::read_to_string(inside.worktree.join("README.md")).expect("a file"), "stashed\n");
}

#[tokio::test]
async fn a_forged_object_does_not_get_in() {
    let inside = Inside::new().await;
    write_below(&inside.worktree, "new", "honest\n");
    inside.git(&["add", "--all"]);
    let honest = inside.git(&["rev-parse", ":new"]);
    inside.git(&["commit", "--quiet", "--message", "new"]);
    write_below(&inside.worktree, "other", "forged\n");
    let forged = inside.git(&["hash-object", "-w", "other"]);
    let place = |id: &str| inside.folder().join("objects").join(&id[..2]).join(&id[2..]);
    std::fs::remove_file(place(&honest)).expect("the honest one goes");
    std::fs::create_dir_all(place(&honest).parent().expect("a folder")).expect("a folder");
    std::fs::rename(place(&forged), place(&honest)).expect("the forged one takes its name");
    let start = inside.tip().await;
    let taken = inside.world.repository.take_in(&inside.worktree).await;
    assert!(matches!(taken, Err(Error::Failed { .. })), "{taken:?}");
    assert_eq!(inside.tip().await, start);
}

#[tokio::test]
async fn a_call_that_died_over_the_next_stand_in_loses_nothing_of_the_last() {
    let inside = Inside::new().await;
    write_below(&inside.worktree, "README.md", "stashed\n");
    inside.git(&["stash", "--quiet"]);
    let made = inside.commit("file", "text\n");
    let (current, folder) = (inside.folder(), inside.folder());
    let folder = folder.parent().expect("a folder");
    let (old, new) = (folder.join("git.old"), folder.join("git.new"));
    // It died when the objects were with the next one, and had not been told where to borrow.
    std::fs::rename(&current, &old).expect("the last one is moved aside");
    std::fs::create_dir(&new).expect("the next one is begun");
    std::fs::rename(old.join("objects"), new.join("objects")).expect("the objects are handed on");
    std::fs::remove_dir_all(new.join("objects/info")).expect("removed");
    open(&inside.world, &inside.worktree).await;
    assert_eq!(inside.tip().await, made);
    inside.git(&["stash", "pop", "--quiet"]);
    assert_eq!(std::fs::read_to_string(inside.worktree.join("README.md")).expect("a file"), "stashed\n");
    assert!(!old.exists() && !new.exists());
}

#[tokio::test]
async fn a_stand_in_is_removed_whole_as_seen_from_its_place() {
    let inside = Inside::new().await;
    let folder = inside.folder();
    for number in 0..MANY_FOLDERS {
        write_below(&folder, &format!("objects/{number:03}/object"), "x");
    }
    // The process that comes after a kill finds this, at any point of the removal.
    let (over, is_over) = std::sync::mpsc::channel::<()>();
    let looked_at = folder.clone();
    let watcher = std::thread::spawn(move || {
        let looks = std::iter::repeat_with(|| is_over.try_recv());
        let mut looks = looks.take_while(|look| matches!(look, Err(std::sync::mpsc::TryRecvError::Empty)));
        let whole = |number: usize| looked_at.join(format!("objects/{number:03}/object")).exists();
        looks.any(|_| !(0..MANY_FOLDERS).all(whole) && looked_at.exists())
    });
    let removed = inside.world.repository.remove_worktree(&inside.worktree, &task("one")).await;
    drop(over);
    removed.expect("it is removed");
    assert!(!watcher.join().expect("it watches"), "half of a stand-in was seen");
}

#[tokio::test]
async fn a_spoiled_stand_in_is_an_error_and_the_files_are_salvaged_all_the_same() {
    let inside = Inside::new().await;
    let elsewhere = inside.world.disk.outside().join("elsewhere/info");
    write_below(&elsewhere, "alternates", "mine");
    write_below(&inside.worktree, "new", "text\n");
    let objects = inside.folder().join("objects");
    std::fs::remove_dir_all(&objects).expect("removed");
    std::os::unix::fs::symlink(elsewhere.parent().expect("a folder"), &objects).expect("a symlink");
    let taken = inside.world.repository.take_in(&inside.worktree).await;
    assert!(matches!(taken, Err(Error::StandInSpoiled { .. })), "{taken:?}");
    assert!(elsewhere.join("alternates").exists(), "nothing outside is touched");
    let asked = SalvageRequest {
        worktree: inside.worktree.clone(),
        branch: task("one"),
        base: inside.world.main_head().await,
        merged_into: branch("main"),
        prefix: ref_name("refs/regatta/salvage/1"),
        ignore: Vec::new(),
        author: signature(),
        message: "salvage".to_owned(),
    };
    let kept = inside.world.repository.salvage(&asked).await.expect("a salvage").expect("there is work");
    assert_eq!(committed(inside.world.disk.path(), &kept.commit, "new"), "text");
    inside.world.repository.remove_worktree(&inside.worktree, &task("one")).await.expect("removed");
    assert!(!inside.folder().exists());
}

#[tokio::test]
async fn what_says_where_a_worktree_belongs_is_read_only() {
    let inside = Inside::new().await;
    let entry = inside.world.repository.common_dir().join("worktrees/one");
    for path in [entry.join("commondir"), entry.join("gitdir"), inside.worktree.join(".git")] {
        let mount = inside.mounts.iter().find(|mount| mount.path == path).expect("it is mounted");
        assert!(!mount.is_writable && mount.source == path, "{mount:?}");
    }
    let shared = inside.mounts.iter().find(|mount| mount.path.ends_with("shared-objects")).expect("objects");
    assert!(!shared.is_writable && shared.source.ends_with(".git/objects"));
}
