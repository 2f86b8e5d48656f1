//! Commands to runs in progress: pause, resume, stop, a kill, a fork, a replay.

use crate::run_support::{
    CODER, HOPELESS, edit, gated, input, open, scripted, status, steps, subjects, until_begun, write_many,
};
use crate::support::Transcript;
use regatta_testkit::wait::until;
use serde_json::{Value, json};

/// Two steps of one worker, and no board.
const TWO_STEPS: [&str; 5] = ["run", "speckit", "--level", "3", "--no-board"];

fn two_steps(document: &str) -> Vec<&str> {
    [&TWO_STEPS[..], &["--input", document]].concat()
}

#[test]
fn a_paused_run_ends_its_step_and_waits() {
    let (project, document) = (gated(), input());
    let running = project.start(&two_steps(&document));
    until_begun(&project, 1);
    let paused = project.json(&["run", "pause", "1"]);
    assert_eq!((&paused["status"], &paused["owner"]), (&json!("running"), &json!("engine")), "{paused}");
    let next = "it pauses after this step of `coder`; regatta run resume 1 undoes that";
    assert_eq!(paused["next"], next);
    open(&project, 1);
    let rested = running.wait();
    assert_eq!(rested.code, Some(0), "{rested:?}");
    let mut transcript = Transcript::new(&project);
    transcript.write("run speckit", &rested);
    transcript.run(&["run", "show", "1"]);
    open(&project, 2);
    transcript.run(&["run", "resume", "1"]);
    transcript.run(&["run", "pause", "1"]);
    transcript.check("run_paused");
    assert_eq!(steps(&project, 1), ["coder coder-retry coder", "coder self-validated done"]);
}

#[test]
fn a_stopped_run_stops_its_session() {
    let (project, document) = (gated(), input());
    let running = project.start(&two_steps(&document));
    until_begun(&project, 1);
    let mut transcript = Transcript::new(&project);
    let stopped = transcript.run(&["run", "stop", "1", "--reason", "the plan has changed"]);
    assert_eq!(stopped.code, Some(0));
    let ended = running.wait();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    transcript.write("run speckit", &ended);
    transcript.run(&["run", "stop", "1"]);
    transcript.check("run_stopped");
    assert_eq!(project.run(&["doctor"]).code, Some(0), "no process and no worktree is left");
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    let (project, document) = (gated(), input());
    let running = project.start(&two_steps(&document));
    until_begun(&project, 1);
    open(&project, 1);
    until_begun(&project, 2);
    assert_eq!(project.json(&["run", "show", "1"])["owner"], "engine");
    running.kill();
    let killed = project.json(&["run", "list"])[0].clone();
    assert_eq!((&killed["phase"], &killed["owner"]), (&json!("unattended"), &json!("you")), "{killed}");
    open(&project, 2);
    let resumed = project.json(&["run", "--resume"]);
    assert_eq!((&resumed["id"], &resumed["status"]), (&json!(1), &json!("completed")));
    assert_eq!(steps(&project, 1), ["coder coder-retry coder", "coder self-validated done"]);
    let begun = std::fs::read_to_string(project.path().join(".regatta/begun")).expect("the worker wrote it");
    assert_eq!(begun, "1\n2\n2\n", "only the step that was under way is performed again");
    assert_eq!(project.run(&["doctor"]).code, Some(0));
}

#[test]
fn a_killed_run_with_a_board_merges_each_task_once() {
    let project = scripted("auto", CODER);
    let running = project.start(&["run", "speckit", "--prd", "plan.md"]);
    until("the first task is merged", || subjects(&project)[0].starts_with("Merge task #1"));
    running.kill();
    project.json(&["run", "--resume"]);
    let merges: Vec<String> =
        subjects(&project).into_iter().filter(|subject| subject.starts_with("Merge")).collect();
    assert_eq!(merges, ["Merge task #2: Make file 2", "Merge task #1: Make file 1"]);
    assert_eq!(status(&project, 1), "completed");
}

#[test]
fn an_engine_that_runs_does_the_work() {
    let (project, document) = (gated(), input());
    let up = project.start(&["up"]);
    let begun = project.json(&[&two_steps(&document)[..], &["--no-wait"]].concat());
    assert_eq!(begun["id"], 1);
    until_begun(&project, 1);
    open(&project, 1);
    open(&project, 2);
    let followed = project.json(&["run", "--resume", "1"]);
    assert_eq!(followed["status"], "completed");
    up.kill();
}

#[test]
fn a_fork_of_a_failed_run_tries_again() {
    let project = scripted("auto", HOPELESS);
    assert_eq!(project.run(&["run", "speckit", "--prd", "plan.md"]).code, Some(1));
    project.repo.write(".regatta/scripts/coder.toml", CODER);
    let mut transcript = Transcript::new(&project);
    transcript.run(&["run", "fork", "1", "--at", "99"]);
    transcript.run(&["run", "fork", "1"]);
    transcript.run(&["run", "list"]);
    transcript.leave_out(" will conflict with ");
    transcript.check("run_fork");
    let fork = project.json(&["run", "show", "2"]);
    assert_eq!((&fork["forkedFrom"], &fork["status"]), (&json!(1), &json!("completed")));
    assert_eq!(steps(&project, 2)[0], "coder coder-to-reviewer reviewer");
    assert_eq!(
        project.repo.git(&["show", "main:T001.txt"]),
        "work on T001, visit 4",
        "visits are counted on"
    );
}

#[test]
fn a_fork_keeps_what_was_merged_before_its_step() {
    let project = scripted("auto", CODER);
    project.json(&["run", "speckit", "--prd", "plan.md"]);
    project.repo.write(".regatta/scripts/coder.toml", &CODER.replace("work on", "other work on"));
    let fork = project.json(&["run", "fork", "1", "--at", "5"]);
    assert_eq!((&fork["tasks"]["T001"], &fork["status"]), (&json!(1), &json!("completed")));
    assert_ne!(fork["tasks"]["T002"], 2);
    assert_eq!(project.repo.git(&["show", "main:T001.txt"]), "work on T001, visit 2");
    assert_eq!(project.repo.git(&["show", "main:T002.txt"]), "other work on T002, visit 2");
}

#[test]
fn a_replay_says_where_another_definition_differs() {
    let project = scripted("auto", CODER);
    project.json(&["run", "speckit", "--prd", "plan.md", "--no-board"]);
    project.json(&["workflow", "new", "mine"]);
    let same = project.run(&["run", "replay", "1", "--with", "mine"]);
    assert_eq!(same.code, Some(0), "{same:?}");
    edit(&project, "mine", "when = \"coderOutput.selfValidation.passed = false\"", "when = \"false\"");
    let mut transcript = Transcript::new(&project);
    let differs = transcript.run(&["run", "replay", "1", "--with", "mine"]);
    assert_eq!(differs.code, Some(1));
    transcript.check("run_replay");
    let json = project.run(&["--json", "run", "replay", "1", "--with", "mine"]);
    let steps: serde_json::Value = serde_json::from_str(&json.stdout).expect("stdout is JSON");
    assert!(steps[1]["differs"].is_string(), "{steps}");
}

#[test]
fn a_replay_judges_also_what_failed_and_what_followed_an_approval() {
    let differs = |coder: &str, level: &str, from: &str, to: &str| {
        let project = scripted("auto", coder);
        project.run(&["run", "speckit", "--prd", "plan.md", "--level", level]);
        project.json(&["workflow", "new", "mine"]);
        let same = project.run(&["run", "replay", "1", "--with", "mine"]);
        assert_eq!(same.code, Some(0), "{same:?}");
        edit(&project, "mine", from, to);
        let differs = project.run(&["--json", "run", "replay", "1", "--with", "mine"]);
        assert_eq!(differs.code, Some(1), "{differs:?}");
        let steps: Value = serde_json::from_str(&differs.stdout).expect("stdout is JSON");
        let told = steps.as_array().expect("steps").iter().filter(|step| step["differs"].is_string());
        told.map(|step| format!("{} {}: {}", step["node"], step["edge"], step["differs"])).collect::<Vec<_>>()
    };
    assert_eq!(
        differs(HOPELESS, "3", "maxIterations = 3", "maxIterations = 9"),
        [r#""coder" "coder-retry": "it would perform `coder` for PRD""#]
    );
    let set = |attempts: &str| {
        format!("currentAttempts = \"{attempts}\"\ncoderOutput = \"null\"\n[edges.rejected]")
    };
    assert_eq!(
        differs(CODER, "7", &set("0"), &set("7")),
        [r#""reviewer" "next-task": "it would leave another state""#]
    );
}

#[test]
fn a_replay_of_a_run_that_failed_says_that_a_mended_workflow_would_go_on() {
    let project = scripted("auto", CODER);
    project.json(&["workflow", "new", "mine"]);
    let (good, bad) = ("when = \"output.status = 'blocked'\"", "when = \"output.code - 1 > 3\"");
    edit(&project, "mine", good, bad);
    let failed = project.run(&["run", "mine", "--prd", "plan.md", "--level", "1", "--no-board"]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert_eq!(project.run(&["run", "replay", "1"]).code, Some(0));
    edit(&project, "mine", bad, good);
    let mut transcript = Transcript::new(&project);
    assert_eq!(transcript.run(&["run", "replay", "1", "--with", "mine"]).code, Some(1));
    transcript.check("run_replay_of_failed");
}

#[test]
fn a_role_that_nobody_plays_holds_the_run_until_somebody_does() {
    let project = scripted("auto", CODER);
    let path = ".regatta/config.toml";
    let config = std::fs::read_to_string(project.path().join(path)).expect("the config is there");
    project.repo.write(path, &config.replace("coder = \"worker\"\n", ""));
    let mut transcript = Transcript::new(&project);
    let held = transcript.run(&["run", "speckit", "--prd", "plan.md", "--level", "1", "--no-board"]);
    assert_eq!(held.code, Some(1));
    transcript.run(&["run", "list"]);
    transcript.check("run_held");
    project.repo.write(path, &config);
    assert_eq!(project.json(&["run", "--resume"])["status"], "completed");
}

#[test]
fn the_last_words_of_an_agent_stand_under_the_error() {
    let project = scripted("auto", CODER);
    let path = ".regatta/config.toml";
    let config = std::fs::read_to_string(project.path().join(path)).expect("the config is there");
    let loud = "[agents.loud]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"echo one >&2; echo two >&2; exit 3\"]\n";
    let config = config.replace("coder = \"worker\"\n", "coder = \"loud\"\n");
    project.repo.write(path, &format!("{config}\n{loud}"));
    let held = project.run(&["run", "speckit", "--prd", "plan.md", "--level", "1", "--no-board"]);
    assert_eq!(held.code, Some(1), "{held:?}");
    let shown = project.run(&["run", "show", "1"]).stdout;
    assert!(shown.contains(": one\n    two\n  next: "), "{shown}");
}

#[test]
fn what_cannot_be_told_to_a_role_ends_the_run() {
    let project = scripted("auto", CODER);
    project.json(&["workflow", "new", "mine"]);
    let (good, bad) = ("attemptNumber = \"currentAttempts\"", "attemptNumber = \"input.title + 1\"");
    edit(&project, "mine", good, bad);
    let failed = project.run(&["--json", "run", "mine", "--prd", "plan.md", "--level", "3"]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(failed.stderr.contains("run 1 stopped before node `coder`"), "{}", failed.stderr);
    assert_eq!(status(&project, 1), "failed");
    edit(&project, "mine", bad, good);
    let fork = project.json(&["run", "fork", "1", "--at", "1", "--with", "mine"]);
    assert_eq!(fork["status"], "completed", "{fork}");
}

#[test]
fn a_run_with_children_is_over_when_it_was_stopped() {
    let project = gated();
    write_many(&project);
    let up = project.start(&["up"]);
    project.json(&["run", "many", "--input", r#"{"items": [{"id": "A"}]}"#, "--no-wait"]);
    until_begun(&project, 1);
    assert_eq!(project.json(&["run", "stop", "1"])["status"], "failed");
    until("its child is stopped too", || status(&project, 2) == "failed");
    drop(up);
}

#[test]
fn a_fork_may_go_on_with_a_mended_workflow() {
    let project = scripted("auto", CODER);
    project.json(&["workflow", "new", "mine"]);
    edit(&project, "mine", "when = \"output.status = 'blocked'\"", "when = \"output.code - 1 > 3\"");
    let command = ["run", "mine", "--prd", "plan.md", "--level", "3", "--no-board"];
    let failed = project.run(&[&["--json"], &command[..]].concat());
    assert!(failed.stderr.contains("EDGE_EVALUATION_FAILED"), "{failed:?}");
    edit(&project, "mine", "when = \"output.code - 1 > 3\"", "when = \"output.status = 'blocked'\"");
    let again = project.run(&["--json", "run", "fork", "1"]);
    assert!(
        again.stderr.contains("EDGE_EVALUATION_FAILED"),
        "a fork plays what the run began with: {again:?}"
    );
    assert_eq!(project.json(&["run", "fork", "1", "--with", "mine"])["status"], "completed");
    edit(&project, "mine", "[levels.3]", "[levels.8]");
    let refused = project.refusal(&["run", "fork", "1", "--with", "mine"]);
    assert_eq!(refused["details"]["fields"][0]["problem"], "the workflow has no level 3", "{refused}");
}

#[test]
fn an_interrupted_run_says_how_it_goes_on() {
    let (project, document) = (gated(), input());
    let running = project.start(&two_steps(&document));
    until_begun(&project, 1);
    let pid = rustix::process::Pid::from_raw(running.pid().cast_signed()).expect("a process has a number");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it can be interrupted");
    let ended = running.wait();
    let mut transcript = Transcript::new(&project);
    transcript.write("run speckit", &ended);
    transcript.run(&["run", "show", "1"]);
    transcript.run(&["run", "list"]);
    transcript.check("run_interrupted");
    assert_eq!((ended.code, status(&project, 1)), (Some(1), json!("running")));
    open(&project, 1);
    open(&project, 2);
    assert_eq!(project.json(&["run", "--resume"])["status"], "completed");
}

#[test]
fn a_fork_says_which_items_it_begins_anew() {
    let project = scripted("person", HOPELESS);
    assert_eq!(project.run(&["run", "speckit", "--prd", "plan.md"]).code, Some(1));
    project.json(&["task", "cancel", "1"]);
    for name in project.repo.git(&["for-each-ref", "--format=%(refname)", "refs/regatta"]).lines() {
        project.repo.git(&["update-ref", "-d", name]);
    }
    project.repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    project.repo.git(&["gc", "--quiet", "--prune=now"]);
    let forked = project.run(&["run", "fork", "1", "--no-wait"]);
    let line = "restarted  T001, from the target branch: the commit at that step is not known";
    assert!(forked.stdout.contains(line), "{forked:?}");
    assert_eq!(project.json(&["run", "show", "2"])["restarted"], json!(["T001"]));
}
