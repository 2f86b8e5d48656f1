//! Edits of the files of a run, as a person sees them; and killed anywhere while one is taken in.

use crate::support::{Transcript, with_shell};
use regatta_testkit::binary::TestProject;
use serde_json::{Value, json};

const WORKFLOW: &str = r#"
name = "edited"
start = "ask"
folder = "shelf"

[files.plan]
path = "plan.json"
place = "plan"

[files.log]
path = "log.jsonl"
append = "log"

[nodes.ask]
kind = "approval"
question = "'More?'"
set = { "plan.last" = "output.text" }

[nodes.done]
kind = "end"

[[edges]]
id = "again"
from = "ask"
to = "ask"
when = "output.approved"
maxIterations = 100
overrides = ["enough"]

[[edges]]
id = "enough"
from = "ask"
to = "done"
"#;

const STATE: &str = r#"{
  "type": "object",
  "properties": {
    "plan": {
      "type": "object",
      "properties": { "title": { "type": "string" } },
      "default": { "title": "a" }
    },
    "log": { "type": "array", "items": { "type": "object" }, "default": [] }
  }
}"#;

const SIGKILL: i32 = 9;

fn project() -> TestProject {
    let project = with_shell("", "");
    project.repo.write(".regatta/workflows/edited/workflow.toml", WORKFLOW);
    project.repo.write(".regatta/workflows/edited/state.schema.json", STATE);
    assert_eq!(project.run(&["run", "edited", "--no-board"]).code, Some(0));
    project
}

fn read(project: &TestProject, name: &str) -> String {
    std::fs::read_to_string(project.path().join(".regatta/shelf").join(name)).unwrap_or_default()
}

fn write(project: &TestProject, name: &str, text: &str) {
    let path = project.path().join(".regatta/shelf").join(name);
    std::fs::write(path, text).expect("the file can be written");
}

fn kept(project: &TestProject) -> Vec<String> {
    let entries =
        std::fs::read_dir(project.path().join(".regatta/shelf")).expect("the folder is there").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.contains(".edit-")).collect();
    names.sort();
    names
}

fn count(project: &TestProject, kind: &str) -> usize {
    let events = project.json(&["events"]);
    let events = events.as_array().cloned().unwrap_or_default();
    events.iter().filter(|event| event["type"] == kind).count()
}

#[test]
fn edits_are_taken_in_and_what_does_not_fit_is_shown() {
    let project = project();
    write(&project, "plan.json", "{ \"title\": \"mine\" }\n");
    assert_eq!(project.run(&["run", "answer", "1", "one"]).code, Some(0));
    assert_eq!(
        project.json(&["run", "show", "1"])["state"]["plan"],
        json!({ "title": "mine", "last": "one" })
    );
    write(&project, "plan.json", "{ \"title\": 7 }\n");
    write(&project, "log.jsonl", "{\"n\": 1}\n{oops\n");
    assert_eq!(project.run(&["run", "answer", "1", "two"]).code, Some(0));
    assert_eq!(kept(&project).len(), 2, "{:?}", kept(&project));
    let mut transcript = Transcript::new(&project);
    transcript.run(&["run", "show", "1"]);
    transcript.run(&["doctor"]);
    transcript.check("run_file_edits");
    for name in kept(&project) {
        std::fs::remove_file(project.path().join(".regatta/shelf").join(name)).unwrap();
    }
    let files = project.json(&["run", "show", "1"])["files"].clone();
    assert!(files.as_array().unwrap().iter().all(|file| file.get("kept").is_none()), "{files}");
}

/// Killed between reading and remembering, an edit is taken in once, and kept once.
#[test]
fn an_edit_is_taken_in_once_wherever_the_engine_is_killed() {
    for point in ["run_edit.before", "run_edit.recorded", "run_edit.kept", "run_edit.after"] {
        let project = project();
        write(&project, "log.jsonl", "{\"n\": 1}\n");
        write(&project, "plan.json", "{ \"title\": ");
        let crashed = project.run_with("REGATTA_CRASH_AT", point, &["run", "answer", "1", "one"]);
        assert_eq!(crashed.signal, Some(SIGKILL), "{point} was not reached: {crashed:?}");
        assert_eq!(project.run(&["run", "answer", "1", "two"]).code, Some(0), "{point}");
        let state: Value = project.json(&["run", "show", "1"])["state"].clone();
        assert_eq!(state["log"], json!([{ "n": 1 }]), "{point}");
        assert_eq!(state["plan"], json!({ "title": "a", "last": "two" }), "{point}");
        assert_eq!((count(&project, "run:edited"), count(&project, "run:edit_kept")), (1, 1), "{point}");
        assert_eq!(kept(&project).len(), 1, "{point}: {:?}", kept(&project));
        assert_eq!(read(&project, &kept(&project)[0]), "{ \"title\": ", "{point}");
        assert_eq!(read(&project, "log.jsonl"), "{\"n\":1}\n", "{point}");
        assert!(read(&project, "plan.json").contains("\"last\": \"two\""), "{point}");
    }
}
