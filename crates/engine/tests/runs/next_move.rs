//! Whose move a run is: what it shows with an engine, without one, and when its task is in trouble.

use crate::support::{CODER, REVIEWER, World, caller, first_task, prd};
use regatta_agents::StopReason;
use regatta_engine::core::run::Status;
use regatta_engine::core::{Code, RunId};
use regatta_engine::orders::{self, Approving};
use regatta_engine::runs::{self, NewRun, Playing, RoleOutcome, RoleRequest, Roles, RunView};
use regatta_engine::{Supervisor, show_task};
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How the config says that a person approves.
const PERSON: &str = "person";

const UNATTENDED: (&str, &str, &str) =
    ("unattended", "you", "nobody works on it: regatta run --resume 1, or regatta up");

/// Begins to play, and ends only when the engine is to leave.
#[derive(Default)]
struct Slow {
    has_begun: CancellationToken,
    may_end: CancellationToken,
}

impl Roles for Slow {
    fn play<'a>(&'a self, _: RoleRequest<'a>) -> Playing<'a> {
        Box::pin(async {
            self.has_begun.cancel();
            self.may_end.cancelled().await;
            Ok(RoleOutcome::Stopped(StopReason::Shutdown))
        })
    }
}

/// An engine whose roles never end what they do.
struct SlowEngine {
    supervisor: Supervisor,
    roles: Arc<Slow>,
}

impl SlowEngine {
    async fn start(world: &World) -> Self {
        let roles = Arc::new(Slow::default());
        let project = Arc::clone(&world.project);
        let supervisor =
            Supervisor::take_everything_with(project, Arc::clone(&roles) as _, CancellationToken::new())
                .await
                .unwrap();
        SlowEngine { supervisor, roles }
    }

    async fn leave(self) {
        // The engine is stopped first, so that it does not ask the roles again.
        let (left, ()) = tokio::join!(self.supervisor.release(), async { self.roles.may_end.cancel() });
        left.unwrap();
    }
}

async fn show(world: &World, run: RunId) -> RunView {
    runs::show_run(&world.project, run).await.unwrap().0
}

fn next_move(view: &RunView) -> (&str, &str, &str) {
    (view.phase, view.owner, &view.next)
}

/// One check that the work has, in the worktree of its task.
fn checking(checks: &str) -> String {
    format!(
        r#"
name = "checking"
start = "work"
board = {{ items = "[{{'id': 'T', 'title': 'A task'}}]", key = "id", title = "title" }}
nodes.work = {{ kind = "agent", role = "coder", task = "'T'" }}
nodes.test = {{ kind = "check", task = "'T'", checks = {checks} }}
nodes.done = {{ kind = "end" }}
edges = [
    {{ id = "worked", from = "work", to = "test" }},
    {{ id = "tested", from = "test", to = "done" }},
]
"#
    )
}

async fn begin_checking(world: &World, checks: &str, board: bool) -> RunId {
    for (name, text) in [
        ("workflow.toml", checking(checks).as_str()),
        ("state.schema.json", r#"{"type": "object", "properties": {}}"#),
        ("roles/coder.md", "Work.\n"),
        ("roles/coder.output.json", "{}"),
    ] {
        world.repo.write(&format!(".regatta/workflows/checking/{name}"), text);
    }
    let workflow = runs::find_workflow(Some(&world.project), "checking").unwrap();
    world.create(NewRun { workflow, prd: None, level: None, input: json!({}), board, recording: None }).await
}

#[tokio::test]
async fn a_run_without_an_engine_is_unattended() {
    let world = World::new("auto", &["T001"], CODER, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    assert_eq!(next_move(&show(&world, run).await), UNATTENDED);
    let listed = runs::list_runs(&world.project, 10).await.unwrap();
    assert_eq!(next_move(&listed[0]), UNATTENDED);
    let engine = SlowEngine::start(&world).await;
    assert_eq!(next_move(&show(&world, run).await), ("performing", "engine", "`spec` is performed"));
    // A step that nobody has begun would be put off.
    engine.roles.has_begun.cancelled().await;
    runs::pause(&world.project, &caller(), run).await.unwrap();
    let paused = show(&world, run).await;
    let pauses = "it pauses after this step of `spec`; regatta run resume 1 undoes that";
    assert_eq!((paused.status, next_move(&paused)), (Status::Running, ("performing", "engine", pauses)));
    engine.leave().await;
    let before = ("unattended", "you", "it is paused before this step: regatta run --resume 1");
    assert_eq!(next_move(&show(&world, run).await), before, "the step is not over, and nobody makes it");
    runs::stop(&world.project, &caller(), run, None).await.unwrap();
    let stopping = show(&world, run).await;
    assert_eq!(stopping.next, "nobody works on it: regatta run stop 1, or regatta up");
    world.rest(run).await;
    assert_eq!((show(&world, run).await.phase, show(&world, run).await.owner), ("failed", "nobody"));
}

#[tokio::test]
async fn an_approved_task_says_how_its_run_goes_on() {
    let world = World::new(PERSON, &["T001"], CODER, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    world.rest(run).await;
    let waiting = show(&world, run).await;
    assert_eq!((waiting.phase, waiting.owner), ("landing", "you"));
    assert!(waiting.next.contains("regatta task approve 1"), "{waiting:?}");
    let task = first_task();
    orders::reject(&world.project, &caller(), task, "say more".to_owned(), None).await.unwrap();
    assert_eq!(next_move(&show(&world, run).await), UNATTENDED, "the work was sent back");
    let sent_back = show_task(&world.project, task).await.unwrap();
    assert_eq!(sent_back.next, "nobody works on it: regatta run --resume 1, or regatta up");
    world.rest(run).await;
    orders::approve(&world.project, &caller(), task, Approving { anyway: true, ..Approving::default() })
        .await
        .unwrap();
    assert_eq!(next_move(&show(&world, run).await), UNATTENDED, "the merge is the engine's");
    assert_eq!(world.rest(run).await.status(), Status::Completed);
    let merged = show_task(&world.project, task).await.unwrap();
    assert_eq!((merged.owner.as_str(), merged.next.as_str()), ("nobody", "nothing; it is merged"));
}

#[tokio::test]
async fn a_merged_task_says_what_its_run_lacks() {
    let world = World::new(PERSON, &["T001", "T002"], CODER, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    world.rest(run).await;
    let task = first_task();
    orders::approve(&world.project, &caller(), task, Approving { anyway: true, ..Approving::default() })
        .await
        .unwrap();
    let mut engine = SlowEngine::start(&world).await;
    engine.supervisor.rest(task, &mut |_| {}).await.unwrap();
    engine.leave().await;
    let merged = show_task(&world.project, task).await.unwrap();
    let next = "nothing; it is merged. Run 1 waits for an engine: regatta run --resume 1, or regatta up";
    assert_eq!((merged.owner.as_str(), merged.next.as_str()), ("you", next));
    assert_eq!(next_move(&show(&world, run).await), UNATTENDED);
}

#[tokio::test]
async fn a_run_shows_the_error_of_the_task_that_it_waits_for() {
    let world = World::new("auto", &["T001"], CODER, REVIEWER).await;
    let world = world.configured("\n[checks]\nstyle = \"exit 4\"\n").await;
    let run = world.begin(prd(), None).await;
    assert_eq!(world.rest(run).await.status(), Status::Paused);
    let waiting = show(&world, run).await;
    let error = waiting.error.clone().expect("the task has an error");
    assert_eq!((error.code, waiting.phase, waiting.owner), (Code::ChecksFailed, "landing", "you"));
    assert!(error.message.contains("style"), "{error:?}");
    assert_eq!(waiting.next, error.hint);
    let listed = runs::list_runs(&world.project, 10).await.unwrap();
    assert_eq!(listed[0].error, Some(error));
}

#[tokio::test]
async fn a_run_shows_that_its_task_conflicts_with_the_target() {
    let world = World::new(PERSON, &["T001"], CODER, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    world.rest(run).await;
    world.repo.write("T001.txt", "another\n");
    world.repo.commit("another file of that name");
    orders::approve(
        &world.project,
        &caller(),
        first_task(),
        Approving { anyway: true, ..Approving::default() },
    )
    .await
    .unwrap();
    world.rest_task(first_task()).await;
    let waiting = show(&world, run).await;
    let error = waiting.error.clone().expect("the task has an error");
    assert_eq!((error.code, waiting.owner), (Code::WorktreeMergeConflict, "you"));
    assert_eq!(waiting.next, error.hint);
}

#[tokio::test]
async fn a_check_that_the_config_lacks_holds_the_run() {
    let world = World::new(PERSON, &[], CODER, REVIEWER).await;
    let world = world.configured("\n[checks]\nlint = \"true\"\ntest = \"true\"\n").await;
    let run = begin_checking(&world, r#"["test", "nosuch"]"#, true).await;
    assert_eq!(world.rest(run).await.status(), Status::Paused);
    let held = show(&world, run).await;
    let error = held.error.clone().expect("the run is held by an error");
    assert_eq!((error.code, held.node.as_str()), (Code::ChecksFailed, "test"));
    assert!(error.message.contains("the config has no check `nosuch`; it has: lint, test"), "{error:?}");
    assert_eq!(error.details["unknown"], json!(["nosuch"]));
    assert!(held.next.contains("[checks]"), "{held:?}");
    // The hint says how to continue the run, and is not followed by the same text again.
    assert_eq!(held.next, error.hint);
    let world = world.configured("nosuch = \"true\"\n").await;
    runs::resume(&world.project, &caller(), run).await.unwrap();
    assert_eq!(world.rest(run).await.status(), Status::Completed);
    let (_, steps) = runs::show_run(&world.project, run).await.unwrap();
    assert_eq!(steps.len(), 2);
}

#[tokio::test]
async fn checks_without_a_board_hold_the_run_and_say_so() {
    let world = World::new(PERSON, &[], CODER, REVIEWER).await;
    let world = world.configured("\n[checks]\ntest = \"true\"\n").await;
    let run = begin_checking(&world, r#"["test"]"#, false).await;
    assert_eq!(world.rest(run).await.status(), Status::Paused);
    let error = show(&world, run).await.error.expect("the run is held by an error");
    assert_eq!(error.code, Code::RunFailed);
    assert!(error.message.contains("the run does not use the board"), "{error:?}");
    assert!(error.hint.contains("`--no-board`"), "{error:?}");
}
