//! A fork in the middle of an item continues from the commit that the step saw.

use crate::support::{REVIEWER, World, caller, first_task, prd};
use regatta_engine::core::run::{Phase, Run, Status};
use regatta_engine::core::{RunId, Task, TaskId};
use regatta_engine::orders::{self, Approving};
use regatta_engine::runs;

/// Writes one file in its first session, and the other in its second.
const IN_TWO_PARTS: &str = r#"
[[session]]
step = [
    { write = { path = "one.txt", text = "one of run ${run}\n" } },
    { result = { code = "half", taskId = "${item}", status = "needs_revision", selfValidation = { passed = false, issues = ["half"] } } },
]

[[session]]
step = [
    { write = { path = "two.txt", text = "two of run ${run}\n" } },
    { result = { code = "all", taskId = "${item}", status = "complete", selfValidation = { passed = true, issues = [] } } },
]
"#;

/// Runs until the task is up for approval: spec, coder, coder, reviewer.
async fn landing() -> (World, RunId) {
    let world = World::new("person", &["T001"], IN_TWO_PARTS, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    let found = world.rest(run).await;
    assert!(matches!(found.phase(), Some(Phase::Landing { .. })), "{found:?}");
    (world, run)
}

async fn fork(world: &World, run: RunId, step: u64) -> (Run, Task) {
    let fork = runs::fork(&world.project, &caller(), run, Some(step), None).await.unwrap();
    let found = world.rest(fork).await;
    let Some(&Phase::Landing { task, .. }) = found.phase() else { panic!("{found:?}") };
    (found, orders::get_task(&world.project, task).await.unwrap())
}

async fn merge(world: &World, task: TaskId) {
    orders::approve(&world.project, &caller(), task, Approving { anyway: true, ..Approving::default() })
        .await
        .unwrap();
    world.rest_task(task).await;
}

fn files(task: &Task) -> Option<u64> {
    task.diff().map(|diff| diff.files_changed)
}

#[tokio::test]
async fn the_work_up_to_the_step_is_there() {
    let (world, run) = landing().await;
    let (found, task) = fork(&world, run, 3).await;
    assert!(found.restarted.is_empty());
    assert_eq!((task.sessions, files(&task)), (2, Some(2)), "the diff shows the work of both: {task:?}");
    // A fork of the fork, before its own first step, continues from the same commit.
    let (_, second) = fork(&world, found.id, 3).await;
    assert_eq!(files(&second), Some(2));
    merge(&world, task.id).await;
    assert_eq!(world.shown("one.txt"), "one of run 1");
    assert_eq!(world.shown("two.txt"), "two of run 2");
}

#[tokio::test]
async fn what_was_done_after_the_step_is_not() {
    let (world, run) = landing().await;
    let (_, task) = fork(&world, run, 2).await;
    assert_eq!((task.sessions, files(&task)), (3, Some(2)));
    merge(&world, task.id).await;
    assert_eq!(world.shown("one.txt"), "one of run 2");
}

#[tokio::test]
async fn work_that_is_merged_meanwhile_is_shown_as_the_step_saw_it() {
    let (world, run) = landing().await;
    merge(&world, first_task()).await;
    world.rest(run).await;
    let (_, task) = fork(&world, run, 3).await;
    assert_eq!(files(&task), Some(2), "the first file too, though it is on the target already");
}

/// The reviewer of speckit changes nothing: without the diff that it saw, its task could never be completed.
#[tokio::test]
async fn merged_work_can_be_reviewed_again() {
    let (world, run) = landing().await;
    merge(&world, first_task()).await;
    assert_eq!(world.rest(run).await.status(), Status::Completed);
    let head = world.repo.git(&["rev-parse", "main"]);
    let (found, task) = fork(&world, run, 4).await;
    assert_eq!(files(&task), Some(2));
    // So can it be in a fork of the fork.
    let (_, second) = fork(&world, found.id, 4).await;
    assert_eq!(files(&second), Some(2));
    merge(&world, task.id).await;
    assert_eq!(world.rest(found.id).await.status(), Status::Completed);
    assert_eq!(world.repo.git(&["rev-parse", "main"]), head, "there is nothing to merge");
}

#[tokio::test]
async fn an_item_whose_commit_is_gone_begins_anew_and_the_fork_says_so() {
    let (world, run) = landing().await;
    orders::cancel(&world.project, &caller(), first_task(), None).await.unwrap();
    world.rest_task(first_task()).await;
    for name in world.repo.git(&["for-each-ref", "--format=%(refname)", "refs/regatta"]).lines() {
        world.repo.git(&["update-ref", "-d", name]);
    }
    world.repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    world.repo.git(&["gc", "--quiet", "--prune=now"]);
    let (found, task) = fork(&world, run, 3).await;
    assert_eq!((found.restarted, files(&task)), (vec!["T001".to_owned()], Some(1)));
}
