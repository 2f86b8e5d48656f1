//! Large task files: what `task show` says of them, and that old sessions are archived between two sessions.

use crate::support::{Transcript, add, field, kinds_from, with_agents, with_shell};
use regatta_testkit::binary::TestProject;
use std::path::PathBuf;

/// Above this a file is archived.
const ARCHIVE_BYTES: usize = 75 * 1024;

fn path(project: &TestProject) -> PathBuf {
    project.path().join(".regatta/task-states/task-1-state.md")
}

fn read(project: &TestProject) -> String {
    std::fs::read_to_string(path(project)).expect("the task has a file")
}

fn archive(project: &TestProject) -> String {
    let path = project.path().join(".regatta/archives/task-1-archive.md");
    std::fs::read_to_string(path).expect("there is an archive")
}

/// Returns one entry of a progress log, of about so many bytes.
fn entry(number: u32, words: &str, bytes: usize) -> String {
    let lines = "- a line of forty bytes, as any other one\n".repeat(bytes / 42);
    format!(
        "### Session {number} - 2026-01-{number:02} 10:00\n**Did:**\n- {words}\n{lines}\n**Issues:** None\n\n**Next:** more\n\n"
    )
}

/// Returns the text of a new file with these entries in its progress log.
fn with_entries(text: &str, entries: &[String]) -> String {
    assert!(text.contains("(No sessions yet)\n\n"), "{text}");
    text.replace("(No sessions yet)\n\n", &entries.concat())
}

#[test]
fn what_is_said_of_a_file() {
    let project = with_agents("");
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "add", "a task", "--criterion", "it works"]);
    transcript.run(&["task", "show", "1"]);
    let entries: Vec<String> = (1..=22).map(|number| entry(number, "one step", 2500)).collect();
    let text = with_entries(&read(&project), &entries);
    std::fs::write(path(&project), &text).expect("the file can be written");
    transcript.run(&["task", "show", "1"]);
    let text = read(&project);
    let size = field(&project, "1", "stateFileSize");
    let sum = |key: &str| {
        let sections = size["sections"].as_array().expect("sections are a list").iter();
        sections.map(|section| section[key].as_u64().expect("a number")).sum::<u64>()
    };
    assert_eq!((size["bytes"].as_u64(), sum("bytes")), (Some(text.len() as u64), text.len() as u64));
    assert_eq!(size["tokens"].as_u64(), Some(sum("tokens")));
    assert_eq!((&size["sessionCount"], &size["complexity"]), (&22.into(), &"very_large".into()));
    assert_eq!(size["advice"].as_array().map(Vec::len), Some(2), "{size}");
    transcript.run(&["task", "archive", "1"]);
    transcript.run(&["task", "show", "1"]);
    std::fs::remove_file(path(&project)).expect("the file can be removed");
    transcript.run(&["task", "show", "1"]);
    transcript.check("task_file_sizes");
}

#[test]
fn a_large_file_is_archived_before_the_next_session_reads_it() {
    let project = with_shell("cp \"$REGATTA_TASK_FILE\" seen.md", "");
    add(&project, "a task");
    let head = project.repo.git(&["rev-parse", "--short=9", "HEAD"]);
    let words = |number| match number {
        1 => format!("fixed it, see {head}, and not 0a1b2c3d4e"),
        2 => "made commit abc123 of another repository".to_owned(),
        _ => "one step".to_owned(),
    };
    let entries: Vec<String> = (1..=12).map(|number| entry(number, &words(number), 7000)).collect();
    let text = with_entries(&read(&project), &entries);
    assert!(text.len() > ARCHIVE_BYTES, "{}", text.len());
    std::fs::write(path(&project), &text).expect("the file can be written");
    project.json(&["task", "assign", "1", "--agent", "shell"]);
    assert_eq!(archive(&project), entries[..7].concat(), "every byte that was taken out, and no other");
    let seen = std::fs::read_to_string(project.path().join(".regatta/worktrees/task-1/seen.md"));
    let seen = seen.expect("the agent wrote it");
    let summary = format!(
        "## 3. Progress Log\n\n### Archived Summary (Sessions 1-7)\n**Duration:** 2026-01-01 10:00 - 2026-01-07 10:00\n\
         **Accomplishments:** fixed it, see {head}, and not 0a1b2c3d4e; made commit abc123 of another repository; \
         one step; one step; one step; one step; one step\n**Commits:** {head}, abc123\n\
         [Full details: .regatta/archives/task-1-archive.md]\n\n### Session 8 - "
    );
    assert!(seen.contains(&summary), "{}", &seen[..seen.len().min(2000)]);
    assert!(seen.contains(&entries[7..].concat()), "the last five stay in full");
    assert!(seen.len() < ARCHIVE_BYTES, "{}", seen.len());
}

#[test]
fn a_file_that_a_session_made_large_is_archived_when_it_ends() {
    let project =
        with_shell("cp \"$REGATTA_PROJECT/../grown.md\" \"$REGATTA_TASK_FILE\"; echo work > work.txt", "");
    add(&project, "a task");
    let entries: Vec<String> = (1..=12).map(|number| entry(number, "one step", 7000)).collect();
    let text = with_entries(&read(&project), &entries);
    std::fs::write(project.repo.outside().join("grown.md"), &text).expect("the file can be written");
    project.json(&["task", "assign", "1", "--agent", "shell"]);
    assert_eq!(archive(&project), entries[..7].concat(), "every byte that was taken out, and no other");
    let after = read(&project);
    assert!(after.len() < ARCHIVE_BYTES && after.contains(&entries[7..].concat()), "{}", after.len());
    let kinds = kinds_from(&project, 1);
    let place = |kind: &str| kinds.iter().position(|found| found == kind).expect("it happened");
    assert!(place("file:archived") < place("task:completed"), "{kinds:?}");
    assert_eq!(field(&project, "1", "progressEntries"), 12, "archived ones count");
}

#[test]
fn a_commit_that_the_engine_knows_of_is_in_the_summary() {
    let mut project = with_shell(
        "echo \"$REGATTA_SESSION_NUMBER\" > work.txt; \
         \"$REGATTA_BINARY\" -C \"$REGATTA_PROJECT\" task progress 1 --did \"step 1\" --next more",
        "env = [\"REGATTA_BINARY\"]",
    );
    project.set("REGATTA_BINARY", crate::support::PROGRAM);
    add(&project, "a task");
    let head = project.json(&["task", "assign", "1", "--agent", "shell"])["diff"]["head"].clone();
    for number in 2..=6 {
        project.json(&["task", "progress", "1", "--did", &format!("step {number}"), "--next", "more"]);
    }
    assert_eq!(project.json(&["task", "archive", "1"])["last"], 1);
    let short = &head.as_str().expect("a commit")[..10];
    assert!(read(&project).contains(&format!("\n**Commits:** {short}\n")), "{}", read(&project));
}
