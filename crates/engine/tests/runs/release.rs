//! What becomes of a task when its run is over: nothing of it is lost, and it does not wait for the run.

use crate::support::{CODER, REVIEWER, World, caller, first_task, prd};
use regatta_engine::core::machine::Column;
use regatta_engine::core::run::{Run, Status};
use regatta_engine::core::{Code, RunId, Task};
use regatta_engine::examine;
use regatta_engine::orders;
use regatta_engine::runs::{self, NewRun};
use regatta_testkit::wait::until_async;
use serde_json::json;

/// Works on one task, and asks what to do with it; nothing is submitted.
const WORKFLOW: &str = r#"
name = "plain"
start = "work"
board = { items = "[{'id': 'T', 'title': 'A task'}]", key = "id", title = "title" }
nodes.work = { kind = "agent", role = "coder", task = "'T'" }
nodes.ask = { kind = "approval", question = "'good?'" }
nodes.done = { kind = "end" }
nodes.bad = { kind = "end", status = "failed", reason = "'it is no good'" }
edges = [
    { id = "worked", from = "work", to = "ask" },
    { id = "good", from = "ask", to = "done", when = "output.approved" },
    { id = "bad", from = "ask", to = "bad" },
]
"#;

const WRITES: &str = r#"
[[session]]
step = [{ write = { path = "work.txt", text = "work" } }, { result = {} }]
"#;

async fn asked(coder: &str, approval: &str) -> (World, Run) {
    let world = World::new(approval, &[], coder, REVIEWER).await;
    let run = begin(&world).await;
    let run = world.rest(run).await;
    assert_eq!(run.status(), Status::Paused, "{run:?}");
    (world, run)
}

async fn begin(world: &World) -> RunId {
    for (name, text) in [
        ("workflow.toml", WORKFLOW),
        ("state.schema.json", r#"{"type": "object", "properties": {}}"#),
        ("roles/coder.md", "Work.\n"),
        ("roles/coder.output.json", "{}"),
    ] {
        world.repo.write(&format!(".regatta/workflows/plain/{name}"), text);
    }
    let workflow = runs::find_workflow(Some(&world.project), "plain").unwrap();
    world
        .create(NewRun { workflow, prd: None, level: None, input: json!({}), board: true, recording: None })
        .await
}

async fn answer(world: &World, run: &Run, approved: bool) -> (Run, Task) {
    world.answer(run.id, approved, "Continue.").await;
    let run = world.rest(run.id).await;
    (run, orders::get_task(&world.project, first_task()).await.unwrap())
}

#[tokio::test]
async fn what_a_completed_run_did_not_submit_is_a_persons() {
    let (world, run) = asked(WRITES, "auto").await;
    let (run, task) = answer(&world, &run, true).await;
    assert_eq!((run.status(), task.column(), task.run), (Status::Completed, Column::InProgress, None));
    assert_eq!(task.error.map(|error| error.code), Some(Code::TaskNotSubmitted));
    orders::complete(&world.project, &caller(), first_task()).await.unwrap();
    assert_eq!(world.rest_task(first_task()).await.column(), Column::Verified);
    assert_eq!(world.shown("work.txt"), "work");
    assert!(examine(&world.project).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_completed_run_that_changed_nothing_says_so_on_its_task() {
    let (world, run) = asked("[[session]]\nstep = [{ result = {} }]\n", "auto").await;
    let (run, task) = answer(&world, &run, true).await;
    assert_eq!((run.status(), task.column(), task.run), (Status::Completed, Column::InProgress, None));
    assert_eq!(task.error.map(|error| error.code), Some(Code::TaskNotSubmitted));
    orders::cancel(&world.project, &caller(), first_task(), None).await.unwrap();
    assert_eq!(world.rest_task(first_task()).await.column(), Column::Backlog);
}

#[tokio::test]
async fn what_a_failed_run_leaves_is_a_persons() {
    let (world, run) = asked(WRITES, "auto").await;
    let (run, task) = answer(&world, &run, false).await;
    assert_eq!((run.status(), task.column(), task.run), (Status::Failed, Column::InProgress, None));
    assert_eq!(task.error.as_ref().map(|error| error.code), Some(Code::RunFailed));
    let folder = world.repo.path().join(&task.worktree().unwrap().path);
    assert_eq!(std::fs::read_to_string(folder.join("work.txt")).unwrap(), "work");
    assert!(examine(&world.project).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_a_stopped_run_leaves_is_a_persons() {
    let (world, run) = asked(WRITES, "person").await;
    runs::stop(&world.project, &caller(), run.id, None).await.unwrap();
    world.rest(run.id).await;
    let task = orders::get_task(&world.project, first_task()).await.unwrap();
    assert_eq!((task.column(), task.run), (Column::InProgress, None));
    assert_eq!(task.error.as_ref().map(|error| error.code), Some(Code::RunStopped));
    orders::complete(&world.project, &caller(), first_task()).await.unwrap();
    assert_eq!(world.rest_task(first_task()).await.column(), Column::WaitingApproval);
    assert!(examine(&world.project).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_is_up_for_approval_when_the_run_is_stopped_stays_there() {
    let world = World::new("person", &["T001"], CODER, &REVIEWER.replace("${item}", "T001")).await;
    let run = world.begin(prd(), None).await;
    world.rest(run).await;
    runs::stop(&world.project, &caller(), run, None).await.unwrap();
    assert_eq!(world.rest(run).await.status(), Status::Failed);
    let task = orders::get_task(&world.project, first_task()).await.unwrap();
    assert_eq!((task.column(), task.run), (Column::WaitingApproval, None));
    let reason = "once more".to_owned();
    orders::reject(&world.project, &caller(), first_task(), reason, None).await.unwrap();
    let task = world.rest_task(first_task()).await;
    assert_eq!((task.column(), task.sessions), (Column::WaitingApproval, 4), "the agent went on: {task:?}");
    assert!(examine(&world.project).await.unwrap().is_empty());
}

/// A follower of the run does not hear that it is over while its task has no owner.
#[tokio::test]
async fn a_task_whose_worktree_is_being_made_is_let_go_of_before_its_run_rests() {
    let world = World::new("person", &[], WRITES, REVIEWER).await;
    let (begun, go) = (world.repo.outside().join("begun"), world.repo.outside().join("go"));
    let script = format!(": > {}; until [ -e {} ]; do sleep 0.02; done", begun.display(), go.display());
    let world = world.configured(&format!("\n[worktree]\nsetup = \"{script}\"\n")).await;
    let run = begin(&world).await;
    let stop_meanwhile = async {
        until_async("the worktree is being made", || begun.exists()).await;
        runs::stop(&world.project, &caller(), run, None).await.unwrap();
        while runs::get_run(&world.project, run).await.unwrap().status() != Status::Failed {
            tokio::task::yield_now().await;
        }
        std::fs::write(&go, "").unwrap();
    };
    let (found, ()) = tokio::join!(world.rest(run), stop_meanwhile);
    let task = orders::get_task(&world.project, first_task()).await.unwrap();
    assert_eq!((found.status(), task.column(), task.run), (Status::Failed, Column::InProgress, None));
    assert_eq!(task.error.map(|error| error.code), Some(Code::RunStopped));
    assert!(examine(&world.project).await.unwrap().is_empty());
}
