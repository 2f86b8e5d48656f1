//! A fork at a node that is no role's, and what such a node does with a task that has no worktree.

use crate::support::{World, caller, first_task};
use regatta_engine::core::machine::Column;
use regatta_engine::core::run::{Hold, Phase, Run, Status};
use regatta_engine::core::{Code, Failure, RunId, Stage, Task, TaskId, WorkPhase};
use regatta_engine::orders::{self, Approving};
use regatta_engine::runs::{self, NewRun};
use regatta_testkit::wait::until_async;
use serde_json::json;
use std::path::PathBuf;

/// The work is checked, and a person says whether it is put up.
const WORKFLOW: &str = r#"
name = "guarded"
start = "work"
board = { items = "[{'id': 'T', 'title': 'A task'}]", key = "id", title = "title" }
nodes.work = { kind = "agent", role = "coder", task = "'T'" }
nodes.test = { kind = "check", task = "'T'", checks = ["test"], set = { passed = "output.passed" } }
nodes.ask = { kind = "approval", question = "'Put it up?'" }
nodes.done = { kind = "end" }
nodes.failed = { kind = "end", status = "failed" }
edges = [
    { id = "worked", from = "work", to = "test" },
    { id = "tested", from = "test", to = "ask" },
    { id = "yes", from = "ask", to = "done", when = "output.approved", submit = "'T'", rejected = { to = "work" } },
    { id = "no", from = "ask", to = "failed", when = "output.approved = false", fail = "'T'" },
]
"#;

const STATE: &str = r#"{"type": "object", "properties": {"passed": {"type": "boolean", "default": false}}}"#;

const CODER: &str = r#"
[[session]]
step = [{ write = { path = "one.txt", text = "work of run ${run}\n" } }, { result = {} }]
"#;

/// The checks find the work.
const THERE: &str = "\n[checks]\ntest = \"test -e one.txt\"\n";

/// The check reports that it has begun, and does not end unless the repository says so.
const SLOW: &str = "\n[checks]\ntest = \"echo > begun.txt; test -e go.txt || sleep 600\"\n";

const CHECK: u64 = 2;
const QUESTION: u64 = 3;

async fn world(checks: &str) -> (World, RunId) {
    let world = World::new("person", &[], CODER, "").await.configured(checks).await;
    for (name, text) in [
        ("workflow.toml", WORKFLOW),
        ("state.schema.json", STATE),
        ("roles/coder.md", "Work.\n"),
        ("roles/coder.output.json", "{}"),
    ] {
        world.repo.write(&format!(".regatta/workflows/guarded/{name}"), text);
    }
    let workflow = runs::find_workflow(Some(&world.project), "guarded").unwrap();
    let new = NewRun { workflow, prd: None, level: None, input: json!({}), board: true, recording: None };
    let run = world.create(new).await;
    (world, run)
}

/// Runs until the person is asked.
async fn asking() -> (World, RunId) {
    let (world, run) = world(THERE).await;
    assert_asks(&world.rest(run).await, true);
    (world, run)
}

async fn fork(world: &World, run: RunId, step: u64) -> Run {
    let fork = runs::fork(&world.project, &caller(), run, Some(step), None).await.unwrap();
    world.rest(fork).await
}

async fn answer(world: &World, run: RunId, approved: bool) -> Run {
    world.answer(run, approved, "so").await;
    world.rest(run).await
}

async fn resume(world: &World, run: RunId) -> Run {
    runs::resume(&world.project, &caller(), run).await.unwrap();
    world.rest(run).await
}

async fn get_task(world: &World, task: TaskId) -> Task {
    orders::get_task(&world.project, task).await.unwrap()
}

/// Puts the task of a fork up and merges it; its diff is that of the other run.
async fn assert_lands(world: &World, run: &Run) {
    let landing = answer(world, run.id, true).await;
    let Some(&Phase::Landing { task, .. }) = landing.phase() else { panic!("{landing:?}") };
    assert_ne!(task, first_task());
    assert_eq!(get_task(world, task).await.diff().map(|diff| diff.files_changed), Some(1));
    orders::approve(&world.project, &caller(), task, Approving { anyway: true, ..Approving::default() })
        .await
        .unwrap();
    world.rest_task(task).await;
    assert_eq!(world.rest(run.id).await.status(), Status::Completed);
    assert_eq!(world.shown("one.txt"), "work of run 1");
}

fn assert_asks(run: &Run, passed: bool) {
    assert!(matches!(run.phase(), Some(Phase::Asking { .. })), "{run:?}");
    assert_eq!((run.item.as_deref(), &run.sheet.state()["passed"]), (Some("T"), &json!(passed)));
}

fn error_of(run: &Run) -> &Failure {
    let Some(Hold::Error { error }) = run.hold() else { panic!("{run:?}") };
    error
}

fn place(world: &World, task: u32) -> PathBuf {
    world.repo.path().join(format!(".regatta/worktrees/task-{task}"))
}

#[tokio::test]
async fn a_fork_at_a_check_checks_the_work_of_the_other_run() {
    let (world, run) = asking().await;
    let found = fork(&world, run, CHECK).await;
    assert_asks(&found, true);
    assert_lands(&world, &found).await;
}

#[tokio::test]
async fn the_task_of_a_forked_question_holds_the_work_before_it_is_answered() {
    let (world, run) = asking().await;
    let found = fork(&world, run, QUESTION).await;
    assert_asks(&found, true);
    assert!(place(&world, 2).join("one.txt").exists());
    // So does that of a fork of the fork.
    let second = fork(&world, found.id, QUESTION).await;
    assert!(place(&world, 3).join("one.txt").exists(), "{second:?}");
    assert_lands(&world, &found).await;
    assert_lands(&world, &second).await;
}

#[tokio::test]
async fn a_task_that_the_answer_gives_up_is_left_with_its_work() {
    let (world, run) = asking().await;
    let found = fork(&world, run, QUESTION).await;
    let ended = answer(&world, found.id, false).await;
    assert_eq!(ended.status(), Status::Failed);
    let task = world.rest_task(*ended.tasks.get("T").unwrap()).await;
    let Stage::InProgress(work) = &task.stage else { panic!("{task:?}") };
    assert_eq!(
        (&work.phase, task.error.map(|error| error.code)),
        (&WorkPhase::Halted, Some(Code::RunFailed))
    );
    assert!(place(&world, 2).join("one.txt").exists());
}

#[tokio::test]
async fn a_check_whose_task_is_cancelled_is_performed_again_in_a_new_worktree() {
    let (world, run) = world(SLOW).await;
    let cancel = async {
        let begun = place(&world, 1).join("begun.txt");
        until_async("the check has begun", || begun.exists()).await;
        orders::cancel(&world.project, &caller(), first_task(), None).await.unwrap();
    };
    let held = tokio::join!(world.rest(run), cancel).0;
    assert_eq!((error_of(&held).code, held.step), (Code::TaskCancelled, CHECK));
    assert_eq!(get_task(&world, first_task()).await.column(), Column::Backlog);

    world.repo.write("go.txt", "go\n");
    world.repo.commit("the check may end");
    assert_asks(&resume(&world, run).await, true);
    assert!(!place(&world, 1).join("one.txt").exists(), "the cancelled work is gone");
}

#[tokio::test]
async fn work_that_was_cancelled_before_a_check_is_told_once() {
    let (world, run) = world("").await;
    assert_eq!(error_of(&world.rest(run).await).code, Code::ChecksFailed);
    orders::cancel(&world.project, &caller(), first_task(), None).await.unwrap();
    world.rest_task(first_task()).await;
    let world = world.configured(THERE).await;
    assert_eq!(error_of(&resume(&world, run).await).code, Code::TaskCancelled);
    assert_asks(&resume(&world, run).await, false);
}

#[tokio::test]
async fn a_worktree_that_is_gone_is_not_blamed_on_the_workflow() {
    let (world, run) = world("").await;
    world.rest(run).await;
    let world = world.configured(THERE).await;
    std::fs::remove_dir_all(place(&world, 1)).unwrap();
    let held = resume(&world, run).await;
    assert!(error_of(&held).message.ends_with("its worktree .regatta/worktrees/task-1 is gone"), "{held:?}");
    let found = fork(&world, run, CHECK).await;
    assert_asks(&found, true);
}

#[tokio::test]
async fn a_step_that_a_fork_does_not_have_is_refused_with_those_that_it_has() {
    let (world, run) = asking().await;
    let (tested, asked) = (fork(&world, run, CHECK).await, fork(&world, run, QUESTION).await);
    for (id, step, problem) in [
        (run, 4, "run 1 has steps 1 to 3, and no step 4"),
        (tested.id, 1, "run 2 has steps 2 to 3, and no step 1"),
        (asked.id, 1, "run 3 has step 3 alone, and no step 1"),
    ] {
        let refused = runs::fork(&world.project, &caller(), id, Some(step), None).await.unwrap_err();
        assert!(refused.explain().why.concat().contains(problem), "{refused:?}");
    }
}
