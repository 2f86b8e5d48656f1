//! Runs that are recorded, and played again with no agent.

use crate::run_support::{BLOCKED, CODER, edit, scripted, status};
use crate::support::Transcript;
use regatta_testkit::binary::TestProject;
use regatta_testkit::wait::until;
use serde_json::json;

/// Agents that could not do the work.
const SILENT: &str = "[[session]]\nstep = [{ exit = 3 }]\n";

#[test]
fn what_was_recorded_is_played_again_without_an_agent() {
    let project = scripted("auto", CODER);
    let recording = project.repo.outside().join("tape");
    let recording = recording.to_str().expect("the folder's name is text");
    let recorded = project.run(&["run", "speckit", "--prd", "plan.md", "--record", recording]);
    assert_eq!(recorded.code, Some(0), "{recorded:?}");

    let other = scripted("auto", SILENT);
    let mut transcript = Transcript::new(&other);
    let replayed = other.run(&["run", "speckit", "--replay", recording]);
    assert_eq!(
        (replayed.code, replayed.stdout.as_str()),
        (Some(0), "the same as recorded\n"),
        "{replayed:?}"
    );
    assert_eq!(status(&other, 1), "completed");
    let branch = other.repo.git(&["branch", "--list", "replay/1-*", "--format=%(refname:short)"]);
    assert_eq!(other.repo.git(&["show", &format!("{branch}:T002.txt")]), "work on T002, visit 2");

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
    let differs = other.run(&["--json", "run", "mine", "--no-board", "--replay", recording]);
    assert_eq!(differs.code, Some(1), "{differs:?}");
    transcript.note(&differs.stdout);
    assert_eq!(
        other.refusal(&["run", "speckit", "--record", recording])["code"],
        "IO_FAILED",
        "it is not empty"
    );
    transcript.write("run speckit --replay nowhere", &other.run(&["run", "speckit", "--replay", "nowhere"]));
    transcript.check("run_taped");
    std::fs::create_dir(other.path().join("empty")).expect("a new folder");
    let empty = other.refusal(&["run", "speckit", "--replay", "empty"])["message"].to_string();
    assert!(empty.contains("no ended run is recorded there"), "{empty}");
}

/// Works on any task.
const WORKER: &str = "[[session]]\nstep = [{ write = { path = \"made.txt\", text = \"made\" } }]\n";

#[test]
fn a_recording_is_refused_while_another_engine_runs_the_project() {
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
    let [recording, new] = ["tape", "new"].map(|name| folder.join(name).display().to_string());
    for recording in [["--replay", &recording], ["--record", &new]] {
        let command = [&["run", "speckit", "--prd", "plan.md"], &recording[..]].concat();
        assert_eq!(project.refusal(&command)["code"], "ENGINE_ALREADY_RUNNING", "{command:?}");
    }
    assert_eq!(project.json(&["run", "list"]), json!([]), "no run was begun");
    up.kill();
}

const RUN: [&str; 6] = ["run", "speckit", "--prd", "plan.md", "--level", "5"];

/// Records a run in a project of its own, with what happens to it, and returns where the recording is.
fn recorded(project: &TestProject, how: impl FnOnce(&[&str])) -> String {
    let recording = project.repo.outside().join("tape").display().to_string();
    how(&[&RUN[..], &["--record", &recording]].concat());
    assert_eq!(status(project, 1), "completed");
    recording
}

fn is_the_same(project: &TestProject, recording: &str) {
    let replayed = project.run(&["run", "speckit", "--replay", recording]);
    assert_eq!(
        (replayed.code, replayed.stdout.as_str()),
        (Some(0), "the same as recorded\n"),
        "{replayed:?}"
    );
}

#[test]
fn a_recording_and_a_replay_that_are_killed_go_on_as_what_they_are() {
    let project = scripted("auto", CODER);
    let recording = recorded(&project, |command| {
        assert!(project.run_with("REGATTA_CRASH_AT", "perform_node.played", command).signal.is_some());
        let up = project.start(&["up"]);
        until("the run is done", || status(&project, 1) == "completed");
        drop(up);
        project.json(&["run", "--resume", "1"]);
    });
    let other = scripted("auto", SILENT);
    other.repo.write(".regatta/scripts/reviewer.toml", SILENT);
    let replay = ["run", "speckit", "--replay", &recording];
    assert!(other.run_with("REGATTA_CRASH_AT", "perform_node.played", &replay).signal.is_some());
    let resumed = other.run(&["run", "--resume", "1"]);
    assert_eq!((resumed.code, resumed.stdout.as_str()), (Some(0), "the same as recorded\n"), "{resumed:?}");
    assert_eq!(status(&other, 1), "completed", "no agent was asked");
    is_the_same(&scripted("auto", SILENT), &recording);
}

#[test]
fn what_a_person_answered_is_on_the_recording() {
    let project = scripted("auto", BLOCKED);
    let recording = recorded(&project, |command| {
        assert_eq!(project.json(command)["phase"], "asking");
        let mut last = project.json(&["run", "answer", "1", "blue"]);
        while last["phase"] == "asking" {
            last = project.json(&["run", "answer", "1", "blue again"]);
        }
    });
    let head = std::fs::read_to_string(format!("{recording}/run.json")).expect("the tape was closed");
    assert!(head.contains("\"blue\"") && head.contains("\"blue again\""), "{head}");
    is_the_same(&scripted("auto", SILENT), &recording);
}

#[test]
fn where_an_edge_leads_after_an_approval_is_compared() {
    let project = scripted("auto", CODER);
    let recording = recorded(&project, |command| assert_eq!(project.run(command).code, Some(0)));
    let other = scripted("auto", SILENT);
    assert_eq!(other.run(&["workflow", "new", "mine"]).code, Some(0));
    edit(&other, "mine", "[nodes.done]", "[nodes.done2]\nkind = \"end\"\n\n[nodes.done]");
    edit(
        &other,
        "mine",
        "id = \"all-done\"\nfrom = \"reviewer\"\nto = \"done\"",
        "id = \"all-done\"\nfrom = \"reviewer\"\nto = \"done2\"",
    );
    let replayed = other.run(&["run", "mine", "--replay", &recording]);
    assert_eq!(replayed.code, Some(1), "{replayed:?}");
    assert!(
        replayed.stdout.contains("-all-done-> `done`, now `reviewer` -all-done-> `done2`"),
        "{replayed:?}"
    );
}

#[test]
fn what_a_role_without_a_task_wrote_is_on_the_recording() {
    let project = scripted("auto", CODER);
    let recording = project.repo.outside().join("tape");
    let name = recording.display().to_string();
    let command = ["run", "speckit", "--prd", "plan.md", "--level", "1", "--no-board", "--record", &name];
    assert_eq!(project.run(&command).code, Some(0));
    let kept =
        std::fs::read_to_string(recording.join("0001-coder-PRD/PRD.txt")).expect("the file is on the tape");
    assert_eq!(kept, "work on PRD, visit 1\n");
}

#[test]
fn a_recording_without_a_board_is_played_without_one() {
    let project = scripted("auto", CODER);
    let recording = project.repo.outside().join("tape").display().to_string();
    let record = [&RUN[..], &["--no-board", "--record", &recording]].concat();
    assert_eq!(project.run(&record).code, Some(0));
    let other = scripted("auto", SILENT);
    is_the_same(&other, &recording);
    assert_eq!(other.json(&["task", "list"]), json!([]), "no task was made");
}

#[test]
fn what_cannot_begin_leaves_no_recording_and_a_recording_that_is_cut_off_says_how_to_go_on() {
    let project = scripted("auto", CODER);
    let recording = project.repo.outside().join("tape");
    let name = recording.display().to_string();
    let refused = project.run(&["run", "speckit", "--input", "{\"prd\": 1}", "--record", &name]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(!recording.exists(), "nothing was recorded");

    let record = [&RUN[..], &["--record", &name]].concat();
    assert!(project.run_with("REGATTA_CRASH_AT", "perform_node.played", &record).signal.is_some());
    let refused = project.refusal(&["run", "speckit", "--replay", &name]);
    assert!(refused["hint"].to_string().contains("regatta run --resume 1"), "{refused}");
}

#[test]
fn what_is_resumed_is_the_own_run_and_a_resumed_replay_is_compared() {
    let project = scripted("auto", BLOCKED);
    let recording = recorded(&project, |command| {
        assert_eq!(project.json(command)["phase"], "asking");
        while project.json(&["run", "answer", "1", "blue"])["phase"] == "asking" {}
    });
    let other = scripted("auto", BLOCKED);
    assert_eq!(other.json(&RUN)["phase"], "asking");
    let replay = ["run", "speckit", "--replay", &recording];
    assert!(other.run_with("REGATTA_CRASH_AT", "perform_node.played", &replay).signal.is_some());
    assert_eq!(other.json(&["run", "--resume"])["id"], 1, "the replay is newer, but not the person's");
    let resumed = other.run(&["run", "resume", "2"]);
    assert_eq!((resumed.code, resumed.stdout.as_str()), (Some(0), "the same as recorded\n"), "{resumed:?}");
}
