//! Forecasts on real repositories: what is found, that it is recorded once, and that it goes again.

use super::Forecaster;
use super::forecaster::Moves;
use crate::commands::orders::{self, Caller};
use crate::core::{Actor, Assignee, Create, Priority, TaskId};
use crate::project::Project;
use crate::runtime::engine;
use crate::runtime::supervisor::Supervisor;
use regatta_testkit::repo::{TestRepo, commit_in, write_below};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const CONFIG: &str = r#"
[project]
default_branch = "main"
max_concurrent_agents = 4

[agents.worker]
kind = "scripted"
script = "worker.toml"
instances = 2
"#;

/// Every session writes another first line of the same file.
const WORKER: &str = r#"
[[session]]
step = [{ write = { path = "a.txt", text = "by ${task}\n2\n3\n4\n5\n6\n7\n8\n9\n" } }]
"#;

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

struct World {
    repo: TestRepo,
    project: Arc<Project>,
}

fn caller() -> Caller {
    Caller::new(Actor::User("local".to_owned()))
}

fn id(number: u32) -> TaskId {
    TaskId::new(number).unwrap()
}

impl World {
    async fn new() -> Self {
        let repo = TestRepo::new();
        repo.write(".regatta/config.toml", CONFIG);
        repo.write(".gitignore", ".regatta/\n");
        repo.write("worker.toml", WORKER);
        repo.write("a.txt", LINES);
        repo.write("b.txt", LINES);
        repo.commit("a project");
        let project = Arc::new(Project::open_own(repo.path()).await.unwrap());
        World { repo, project }
    }

    /// Makes a project with tasks in a person's hands.
    async fn with_tasks(count: u32) -> Self {
        let world = World::new().await;
        for _ in 0..count {
            let task = world.create().await;
            orders::take(&world.project, &caller(), task, None).await.unwrap();
            world.rest(task).await;
        }
        world
    }

    async fn create(&self) -> TaskId {
        let create =
            Create::new("A task".to_owned(), String::new(), Vec::new(), BTreeSet::new(), Priority::Medium);
        orders::create(&self.project, &caller(), create.unwrap()).await.unwrap()
    }

    /// Lets the engine of a command work until nothing more happens to the task by itself.
    async fn rest(&self, task: TaskId) {
        let project = Arc::clone(&self.project);
        let mut supervisor = Supervisor::take(project, CancellationToken::new()).await.unwrap();
        supervisor.rest(task, &mut |_| {}).await.unwrap();
        supervisor.release().await.unwrap();
    }

    fn place(&self, task: u32) -> PathBuf {
        self.repo.path().join(format!(".regatta/worktrees/task-{task}"))
    }

    fn write(&self, task: u32, path: &str, text: &str) {
        write_below(&self.place(task), path, text);
    }

    fn commit(&self, task: u32) {
        commit_in(&self.place(task), "work");
    }

    /// Makes a forecast, as an engine does that holds the project.
    async fn look(&self) {
        let token = engine::take_lease(&self.project, None).await.unwrap();
        let mut forecaster = Forecaster::new(Arc::clone(&self.project), token, Moves::default());
        forecaster.look().await.unwrap();
        self.project.store().release_lease(&token).await.unwrap();
    }

    async fn said(&self, task: u32) -> Vec<String> {
        let task = orders::get_task(&self.project, id(task)).await.unwrap();
        let one = |collision: &crate::core::Collision| {
            format!("{}: {}", collision.summary(), collision.list_files())
        };
        task.forecast.collisions.iter().map(one).collect()
    }

    async fn count_forecasts(&self) -> usize {
        let rows = self.project.store().read(regatta_store::Seq(0), 1_000).await.unwrap();
        rows.iter().filter(|row| row.kind == "collisions:forecast").count()
    }
}

#[tokio::test]
async fn what_two_worktrees_change_overlaps_until_it_is_committed() {
    let world = World::with_tasks(3).await;
    world.look().await;
    assert_eq!(world.count_forecasts().await, 0, "nobody changed anything");
    world.write(1, "a.txt", &LINES.replace('1', "one"));
    world.write(2, "a.txt", &LINES.replace('1', "two"));
    world.write(3, "b.txt", "three\n");
    world.look().await;
    assert_eq!(world.said(1).await, ["is changing 1 file that #2 is changing too: a.txt"]);
    assert_eq!(world.said(2).await, ["is changing 1 file that #1 is changing too: a.txt"]);
    assert_eq!(world.said(3).await, [""; 0]);
    world.commit(1);
    world.look().await;
    assert_eq!(world.count_forecasts().await, 2, "it is still an overlap, so nothing is recorded");
    world.commit(2);
    world.look().await;
    assert_eq!(world.said(1).await, ["will conflict with #2 in 1 file: a.txt"]);
    assert_eq!(world.said(2).await, ["will conflict with #1 in 1 file: a.txt"]);
    world.write(2, "a.txt", &LINES.replace('9', "nine"));
    world.commit(2);
    world.look().await;
    assert_eq!(
        (world.said(1).await, world.said(2).await),
        (Vec::new(), Vec::new()),
        "both change other lines"
    );
    assert_eq!(world.count_forecasts().await, 6);
}

#[tokio::test]
async fn a_target_that_moved_is_forecast_with_the_work_that_is_not_committed() {
    let world = World::with_tasks(1).await;
    world.write(1, "a.txt", &LINES.replace('1', "one"));
    world.write(1, "b.txt", &LINES.replace('1', "one"));
    world.look().await;
    assert_eq!(world.said(1).await, [""; 0]);
    world.repo.write("a.txt", &LINES.replace('1', "ONE"));
    world.repo.commit("by somebody else");
    world.look().await;
    assert_eq!(world.said(1).await, ["is changing 1 file that was changed on main since: a.txt"]);
    world.commit(1);
    world.look().await;
    assert_eq!(world.said(1).await, ["will conflict with main in 1 file: a.txt"]);
    world.repo.write("b.txt", &LINES.replace('9', "NINE"));
    world.repo.commit("elsewhere in the other file");
    world.look().await;
    assert_eq!(world.said(1).await, ["will conflict with main in 1 file: a.txt"], "b.txt merges");
    let place = world.place(1);
    let git =
        |words: &[&str]| std::process::Command::new("git").args(words).current_dir(&place).output().unwrap();
    git(&["merge", "--strategy-option=ours", "-m", "merge main", "main"]);
    world.look().await;
    assert_eq!(world.said(1).await, [""; 0], "the conflict is resolved");
}

#[tokio::test]
async fn the_engine_of_a_command_forecasts_what_its_session_did_before_it_ends() {
    let world = World::new().await;
    for number in 1..=2 {
        let task = world.create().await;
        let to = Assignee::Agent("worker".parse().unwrap());
        orders::assign(&world.project, &caller(), task, to, None, true).await.unwrap();
        world.rest(task).await;
        assert_eq!(world.count_forecasts().await, if number == 1 { 0 } else { 2 });
    }
    assert_eq!(world.said(1).await, ["will conflict with #2 in 1 file: a.txt"]);
    assert_eq!(world.said(2).await, ["will conflict with #1 in 1 file: a.txt"]);
    let approving = orders::Approving { anyway: true, ..orders::Approving::default() };
    orders::approve(&world.project, &caller(), id(1), approving).await.unwrap();
    world.rest(id(1)).await;
    assert_eq!(world.said(1).await, [""; 0], "it is merged");
    assert_eq!(world.said(2).await, ["will conflict with main in 1 file: a.txt"]);
    orders::cancel(&world.project, &caller(), id(2), None).await.unwrap();
    world.rest(id(2)).await;
    assert_eq!(world.said(2).await, [""; 0], "it has no branch any more");
}

#[tokio::test]
async fn an_engine_that_stays_looks_at_its_start_and_after_each_move() {
    let world = World::with_tasks(2).await;
    world.write(1, "a.txt", "one\n");
    world.write(2, "a.txt", "two\n");
    let engine = engine::Engine::start(Arc::clone(&world.project)).await.unwrap();
    wait_for(&world, "is changing 1 file that #2 is changing too: a.txt").await;
    orders::submit(&world.project, &caller(), id(2)).await.unwrap();
    orders::submit(&world.project, &caller(), id(1)).await.unwrap();
    wait_for(&world, "will conflict with #2 in 1 file: a.txt").await;
    engine.stop(engine::Stop::WhenDone).await.unwrap();
}

/// Waits until the forecast of the first task says so.
async fn wait_for(world: &World, said: &str) {
    let limit = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    let mut journal = crate::Journal::after(&world.project, 0);
    while world.said(1).await != [said] {
        assert!(tokio::time::Instant::now() < limit, "it still says {:?}", world.said(1).await);
        journal.wait(std::time::Duration::from_secs(1)).await.unwrap();
    }
}
