//! What the user sees when the project itself cannot be used: config, folder, repository, database, engine.

use crate::support::{AGENTS, PROGRAM, Transcript, add, until_in, with_agents};
use regatta_testkit::binary::TestProject;
use regatta_testkit::repo::write_program;
use regatta_testkit::wait::until;
use std::path::Path;

/// SQLite keeps `user_version` in these bytes of the file's header.
const USER_VERSION: std::ops::Range<usize> = 60..64;

#[test]
fn configs() {
    let project = with_agents("");
    let mut transcript = Transcript::new(&project);
    for config in [
        "[project]\nmax_concurent_agents = 2\n",
        "[projct]\n",
        "[agents.a]\nkind = \"command\"\ncomand = \"x\"\n",
        "[project]\nmax_concurrent_agents = \"many\"\n",
        "[project]\nmax_concurrent_agents = 0\n",
        "[project]\ndefault_branch = \"no..branch\"\n",
        "[project]\napproval = \"maybe\"\n",
        "[agents.a]\nkind = \"scriptd\"\n",
        "[agents.a]\nkind = \"command\"\n",
        "[agents.a]\nkind = \"command\"\ncommand = \"open 'quote\"\n",
        "[agents.\"no spaces\"]\nkind = \"command\"\ncommand = \"x\"\n",
        "[limits]\nwall = \"5 parsecs\"\n",
        "[roles]\nreviewer = \"nobody\"\n",
        "[worktree]\ncopy = [\"../secret\"]\n",
        "[project\n",
    ] {
        project.repo.write(".regatta/config.toml", config);
        transcript.note(&config.trim_end().replace('\n', " / "));
        transcript.run(&["task", "list"]);
    }
    transcript.run(&["--json", "task", "list"]);
    transcript.check("errors_config");
}

#[test]
fn folders() {
    let project = TestProject::without_init(PROGRAM);
    let outside = project.repo.outside().join("home");
    let elsewhere = outside.to_str().expect("the folder's name is text");
    let empty = project.repo.outside().join("empty");
    std::fs::create_dir(&empty).expect("the folder can be made");
    regatta_testkit::repo::git_in(&empty, &["init", "--quiet", "--initial-branch=main"]);
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "list"]);
    transcript.run(&["--json", "task", "list"]);
    transcript.run(&["-C", elsewhere, "init"]);
    transcript.note("a repository may get its first commit later");
    transcript.run(&["-C", empty.to_str().expect("the folder's name is text"), "init"]);
    transcript.run(&["-C", "nowhere", "task", "list"]);
    transcript.run(&["-C", "nowhere", "init"]);
    transcript.run(&["init"]);
    transcript.run(&["init"]);
    transcript.run(&["--json", "init"]);
    transcript.check("errors_folders");
    assert!(!outside.join(".regatta").exists(), "nothing is left behind");
}

#[test]
fn a_branch_that_is_not_there() {
    let project = with_agents("[project]\ndefault_branch = \"trunk\"");
    add(&project, "a task");
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "assign", "1", "--agent", "worker"]);
    transcript.check("errors_branch");
}

#[test]
fn a_database_of_a_newer_version_is_not_touched() {
    let project = with_agents("");
    add(&project, "a task");
    let path = project.path().join(".git/regatta/log.db");
    let mut bytes = std::fs::read(&path).expect("the database is there");
    bytes[USER_VERSION].copy_from_slice(&999_u32.to_be_bytes());
    // What the last run left beside it would belong to the old file.
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(project.path().join(format!(".git/regatta/log.db{end}")));
    }
    std::fs::write(&path, &bytes).expect("the database can be written");
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "list"]);
    transcript.run(&["--json", "task", "add", "another"]);
    transcript.run(&["doctor"]);
    transcript.check("errors_schema");
    assert_eq!(std::fs::read(&path).expect("the database is there"), bytes);
    assert_eq!(files_beside(&path), ["log.db"]);
}

fn files_beside(path: &Path) -> Vec<String> {
    let folder = path.parent().expect("the file is in a folder").read_dir().expect("it can be listed");
    let names =
        folder.map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("log.db")).collect()
}

#[test]
fn a_file_that_is_no_database() {
    let project = with_agents("");
    project.repo.write(".git/regatta/log.db", "this is not a database, and somebody may want it back\n");
    let path = project.path().join(".git/regatta/log.db");
    let before = std::fs::read(&path).expect("the file is there");
    let mut transcript = Transcript::new(&project);
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(project.path().join(format!(".git/regatta/log.db{end}")));
    }
    transcript.run(&["task", "list"]);
    transcript.check("errors_no_database");
    assert_eq!(std::fs::read(&path).expect("the file is there"), before);
}

#[test]
fn a_second_engine_is_told_who_the_first_is() {
    let project = with_agents("");
    add(&project, "a task");
    let first = project.start(&["up"]);
    // A task that is done shows that the engine is up.
    project.run(&["task", "assign", "1", "--agent", "worker", "--no-wait"]);
    until_in(&project, "1", "waiting_approval");
    until("the server is up", || project.home().join("server/port").exists());
    let refused = project.run(&["up"]);
    let pid = first.pid().to_string();
    assert!(refused.stderr.contains(&format!("process {pid} on ")), "{}", refused.stderr);
    let mut transcript = Transcript::new(&project);
    transcript.write("up", &refused);
    let error = project.refusal(&["up"]);
    assert_eq!(error["details"]["pid"].to_string(), pid);
    first.kill();
    transcript.check("errors_engine");
}

#[test]
fn no_git() {
    let mut project = TestProject::new(PROGRAM, AGENTS);
    let programs = project.repo.outside().join("programs");
    std::fs::create_dir(&programs).expect("the folder can be made");
    project.set("PATH", programs.to_str().expect("the folder's name is text"));
    let mut transcript = Transcript::new(&project);
    transcript.run(&["up"]);
    write_program(&programs.join("git"), "echo git version 2.20.1");
    transcript.run(&["up"]);
    transcript.note("what only reads the log needs no git");
    transcript.run(&["task", "list"]);
    transcript.check("errors_git");
}
