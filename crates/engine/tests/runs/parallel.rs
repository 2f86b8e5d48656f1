//! `parallel` nodes on the engine: members at the same time, each in its own worktree, and what a crash or a pause leaves.

use crate::support::{World, caller, first_task, is_empty};
use regatta_engine::core::RunId;
use regatta_engine::core::run::{Hold, Run, Status};
use regatta_engine::orders;
use regatta_engine::runs::{self, NewRun};
use regatta_testkit::wait::until_async;
use serde_json::{Value, json};

const WORKFLOW: &str = r#"
name = "together"
start = "both"

[board]
items = "[{'id': 'T1'}]"
key = "id"

[nodes.both]
kind = "parallel"
nodes = ["write", "look", "plan"]
set = { all = "output" }

[nodes.write]
kind = "agent"
role = "coder"
task = "'T1'"
set = { "order[+]" = "output.summary" }

[nodes.look]
kind = "agent"
role = "reviewer"
task = "'T1'"
writes = false
set = { "order[+]" = "output.summary" }

[nodes.plan]
kind = "agent"
role = "spec"
writes = false
set = { "order[+]" = "output.summary" }

[nodes.done]
kind = "end"

[[edges]]
id = "joined"
from = "both"
to = "done"
submit = "'T1'"
"#;

const STATE: &str = r#"{"type": "object", "properties": {
    "order": {"type": "array", "default": []},
    "all": {"default": null}
}}"#;

/// Each waits until the two others have begun, so that they end only if they work at the same time.
fn meeting(name: &str, outside: &str) -> String {
    let others: Vec<&str> = ["write", "look", "plan"].into_iter().filter(|other| *other != name).collect();
    let wait = format!(
        "touch {outside}/{name}; until [ -e {outside}/{} ] && [ -e {outside}/{} ]; do sleep 0.01; done",
        others[0], others[1]
    );
    format!(
        "[[session]]\nstep = [{{ run = [\"sh\", \"-c\", \"{wait}\"] }}, {{ result = {{ summary = \"{name}\" }} }}]\n"
    )
}

fn quick(name: &str) -> String {
    format!("[[session]]\nstep = [{{ result = {{ summary = \"{name}\" }} }}]\n")
}

const WRITER: &str = r#"
[[session]]
step = [{ write = { path = "a.txt", text = "visit ${visit}\n" } }, { result = { summary = "write" } }]
"#;

async fn world(coder: &str, reviewer: &str, spec: &str) -> World {
    let world = World::new("auto", &[], coder, reviewer).await;
    world.repo.write("scripts/spec.toml", spec);
    for role in ["coder", "reviewer", "spec"] {
        world.repo.write(&format!(".regatta/workflows/together/roles/{role}.md"), "Work.\n");
        world.repo.write(&format!(".regatta/workflows/together/roles/{role}.output.json"), "{}");
    }
    world.repo.write(".regatta/workflows/together/workflow.toml", WORKFLOW);
    world.repo.write(".regatta/workflows/together/state.schema.json", STATE);
    world.configured("\n[limits]\nretries = 0\n").await
}

async fn begin(world: &World) -> RunId {
    let workflow = runs::find_workflow(Some(&world.project), "together").unwrap();
    let new = NewRun { workflow, prd: None, level: None, input: json!({}), board: true, recording: None };
    world.create(new).await
}

fn order(run: &Run) -> Value {
    run.sheet.state()["order"].clone()
}

#[tokio::test]
async fn members_work_at_the_same_time_and_are_joined_in_their_order() {
    let world = world(WRITER, "", "").await;
    let outside = world.repo.outside().display().to_string();
    let write = meeting("write", &outside)
        .replace("{ result", "{ write = { path = \"a.txt\", text = \"a\\n\" } }, { result");
    world.repo.write("scripts/coder.toml", &write);
    world.repo.write("scripts/reviewer.toml", &meeting("look", &outside));
    world.repo.write("scripts/spec.toml", &meeting("plan", &outside));
    let run = begin(&world).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(order(&found), json!(["write", "look", "plan"]));
    let summary = |name: &str| json!({ "summary": name });
    let all = json!({ "write": summary("write"), "look": summary("look"), "plan": summary("plan") });
    assert_eq!(found.sheet.state()["all"], all);
    assert_eq!(world.shown("a.txt"), "a");
    assert!(is_empty(&world.repo.path().join(".regatta/worktrees")), "nothing is left of the worktrees");
    assert_eq!(world.repo.git(&["branch", "--list", "run/*", "task/*"]), "");
    let steps = runs::replay(&world.project, run, None).await.unwrap();
    assert!(steps.iter().all(|step| step.differs.is_none()), "{steps:?}");
}

#[tokio::test]
async fn a_member_that_failed_is_performed_again_alone() {
    let world = world(WRITER, &quick("look"), "[[session]]\nstep = [{ fault = 'refused' }]\n").await;
    let run = begin(&world).await;
    let found = world.rest(run).await;
    let Some(Hold::Error { error }) = found.hold() else { panic!("{found:?}") };
    assert_eq!(error.code.as_str(), "AGENT_SESSION_FAILED");
    let sessions = orders::get_task(&world.project, first_task()).await.unwrap().sessions;
    world.repo.write("scripts/spec.toml", &quick("plan"));
    // Whoever works again would fail.
    world.repo.write("scripts/coder.toml", "[[session]]\nstep = [{ fault = 'refused' }]\n");
    runs::resume(&world.project, &caller(), run).await.unwrap();
    let found = world.rest(run).await;
    assert_eq!((found.status(), order(&found)), (Status::Completed, json!(["write", "look", "plan"])));
    assert_eq!(orders::get_task(&world.project, first_task()).await.unwrap().sessions, sessions);
    assert_eq!(world.shown("a.txt"), "visit 1");
}

/// The writer ends only once its file is there; the two others have ended long before.
fn waiting(outside: &str) -> String {
    let wait = format!("touch {outside}/begun; until [ -e {outside}/go ]; do sleep 0.01; done");
    WRITER.replace("step = [", &format!("step = [{{ run = [\"sh\", \"-c\", \"{wait}\"] }}, "))
}

#[tokio::test]
async fn a_pause_waits_for_what_is_under_way_and_a_stop_ends_it() {
    let world = world(WRITER, &quick("look"), &quick("plan")).await;
    let outside = world.repo.outside();
    world.repo.write("scripts/coder.toml", &waiting(&outside.display().to_string()));
    let run = begin(&world).await;
    let pause = async {
        until_async("the writer has begun", || outside.join("begun").exists()).await;
        runs::pause(&world.project, &caller(), run).await.unwrap();
        std::fs::write(outside.join("go"), "").unwrap();
    };
    let (found, ()) = tokio::join!(world.rest(run), pause);
    assert_eq!(found.status(), Status::Paused, "{found:?}");
    runs::resume(&world.project, &caller(), run).await.unwrap();
    assert_eq!(world.rest(run).await.status(), Status::Completed);

    std::fs::remove_file(outside.join("begun")).unwrap();
    std::fs::remove_file(outside.join("go")).unwrap();
    let run = begin(&world).await;
    let stop = async {
        until_async("the writer has begun", || outside.join("begun").exists()).await;
        runs::stop(&world.project, &caller(), run, None).await.unwrap();
    };
    let (found, ()) = tokio::join!(world.rest(run), stop);
    assert_eq!(found.status(), Status::Failed, "{found:?}");
    assert_eq!(world.repo.git(&["branch", "--list", "run/*"]), "");
}

#[tokio::test]
async fn a_fork_performs_the_members_again_from_the_same_work() {
    let world = world(WRITER, &quick("look"), "[[session]]\nstep = [{ fault = 'refused' }]\n").await;
    let run = begin(&world).await;
    world.rest(run).await;
    world.repo.write("scripts/spec.toml", &quick("plan"));
    runs::stop(&world.project, &caller(), run, None).await.unwrap();
    world.rest(run).await;
    let fork = runs::fork(&world.project, &caller(), run, None, None).await.unwrap();
    let found = world.rest(fork).await;
    assert_eq!(
        (found.status(), order(&found)),
        (Status::Completed, json!(["write", "look", "plan"])),
        "{found:?}"
    );
}
