//! Lists and engines that cost little: no git for a list, and at a start no look into files that have not changed.

use crate::support::{add, kinds_from, with_agents};
use regatta_testkit::binary::TestProject;
use regatta_testkit::repo::write_program;
use regatta_testkit::wait::until;
use std::path::{Path, PathBuf};

fn file_of(project: &TestProject, task: &str) -> PathBuf {
    project.path().join(format!(".regatta/task-states/task-{task}-state.md"))
}

/// Puts a `git` first on the path that leaves a mark and fails.
fn watch_for_git(project: &mut TestProject) -> PathBuf {
    let programs = project.repo.outside().join("programs");
    std::fs::create_dir(&programs).expect("the folder can be made");
    let mark = project.repo.outside().join("git-was-started");
    write_program(&programs.join("git"), &format!("echo \"$@\" >> '{}'; exit 1", mark.display()));
    project.set("PATH", programs.to_str().expect("the folder's name is text"));
    mark
}

fn read_if_there(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn a_list_starts_no_git() {
    let mut project = with_agents("");
    add(&project, "one");
    add(&project, "two");
    let before = [project.run(&["task", "list"]), project.run(&["--json", "task", "list"])];
    let mark = watch_for_git(&mut project);
    let after = [project.run(&["task", "list"]), project.run(&["--json", "task", "list"])];
    assert_eq!(before, after);
    assert_eq!((after[0].code, after[1].code), (Some(0), Some(0)));
    assert_eq!(read_if_there(&mark), "", "no git was started");
    project.run(&["task", "assign", "1", "--agent", "worker", "--no-wait"]);
    assert_ne!(read_if_there(&mark), "", "a verb that needs git starts this one");
}

#[test]
fn an_edit_while_nobody_ran_that_keeps_size_and_time_is_read_by_the_next_engine() {
    let project = with_agents("");
    project.json(&["task", "add", "a task", "--criterion", "it works"]);
    project.json(&["task", "add", "another", "--criterion", "it works"]);
    let path = file_of(&project, "1");
    let time = std::fs::metadata(&path).and_then(|found| found.modified()).expect("the file has a time");
    let text = std::fs::read_to_string(&path).expect("the task has a file");
    std::fs::write(&path, text.replace("- [ ] it works", "- [x] it works")).expect("it can be written");
    let file = std::fs::File::options().write(true).open(&path).expect("it can be opened");
    file.set_modified(time).expect("its time can be set");
    let up = project.start(&["up"]);
    until("the tick is in the log", || kinds_from(&project, 1).contains(&"criterion:checked".to_owned()));
    up.kill();
}

#[test]
fn a_file_that_was_deleted_while_nobody_ran_is_written_again_by_the_next_engine() {
    let project = with_agents("");
    add(&project, "a task");
    let path = file_of(&project, "1");
    let text = read_if_there(&path);
    std::fs::remove_file(&path).expect("it can be removed");
    let up = project.start(&["up"]);
    until("it is there again", || read_if_there(&path) == text);
    std::fs::remove_dir_all(path.parent().expect("it is in a folder")).expect("it can be removed");
    until("and again with its folder", || read_if_there(&path) == text);
    up.kill();
}
