//! No call runs a program that the repository, the user's settings or the environment name.

use std::path::Path;
use std::process::Command;

use regatta_git::{MergeOutcome, Reason, Repository, SalvageRequest};
use regatta_testkit::repo::{TestRepo, write_below, write_program};

use crate::merge::request;
use crate::world::{World, branch, paths, ref_name, signature, task};

const HOOKS: [&str; 8] = [
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "reference-transaction",
];

const ATTRIBUTES: &str = "* diff=evil filter=evil merge=evil\nnew filter=evil.twin\n";

/// Writes settings that would run the program whenever git does anything.
fn hostile_settings(hooks: &Path, program: &Path) -> String {
    let (hooks, program) = (hooks.display(), program.display());
    format!(
        "[core]\n\thooksPath = {hooks}\n\tfsmonitor = {program}\n\tpager = {program}\n\teditor = {program}\n\tsshCommand = {program}\n\
         [diff]\n\texternal = {program}\n[diff \"evil\"]\n\ttextconv = {program}\n\tcommand = {program}\n\
         [pager]\n\tdiff = {program}\n\tstatus = {program}\n[sequence]\n\teditor = {program}\n\
         [commit]\n\tgpgSign = true\n[gpg]\n\tprogram = {program}\n[alias]\n\tstatus = !{program}\n\
         [credential]\n\thelper = !{program}\n[init]\n\ttemplateDir = {hooks}\n[user]\n\tname = Nobody\n\
         [filter \"evil\"]\n\tclean = {program}\n\tsmudge = {program}\n\trequired = true\n\
         [filter \"evil.twin = x\"]\n\tprocess = {program}\n\trequired = true\n\
         [merge \"evil\"]\n\tdriver = {program}\n[core]\n\talternateRefsCommand = {program}\n"
    )
}

fn plant_hooks(folder: &Path, script: &str) {
    std::fs::create_dir_all(folder).expect("the folder can be made");
    for hook in HOOKS {
        write_program(&folder.join(hook), script);
    }
}

/// Calls everything once, with files that the planted attributes apply to.
async fn call_everything(world: &World) {
    let repository = &world.repository;
    let base = world.main_head().await;
    world.disk.write(".env", "x");
    let path = world.worktree("one").await;
    repository.copy_into(&paths(&[".env"]), &path).await.expect("a copy");
    write_below(&path, "README.md", "changed\n");
    write_below(&path, "new", "x\n");
    let ignore = paths(&[".env"]);
    repository.status(&path, &ignore).await.expect("a status");
    let asked = SalvageRequest {
        worktree: path.clone(),
        branch: task("one"),
        base: base.clone(),
        merged_into: branch("main"),
        prefix: ref_name("refs/regatta/salvage/1"),
        ignore: ignore.clone(),
        author: signature(),
        message: "salvage".to_owned(),
    };
    repository.salvage(&asked).await.expect("a salvage").expect("there is work");
    let author = signature();
    let head = repository.commit_all(&path, &ignore, &author, &author, "work").await.expect("a commit");
    let head = head.expect("there is work");
    let diff = repository.diff(&base, &head).await.expect("a diff");
    assert_eq!((diff.files.len(), diff.lines_added), (2, 2));
    let patch = repository.patch(&base, &head, 10_000).await.expect("a patch");
    assert!(String::from_utf8_lossy(&patch.text).contains("+changed"));
    let outcome = repository.merge(&request(&head), &|_| {}).await.expect("a merge");
    if let MergeOutcome::InTheWay { obstacles } = outcome {
        assert_eq!(obstacles[0].reason, Reason::Filter, "{obstacles:?}");
        world.disk.write(".git/info/attributes", "* diff=evil merge=evil !filter\n");
        repository.merge(&request(&head), &|_| {}).await.expect("a merge");
    }
    assert_eq!(world.file("README.md"), "changed\n");
    assert_eq!(
        repository.find_branch(&branch("main")).await.expect("a look-up"),
        Some(world.main_head().await)
    );
    repository.create_branch(&branch("spare"), &head).await.expect("a branch");
    repository.pin(&ref_name("refs/regatta/pins/1"), &head).await.expect("a pin");
    repository.unpin(&ref_name("refs/regatta/pins/1")).await.expect("an unpin");
    repository.resolve_commit(&head.as_str()[..10]).await.expect("a look-up");
    repository.list_branches("").await.expect("a list");
    repository.list_worktrees().await.expect("a list");
    repository.remove_worktree(&path, &task("one")).await.expect("it is removed");
    Repository::init(&world.disk.outside().join("fresh"), &branch("main")).await.expect("it is made");
}

#[tokio::test]
async fn nothing_planted_in_the_repository_runs() {
    let disk = TestRepo::new();
    let canary = disk.outside().join("canary");
    let script = format!("echo \"$0\" >> '{}'", canary.display());
    let (program, hooks) = (disk.outside().join("program"), disk.outside().join("hooks"));
    disk.write(".gitattributes", ATTRIBUTES);
    disk.write(".gitignore", ".env\n");
    disk.commit("attributes");
    disk.write(".git/info/attributes", ATTRIBUTES);
    write_program(&program, &script);
    plant_hooks(&hooks, &script);
    plant_hooks(&disk.path().join(".git/hooks"), &script);
    let config = disk.path().join(".git/config");
    let settings = std::fs::read_to_string(&config).unwrap() + &hostile_settings(&hooks, &program);
    std::fs::write(&config, settings).unwrap();

    let world = World::around(disk).await;
    call_everything(&world).await;
    assert!(!canary.exists(), "ran: {}", std::fs::read_to_string(&canary).unwrap_or_default());

    // The trap is real: git without our sealing steps into it.
    let _ = Command::new("git").arg("-C").arg(world.disk.path()).args(["checkout", "-q", "-b", "x"]).output();
    assert!(canary.exists());
}

/// Runs the calls in this very process; the next test starts it again in a hostile environment.
#[tokio::test]
async fn everything_works_with_the_environment_as_it_is() {
    let world = World::new().await;
    world.disk.write(".gitignore", ".env\n");
    world.disk.commit("ignore");
    call_everything(&world).await;
    let log = world.disk.git(&["log", "--all", "--format=%an %cn"]);
    assert!(!log.contains("Nobody"), "{log}");
}

#[test]
fn neither_the_users_settings_nor_the_environment_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let canary = folder.path().join("canary");
    let script = format!("echo \"$0\" >> '{}'", canary.display());
    let (program, hooks, home) =
        (folder.path().join("program"), folder.path().join("hooks"), folder.path().join("home"));
    write_program(&program, &script);
    plant_hooks(&hooks, &script);
    std::fs::create_dir_all(home.join("git")).unwrap();
    let settings = hostile_settings(&hooks, &program);
    for place in [".gitconfig", "git/config"] {
        std::fs::write(home.join(place), &settings).unwrap();
    }
    std::fs::write(home.join("git/attributes"), ATTRIBUTES).unwrap();
    std::fs::write(home.join("git/ignore"), "new\n").unwrap();

    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "sealed::everything_works_with_the_environment_as_it_is"])
        .env("HOME", &home)
        .env("XDG_CONFIG_HOME", &home)
        .env("GIT_CONFIG_GLOBAL", home.join(".gitconfig"))
        .env("GIT_DIR", "/nowhere")
        .env("GIT_WORK_TREE", "/nowhere")
        .env("GIT_INDEX_FILE", "/nowhere/index")
        .env("GIT_EXTERNAL_DIFF", &program)
        .env("GIT_AUTHOR_NAME", "Nobody")
        .env("GIT_COMMITTER_DATE", "@1 +0000")
        .output()
        .expect("the test can be run again");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && shown.contains("1 passed"), "{shown}");
    assert!(!canary.exists(), "ran: {}", std::fs::read_to_string(&canary).unwrap_or_default());
}
