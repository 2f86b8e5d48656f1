//! Runs that are recorded, and played again with no agent.

use crate::run_support::{CODER, scripted, status};
use crate::support::Transcript;
use regatta_testkit::wait::until;
use serde_json::json;

#[test]
fn what_was_recorded_is_played_again_without_an_agent() {
    let project = scripted("auto", CODER);
    let tape = project.repo.outside().join("tape");
    let tape = tape.to_str().expect("the folder's name is text");
    let recorded = project.run(&["run", "speckit", "--prd", "plan.md", "--record", tape]);
    assert_eq!(recorded.code, Some(0), "{recorded:?}");

    let silent = "[[session]]\nstep = [{ exit = 3 }]\n";
    let other = scripted("auto", silent);
    let mut transcript = Transcript::new(&other);
    let replayed = other.run(&["run", "speckit", "--replay", tape]);
    assert_eq!(
        (replayed.code, replayed.stdout.as_str()),
        (Some(0), "the same as recorded\n"),
        "{replayed:?}"
    );
    assert_eq!(status(&other, 1), "completed");
    assert_eq!(other.repo.git(&["show", "main:T002.txt"]), "work on T002, visit 2");

    // A prompt and an edge that were changed since.
    assert_eq!(other.run(&["workflow", "new", "mine"]).code, Some(0));
    let file = ".regatta/workflows/mine/workflow.toml";
    let text = std::fs::read_to_string(other.path().join(file)).expect("it was made");
    let when = "reviewerOutput.approved = true and currentTaskIndex < $count(tasks) - 1";
    assert!(text.contains(when));
    other.repo.write(file, &text.replace(when, "reviewerOutput.approved = true and false"));
    other.repo.write(
        ".regatta/workflows/mine/roles/reviewer.md",
        "Look at {{ task.id }}: {{ code }} {{ acceptanceCriteria }}",
    );
    let differs = other.run(&["--json", "run", "mine", "--no-board", "--replay", tape]);
    assert_eq!(differs.code, Some(1), "{differs:?}");
    transcript.note(&differs.stdout);
    assert_eq!(other.refusal(&["run", "speckit", "--record", tape])["code"], "IO_FAILED", "it is not empty");
    transcript.write("run speckit --replay nowhere", &other.run(&["run", "speckit", "--replay", "nowhere"]));
    transcript.check("run_taped");
}

/// Works on any task.
const WORKER: &str = "[[session]]\nstep = [{ write = { path = \"made.txt\", text = \"made\" } }]\n";

#[test]
fn a_tape_is_refused_while_another_engine_runs_the_project() {
    let project = scripted("auto", WORKER);
    let folder = project.repo.outside();
    let head = json!({
        "workflow": "speckit", "digest": "", "level": 1, "input": { "prd": "Make it.", "title": "It" },
        "status": "completed", "steps": [],
    });
    std::fs::create_dir(folder.join("tape")).expect("the folder is made");
    std::fs::write(folder.join("tape/run.json"), head.to_string()).expect("the tape is written");
    let up = project.start(&["up"]);
    // Only an engine that is up finishes what is not waited for.
    let task = project.json(&["task", "add", "Make it"])["id"].to_string();
    project.json(&["task", "assign", &task, "--agent", "worker", "--no-wait"]);
    until("the engine has finished a task", || {
        project.json(&["task", "show", &task])["column"] == json!("verified")
    });
    let [tape, new] = ["tape", "new"].map(|name| folder.join(name).display().to_string());
    for tape in [["--replay", &tape], ["--record", &new]] {
        let command = [&["run", "speckit", "--prd", "plan.md"], &tape[..]].concat();
        assert_eq!(project.refusal(&command)["code"], "ENGINE_ALREADY_RUNNING", "{command:?}");
    }
    assert_eq!(project.json(&["run", "list"]), json!([]), "no run was begun");
    up.kill();
}
