//! Whole runs through the binary: what is printed, what is merged, and where they stop.

use crate::run_support::{
    BLOCKED, CODER, HOPELESS, input, listening, scripted, status, steps, subjects, told,
};
use crate::support::{Transcript, check, field};
use serde_json::json;

#[test]
fn a_document_becomes_merged_tasks() {
    let project = scripted("auto", CODER);
    let mut transcript = Transcript::new(&project);
    transcript.run(&["run", "speckit", "--prd", "plan.md"]);
    transcript.run(&["run", "show", "1", "--steps"]);
    transcript.run(&["run", "list"]);
    transcript.run(&["task", "list"]);
    transcript.run(&["run", "replay", "1"]);
    transcript.note("events of the run:");
    // How often a task's file is written in between is a matter of time, so the numbers are left out.
    for (_, line) in project.run(&["events"]).stdout.lines().filter_map(|line| line.split_once(" r1 ")) {
        transcript.note(line.trim_start());
    }
    transcript.check("run_text");
    let merged = ["Merge task #2: Make file 2", "Merge task #1: Make file 1", "the plan"];
    assert_eq!(subjects(&project)[..3], merged);
    assert_eq!(project.repo.git(&["show", "main:T001.txt"]), "work on T001, visit 2");
    assert_eq!(project.repo.git(&["show", "main:T002.txt"]), "work on T002, visit 2");
    assert_eq!(project.run(&["doctor"]).code, Some(0));
}

#[test]
fn as_json() {
    let project = scripted("auto", CODER);
    let mut transcript = Transcript::new(&project);
    let ran =
        transcript.run(&["--json", "run", "speckit", "--input", &input(), "--set", "onTaskFailed=continue"]);
    assert_eq!(ran.stderr, "", "with --json nothing is said but errors");
    transcript.run(&["--json", "run", "list"]);
    transcript.run(&["--json", "run", "replay", "1"]);
    transcript.check("run_json");
    let shown = project.json(&["run", "show", "1", "--steps"]);
    assert_eq!(shown["input"]["onTaskFailed"], "continue");
    assert_eq!(shown["steps"][1]["item"], "T001");
    assert_eq!(shown["state"]["metrics"]["totalAttempts"], 4);
    assert!(project.json(&["run", "list"])[0].get("state").is_none(), "lists are without states");
}

#[test]
fn a_person_merges_or_sends_back() {
    let project = scripted("person", CODER);
    let run = |arguments: &[&str]| assert_eq!(project.run(arguments).code, Some(0), "{arguments:?}");
    run(&["run", "speckit", "--prd", "plan.md"]);
    assert_eq!(field(&project, "1", "column"), "waiting_approval");
    run(&["task", "reject", "1", "--reason", "it has no title"]);
    run(&["run", "--resume"]);
    run(&["task", "approve", "1"]);
    run(&["run", "--resume"]);
    run(&["task", "approve", "2"]);
    // The engine of the approval may have finished the run by itself; then it is only shown.
    run(&["run", "--resume", "1"]);
    assert_eq!(status(&project, 1), "completed");
    let expected = [
        "spec spec-to-coder coder",
        "coder coder-retry coder",
        "coder coder-to-reviewer reviewer",
        "reviewer next-task coder",
        "coder coder-to-reviewer reviewer",
        "reviewer next-task coder",
        "coder coder-to-reviewer reviewer",
        "reviewer reviewer-reject coder",
        "coder coder-to-reviewer reviewer",
        "reviewer all-done done",
    ];
    assert_eq!(steps(&project, 1), expected);
    let shown = project.json(&["run", "show", "1", "--steps"]);
    assert_eq!(
        (&shown["steps"][3]["sentBack"], &shown["steps"][5]["sentBack"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(field(&project, "1", "rejectionCount"), 1);
    let merged = ["Merge task #2: Make file 2", "Merge task #1: Make file 1"];
    assert_eq!(subjects(&project)[..2], merged);
}

#[test]
fn at_low_levels_a_person_can_send_back_too() {
    let once = ["coder single-done coder", "coder single-done done"];
    let validated = ["coder self-validated coder", "coder self-validated done"];
    let reviewed = [
        "spec spec-to-coder coder",
        "coder coder-to-reviewer reviewer",
        "reviewer reviewed coder",
        "coder coder-to-reviewer reviewer",
        "reviewer reviewed done",
    ];
    for (level, expected, coder_again) in [("1", &once[..], 2), ("3", &validated, 2), ("4", &reviewed, 4)] {
        let project = listening();
        let run = |arguments: &[&str]| assert_eq!(project.run(arguments).code, Some(0), "{arguments:?}");
        run(&["run", "speckit", "--prd", "plan.md", "--level", level]);
        run(&["task", "reject", "1", "--reason", "it has no title"]);
        run(&["run", "--resume", "1"]);
        assert_eq!(field(&project, "1", "column"), "waiting_approval", "level {level}");
        let update = told(&project, coder_again);
        assert!(update.contains("## What a person says\n\nit has no title\n"), "level {level}: {update}");
        run(&["task", "approve", "1"]);
        run(&["run", "--resume", "1"]);
        assert_eq!(status(&project, 1), "completed", "level {level}");
        assert_eq!(steps(&project, 1), expected, "level {level}");
        assert_eq!(project.repo.git(&["show", "main:work.txt"]), format!("step {coder_again}"));
    }
}

#[test]
fn a_coder_that_goes_on_is_told_what_came_before() {
    let project = listening();
    let run = |arguments: &[&str]| assert_eq!(project.run(arguments).code, Some(0), "{arguments:?}");
    run(&["run", "speckit", "--prd", "plan.md", "--level", "3"]);
    run(&["task", "reject", "1", "--reason", "it has no title"]);
    run(&["run", "--resume", "1"]);
    check(&project, "run_told", &told(&project, 2));
}

#[test]
fn a_run_that_waits_says_what_for() {
    let project = scripted("person", CODER);
    let mut transcript = Transcript::new(&project);
    transcript.run(&["run", "speckit", "--prd", "plan.md"]);
    transcript.run(&["run", "list"]);
    transcript.run(&["run", "resume", "1"]);
    transcript.run(&["run", "answer", "1", "yes"]);
    transcript.check("run_waits");
}

#[test]
fn a_run_whose_task_fails_its_checks_says_so() {
    let project = scripted("auto", CODER);
    let path = ".regatta/config.toml";
    let config = std::fs::read_to_string(project.path().join(path)).expect("the config is there");
    project.repo.write(path, &format!("{config}\n[checks]\nstyle = \"exit 4\"\n"));
    let mut transcript = Transcript::new(&project);
    let failed = transcript.run(&["run", "speckit", "--prd", "plan.md", "--level", "1"]);
    assert_eq!(failed.code, Some(1));
    transcript.run(&["run", "show", "1"]);
    transcript.run(&["run", "list"]);
    transcript.check("run_checks_failed");
}

#[test]
fn a_blocked_coder_asks_and_is_answered() {
    let project = scripted("auto", BLOCKED);
    let mut transcript = Transcript::new(&project);
    let command = ["run", "speckit", "--input", &input(), "--level", "3", "--no-board"];
    transcript.run(&command);
    transcript.run(&["run", "show", "1"]);
    let events = || project.run(&["events"]).stdout;
    let before = events();
    transcript.run(&["run", "answer", "1", "   "]);
    transcript.run(&["--json", "run", "answer", "1", "", "--no-wait"]);
    assert_eq!((events(), status(&project, 1)), (before, json!("paused")), "nothing was written");
    transcript.run(&["run", "answer", "1", "blue, as the sea"]);
    transcript.run(&["run", "answer", "1", "again"]);
    transcript.check("run_blocked");
    let feedback = project.json(&["eval", "--run", "1", "feedback"]);
    assert_eq!(feedback["text"], "blue, as the sea");
}

#[test]
fn a_hopeless_task_is_given_up_at_its_cap() {
    let project = scripted("auto", HOPELESS);
    let mut transcript = Transcript::new(&project);
    let failed = transcript.run(&["run", "speckit", "--prd", "plan.md"]);
    assert_eq!(failed.code, Some(1));
    transcript.run(&["task", "show", "1"]);
    transcript.run(&["run", "list"]);
    transcript.run(&["run", "--resume"]);
    transcript.run(&["run", "resume", "1"]);
    let json = project.run(&["--json", "run", "speckit", "--prd", "plan.md", "--level", "3", "--no-board"]);
    check(&project, "run_exhausted_json", &format!("{}\n---\n{}", json.stdout, json.stderr));
    transcript.check("run_exhausted");
    let retries = steps(&project, 1).iter().filter(|step| step.contains("coder-retry")).count();
    assert_eq!(retries, 4, "three times, and once used up");
}

#[test]
fn a_low_level_takes_the_document_as_one_task() {
    for (level, expected) in [("1", &["coder single-done done"][..]), ("3", &["coder self-validated done"])] {
        let project = scripted("auto", CODER);
        let ran = project.json(&["run", "speckit", "--prd", "plan.md", "--level", level]);
        assert_eq!(
            (&ran["status"], &ran["level"]),
            (&json!("completed"), &json!(level.parse::<u32>().expect("a number")))
        );
        assert_eq!(steps(&project, 1), expected);
        assert_eq!(subjects(&project)[0], "Merge task #1: The plan");
        assert_eq!(project.repo.git(&["show", "main:PRD.txt"]), "work on PRD, visit 1");
    }
}

#[test]
fn the_document_may_be_a_prd_of_the_project_or_standard_input() {
    let project = scripted("auto", CODER);
    project.json(&["prd", "add", "plan.md", "--slug", "the-plan", "--title", "As added"]);
    let level = ["--level", "1", "--no-board"];
    let by_slug = project.json(&[&["run", "speckit", "--prd", "the-plan"], &level[..]].concat());
    assert_eq!(by_slug["input"]["title"], "As added");
    let by_file =
        project.json(&[&["run", "speckit", "--prd", "plan.md", "--title", "Mine"], &level[..]].concat());
    assert_eq!(
        (&by_file["input"]["title"], &by_file["input"]["prd"]),
        (&json!("Mine"), &by_slug["input"]["prd"])
    );
    let file = std::fs::File::open(project.path().join("plan.md")).expect("the file is there");
    let piped = project
        .command(&[&["--json", "run", "speckit", "--prd", "-"], &level[..]].concat())
        .stdin(file)
        .output();
    let piped: serde_json::Value =
        serde_json::from_slice(&piped.expect("the binary can be run").stdout).expect("stdout is JSON");
    assert_eq!(piped["input"]["title"], "The plan");
}

#[test]
fn the_demo_leaves_a_workflow_to_be_played() {
    let project = regatta_testkit::binary::TestProject::without_init(crate::support::PROGRAM);
    let folder = project.repo.outside().join("tally");
    let place = folder.to_str().expect("the folder's name is text");
    let made = project.run(&["demo", "--workflow", "speckit", "--no-run", "--dir", place]);
    assert!(made.stdout.contains("regatta run speckit --prd prd.md"), "{made:?}");
    let run = project.json(&["-C", place, "run", "speckit", "--prd", "prd.md", "--level", "1", "--no-board"]);
    assert_eq!((run["id"].as_u64(), run["status"].as_str()), (Some(1), Some("completed")), "{run}");
}

#[test]
fn the_demo_plays_a_workflow() {
    let project = scripted("auto", CODER);
    let folder = project.repo.outside().join("demo");
    let shown =
        project.json(&["demo", "--workflow", "speckit", "--yes", "--dir", &folder.display().to_string()]);
    assert_eq!((&shown["scripted"], &shown["run"]["status"]), (&json!(true), &json!("completed")));
    let sessions: Vec<_> =
        shown["tasks"].as_array().into_iter().flatten().map(|task| task["sessions"].clone()).collect();
    assert_eq!(sessions, [3, 4, 2], "one failed validation, and one review that sent the work back");
    let passed = |task: &serde_json::Value| task["checks"][0]["passed"] == true;
    assert!(shown["tasks"].as_array().into_iter().flatten().all(passed), "{shown}");
}

#[test]
fn the_demo_plays_a_team() {
    let project = regatta_testkit::binary::TestProject::without_init(crate::support::PROGRAM);
    let folder = project.repo.outside().join("team");
    let place = folder.to_str().expect("the folder's name is text");
    let told = project.run(&["demo", "--workflow", "team", "--yes", "--dir", place]);
    assert_eq!(told.code, Some(0), "{told:?}");
    for line in ["3 tasks merged", "1 sent back by QA, 1 conflict resolved", " messages "] {
        assert!(told.stdout.contains(line), "{line}: {told:?}");
    }
    let show = |arguments: &[&str]| project.json(&[&["-C", place], arguments].concat());
    assert_eq!(show(&["run", "show", "1"])["status"], "completed");
    let tasks = show(&["task", "list"]);
    let tasks = tasks.as_array().expect("tasks are a list");
    let rejected: Vec<u64> = tasks.iter().filter_map(|task| task["rejectionCount"].as_u64()).collect();
    assert_eq!(rejected, [0, 1, 0], "the second did not merge at first");
    let titles: Vec<_> = tasks.iter().map(|task| task["title"].clone()).collect();
    assert_eq!(titles, ["Add and list notes", "Export notes", "Search notes"]);
    assert_eq!(tasks[2]["dependencies"], json!([1]));
    let events = show(&["events"]);
    let of = |kind: &str| -> Vec<serde_json::Value> {
        events.as_array().into_iter().flatten().filter(|event| event["type"] == kind).cloned().collect()
    };
    let forecast = of("collisions:forecast");
    let is_conflict = |event: &serde_json::Value| {
        event["collisions"][0]["kind"] == "conflict" && event["collisions"][0]["files"] == json!(["notes.sh"])
    };
    assert!(forecast.iter().any(is_conflict), "{forecast:?}");
    let sent = of("message:sent");
    for kind in ["READY_FOR_QA", "FAIL", "PASS", "approved", "CONFLICT"] {
        assert!(sent.iter().any(|message| message["kind"] == kind), "{kind}: {sent:?}");
    }
    let read = |file: &str| -> serde_json::Value {
        let path = folder.join(".regatta/coordination").join(file);
        serde_json::from_str(&std::fs::read_to_string(path).expect("the file is there")).expect("it is JSON")
    };
    assert_eq!(read("pm_state.json")["completion_percentage"], 100);
    assert_eq!(
        read("group_status.json")["A"]["iterations"],
        json!({ "developer": 2, "qa": 2, "tech_lead": 1 })
    );
    assert_eq!(read("orchestrator_state.json")["current_phase"], "completed");
    assert_eq!(read("messages/qa_to_techlead.json")["messages"][0]["result"], "PASS");
    assert!(told.stdout.contains(".regatta/coordination/pm_state.json"), "{told:?}");
    // Each group had its branch, and none is left.
    let branches: Vec<_> = of("task:assigned").iter().map(|event| event["branch"].clone()).collect();
    assert!(branches.contains(&json!("feature/group-B-export")), "{branches:?}");
    let git = |arguments: &[&str]| regatta_testkit::repo::git_in(&folder, arguments);
    assert_eq!(git(&["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(
        git(&["ls-tree", "--name-only", "main", "lib/"]),
        "lib/add.sh\nlib/export.sh\nlib/list.sh\nlib/search.sh"
    );
    assert_eq!(git(&["status", "--porcelain"]), "");
    assert_eq!(show(&["doctor"]), json!([]));
    assert_eq!(
        project.run(&["-C", place, "run", "replay", "1"]).code,
        Some(0),
        "the same facts, the same steps"
    );
}
