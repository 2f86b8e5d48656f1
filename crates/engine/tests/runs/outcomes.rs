//! Outcomes on the engine: an agent that gives up, a task that does not merge, changes nothing, is sent back or cancelled.

use crate::support::{REVIEWER, World, caller, first_task};
use regatta_engine::core::machine::Column;
use regatta_engine::core::run::{Phase, Run, Status};
use regatta_engine::core::{RunId, Task};
use regatta_engine::orders::{self, Approving};
use regatta_engine::runs::{self, NewRun};
use regatta_testkit::wait::until_async;
use serde_json::{Value, json};

const WORKFLOW: &str = r#"
name = "outcomes"
start = "work"

[board]
items = "[{'id': 'T1'}]"
key = "id"

[nodes.work]
kind = "agent"
role = "coder"
task = "'T1'"

[nodes.done]
kind = "end"

[nodes.stuck]
kind = "end"
status = "failed"
reason = "'nothing was changed'"

[[edges]]
id = "submit"
from = "work"
to = "done"
submit = "'T1'"

[[edges]]
id = "failed"
from = "work"
on = "failed"
to = "work"
maxIterations = 2
set = { "seen[+]" = "{'on': 'failed', 'class': $outcome.class, 'node': $outcome.node}" }

[[edges]]
id = "conflict"
from = "work"
on = "conflict"
to = "work"
set = { "seen[+]" = "{'on': 'conflict', 'files': $outcome.files, 'target': $outcome.target, 'head': $outcome.head}" }

[[edges]]
id = "unchanged"
from = "work"
on = "unchanged"
to = "stuck"
drop = "'T1'"
set = { "seen[+]" = "{'on': 'unchanged'}" }

[[edges]]
id = "rejected"
from = "work"
on = "rejected"
to = "work"
set = { "seen[+]" = "{'on': 'rejected', 'edge': $outcome.edge, 'said': feedback.text}" }

[[edges]]
id = "cancelled"
from = "work"
on = "cancelled"
to = "work"
set = { "seen[+]" = "{'on': 'cancelled'}" }
"#;

const STATE: &str = r#"{"type": "object", "properties": {"seen": {"type": "array", "default": []}}}"#;

const PROMPT: &str = "Work.{% for one in seen %} Seen: {{ one.on }}.{% endfor %}";

const GOOD: &str = r#"
[[session]]
step = [{ write = { path = "a.txt", text = "work, visit ${visit}\n" } }, { result = { summary = "It works" } }]
"#;

async fn world(approval: &str, coder: &str) -> World {
    let world = World::new(approval, &[], coder, REVIEWER).await;
    for (file, text) in [
        (
            "workflow.toml",
            WORKFLOW.replace("task = \"'T1'\"", "task = \"'T1'\"\ninput = { seen = \"seen\" }"),
        ),
        ("state.schema.json", STATE.to_owned()),
        ("roles/coder.md", PROMPT.to_owned()),
        ("roles/coder.output.json", "{}".to_owned()),
    ] {
        world.repo.write(&format!(".regatta/workflows/outcomes/{file}"), &text);
    }
    world.configured("\n[limits]\nretries = 0\n").await
}

async fn begin(world: &World) -> RunId {
    let workflow = runs::find_workflow(Some(&world.project), "outcomes").unwrap();
    let new = NewRun { workflow, prd: None, level: None, input: json!({}), board: true, recording: None };
    world.create(new).await
}

async fn approve(world: &World) {
    let anyway = Approving { anyway: true, ..Approving::default() };
    orders::approve(&world.project, &caller(), first_task(), anyway).await.unwrap();
}

async fn task(world: &World) -> Task {
    orders::get_task(&world.project, first_task()).await.unwrap()
}

fn seen(run: &Run) -> Value {
    run.sheet.state()["seen"].clone()
}

/// A replay without agents makes the same steps.
async fn check_replay(world: &World, run: RunId) {
    let differs: Vec<String> = runs::replay(&world.project, run, None)
        .await
        .unwrap()
        .into_iter()
        .filter_map(|step| step.differs)
        .collect();
    assert_eq!(differs, Vec::<String>::new());
}

#[tokio::test]
async fn an_agent_that_gives_up_leads_along_its_edge_and_the_next_session_works_on() {
    let world = world("auto", &format!("[[session]]\nstep = [{{ fault = 'refused' }}]\n{GOOD}")).await;
    let run = begin(&world).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(seen(&found), json!([{ "on": "failed", "class": "refused", "node": "work" }]));
    assert_eq!(world.shown("a.txt"), "work, visit 2");
    check_replay(&world, run).await;
}

#[tokio::test]
async fn an_agent_that_never_answers_fails_the_run_once_the_edge_is_used_up() {
    let world = world("auto", "[[session]]\nstep = [{ fault = 'crash' }]\n").await;
    let run = begin(&world).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Failed, "{found:?}");
    assert_eq!(task(&world).await.error.unwrap().code.as_str(), "MAX_ITERATIONS_EXCEEDED");
    check_replay(&world, run).await;
}

#[tokio::test]
async fn a_task_that_does_not_merge_goes_back_to_its_run() {
    let coder = "[[session]]\nstep = [{ write = { path = \"a.txt\", text = \"ours\\n\" } }, { result = {} }]\n\
                 [[session]]\nstep = [{ run = [\"git\", \"merge\", \"-q\", \"-X\", \"ours\", \"main\"] }, { result = {} }]\n";
    let world = world("person", coder).await;
    let run = begin(&world).await;
    assert!(matches!(world.rest(run).await.phase(), Some(Phase::Landing { .. })));
    world.repo.write("a.txt", "theirs\n");
    world.repo.commit("something else");
    approve(&world).await;
    let found = world.rest(run).await;
    assert!(matches!(found.phase(), Some(Phase::Landing { .. })), "{found:?}");
    let head = world.repo.git(&["rev-parse", "main"]);
    assert_eq!(
        seen(&found),
        json!([{ "on": "conflict", "files": ["a.txt"], "target": "main", "head": head }]),
        "{:?}",
        task(&world).await
    );
    assert_eq!(task(&world).await.rejection_count, 1);
    approve(&world).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(world.shown("a.txt"), "ours");
    check_replay(&world, run).await;
}

#[tokio::test]
async fn a_task_that_changed_nothing_is_dropped() {
    let world = world("auto", "[[session]]\nstep = [{ result = {} }]\n").await;
    let run = begin(&world).await;
    let found = world.rest(run).await;
    assert_eq!((found.status(), seen(&found)), (Status::Failed, json!([{ "on": "unchanged" }])), "{found:?}");
    let task = task(&world).await;
    assert_eq!((task.column(), task.error), (Column::Backlog, None));
    assert_eq!(world.repo.git(&["branch", "--list", "task/*"]), "");
    check_replay(&world, run).await;
}

#[tokio::test]
async fn a_task_that_is_sent_back_or_cancelled_begins_again() {
    let world = world("person", GOOD).await;
    let run = begin(&world).await;
    world.rest(run).await;
    orders::reject(&world.project, &caller(), first_task(), "say more".to_owned(), None).await.unwrap();
    let found = world.rest(run).await;
    assert!(matches!(found.phase(), Some(Phase::Landing { .. })), "{found:?}");
    let rejected = json!({ "on": "rejected", "edge": "submit", "said": "say more" });
    assert_eq!(seen(&found), json!([rejected]));
    orders::cancel(&world.project, &caller(), first_task(), None).await.unwrap();
    let found = world.rest(run).await;
    assert!(matches!(found.phase(), Some(Phase::Landing { .. })), "{found:?}");
    assert_eq!(seen(&found), json!([rejected, { "on": "cancelled" }]));
    assert_eq!(task(&world).await.attempts, 2);
    approve(&world).await;
    assert_eq!(world.rest(run).await.status(), Status::Completed);
    check_replay(&world, run).await;
}

#[tokio::test]
async fn a_task_that_is_cancelled_at_work_begins_again_once_it_is_gone() {
    let coder = "[[session]]\nstep = [{ write = { path = \"begun.txt\", text = \"begun\\n\" } }, { delay = \"10m\" }]\n";
    let world = world("auto", &format!("{coder}{GOOD}")).await;
    let run = begin(&world).await;
    let cancel = async {
        let begun = world.repo.path().join(".regatta/worktrees/task-1/begun.txt");
        until_async("the coder has begun", || begun.exists()).await;
        orders::cancel(&world.project, &caller(), first_task(), None).await.unwrap();
    };
    let found = tokio::join!(world.rest(run), cancel).0;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(seen(&found), json!([{ "on": "cancelled" }]));
    assert_eq!(world.shown("a.txt"), "work, visit 2");
    check_replay(&world, run).await;
}
