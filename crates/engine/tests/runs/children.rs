//! A `map` node: runs of another workflow per item, with dependencies.

use crate::support::{CODER, REVIEWER, World, caller};
use regatta_engine::core::run::{Hold, Status};
use regatta_engine::core::{Code, RunId};
use regatta_engine::cost::{CostQuery, find_cost};
use regatta_engine::runs::{self, NewRun};
use serde_json::{Value, json};

const PARENT: &str = r#"
name = "fan"
start = "plan"
state = "state.schema.json"

[nodes.plan]
kind = "map"
workflow = "one"
items = "input.items"
key = "key"
depends = "after"
max_parallel = 2
set = { results = "output" }

[nodes.done]
kind = "end"

[[edges]]
id = "all"
from = "plan"
to = "done"
"#;

const CHILD: &str = r#"
name = "one"
start = "judge"
state = "state.schema.json"

[nodes.judge]
kind = "agent"
role = "reviewer"
input = { key = "input.key" }
set = { approved = "output.approved" }

[nodes.done]
kind = "end"
result = "{'of': input.key, 'approved': approved}"

[[edges]]
id = "judged"
from = "judge"
to = "done"
"#;

const STATE: &str = r#"{
  "type": "object",
  "properties": { "results": { "type": "array", "default": [] }, "approved": { "type": "boolean", "default": false } }
}"#;

#[tokio::test]
async fn each_item_has_a_run_of_its_own() {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    let input = json!({ "items": [
        { "key": "a" }, { "key": "b", "after": ["a"] }, { "key": "c" }, { "key": "d", "after": ["b", "c"] },
    ] });
    let run = begin(&world, input).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    let entry =
        |key: &str| json!({ "key": key, "status": "completed", "result": { "of": key, "approved": true } });
    assert_eq!(found.sheet.state()["results"], json!([entry("a"), entry("b"), entry("c"), entry("d")]));
    let children = runs::list_runs(&world.project, 10).await.unwrap();
    assert_eq!(children.iter().filter(|child| child.parent == Some(run)).count(), 4);
}

#[tokio::test]
async fn a_child_that_is_held_by_an_error_goes_on_with_its_parent() {
    let crashing = "[[session]]\nstep = [{ fault = \"crash\" }]\n";
    let world = World::new("auto", &[], CODER, crashing).await;
    let world = world.configured("\n[limits]\nretries = 0\n").await;
    let run = begin(&world, json!({ "items": [{ "key": "a" }, { "key": "b" }] })).await;
    let found = world.rest(run).await;
    assert_eq!(found.hold(), None, "it is its children that are held: {found:?}");
    for child in found.children_under_way() {
        let child = runs::get_run(&world.project, child).await.unwrap();
        assert!(matches!(child.hold(), Some(Hold::Error { .. })), "{child:?}");
    }
    world.repo.write("scripts/reviewer.toml", REVIEWER);
    runs::resume(&world.project, &caller(), run).await.unwrap();
    assert_eq!(world.rest(run).await.status(), Status::Completed);
}

#[tokio::test]
async fn the_budget_of_a_run_is_that_of_its_children_too() {
    let spending = REVIEWER.replace("step = [", "step = [{ usage = { input = 600 } }, ");
    let world = World::new("auto", &[], CODER, &spending).await;
    let world = world.configured("\n[budget.run]\ntokens = 1000\n").await;
    let run = begin(&world, json!({ "items": [{ "key": "a" }, { "key": "b", "after": ["a"] }] })).await;
    let found = world.rest(run).await;
    let child = runs::get_run(&world.project, found.children_under_way()[0]).await.unwrap();
    let Some(Hold::Error { error }) = child.hold() else { panic!("{child:?}") };
    assert_eq!(error.code, Code::BudgetExceeded, "{error:?}");
    let used = async |by, run| {
        let found = find_cost(&world.project, by, None, run).await.unwrap();
        let lines: Vec<(String, u64)> =
            found.lines.iter().map(|line| (line.name.clone(), line.spent.tokens())).collect();
        (lines, found.total.spent.tokens())
    };
    assert_eq!(used(CostQuery::Runs, None).await, (vec![("1".to_owned(), 1_200)], 1_200));
    let lines = vec![("2".to_owned(), 600), ("3".to_owned(), 600)];
    assert_eq!(used(CostQuery::Runs, Some(run)).await, (lines, 1_200));
}

/// A session without a limit of its own sets aside all that is left.
#[tokio::test]
async fn a_child_waits_for_what_another_has_set_aside() {
    let both = r#"cd "$REGATTA_PROJECT/.regatta"
        seen() { [ -e worktrees/run-2-step-1 ] && [ -e worktrees/run-3-step-1 ]; }
        while [ ! -e both ] && ! seen; do sleep 0.02; done
        touch both"#;
    let first =
        format!("step = [{{ run = [\"sh\", \"-c\", '''{both}'''] }}, {{ usage = {{ input = 300 }} }}, ");
    let world = World::new("auto", &[], CODER, &REVIEWER.replace("step = [", &first)).await;
    let world = world.configured("\n[budget.run]\ntokens = 1000\n").await;
    let config = std::fs::read_to_string(world.repo.path().join(".regatta/config.toml")).unwrap();
    let script = "script = \"scripts/reviewer.toml\"\n";
    let world = world.with_config(&config.replace(script, &format!("{script}instances = 2\n"))).await;
    let run = begin(&world, json!({ "items": [{ "key": "a" }, { "key": "b" }] })).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
}

/// Only the run that a person began can be forked with another definition.
#[tokio::test]
async fn a_child_whose_workflow_is_at_fault_names_the_run_to_fork() {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    let child = CHILD.replace("kind = \"agent\"\nrole = \"reviewer\"", "kind = \"check\"\ntask = \"'T'\"");
    let child =
        child.replace("input = { key = \"input.key\" }\n", "").replace("output.approved", "output.passed");
    let run = begin_with(&world, &child, json!({ "items": [{ "key": "a" }] })).await;
    let child = world.rest(run).await.children_under_way()[0];
    let hint = async |run| match runs::get_run(&world.project, run).await.unwrap().hold() {
        Some(Hold::Error { error }) => error.hint.clone(),
        hold => panic!("{hold:?}"),
    };
    let task = "give the node a `task` that is on the board, then ";
    assert_eq!(hint(child).await, format!("{task}`regatta run fork {run} --with WORKFLOW`"));
    let fork = runs::fork(&world.project, &caller(), child, None, None).await.unwrap();
    world.rest(fork).await;
    assert_eq!(hint(fork).await, format!("{task}`regatta run WORKFLOW`"));
}

/// What the run came to do there was found by another definition: nobody would start such children.
#[tokio::test]
async fn a_fork_at_a_map_is_refused_with_a_workflow_that_maps_something_else_there() {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    let run = begin(&world, json!({ "items": [{ "key": "a" }] })).await;
    let map = "kind = \"map\"\nworkflow = \"one\"\nitems = \"input.items\"\nkey = \"key\"\ndepends = \"after\"\nmax_parallel = 2";
    let folder = |name: &str| format!(".regatta/workflows/fan/{name}");
    world.repo.write(&folder("children/two/workflow.toml"), &CHILD.replace("\"one\"", "\"two\""));
    for name in ["state.schema.json", "roles/reviewer.md", "roles/reviewer.output.json"] {
        let text = std::fs::read_to_string(world.repo.path().join(folder(&format!("children/one/{name}"))));
        world.repo.write(&folder(&format!("children/two/{name}")), &text.unwrap());
    }
    for (from, to, problem) in [
        (
            "workflow = \"one\"",
            "workflow = \"two\"",
            "the node `plan` plays `two`, and the run came to play `one`",
        ),
        (
            map,
            "kind = \"approval\"\nquestion = \"'So?'\"",
            "the node `plan` is of kind `approval`, and the run came to start children there",
        ),
    ] {
        let changed = PARENT.replace(from, to).replace("\"output\"", "\"[output]\"");
        world.repo.write(&folder("workflow.toml"), &changed);
        let changed = runs::find_workflow(Some(&world.project), "fan").unwrap();
        let refused = runs::fork(&world.project, &caller(), run, None, Some(&changed)).await.unwrap_err();
        assert!(refused.explain().why.concat().contains(problem), "{refused:?}");
    }
}

/// Begins a run with a child for each item.
async fn begin(world: &World, input: Value) -> RunId {
    begin_with(world, CHILD, input).await
}

async fn begin_with(world: &World, child: &str, input: Value) -> RunId {
    for (name, text) in [
        ("workflow.toml", PARENT),
        ("state.schema.json", STATE),
        ("children/one/workflow.toml", child),
        ("children/one/state.schema.json", STATE),
        ("children/one/roles/reviewer.md", "Judge {{ key }}."),
        ("children/one/roles/reviewer.output.json", r#"{"type": "object", "required": ["approved"]}"#),
    ] {
        world.repo.write(&format!(".regatta/workflows/fan/{name}"), text);
    }
    let workflow = runs::find_workflow(Some(&world.project), "fan").unwrap();
    world.create(NewRun { workflow, prd: None, level: None, input, board: true, recording: None }).await
}
