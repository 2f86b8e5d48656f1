//! What people decide about the tasks of a recorded run, and how a replay comes by it.

use crate::support::{CODER, REVIEWER, World, caller, prd};
use regatta_engine::core::RunId;
use regatta_engine::core::run::{Phase, RecordingMode, Run, Status};
use regatta_engine::orders::{self, Approving};
use regatta_engine::runs::{self, AgentRoles, Recording};
use std::path::Path;
use std::sync::Arc;

/// A person sends the first task back, and approves everything else; nobody follows the run when it ends.
async fn record_with_a_person(world: &World) -> String {
    let folder = world.repo.outside().join("tape");
    Recording::create(&folder).unwrap();
    let folder = folder.to_str().unwrap().to_owned();
    let run = world.begin_on(Some(RecordingMode::Record(folder.clone())), prd(), None).await;
    let mut found = world.rest(run).await;
    let mut decisions = 0;
    while let Some(&Phase::Landing { task, .. }) = found.phase() {
        decisions += 1;
        assert!(decisions <= 4, "each task is sent back once at most");
        let given = if decisions == 1 {
            let more = Some("Say what it is for.".to_owned());
            orders::reject(&world.project, &caller(), task, "It lacks a title.".to_owned(), more).await
        } else {
            orders::approve(
                &world.project,
                &caller(),
                task,
                Approving { anyway: true, ..Approving::default() },
            )
            .await
        };
        given.unwrap();
        world.rest_task(task).await;
        found = world.rest(run).await;
    }
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    folder
}

async fn replay(approval: &str, folder: &str) -> (World, Run, Vec<String>) {
    let world = World::new(approval, &[], "", "").await;
    let run = world.begin_on(Some(RecordingMode::Replay(folder.to_owned())), prd(), None).await;
    let roles = Arc::new(AgentRoles::default());
    let found = world.rest_with(run, Arc::clone(&roles) as Arc<_>).await;
    let recording = Recording::open(Path::new(folder)).unwrap();
    let differences = recording.compare(&world.project, run, roles.differences()).await.unwrap();
    let differences = differences.iter().map(ToString::to_string).collect();
    (world, found, differences)
}

#[tokio::test]
async fn what_was_decided_is_decided_again_whatever_the_config_says() {
    let world = World::new("person", &["T001"], CODER, REVIEWER).await;
    let folder = record_with_a_person(&world).await;
    let head = Recording::open(Path::new(&folder)).unwrap().head().unwrap();
    assert_eq!(head.root.status, "completed", "the engine has closed it");
    let decisions: Vec<bool> = head.root.decisions.iter().map(|decision| decision.approved).collect();
    assert_eq!(decisions, [false, true]);
    for approval in ["auto", "person"] {
        let (_, found, differences) = replay(approval, &folder).await;
        assert_eq!((found.status(), differences), (Status::Completed, Vec::new()), "{approval}: {found:?}");
    }
}

#[tokio::test]
async fn a_replay_cannot_be_forked() {
    let world = World::new("auto", &["T001"], CODER, REVIEWER).await;
    let folder = world.repo.outside().join("tape");
    Recording::create(&folder).unwrap();
    let folder = folder.to_str().unwrap().to_owned();
    let run = world.begin_on(Some(RecordingMode::Record(folder.clone())), prd(), None).await;
    world.rest(run).await;
    assert!(runs::fork(&world.project, &caller(), run, Some(2), None).await.is_ok(), "a recorded run can");

    let (other, found, _) = replay("person", &folder).await;
    let refused = runs::fork(&other.project, &caller(), found.id, Some(3), None).await.unwrap_err();
    let why = format!("{:?}", refused.explain());
    assert!(why.contains("is a replay"), "{why}");
    assert_eq!(found.id, RunId::FIRST);
    assert!(runs::get_run(&other.project, found.id.next()).await.is_err(), "no run was begun");
}
