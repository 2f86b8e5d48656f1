//! A step that is performed again after an engine was killed over it.

use crate::support::{CODER, REVIEWER, World, prd};
use regatta_engine::core::run::{Hold, Status};
use regatta_engine::runs::{self, NewRun};

/// The coder passes at once.
const PASSING: &str = r#"
[[session]]
step = [{ result = { code = "done", taskId = "PRD", status = "complete", selfValidation = { passed = true, issues = [] } } }]
"#;

async fn begin(coder: &str) -> (World, regatta_engine::core::RunId) {
    let world = World::new("person", &[], coder, REVIEWER).await;
    let workflow = runs::find_workflow(Some(&world.project), "speckit").unwrap();
    let new = NewRun { workflow, prd: None, level: Some(1), input: prd(), board: false, recording: None };
    let run = world.create(new).await;
    (world, run)
}

/// The worktree of a step is thrown away before its answer is stored, folder first and branch last.
#[tokio::test]
async fn a_branch_that_is_left_of_the_step_is_thrown_away() {
    let (world, run) = begin(PASSING).await;
    world.repo.git(&["branch", &format!("run/{run}-1")]);
    world.repo.write(&format!(".git/regatta/sessions/run-{run}-step-1.jsonl"), "");
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(world.repo.git(&["branch", "--list", "run/*"]), "");
}

#[tokio::test]
async fn a_branch_of_somebody_else_stays() {
    let (world, run) = begin(CODER).await;
    world.repo.git(&["branch", &format!("run/{run}-1")]);
    let found = world.rest(run).await;
    assert!(matches!(found.hold(), Some(Hold::Error { .. })), "{found:?}");
    assert_eq!(world.repo.git(&["branch", "--list", "run/*"]).trim(), format!("run/{run}-1"));
}
