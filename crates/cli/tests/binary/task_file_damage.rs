//! Task files, archives and copied files that are links or lost a part of themselves: none of it is an edit.

use crate::support::{add, field, kinds_from, with_agents};
use regatta_testkit::binary::TestProject;
use regatta_testkit::wait::until;
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

fn with_task() -> TestProject {
    let project = with_agents("");
    project.json(&["task", "add", "a task", "--criterion", "it works", "--criterion", "it is nice"]);
    project
}

fn folder(project: &TestProject) -> PathBuf {
    project.path().join(".regatta/task-states")
}

fn path(project: &TestProject) -> PathBuf {
    folder(project).join("task-1-state.md")
}

fn aside(project: &TestProject) -> PathBuf {
    folder(project).join("task-1-state.md.corrupt-1")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Writes something long ago, so that nobody waits for the rest of it.
fn write_long_ago(path: &Path, text: &str) {
    std::fs::write(path, text).expect("the file can be written");
    let file = File::options().write(true).open(path).expect("the file can be opened");
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).expect("its time can be set");
}

fn assert_set_aside(project: &TestProject, before: &str) {
    assert_eq!(read(&path(project)), before, "it is written again from the log");
    assert!(!path(project).is_symlink());
    let error = field(project, "1", "error");
    assert_eq!(error["code"], "STATE_CORRUPT", "{error}");
    assert_eq!(error["details"]["kept"], aside(project).display().to_string());
    assert_eq!(field(project, "1", "criteria").as_array().map(Vec::len), Some(2));
    let kinds = kinds_from(project, 1);
    assert!(
        kinds.contains(&"file:corrupt".to_owned()) && !kinds.contains(&"criteria:set".to_owned()),
        "{kinds:?}"
    );
}

#[test]
fn a_link_in_the_place_of_a_task_file_is_set_aside_and_what_it_leads_to_is_not_touched() {
    for is_up in [false, true] {
        let project = with_task();
        let before = read(&path(&project));
        let secret = project.repo.outside().join("secret.md");
        let text = before.replace("- [ ] it works", "- [x] it works");
        std::fs::write(&secret, &text).expect("the file can be written");
        let up = is_up.then(|| project.start(&["up"]));
        std::fs::remove_file(path(&project)).expect("the file can be removed");
        symlink(&secret, path(&project)).expect("a link can be made");
        if is_up {
            until("the file is there again", || !path(&project).is_symlink() && path(&project).is_file());
        } else {
            project.json(&["task", "criteria", "1", "--uncheck", "1"]);
        }
        until("it is reported", || field(&project, "1", "error")["code"] == "STATE_CORRUPT");
        assert_set_aside(&project, &before);
        assert_eq!(std::fs::read_link(aside(&project)).expect("the link is kept"), secret);
        assert_eq!(read(&secret), text, "nothing was written through the link");
        let why = field(&project, "1", "error")["message"].to_string();
        assert!(why.contains("a link to") && why.contains("not followed"), "{why}");
        drop(up);
    }
}

#[test]
fn a_folder_of_task_files_that_is_a_link_is_refused() {
    let project = with_task();
    let outside = project.repo.outside().join("elsewhere");
    std::fs::rename(folder(&project), &outside).expect("the folder can be moved");
    symlink(&outside, folder(&project)).expect("a link can be made");
    let listed = || std::fs::read_dir(&outside).expect("a folder").flatten().count();
    let before = (listed(), read(&outside.join("task-1-state.md")));
    for verb in [
        &["task", "criteria", "1", "--check", "1"][..],
        &["task", "assign", "1", "--agent", "worker"],
        &["up"],
    ] {
        let error = project.refusal(verb);
        assert_eq!(error["code"], "STATE_CORRUPT", "{verb:?}: {error}");
        assert!(
            error["message"].as_str().is_some_and(|text| text.contains("is a link to")),
            "{verb:?}: {error}"
        );
    }
    assert_eq!((listed(), read(&outside.join("task-1-state.md"))), before, "nothing was written there");
    let findings = project.run(&["--json", "doctor"]);
    assert!(findings.code == Some(1) && findings.stdout.contains("state_folder"), "{findings:?}");
}

#[test]
fn an_archive_that_is_a_link_is_set_aside_and_a_new_one_is_begun() {
    let project = with_task();
    for number in 1..=8 {
        project.json(&["task", "progress", "1", "--did", &format!("did-{number}"), "--next", "more"]);
    }
    let (secret, archives) =
        (project.repo.outside().join("secret"), project.path().join(".regatta/archives"));
    std::fs::write(&secret, "mine\n").expect("the file can be written");
    std::fs::create_dir_all(&archives).expect("a folder");
    let archive = archives.join("task-1-archive.md");
    symlink(&secret, &archive).expect("a link can be made");
    assert_eq!(project.refusal(&["task", "archive", "1", "--show"])["code"], "STATE_CORRUPT");
    assert_eq!(project.json(&["task", "archive", "1"])["last"], 3);
    assert_eq!(read(&secret), "mine\n", "nothing was written through the link");
    assert!(!archive.is_symlink() && read(&archive).contains("did-3"));
    assert!(archives.join("task-1-archive.md.corrupt-1").is_symlink());
    let shown = project.run(&["task", "archive", "1", "--show"]);
    assert_eq!((shown.code, shown.stdout), (Some(0), read(&archive)));
    let other = project.run(&["task", "archive", "7", "--show"]);
    assert_eq!(other.code, Some(1), "{other:?}");
}

/// After a clean, archives are written again; a link in the place of their folder, or of one of them, leads nowhere.
#[test]
fn an_archive_is_not_written_again_through_a_link() {
    let project = with_task();
    for number in 1..=8 {
        project.json(&["task", "progress", "1", "--did", &format!("did-{number}"), "--next", "more"]);
    }
    project.json(&["task", "archive", "1"]);
    let (outside, archives) =
        (project.repo.outside().join("elsewhere"), project.path().join(".regatta/archives"));
    let archive = archives.join("task-1-archive.md");
    let archived = read(&archive);
    let clean = || {
        std::fs::remove_dir_all(project.path().join(".regatta/task-states")).expect("it is there");
        if archives.is_symlink() {
            std::fs::remove_file(&archives).expect("a link can be removed");
        } else {
            std::fs::remove_dir_all(&archives).expect("it is there");
        }
    };
    let listed = || std::fs::read_dir(&outside).expect("a folder").count();
    std::fs::create_dir(&outside).expect("a folder");
    clean();
    symlink(&outside, &archives).expect("a link can be made");
    assert_eq!(project.run(&["task", "show", "1"]).code, Some(0));
    assert!(path(&project).is_file(), "the task file is there again");
    assert_eq!(listed(), 0, "nothing was written through the link");
    clean();
    std::fs::create_dir(&archives).expect("a folder");
    symlink(outside.join("made"), &archive).expect("a link can be made");
    assert_eq!(project.run(&["task", "show", "1"]).code, Some(0));
    assert_eq!(listed(), 0, "nothing was written through the link");
    clean();
    assert_eq!(project.run(&["task", "show", "1"]).code, Some(0));
    assert_eq!(read(&archive), archived);
}

#[test]
fn a_file_that_lost_its_end_or_all_of_it_deletes_no_criteria() {
    let project = with_task();
    let before = read(&path(&project));
    let up = project.start(&["up"]);
    let middle = before.find("- [ ] it works").expect("there is a criterion");
    for (number, left) in (1..).zip([&before[..middle], "", "\n\n", "all my own words\n"]) {
        write_long_ago(&path(&project), left);
        let kept = folder(&project).join(format!("task-1-state.md.corrupt-{number}"));
        until("it is set aside and written again", || kept.exists() && read(&path(&project)) == before);
        assert_eq!(read(&kept), left, "what was found is kept word for word");
    }
    until("it is reported", || field(&project, "1", "error")["code"] == "STATE_CORRUPT");
    assert_eq!(field(&project, "1", "criteria").as_array().map(Vec::len), Some(2));
    let kinds = kinds_from(&project, 1);
    assert!(!kinds.contains(&"criteria:set".to_owned()), "{kinds:?}");
    up.kill();
    write_long_ago(&path(&project), "");
    project.json(&["task", "criteria", "1"]);
    assert_eq!(read(&path(&project)), before, "without an engine, the next verb does it");
}

#[test]
fn a_save_in_two_steps_is_an_edit_and_so_is_a_passage_that_was_deleted() {
    let project = with_task();
    let before = read(&path(&project));
    std::fs::write(path(&project), &before[..40]).expect("the file can be written");
    project.json(&["task", "criteria", "1"]);
    assert_eq!(read(&path(&project)), before[..40], "the rest may come");
    let ticked = before.replace("- [ ] it works", "- [x] it works");
    std::fs::write(path(&project), &ticked).expect("the file can be written");
    project.json(&["task", "criteria", "1"]);
    assert_eq!(field(&project, "1", "criteria")[0]["checked"], true);
    let shorter = ticked.replace("- [ ] it is nice\n", "").replace("\n(To be completed)\n", "");
    std::fs::write(path(&project), &shorter).expect("the file can be written");
    project.json(&["task", "criteria", "1"]);
    assert_eq!(field(&project, "1", "criteria").as_array().map(Vec::len), Some(1));
    assert!(!kinds_from(&project, 1).contains(&"file:corrupt".to_owned()));
    assert!(!aside(&project).exists());
}

#[test]
fn the_file_of_no_task_is_reported_and_left_alone() {
    let project = with_task();
    let foreign = folder(&project).join("task-999-state.md");
    std::fs::write(&foreign, "# Task #999: of another project\n").expect("the file can be written");
    let findings = project.json(&["doctor"]);
    assert_eq!(findings[0]["kind"], "foreign_file", "{findings}");
    let mut up = project.start(&["up"]);
    until("the engine is up", || project.json(&["task", "list"]).is_array() && up.is_running());
    project.json(&["task", "criteria", "1", "--check", "1"]);
    let said = up.kill();
    assert!(said.stderr.contains("task-999-state.md belongs to no task of this project"), "{said:?}");
    assert_eq!(read(&foreign), "# Task #999: of another project\n");
    // One that stands in the place of a new task's file is no edit of it.
    let taken = folder(&project).join("task-2-state.md");
    std::fs::write(&taken, "# Task #2: theirs\n\n- [ ] their criterion\n").expect("the file can be written");
    add(&project, "ours");
    assert!(read(&taken).starts_with("# Task #2: ours\n"), "{}", read(&taken));
    assert!(read(&folder(&project).join("task-2-state.md.corrupt-1")).contains("their criterion"));
    assert_eq!(field(&project, "2", "title"), "ours");
    let copied = read(&taken).replace("\"task_id\": 2", "\"task_id\": 1").replace("ours", "another");
    write_long_ago(&taken, &copied);
    project.json(&["task", "criteria", "2"]);
    assert_eq!(field(&project, "2", "title"), "ours", "the file of another task is no edit either");
}

#[test]
fn a_copied_link_stays_a_link_and_one_that_leads_out_is_refused() {
    let project = with_agents("[worktree]\ncopy = [\"settings\"]\n");
    project.repo.write(".gitignore", "settings\nlocal\n");
    project.repo.commit("ignore");
    add(&project, "a task");
    let link = project.path().join("settings");
    std::fs::write(project.repo.outside().join("secret"), "canary").expect("the file can be written");
    symlink("../secret", &link).expect("a link can be made");
    let refused = project.refusal(&["task", "assign", "1", "--agent", "worker"]);
    assert_eq!(refused["code"], "WORKTREE_CREATION_FAILED", "{refused}");
    let message = refused["message"].to_string();
    assert!(message.contains("`settings`") && message.contains("../secret"), "{message}");
    assert_eq!(field(&project, "1", "column"), "backlog");
    std::fs::remove_file(&link).expect("the link can be removed");
    symlink("local", &link).expect("a link can be made");
    project.json(&["task", "assign", "1", "--agent", "worker"]);
    let copied = project.path().join(".regatta/worktrees/task-1/settings");
    assert_eq!(std::fs::read_link(copied).expect("a link"), Path::new("local"));
}
