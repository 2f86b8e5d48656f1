//! `regatta state import` of folders that other tools left, `state rebuild`, and `state validate` of all their files.

use crate::support::{Transcript, with_agents};
use regatta_testkit::binary::TestProject;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The name of the cycle among the examples.
const CYCLE: &str = "cycle-v1-20260122T100000-abc123";

/// Copies an example into the checkout, under the name that the tool uses.
fn place(project: &TestProject, example: &str, name: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/tests/examples").join(example);
    copy(&from, &project.path().join(name));
}

fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        std::fs::create_dir_all(to.parent().expect("a folder above")).expect("a folder");
        std::fs::copy(from, to).expect("a copy");
        return;
    }
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

/// Returns all files below a folder with their bytes.
fn read_all(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(read_all(&path));
        } else {
            files.insert(path.clone(), std::fs::read(&path).expect("a file"));
        }
    }
    files
}

fn head_of_log(project: &TestProject) -> usize {
    let events = project.run(&["--json", "events"]);
    events.stdout.lines().filter(|line| !line.trim().is_empty()).count()
}

fn task_file(project: &TestProject, task: u32) -> String {
    let path = project.path().join(format!(".regatta/task-states/task-{task}-state.md"));
    std::fs::read_to_string(path).expect("a task file")
}

/// Imports an example: first dry, then for real, then again; writes down what is printed.
fn import(example: &str, name: &str, transcript_name: &str) -> TestProject {
    let project = with_agents("");
    place(&project, example, name);
    let before = read_all(&project.path().join(name));
    let mut transcript = Transcript::new(&project);
    transcript.run(&["state", "import", name]);
    assert_eq!(project.json(&["task", "list", "--all"]), json!([]), "a dry run makes nothing");
    assert!(!project.path().join(".regatta/imports").exists(), "not even copies");
    transcript.run(&["state", "import", name, "--apply"]);
    transcript.run(&["task", "list", "--all"]);
    let (tasks, head) = (project.json(&["task", "list", "--all"]), head_of_log(&project));
    transcript.run(&["state", "import", name, "--apply"]);
    let repeated = project.json(&["state", "import", name, "--apply"]);
    assert_eq!(repeated["applied"]["made"], json!([]), "a second import makes nothing");
    assert_eq!((project.json(&["task", "list", "--all"]), head_of_log(&project)), (tasks, head));
    assert_eq!(read_all(&project.path().join(name)), before, "the files are not changed");
    let kept = project.path().join(repeated["applied"]["copies"].as_str().expect("a folder"));
    let folder = if before.is_empty() { PathBuf::new() } else { project.path().join(name) };
    for (path, bytes) in &before {
        let copy = kept.join(path.strip_prefix(&folder).expect("below the folder"));
        assert_eq!(&std::fs::read(&copy).expect("a copy"), bytes, "{}", copy.display());
    }
    transcript.check(transcript_name);
    project
}

#[test]
fn task_files_are_taken_over() {
    let project = import("specflux", ".specflux", "takeover_specflux");
    let original = |task: u32| {
        std::fs::read_to_string(project.path().join(format!(".specflux/task-states/task-{task}-state.md")))
            .expect("the original")
    };
    assert_eq!(task_file(&project, 101), original(101), "what was done elsewhere stays as it is");
    let others = [201, 305].map(|task| (task_file(&project, task), original(task)));
    for (here, there) in others {
        let there = there.replace("\"in_progress\"", "\"backlog\"");
        assert_eq!(here, there, "the engine owns the status");
    }
    let shown = project.json(&["task", "show", "103"]);
    assert_eq!(
        (&shown["progressEntries"], &shown["criteria"][0]["checked"], &shown["dependencies"]),
        (&json!(7), &json!(true), &json!([101]))
    );
    let archive = std::fs::read_to_string(project.path().join(".regatta/archives/task-103-archive.md"));
    assert!(archive.expect("the archive").contains("Set up the project"));
    let done = project.json(&["task", "show", "101"]);
    assert_eq!((&done["column"], &done["waitsFor"]), (&json!("backlog"), &json!("nobody")));
    assert_eq!(done["source"]["status"], "complete");
    // What depends on it can begin; and its output is an input.
    let started = project.run(&["task", "assign", "103", "--agent", "worker"]);
    assert_eq!(started.code, Some(0), "{started:?}");
    assert!(task_file(&project, 103).contains("JWT authentication service with token generation"));
    // Shown again, it is open work.
    project.json(&["task", "hide", "101", "--undo"]);
    let refused = project.refusal(&["task", "assign", "102", "--agent", "worker"]);
    assert_eq!(refused["code"], "TASK_BLOCKED");
}

#[test]
fn a_cycle_is_taken_over_as_a_paused_run() {
    let project = import("cycle", ".workflow/.cycle", "takeover_cycle");
    let run = project.json(&["run", "show", "1"]);
    assert_eq!((&run["status"], &run["workflow"]), (&json!("paused"), &json!("cycle")));
    let state = &run["state"];
    assert_eq!(
        (&state["current_iteration"], &state["pending"]),
        (&json!(1), &json!(["Also add multi-factor authentication"]))
    );
    assert_eq!(state["requirements"]["version"], "1.0.0");
    assert_eq!(state["requirements"]["specification"], "# Requirements\n\nSign in with Google and GitHub.");
    assert_eq!(state["changes"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_team_is_taken_over() {
    let project = import("coordination", "coordination", "takeover_team");
    let tasks = project.json(&["task", "list", "--all"]);
    let c = tasks.as_array().expect("a list").iter().find(|task| task["title"] == "Password Reset");
    assert_eq!(c.expect("group C")["blockedBy"], Value::Null, "A was done elsewhere");
    assert_eq!(project.json(&["prd", "list"])[0]["slug"], "v4-20250106-100000");
}

#[test]
fn features_of_spec_kit_are_taken_over() {
    let project = import("spec-kit/specs", "specs", "takeover_spec_kit");
    let tasks = project.json(&["task", "list", "--all"]);
    assert_eq!(tasks.as_array().map(Vec::len), Some(7));
}

#[test]
fn tables_are_taken_over() {
    import("tasks.csv", "tasks.csv", "takeover_csv");
    import("tasks.jsonl", "tasks.jsonl", "takeover_json_lines");
}

#[test]
fn what_changed_there_is_told_and_left_alone() {
    let project = with_agents("");
    place(&project, "tasks.csv", "tasks.csv");
    project.json(&["state", "import", "tasks.csv", "--apply"]);
    let text = std::fs::read_to_string(project.path().join("tasks.csv")).expect("the table");
    std::fs::write(
        project.path().join("tasks.csv"),
        text.replace("Write the API", "Write another API") + "D,New,,,,,,\n",
    )
    .expect("the table");
    let applied = project.json(&["state", "import", "tasks.csv", "--apply"])["applied"].clone();
    assert_eq!((&applied["changed"][0]["item"], &applied["made"][0]["item"]), (&json!("B"), &json!("D")));
    assert_eq!(project.json(&["task", "show", "2"])["title"], "Write the API");
    // The same table in another folder is the same table.
    copy(&project.path().join("tasks.csv"), &project.path().join("old/tasks.csv"));
    let moved = project.json(&["state", "import", "old/tasks.csv", "--apply"])["applied"].clone();
    assert_eq!(
        (&moved["known"].as_array().map(Vec::len), &moved["made"].as_array().map(Vec::len)),
        (&Some(3), &Some(1))
    );
}

/// Killed at any point, the next import finishes what is missing and makes nothing twice.
#[test]
fn an_import_that_broke_off_is_finished_by_the_next() {
    let picture = |project: &TestProject| {
        let tasks = project.json(&["task", "list", "--all"]);
        let brief = |task: &Value| {
            json!([task["id"], task["title"], task["dependencies"], task["hidden"], task["progressEntries"]])
        };
        let files = [101, 102, 103, 201, 305].map(|task| task_file(project, task));
        (
            tasks.as_array().expect("a list").iter().map(brief).collect::<Vec<_>>(),
            files,
            project.json(&["epic", "list"]).as_array().map(Vec::len),
        )
    };
    let whole = with_agents("");
    place(&whole, "specflux", ".specflux");
    whole.json(&["state", "import", ".specflux", "--apply"]);
    for point in ["append.before", "append.after", "write_file.prepared", "write_file.exchanged"] {
        let project = with_agents("");
        place(&project, "specflux", ".specflux");
        let arguments = ["state", "import", ".specflux", "--apply"];
        let crashed = project.run_with("REGATTA_CRASH_AT", point, &arguments);
        assert_ne!(crashed.code, Some(0), "{point}: {crashed:?}");
        project.json(&arguments);
        assert_eq!(picture(&project), picture(&whole), "{point}");
        assert_eq!(project.json(&arguments)["applied"]["made"], json!([]), "{point}");
    }
}

#[test]
fn hostile_folders_lose_nothing_and_lead_nowhere() {
    let project = with_agents("");
    let outside = project.repo.outside().join("secret");
    std::fs::create_dir(&outside).expect("a folder");
    std::fs::write(outside.join("task-9-state.md"), "# Task #9: secret\n").expect("a file");
    let folder = project.path().join("odd/task-states");
    std::fs::create_dir_all(&folder).expect("a folder");
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).expect("a file");
    write(
        "task-1-state.md",
        b"# Task #1: One\n\n## 0. Metadata\n```json\n{ \"task_id\": 1, \"dependencies\": [2] }\n```\n",
    );
    write("task-2-state.md", b"# Task #2: T\x1b[31mwo\x07\n\n## 0. Metadata\n```json\n{ \"task_id\": 2, \"dependencies\": [1] }\n```\n");
    write("task-3-state.md", b"\xff\xfe\x00#");
    write("task-4-state.md", b"");
    write("name\twith\x1bcontrol.md", b"kept");
    symlink(outside.join("task-9-state.md"), folder.join("task-9-state.md")).expect("a link");
    symlink(&outside, project.path().join("odd/linked")).expect("a link");
    symlink("..", folder.join("up")).expect("a link");
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("task-8-state.md"), 0o644.into()).expect("a pipe");
    let large = std::fs::File::create(folder.join("task-7-state.md")).expect("a file");
    large.set_len(100 * 1024 * 1024).expect("a large file");
    let found = project.json(&["state", "import", "odd"]);
    let applied = project.json(&["state", "import", "odd", "--apply"]);
    let told: Vec<String> = found["oddities"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|odd| format!("{}: {}", odd["file"], odd["what"]))
        .collect();
    for part in [
        "task-9-state.md\": \"a link to",
        "linked\": \"a link to",
        "up\": \"a link to",
        "task-8-state.md\": \"not a regular file",
        "task-7-state.md\": \"104857600 bytes",
        "task-3-state.md\": \"not UTF-8",
        "task-4-state.md\": \"empty",
        "in a cycle",
    ] {
        assert!(told.iter().any(|told| told.contains(part)), "{part} is not among {told:#?}");
    }
    let titles: Vec<&Value> =
        found["tasks"].as_array().expect("a list").iter().map(|task| &task["title"]).collect();
    assert_eq!(titles, ["One", "Two"], "nothing of the links was read");
    let kept = project.path().join(applied["applied"]["copies"].as_str().expect("a folder"));
    assert_eq!(kept.join("task-states/task-7-state.md").metadata().expect("a copy").len(), 100 * 1024 * 1024);
    assert_eq!(std::fs::read(kept.join("task-states/task-3-state.md")).expect("a copy"), b"\xff\xfe\x00#");
    assert!(!kept.join("task-states/task-9-state.md").exists() && !kept.join("linked").exists());
    let shown = project.run(&["state", "import", "odd"]);
    assert!(
        !shown.stdout.contains(['\x1b', '\x07']),
        "control characters reach no terminal: {:?}",
        shown.stdout
    );
}

#[test]
fn what_cannot_be_imported() {
    let project = with_agents("");
    std::fs::create_dir_all(project.path().join("notes")).expect("a folder");
    project.repo.write("notes/a.txt", "a");
    place(&project, "coordination", "both/coordination");
    place(&project, "specflux", "both/.specflux");
    let mut transcript = Transcript::new(&project);
    for arguments in [
        &["state", "import", "notes"][..],
        &["state", "import", "both"],
        &["state", "import", "both", "--from", "coordinaton"],
        &["state", "import", "notes/a.txt", "--apply"],
        &["state", "import", "nowhere", "--apply"],
    ] {
        transcript.run(arguments);
    }
    transcript.check("takeover_refused");
}

/// The log is lost, and with it the run: the files are all that is left.
#[test]
fn a_run_is_rebuilt_from_its_files() {
    let project = with_agents("");
    place(&project, "cycle", "saved");
    let mut transcript = Transcript::new(&project);
    transcript.run(&["state", "rebuild", "saved"]);
    transcript.run(&["state", "rebuild", "saved"]);
    assert_eq!(
        project.json(&["run", "list"]).as_array().map(Vec::len),
        Some(1),
        "the same files are the same run"
    );
    // Without the master file its title is not known.
    std::fs::remove_file(project.path().join(format!("saved/{CYCLE}.json"))).expect("it was there");
    transcript.run(&["state", "rebuild", "saved"]);
    // The first run has the paths of the files until it ends.
    transcript.run(&["state", "rebuild", "saved", "--set", "title=OAuth"]);
    project.json(&["run", "stop", "1"]);
    transcript.run(&["state", "rebuild", "saved", "--set", "title=OAuth"]);
    transcript.run(&["state", "rebuild", "saved", "--only", "another"]);
    transcript.check("takeover_rebuild");
    let run = project.json(&["run", "show", "2"]);
    assert_eq!(
        (&run["status"], &run["state"]["plan"]["tasks"][0]["id"]),
        (&json!("paused"), &json!("TASK-001"))
    );
}

/// The files stand where the new run has its own: they are rewritten from it, and what was there is kept.
#[test]
fn a_run_is_rebuilt_in_place() {
    let project = with_agents("");
    place(&project, "cycle", ".regatta/cycles");
    let rebuilt = project.json(&["state", "rebuild", ".regatta/cycles"]);
    assert_eq!((&rebuilt[0]["runId"], &rebuilt[0]["known"]), (&json!(1), &json!(false)));
    let master = project.path().join(format!(".regatta/cycles/{CYCLE}.json"));
    let written = std::fs::read_to_string(&master).expect("the file of the new run");
    let written: Value = serde_json::from_str(&written).expect("it is JSON");
    assert_eq!(
        (&written["status"], &written["title"]),
        (&json!("paused"), &json!("Implement OAuth authentication"))
    );
    let again = project.json(&["state", "rebuild", ".regatta/cycles"]);
    assert_eq!(
        (&again[0]["runId"], &again[0]["known"]),
        (&json!(1), &json!(true)),
        "they are its own files now"
    );
    let copies: Vec<PathBuf> = read_all(&project.path().join(".regatta/imports")).into_keys().collect();
    let mut masters = copies.iter().filter(|path| path.ends_with(format!("{CYCLE}.json")));
    let is_original = |path: &PathBuf| {
        std::fs::read_to_string(path).is_ok_and(|text| text.contains("\"status\": \"running\""))
    };
    assert!(masters.any(is_original), "what was there is kept");
}

/// Instead of tasks of the board, the plan of a team becomes that of a paused run.
#[test]
fn a_team_is_rebuilt_as_a_run() {
    let project = with_agents("");
    place(&project, "coordination", "coordination");
    let arguments = ["state", "rebuild", "coordination", "--workflow", "team", "--set", "title=JWT"];
    assert_eq!(project.json(&arguments)[0]["item"], "team");
    let run = project.json(&["run", "show", "1"]);
    let groups = run["state"]["plan"]["groups"].as_array().expect("the groups of the plan");
    let ids: Vec<&Value> = groups.iter().map(|group| &group["id"]).collect();
    assert_eq!((&run["status"], ids), (&json!("paused"), vec![&json!("A"), &json!("B"), &json!("C")]));
}

#[test]
fn every_file_is_validated() {
    let project = with_agents("");
    place(&project, "specflux", ".specflux");
    place(&project, "cycle", ".cycle");
    let progress = format!(".cycle/{CYCLE}.progress");
    let plan = format!("{progress}/ep/plan.json");
    let mut transcript = Transcript::new(&project);
    for file in [
        ".specflux/task-states/task-102-state.md".to_owned(),
        format!(".cycle/{CYCLE}.json"),
        plan.clone(),
        format!("{progress}/cd/changes.log"),
        format!("{progress}/vas/test-results.json"),
        format!("{progress}/ra/requirements.md"),
        format!("{progress}/coordination/timeline.md"),
    ] {
        transcript.run(&["state", "validate", &file]);
    }
    let text = std::fs::read_to_string(project.path().join(&plan)).expect("the plan");
    let text = text.replace("\"completed\"", "\"complete\"").replace("\"depends_on\"", "\"dependsOn\"");
    std::fs::write(project.path().join(&plan), text).expect("the plan");
    std::fs::write(
        project.path().join(format!("{progress}/cd/changes.log")),
        "{\"file\": \"a\", \"iteration\": \"1\"}\n\n{\"file\": \n",
    )
    .expect("the log");
    project.repo.write(
        "master.json",
        "{ \"cycle_id\": \"c\", \"title\": 5, \"status\": \"paused\", \"max_iterations\": \"5\" }\n",
    );
    transcript.run(&["state", "validate", &plan]);
    transcript.run(&["state", "validate", &format!("{progress}/cd/changes.log"), "master.json"]);
    transcript.run(&["--json", "state", "validate", &plan]);
    transcript.run(&["state", "validate", "master.json", "--as", "plan"]);
    transcript.run(&["state", "validate", "master.json", "--as", "cycle.pan"]);
    project.repo.write("other.json", "{}");
    transcript.run(&["state", "validate", "other.json"]);
    transcript.run(&["state", "validate"]);
    transcript.check("takeover_validate");
}
