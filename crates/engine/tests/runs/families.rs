//! What goes down a family of runs: the wish for a board, a pause, and what becomes of a child that is given up.

use crate::support::{CODER, REVIEWER, World, caller, first_task};
use regatta_engine::core::run::{Hold, Status};
use regatta_engine::core::{Code, RunId};
use regatta_engine::runs::{self, NewRun, Playing, RoleOutcome, RoleRequest, Roles, RunView};
use regatta_engine::{Supervisor, list_tasks, orders, show_task};
use regatta_testkit::wait::until_async;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// One child per item, two at once; it has no board itself.
const PARENT: &str = r#"
name = "family"
start = "all"
nodes.all = { kind = "map", workflow = "part", items = "input.items", key = "key", max_parallel = 2, set = { results = "output" } }
nodes.done = { kind = "end" }
edges = [{ id = "finish", from = "all", to = "done" }]
"#;

/// Its item is a task that is merged after two steps.
const ON_BOARD: &str = r#"
name = "part"
start = "work"
board = { items = "[{'id': input.key, 'title': 'Part ' & input.key}]", key = "id", title = "title" }
nodes.work = { kind = "agent", role = "coder", task = "input.key" }
nodes.look = { kind = "agent", role = "reviewer", task = "input.key" }
nodes.done = { kind = "end", result = "input.key" }
edges = [
    { id = "worked", from = "work", to = "look" },
    { id = "seen", from = "look", to = "done", submit = "input.key" },
]
"#;

const STATE: &str = r#"{"type": "object", "properties": {"results": {"type": "array", "default": []}}}"#;

async fn begin(world: &World, child: &str, keys: &[&str], board: bool) -> RunId {
    for (name, text) in [
        ("workflow.toml", PARENT),
        ("state.schema.json", STATE),
        ("children/part/workflow.toml", child),
        ("children/part/state.schema.json", STATE),
        ("children/part/roles/coder.md", "Work.\n"),
        ("children/part/roles/coder.output.json", "{}"),
        ("children/part/roles/reviewer.md", "Look.\n"),
        ("children/part/roles/reviewer.output.json", "{}"),
    ] {
        world.repo.write(&format!(".regatta/workflows/family/{name}"), text);
    }
    let workflow = runs::find_workflow(Some(&world.project), "family").unwrap();
    let items: Vec<Value> = keys.iter().map(|key| json!({ "key": key })).collect();
    world
        .create(NewRun {
            workflow,
            prd: None,
            level: None,
            input: json!({ "items": items }),
            board,
            recording: None,
        })
        .await
}

fn completed(key: &str) -> Value {
    json!({ "key": key, "status": "completed", "result": key })
}

#[tokio::test]
async fn a_child_has_a_board_though_its_parent_has_none() {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    let run = begin(&world, ON_BOARD, &["a", "b"], true).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(found.sheet.state()["results"], json!([completed("a"), completed("b")]));
    assert_eq!((world.shown("a.txt"), world.shown("b.txt")), ("draft".to_owned(), "draft".to_owned()));
}

#[tokio::test]
async fn without_a_board_no_child_has_one() {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    let run = begin(&world, ON_BOARD, &["a"], false).await;
    let found = world.rest(run).await;
    assert_eq!(found.sheet.state()["results"], json!([completed("a")]));
    let views = runs::list_runs(&world.project, 10).await.unwrap();
    assert!(views.iter().all(|view| view.tasks.is_empty()), "{views:?}");
}

/// Two steps without a board.
const PLAIN: &str = r#"
name = "part"
start = "work"
nodes.work = { kind = "agent", role = "coder" }
nodes.look = { kind = "agent", role = "reviewer" }
nodes.done = { kind = "end", result = "input.key" }
edges = [
    { id = "worked", from = "work", to = "look" },
    { id = "seen", from = "look", to = "done" },
]
"#;

/// Notes the steps that it is asked for, and ends them once it may.
#[derive(Default)]
struct Gated {
    begun: Mutex<Vec<String>>,
    may_end: CancellationToken,
}

impl Roles for Gated {
    fn play<'a>(&'a self, ask: RoleRequest<'a>) -> Playing<'a> {
        let item = ask.run.parent.as_ref().map_or("", |parent| parent.item.as_str());
        self.begun.lock().unwrap().push(format!("{item} {}", ask.node.name));
        Box::pin(async {
            self.may_end.cancelled().await;
            Ok(RoleOutcome::Returned(json!({})))
        })
    }
}

impl Gated {
    /// Returns the steps that were begun, in the order of their names.
    fn begun(&self) -> Vec<String> {
        let mut begun = self.begun.lock().unwrap().clone();
        begun.sort();
        begun
    }

    /// Lets an engine work on the run, which is paused as soon as two of its children work.
    async fn pause_at_work(self: &Arc<Self>, world: &World, pause: &[RunId]) {
        let roles = Arc::clone(self) as Arc<dyn Roles>;
        let mut supervisor =
            Supervisor::take_everything_with(Arc::clone(&world.project), roles, CancellationToken::new())
                .await
                .unwrap();
        until_async("two children work", || self.begun().len() == 2).await;
        for run in pause {
            runs::pause(&world.project, &caller(), *run).await.unwrap();
        }
        self.may_end.cancel();
        supervisor.rest_run(pause[0], &mut |_| {}).await.unwrap();
        supervisor.release().await.unwrap();
    }
}

async fn show(world: &World, run: RunId) -> RunView {
    runs::show_run(&world.project, run).await.unwrap().0
}

fn number(run: u32) -> RunId {
    RunId::new(run).unwrap()
}

#[tokio::test]
async fn a_pause_holds_the_whole_family_before_its_next_steps() {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    let run = begin(&world, PLAIN, &["a", "b", "c"], true).await;
    let roles = Arc::new(Gated::default());
    roles.pause_at_work(&world, &[run]).await;
    assert_eq!(roles.begun(), ["a work", "b work"], "no child begins a step, and no other child begins");
    for child in [2, 3] {
        let view = show(&world, number(child)).await;
        let next = "run 1, which waits for it, is paused: regatta run resume 1";
        assert_eq!(
            (view.status, view.step, view.owner, view.next.as_str()),
            (Status::Paused, 2, "you", next)
        );
    }
    let view = show(&world, run).await;
    assert_eq!((view.status, view.next.as_str()), (Status::Paused, "regatta run resume 1"));
    // Another engine begins nothing either.
    world.rest_with(run, Arc::clone(&roles) as _).await;
    assert_eq!(roles.begun().len(), 2);
    runs::resume(&world.project, &caller(), run).await.unwrap();
    let found = world.rest_with(run, Arc::clone(&roles) as _).await;
    assert_eq!(found.sheet.state()["results"], json!([completed("a"), completed("b"), completed("c")]));
    assert_eq!(roles.begun().len(), 6, "no step is made twice: {:?}", roles.begun());
}

#[tokio::test]
async fn a_child_that_was_paused_by_itself_stays_paused() {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    let run = begin(&world, PLAIN, &["a", "b"], true).await;
    let roles = Arc::new(Gated::default());
    let child = number(2);
    roles.pause_at_work(&world, &[run, child]).await;
    runs::resume(&world.project, &caller(), run).await.unwrap();
    let found = world.rest_with(run, Arc::clone(&roles) as _).await;
    assert_eq!(found.status(), Status::Running, "{found:?}");
    assert_eq!(roles.begun(), ["a work", "b look", "b work"]);
    assert_eq!(show(&world, child).await.next, "regatta run resume 2");
    runs::resume(&world.project, &caller(), child).await.unwrap();
    let found = world.rest_with(run, Arc::clone(&roles) as _).await;
    assert_eq!(found.sheet.state()["results"], json!([completed("a"), completed("b")]));
}

#[tokio::test]
async fn whoever_waits_for_a_task_below_a_paused_run_is_told_which() {
    let world = World::new("person", &[], CODER, REVIEWER).await;
    let seen = r#"submit = "input.key""#;
    let child = ON_BOARD.replace(seen, &format!(r#"{seen}, rejected = {{ to = "work" }}"#));
    let run = begin(&world, &child, &["a"], true).await;
    world.rest(run).await;
    runs::pause(&world.project, &caller(), run).await.unwrap();
    orders::reject(&world.project, &caller(), first_task(), "say more".to_owned(), None).await.unwrap();
    let followed = world.carry_task(first_task()).await;
    assert_eq!(followed.run.map(|run| (run.id, run.hold().cloned())), Some((run, Some(Hold::Paused))));
    let shown = show_task(&world.project, first_task()).await.unwrap();
    assert_eq!(shown.next, "run 1 is paused: regatta run --resume 1", "its own run is 2");
    let listed = list_tasks(&world.project).await.unwrap();
    assert_eq!(listed[0].next, shown.next);
}

/// The hint of the child must help both the child and the run that waits for it.
#[tokio::test]
async fn a_child_whose_task_was_cancelled_is_stopped_and_its_parent_goes_on() {
    let world = World::new("person", &[], CODER, REVIEWER).await;
    let run = begin(&world, ON_BOARD, &["a"], true).await;
    world.rest(run).await;
    orders::cancel(&world.project, &caller(), first_task(), None).await.unwrap();
    world.rest_task(first_task()).await;
    world.rest(run).await;
    let child = show(&world, number(2)).await;
    assert_eq!(child.error.unwrap().code, Code::TaskCancelled);
    assert_eq!(child.next, "`regatta run stop 2`: run 1 continues with this item as failed");
    runs::stop(&world.project, &caller(), number(2), None).await.unwrap();
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(found.sheet.state()["results"][0]["status"], "failed");
}
