//! Task files: written by the engine, edited by agents and people, and nothing anybody wrote is lost.

use crate::support::{Transcript, add, field, kinds_from, until_in, with_agents, with_shell};
use regatta_testkit::binary::TestProject;
use regatta_testkit::wait::until;
use std::io::Write;
use std::path::PathBuf;

fn path(project: &TestProject, task: &str) -> PathBuf {
    project.path().join(format!(".regatta/task-states/task-{task}-state.md"))
}

fn read(project: &TestProject, task: &str) -> String {
    std::fs::read_to_string(path(project, task)).expect("the task has a file")
}

fn write(project: &TestProject, task: &str, text: &str) {
    std::fs::write(path(project, task), text).expect("the file can be written");
}

fn left_overs(project: &TestProject) -> Vec<String> {
    let entries = std::fs::read_dir(project.path().join(".regatta/task-states")).expect("there is a folder");
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(".regatta-")).collect()
}

#[test]
fn the_verbs_of_a_task_file() {
    let project = with_agents("");
    let mut transcript = Transcript::new(&project);
    transcript.run(&["task", "add", "a task", "--criterion", "it works", "--criterion", "it is nice"]);
    transcript.run(&["task", "criteria", "1", "--check", "2"]);
    transcript.run(&["--json", "task", "criteria", "1", "--check", "1", "--uncheck", "2"]);
    transcript.run(&["task", "criteria", "1", "--check", "3"]);
    transcript.run(&["task", "criteria", "1", "--check", "0"]);
    transcript.run(&["task", "output", "1"]);
    transcript.run(&["task", "progress", "1", "--did", "this", "--issues", "that", "--next", "more"]);
    transcript.run(&["task", "archive", "1"]);
    transcript.run(&["--json", "task", "output", "1"]);
    transcript.note(&read(&project, "1").replace('\n', "\n# "));
    transcript.check("task_file_verbs");
}

#[test]
fn an_edit_while_nothing_runs_is_noticed_and_kept() {
    let project = with_agents("");
    project.json(&["task", "add", "a task", "--criterion", "it works"]);
    let text = read(&project, "1");
    let edited = text.replace("- [ ] it works", "- [x] it works\n- [ ] it is new") + "\n## Notes\nmine\n";
    write(&project, "1", &edited);
    let criteria = project.json(&["task", "criteria", "1"]);
    assert_eq!((&criteria[0]["checked"], &criteria[1]["text"]), (&true.into(), &"it is new".into()));
    assert_eq!(read(&project, "1"), edited, "what was written stays as it is");
    let kinds = kinds_from(&project, 1);
    assert!(kinds.contains(&"criteria:set".to_owned()), "{kinds:?}");
}

#[test]
fn an_edit_while_an_engine_runs_is_noticed_at_once() {
    let project = with_agents("");
    project.json(&["task", "add", "a task", "--criterion", "it works"]);
    let up = project.start(&["up"]);
    let text = read(&project, "1");
    write(&project, "1", &text.replace("- [ ] it works", "- [x] it works"));
    until("the tick is in the log", || kinds_from(&project, 1).contains(&"criterion:checked".to_owned()));
    assert_eq!(field(&project, "1", "criteria")[0]["checked"], true);
    up.kill();
}

#[test]
fn an_agent_is_told_of_its_file_and_its_edits_are_taken_for_its_own() {
    let script = "echo work > work.txt; sed -i 's/- \\[ \\] it works/- [x] it works/' \"$REGATTA_TASK_FILE\"";
    let project = with_shell(script, "");
    project.json(&["task", "add", "a task", "--criterion", "it works"]);
    project.json(&["task", "assign", "1", "--agent", "shell"]);
    let events = project.json(&["events"]);
    let ticked = events.as_array().into_iter().flatten().find(|event| event["type"] == "criterion:checked");
    assert_eq!(ticked.expect("the tick is in the log")["actor"], "agent shell");
    let text = read(&project, "1");
    assert!(text.contains("(written by the engine)"), "an agent that logs nothing gets an entry: {text}");
    assert!(text.contains("\"status\": \"waiting_approval\""), "{text}");
}

#[test]
fn what_a_task_says_reaches_its_dependents_and_a_later_change_makes_it_stale() {
    let project = with_agents("");
    add(&project, "first");
    project.json(&["task", "add", "second", "--depends", "1"]);
    let say = |old: &str, new: &str| {
        let text = read(&project, "1");
        assert!(text.contains(old));
        write(&project, "1", &text.replace(old, new));
        project.json(&["task", "output", "1"]);
    };
    say("(To be completed)", "### Summary\nthe first answer");
    assert!(read(&project, "2").contains("> the first answer"), "{}", read(&project, "2"));
    say("the first answer", "the second answer");
    assert!(read(&project, "2").contains("> the second answer"), "not begun, so it follows");
    project.json(&["task", "assign", "1", "--agent", "worker"]);
    project.json(&["task", "approve", "1"]);
    project.json(&["task", "assign", "2", "--agent", "worker"]);
    say("the second answer", "the third answer");
    let text = read(&project, "2");
    assert!(text.contains("> the second answer") && text.contains("Stale"), "{text}");
    assert_eq!(field(&project, "2", "inputs")[0]["stale"], true);
}

#[test]
fn a_file_that_is_no_text_is_set_aside_and_made_anew() {
    let project = with_agents("");
    project.json(&["task", "add", "a task", "--criterion", "it works"]);
    let before = read(&project, "1");
    std::fs::write(path(&project, "1"), b"\xff\xfe").expect("the file can be written");
    project.json(&["task", "criteria", "1"]);
    assert_eq!(read(&project, "1"), before);
    let aside = path(&project, "1").with_file_name("task-1-state.md.corrupt-1");
    assert_eq!(std::fs::read(aside).expect("it is kept"), b"\xff\xfe");
    assert_eq!(field(&project, "1", "error")["code"], "STATE_CORRUPT");
}

#[test]
fn a_file_that_was_deleted_is_made_anew() {
    let project = with_agents("");
    project.json(&["task", "add", "a task", "--criterion", "it works"]);
    let before = read(&project, "1");
    std::fs::remove_file(path(&project, "1")).expect("the file can be removed");
    project.json(&["task", "criteria", "1"]);
    assert_eq!(read(&project, "1"), before);
}

#[test]
fn a_program_that_had_the_file_open_before_a_write_is_heard_after_it() {
    let project = with_agents("");
    project.json(&["task", "add", "a task", "--criterion", "it works"]);
    let mut editor =
        std::fs::File::options().append(true).open(path(&project, "1")).expect("it can be opened");
    project.json(&["task", "progress", "1", "--did", "this", "--next", "more"]);
    editor.write_all(b"\n## Notes\nwritten late\n").expect("it can be written");
    project.json(&["task", "criteria", "1"]);
    assert!(!read(&project, "1").contains("written late"), "it may still be in the middle of it");
    drop(editor);
    project.json(&["task", "criteria", "1"]);
    let text = read(&project, "1");
    assert!(text.contains("written late") && text.contains("**Did:** this"), "{text}");
    assert_eq!(left_overs(&project), Vec::<String>::new());
}

#[test]
fn a_file_in_the_middle_of_a_write_is_not_taken_for_a_whole_one() {
    let project = with_agents("");
    project.json(&["task", "add", "a task", "--criterion", "it works"]);
    let text = read(&project, "1");
    let mut editor = std::fs::File::create(path(&project, "1")).expect("it can be emptied");
    editor.write_all(&text.as_bytes()[..40]).expect("it can be written");
    project.json(&["task", "criteria", "1", "--check", "1"]);
    let ticked = text.replace("- [ ] it works", "- [x] it works");
    assert_eq!(read(&project, "1"), ticked, "the verb does its work on what is known");
    editor.write_all(&text.as_bytes()[40..]).expect("it can be written");
    editor.write_all(b"\n## Notes\nmine\n").expect("it can be written");
    drop(editor);
    project.json(&["task", "criteria", "1"]);
    assert_eq!(
        read(&project, "1").trim_end(),
        format!("{ticked}\n## Notes\nmine"),
        "and both are there then"
    );
    let kinds = kinds_from(&project, 1);
    assert!(!kinds.iter().any(|kind| kind == "criteria:set" || kind == "file:conflicted"), "{kinds:?}");
}

#[test]
fn an_engine_hears_a_program_that_had_the_file_open_as_soon_as_it_is_done() {
    let project = with_agents("");
    project.json(&["task", "add", "a task", "--criterion", "it works"]);
    let up = project.start(&["up"]);
    let mut editor =
        std::fs::File::options().append(true).open(path(&project, "1")).expect("it can be opened");
    project.json(&["task", "progress", "1", "--did", "this", "--next", "more"]);
    editor.write_all(b"\n## Notes\nwritten late\n").expect("it can be written");
    drop(editor);
    until("it is in the file", || read(&project, "1").contains("written late"));
    until("nothing is left", || left_overs(&project).is_empty());
    up.kill();
}

#[test]
fn many_processes_and_an_editor_on_one_file_lose_nothing() {
    const WRITERS: usize = 6;
    let project = with_agents("");
    project.json(&["task", "add", "a task", "--criterion", "it works"]);
    let up = project.start(&["up"]);
    let writers: Vec<_> = (0..WRITERS)
        .map(|number| {
            project.start(&["task", "progress", "1", "--did", &format!("work-{number}"), "--next", "more"])
        })
        .collect();
    // The editor renames a whole new file over the old one, as many do, and never waits for anybody.
    for number in 0..WRITERS {
        let text = read(&project, "1") + &format!("\n<!-- edit-{number} -->\n");
        let aside = path(&project, "1").with_file_name(format!("edited-{number}"));
        std::fs::write(&aside, text).expect("the file can be written");
        std::fs::rename(aside, path(&project, "1")).expect("the file can be replaced");
    }
    for writer in writers {
        let outcome = writer.wait();
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
    }
    project.json(&["task", "criteria", "1"]);
    up.kill();
    let log = project.run(&["--json", "events"]).stdout;
    let file = read(&project, "1");
    // An editor that read before another wrote takes that out again: it is then no longer in the file, but in the log.
    for number in 0..WRITERS {
        for words in [format!("work-{number}"), format!("edit-{number} ")] {
            assert!(file.contains(&words) || log.contains(&words), "{words} is in the file or the log");
        }
    }
    let versions = project.json(&["events"]);
    let versions = versions.as_array().expect("events are a list").iter();
    let text = versions.filter(|event| event["type"] == "file:changed").fold(String::new(), |text, event| {
        let place = |key: &str| {
            event["splice"][key].as_u64().and_then(|at| usize::try_from(at).ok()).expect("a place")
        };
        let inserted = event["splice"]["text"].as_str().expect("a text");
        [&text[..place("start")], inserted, &text[place("end")..]].concat()
    });
    assert_eq!(text, file, "the log adds up to the file");
}

#[test]
fn old_sessions_are_archived_and_no_byte_of_them_is_lost() {
    let project = with_agents("");
    add(&project, "a task");
    for number in 1..=8 {
        project.json(&["task", "progress", "1", "--did", &format!("did-{number}"), "--next", "more"]);
    }
    let before = read(&project, "1");
    assert_eq!(project.json(&["task", "archive", "1"])["last"], 3);
    let archive = std::fs::read_to_string(project.path().join(".regatta/archives/task-1-archive.md"));
    let archive = archive.expect("there is an archive");
    let session = |number: u32| {
        let start = before.find(&format!("### Session {number} ")).expect("it was there");
        let rest = &before[start..];
        rest[..rest[4..].find("### Session").map_or(rest.len(), |end| end + 4)].to_owned()
    };
    for number in 1..=3 {
        assert!(
            archive.contains(session(number).trim_end()),
            "session {number} is in the archive: {archive}"
        );
    }
    let after = read(&project, "1");
    assert!(after.contains("### Archived Summary (Sessions 1-3)") && after.contains(session(4).trim_end()));
    assert_eq!(project.json(&["task", "archive", "1"])["last"], serde_json::Value::Null);
    until_in(&project, "1", "backlog");
}
