//! Children that work on the tasks of the run above: on the board before they begin, with branches and starts that the
//! workflow names.

use crate::support::{CODER, REVIEWER, World, caller};
use regatta_engine::core::machine::Column;
use regatta_engine::core::run::{Hold, Run, Status};
use regatta_engine::core::{Code, RunId, Task};
use regatta_engine::runs::{self, NewRun};
use regatta_engine::{list_tasks, orders};
use serde_json::{Value, json};

const PARENT: &str = r#"
name = "parts"
start = "each"

[board]
items = "input.items"
key = "key"
title = "'Part ' & key"
depends = "after"
branch = "branch"
base = "base"

[nodes.each]
kind = "map"
workflow = "part"
items = "input.items"
key = "key"
depends = "after"

[nodes.done]
kind = "end"

[[edges]]
id = "all"
from = "each"
to = "done"
"#;

const CHILD: &str = r#"
name = "part"
start = "work"

[nodes.work]
kind = "agent"
role = "coder"
task = "input.key"

[nodes.done]
kind = "end"

[[edges]]
id = "worked"
from = "work"
to = "done"
submit = "input.key"
"#;

async fn world() -> World {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    for (file, text) in [
        ("workflow.toml", PARENT),
        ("state.schema.json", "{ \"type\": \"object\" }"),
        ("children/part/workflow.toml", CHILD),
        ("children/part/state.schema.json", "{ \"type\": \"object\" }"),
        ("children/part/roles/coder.md", "Work.\n"),
        ("children/part/roles/coder.output.json", "{}"),
    ] {
        world.repo.write(&format!(".regatta/workflows/parts/{file}"), text);
    }
    world
}

async fn begin(world: &World, items: Value) -> RunId {
    let workflow = runs::find_workflow(Some(&world.project), "parts").unwrap();
    let input = json!({ "items": items });
    world.create(NewRun { workflow, prd: None, level: None, input, board: true, recording: None }).await
}

async fn task(world: &World, run: &Run, key: &str) -> Task {
    orders::get_task(&world.project, run.tasks[key]).await.unwrap()
}

#[tokio::test]
async fn items_are_tasks_with_their_branches_before_their_runs_begin() {
    let world = world().await;
    let items = json!([{ "key": "b", "after": ["a"], "branch": "feature/b" }, { "key": "a" }]);
    let run = begin(&world, items).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    let (a, b) = (task(&world, &found, "a").await, task(&world, &found, "b").await);
    assert_eq!((a.id.number(), b.id.number()), (1, 2), "after what it depends on");
    assert_eq!((a.column(), b.column()), (Column::Verified, Column::Verified));
    assert!(b.dependencies.contains(&a.id));
    let branch = |task: &Task| task.worktree().unwrap().branch.clone();
    assert_eq!((branch(&a), branch(&b)), ("task/1".to_owned(), "feature/b".to_owned()));
    assert_eq!(world.repo.git(&["branch", "--format=%(refname:short)"]), "main");
    assert!(world.shown("a.txt").starts_with("draft") && world.shown("b.txt").starts_with("draft"));
}

#[tokio::test]
async fn a_branch_that_cannot_be_made_holds_the_run_before_there_are_tasks() {
    let world = world().await;
    world.repo.git(&["branch", "feature/a"]);
    let run = begin(&world, json!([{ "key": "a", "branch": "feature/a" }])).await;
    let Some(Hold::Error { error }) = world.rest(run).await.hold().cloned() else { panic!("it is held") };
    assert_eq!(error.code, Code::BranchInvalid, "{error:?}");
    assert!(list_tasks(&world.project).await.unwrap().is_empty());
    world.repo.git(&["branch", "-D", "feature/a"]);
    runs::resume(&world.project, &caller(), run).await.unwrap();
    assert_eq!(world.rest(run).await.status(), Status::Completed);
    for items in [
        json!([{ "key": "a", "branch": "a b" }]),
        json!([{ "key": "a", "branch": "x" }, { "key": "b", "branch": "x" }]),
    ] {
        let run = begin(&world, items).await;
        let Some(Hold::Error { error }) = world.rest(run).await.hold().cloned() else { panic!("it is held") };
        assert_eq!(error.code, Code::BranchInvalid, "{error:?}");
    }
}

#[tokio::test]
async fn work_starts_from_the_commit_that_the_workflow_names() {
    let world = world().await;
    world.repo.git(&["switch", "--quiet", "-c", "release"]);
    world.repo.write("old.txt", "from the release\n");
    world.repo.commit("only in the release");
    world.repo.git(&["switch", "--quiet", "main"]);
    let items = json!([{ "key": "a", "base": "release" }, { "key": "b", "base": "nowhere" }]);
    let run = begin(&world, items).await;
    let found = world.rest(run).await;
    assert_eq!(world.shown("old.txt"), "from the release");
    let [child] = found.children_under_way()[..] else { panic!("one is held: {found:?}") };
    let child = runs::get_run(&world.project, child).await.unwrap();
    let Some(Hold::Error { error }) = child.hold() else { panic!("{child:?}") };
    assert_eq!(error.code, Code::BaseNotFound, "{error:?}");
    world.repo.git(&["branch", "nowhere", "main"]);
    runs::resume(&world.project, &caller(), run).await.unwrap();
    assert_eq!(world.rest(run).await.status(), Status::Completed);
}
