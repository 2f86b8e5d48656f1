//! What the doctor says of tasks that wait for a person, and of those whose worktree somebody removed.

use crate::support::{CODER, REVIEWER, World, caller, first_task, prd};
use regatta_engine::core::machine::Column;
use regatta_engine::core::run::Phase;
use regatta_engine::core::{Assignee, Code, Create, Priority, Task};
use regatta_engine::orders::{self, Approving};
use regatta_engine::{examine, list_salvages};
use std::collections::BTreeSet;

const HAND: &str = "[[session]]\nstep = [{ write = { path = 'work.txt', text = 'work' } }]\n";

/// A task that is up for approval, and worked on by no run.
async fn up() -> (World, Task) {
    let world = World::new("person", &[], HAND, REVIEWER).await;
    let create =
        Create::new("A task".to_owned(), "Do it.".to_owned(), Vec::new(), BTreeSet::new(), Priority::Medium);
    let task = orders::create(&world.project, &caller(), create.unwrap()).await.unwrap();
    orders::assign(&world.project, &caller(), task, Assignee::Agent("worker".parse().unwrap()), None, true)
        .await
        .unwrap();
    let task = world.rest_task(task).await;
    assert_eq!(task.column(), Column::WaitingApproval, "{task:?}");
    (world, task)
}

fn remove_folder(world: &World) {
    std::fs::remove_dir_all(world.repo.path().join(".regatta/worktrees/task-1")).unwrap();
}

fn remove_branch(world: &World) {
    world.repo.git(&["worktree", "prune"]);
    world.repo.git(&["branch", "-D", "task/1"]);
}

async fn advice(world: &World) -> String {
    let findings = examine(&world.project).await.unwrap();
    assert_eq!(findings.len(), 1, "{findings:?}");
    findings[0].next.clone()
}

#[tokio::test]
async fn a_run_that_waits_for_a_person_is_in_order() {
    let world = World::new("person", &["T001"], CODER, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    assert!(matches!(world.rest(run).await.phase(), Some(Phase::Landing { .. })));
    let findings = examine(&world.project).await.unwrap();
    assert!(findings.is_empty(), "{findings:?}");

    orders::approve(
        &world.project,
        &caller(),
        first_task(),
        Approving { anyway: true, ..Approving::default() },
    )
    .await
    .unwrap();
    let waiting = advice(&world).await;
    assert!(waiting.contains("`regatta up`"), "it is the engine's move now: {waiting}");
}

#[tokio::test]
async fn no_agent_is_blamed_for_a_worktree_that_is_gone() {
    let (world, task) = up().await;
    remove_folder(&world);
    orders::reject(&world.project, &caller(), task.id, "more".to_owned(), None).await.unwrap();
    let found = world.rest_task(task.id).await;
    let error = found.error.unwrap();
    assert_eq!(error.code, Code::AgentStartFailed);
    assert!(error.message.ends_with("/.regatta/worktrees/task-1 is gone"), "{error:?}");
    assert!(
        error.hint.contains("`regatta doctor`") && error.hint.contains("`regatta task cancel 1`"),
        "{error:?}"
    );
}

#[tokio::test]
async fn what_was_put_up_for_review_is_kept_when_folder_and_branch_are_gone() {
    let (world, task) = up().await;
    let head = task.diff().unwrap().head.clone();
    remove_folder(&world);
    assert!(advice(&world).await.ends_with("its branch is kept as a salvage"));
    remove_branch(&world);
    assert!(advice(&world).await.ends_with("what was last submitted for review is kept as a salvage"));

    orders::cancel(&world.project, &caller(), task.id, None).await.unwrap();
    let found = world.rest_task(task.id).await;
    assert_eq!((found.column(), found.salvages.len()), (Column::Backlog, 1), "{found:?}");
    let kept = list_salvages(&world.project, task.id).await.unwrap();
    assert_eq!(kept.iter().map(|listed| listed.salvage.commit.clone()).collect::<Vec<_>>(), [head]);
}

#[tokio::test]
async fn nothing_is_promised_where_there_is_nothing() {
    let (world, task) = up().await;
    let merged = task.diff().unwrap().head.to_string();
    world.repo.git(&["merge", "--quiet", "--no-edit", &merged]);
    remove_folder(&world);
    remove_branch(&world);
    assert!(advice(&world).await.ends_with("so there is nothing to keep"));
    orders::cancel(&world.project, &caller(), task.id, None).await.unwrap();
    assert_eq!(world.rest_task(task.id).await.salvages, []);
}
