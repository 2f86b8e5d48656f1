//! A task that is cancelled while a role of a run works on it: the session ends, and nothing of it is kept.

use crate::support::{CODER, REVIEWER, World, caller, first_task, prd};
use regatta_engine::core::machine::Column;
use regatta_engine::core::run::{Hold, Run, Status};
use regatta_engine::core::{Code, RunId};
use regatta_engine::orders;
use regatta_engine::runs;
use regatta_testkit::wait::until_async;
use std::path::PathBuf;

/// Begins, and would continue with its work much later.
const SLOW_CODER: &str = r#"
[[session]]
step = [
    { write = { path = "begun.txt", text = "begun\n" } },
    { delay = "10m" },
    { write = { path = "late.txt", text = "late\n" } },
    { result = { code = "done", taskId = "${item}", status = "complete", selfValidation = { passed = true, issues = [] } } },
]
"#;

/// Answers when it is asked to end, which is too late.
const STUBBORN_CODER: &str = r#"
[agents.stubborn]
kind = "command"
command = ["sh", "-c", '''
trap 'printf "{\"code\":\"done\",\"taskId\":\"T001\",\"status\":\"complete\",\"selfValidation\":{\"passed\":true,\"issues\":[]}}" > "$REGATTA_RESULT_FILE"; exit 0' TERM
echo begun > begun.txt
while :; do read -r line < WAIT || :; done''']

[sandbox]
mode = "off"
"#;

/// Does not come to an answer.
const BROKEN_REVIEWER: &str = "[[session]]\nstep = [{ fault = 'refused' }]\n";

#[tokio::test]
async fn a_scripted_session_ends_with_its_task_and_the_run_goes_on_in_a_new_worktree() {
    let world = World::new("auto", &["T001"], SLOW_CODER, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    let found = cancel_at_work(&world, run).await;
    assert_cancelled(&world, &found).await;

    world.repo.write("scripts/coder.toml", CODER);
    world.repo.write(".regatta/worktrees/task-1/late.txt", "late\n");
    runs::resume(&world.project, &caller(), run).await.unwrap();
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(world.shown("T001.txt"), "work on T001, visit 2");
    assert!(place(&world, "task-1.left-1").join("late.txt").exists(), "what lay in the way is kept");
}

#[tokio::test]
async fn an_answer_that_comes_after_the_cancellation_is_not_stored() {
    let world = World::new("auto", &["T001"], CODER, REVIEWER).await;
    let wait = world.repo.outside().join("wait");
    assert!(std::process::Command::new("mkfifo").arg(&wait).status().unwrap().success());
    let agent = STUBBORN_CODER.replace("WAIT", &wait.display().to_string());
    let text = std::fs::read_to_string(world.repo.path().join(".regatta/config.toml")).unwrap();
    let text = text.replace("coder = \"worker\"", "coder = \"stubborn\"");
    let world = world.with_config(&format!("{text}{agent}")).await;
    let run = world.begin(prd(), None).await;
    let found = cancel_at_work(&world, run).await;
    assert_cancelled(&world, &found).await;
}

#[tokio::test]
async fn work_that_was_cancelled_between_two_steps_is_not_taken_for_done() {
    let world = World::new("auto", &["T001"], CODER, BROKEN_REVIEWER).await;
    let run = world.begin(prd(), None).await;
    assert_eq!(world.rest(run).await.node.as_str(), "reviewer");
    orders::cancel(&world.project, &caller(), first_task(), None).await.unwrap();
    world.rest_task(first_task()).await;
    world.repo.write("scripts/reviewer.toml", REVIEWER);

    runs::resume(&world.project, &caller(), run).await.unwrap();
    let held = world.rest(run).await;
    let Some(Hold::Error { error }) = held.hold() else { panic!("{held:?}") };
    assert_eq!((error.code, held.node.as_str()), (Code::TaskCancelled, "reviewer"), "{error:?}");

    let fork = runs::fork(&world.project, &caller(), run, None, None).await.unwrap();
    let found = world.rest(fork).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(world.shown("T001.txt"), "work on T001, visit 2", "it went on from the work that there was");

    runs::resume(&world.project, &caller(), run).await.unwrap();
    let found = world.rest(run).await;
    assert_ne!(found.hold(), held.hold(), "who resumes it again has heard of it");
}

#[tokio::test]
async fn a_folder_that_was_left_where_a_step_worked_is_moved_beside_it() {
    let world = World::new("auto", &["T001"], CODER, REVIEWER).await;
    world.repo.write(".regatta/worktrees/run-1-step-1/late.txt", "late\n");
    world.repo.write(".git/regatta/sessions/run-1-step-1.jsonl", "");
    let run = world.begin(prd(), None).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert!(place(&world, "run-1-step-1.left-1").join("late.txt").exists(), "it is kept");
    let findings = regatta_engine::examine(&world.project).await.unwrap();
    let is_named = |what: &str| what.contains("run-1-step-1.left-1");
    assert!(findings.iter().any(|found| found.is_advice && is_named(&found.what)), "{findings:?}");
}

/// Cancels the first task as soon as its coder has begun, and returns the run at rest.
async fn cancel_at_work(world: &World, run: RunId) -> Run {
    let cancel = async {
        let begun = place(world, "task-1").join("begun.txt");
        until_async("the coder has begun", || begun.exists()).await;
        orders::cancel(&world.project, &caller(), first_task(), None).await.unwrap();
    };
    tokio::join!(world.rest(run), cancel).0
}

async fn assert_cancelled(world: &World, run: &Run) {
    let Some(Hold::Error { error }) = run.hold() else { panic!("{run:?}") };
    assert_eq!(error.code, Code::TaskCancelled, "{error:?}");
    assert_eq!(run.step, 2, "no step was stored after the one that made the plan");
    let task = orders::get_task(&world.project, first_task()).await.unwrap();
    assert_eq!((task.column(), task.error), (Column::Backlog, None));
    assert!(!place(world, "task-1").exists(), "nothing writes into the removed worktree");
}

fn place(world: &World, name: &str) -> PathBuf {
    world.repo.path().join(".regatta/worktrees").join(name)
}
