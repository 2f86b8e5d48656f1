//! Items on the board: worktrees, approval by a policy or a person, failures and questions.

use crate::support::{CODER, REVIEWER, World, caller, first_task, is_empty, prd};
use regatta_engine::core::machine::Column;
use regatta_engine::core::run::{Hold, Phase, Situation, Status};
use regatta_engine::orders::{self, Approving};
use regatta_engine::runs;
use serde_json::json;

#[tokio::test]
async fn a_document_becomes_merged_tasks() {
    let world = World::new("auto", &["T001", "T002"], CODER, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(
        found.sheet.state()["metrics"],
        json!({ "tasksCompleted": 2, "tasksFailed": 0, "totalAttempts": 4, "totalReviews": 2 })
    );
    assert_eq!(world.shown("T001.txt"), "work on T001, visit 2");
    assert_eq!(world.shown("T002.txt"), "work on T002, visit 2");
    for task in found.tasks.values() {
        let task = orders::get_task(&world.project, *task).await.unwrap();
        assert_eq!((task.column(), task.sessions), (Column::Verified, 3), "{task:?}");
    }
    assert!(is_empty(&world.repo.path().join(".regatta/worktrees")), "nothing is left of the worktrees");
    assert_eq!(world.repo.git(&["branch", "--list", "run/*", "task/*"]), "");
}

#[tokio::test]
async fn a_person_merges_or_sends_back() {
    let world = World::new("person", &["T001"], CODER, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    let found = world.rest(run).await;
    assert!(matches!(found.phase(), Some(Phase::Landing { .. })), "{found:?}");
    assert_eq!((found.status(), found.step), (Status::Paused, 4));
    let task = first_task();
    let reason = "say more".to_owned();
    orders::reject(&world.project, &caller(), task, reason, Some("about T001".to_owned())).await.unwrap();
    let found = world.rest(run).await;
    assert!(matches!(found.phase(), Some(Phase::Landing { .. })), "{found:?}");
    let said = json!({ "approved": false, "text": "say more\n\nabout T001", "task": "T001" });
    assert_eq!(*found.sheet.feedback(), said);
    assert_eq!(found.sheet.state()["currentAttempts"], 3, "the coder worked once more");
    let prompt = std::fs::read_to_string(world.project.transcript(task, 4)).unwrap();
    assert!(prompt.contains("about T001"), "the coder sees it: {prompt}");
    orders::approve(&world.project, &caller(), task, Approving { anyway: true, ..Approving::default() })
        .await
        .unwrap();
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(found.sheet.state()["metrics"]["tasksCompleted"], 1);
    assert_eq!(world.shown("T001.txt"), "work on T001, visit 3");
}

#[tokio::test]
async fn whoever_waits_for_a_task_of_a_paused_run_is_told_so() {
    let world = World::new("person", &["T001", "T002"], CODER, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    world.rest(run).await;
    runs::pause(&world.project, &caller(), run).await.unwrap();
    let task = first_task();
    orders::reject(&world.project, &caller(), task, "say more".to_owned(), None).await.unwrap();
    let followed = world.carry_task(task).await;
    assert_eq!(followed.task.column(), Column::InProgress, "{followed:?}");
    assert_eq!(followed.run.map(|run| (run.id, run.hold().cloned())), Some((run, Some(Hold::Paused))));

    runs::resume(&world.project, &caller(), run).await.unwrap();
    assert!(matches!(world.rest(run).await.phase(), Some(Phase::Landing { .. })));
    runs::pause(&world.project, &caller(), run).await.unwrap();
    orders::approve(&world.project, &caller(), task, Approving { anyway: true, ..Approving::default() })
        .await
        .unwrap();
    let followed = world.carry_task(task).await;
    assert_eq!(followed.task.column(), Column::Verified, "{followed:?}");
    let paused = followed.run.unwrap();
    assert_eq!((paused.hold(), paused.item.as_deref()), (Some(&Hold::Paused), Some("T002")));
}

#[tokio::test]
async fn a_paused_run_ends_with_its_last_merge() {
    let world = World::new("person", &["T001"], CODER, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    world.rest(run).await;
    runs::pause(&world.project, &caller(), run).await.unwrap();
    orders::approve(
        &world.project,
        &caller(),
        first_task(),
        Approving { anyway: true, ..Approving::default() },
    )
    .await
    .unwrap();
    let followed = world.carry_task(first_task()).await;
    assert_eq!((followed.task.column(), followed.run), (Column::Verified, None));
    assert_eq!(runs::get_run(&world.project, run).await.unwrap().status(), Status::Completed);
}

#[tokio::test]
async fn a_coder_that_never_passes_is_given_up() {
    let coder = CODER.split("\n[[session]]").nth(1).map(|part| format!("[[session]]{part}")).unwrap();
    let world = World::new("auto", &["T001", "T002"], &coder, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    let found = world.rest(run).await;
    let Situation::Failed { error } = &found.situation else { panic!("{found:?}") };
    assert_eq!(error.code.as_str(), "MAX_ITERATIONS_EXCEEDED");
    assert!(error.message.contains("coder-retry"), "{error:?}");
    assert_eq!(found.sheet.state()["tasks"][0]["status"], "failed");
    let task = orders::get_task(&world.project, first_task()).await.unwrap();
    assert_eq!(task.column(), Column::InProgress);
    assert_eq!(task.error.as_ref().map(|error| error.code.as_str()), Some("MAX_ITERATIONS_EXCEEDED"));
    orders::cancel(&world.project, &caller(), first_task(), None).await.unwrap();
}

#[tokio::test]
async fn a_blocked_coder_asks_a_person() {
    let coder = r#"
[[session]]
step = [{ result = { code = "", taskId = "${item}", status = "blocked", selfValidation = { passed = false, issues = ["Which colour?"] } } }]

[[session]]
step = [
    { write = { path = "${item}.txt", text = "green\n" } },
    { result = { code = "green", taskId = "${item}", status = "complete", selfValidation = { passed = true, issues = [] } } },
]
"#;
    let world = World::new("auto", &["T001"], coder, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    let found = world.rest(run).await;
    let Some(Phase::Asking { question }) = found.phase() else { panic!("{found:?}") };
    assert!(question.contains("Which colour?"), "{question}");
    world.answer(run, true, "Green.").await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(world.shown("T001.txt"), "green");
}

#[tokio::test]
async fn without_a_queue_the_document_is_one_task() {
    let coder = CODER.replace("${item}.txt", "work.txt");
    for (level, attempts) in [(1, 0), (3, 2)] {
        let world = World::new("auto", &[], &coder, REVIEWER).await;
        let run = world.begin(prd(), Some(level)).await;
        let found = world.rest(run).await;
        assert_eq!(found.status(), Status::Completed, "{found:?}");
        assert_eq!(
            found.sheet.state()["currentAttempts"],
            attempts,
            "level {level} keeps up so much of the state"
        );
        let task = orders::get_task(&world.project, first_task()).await.unwrap();
        assert_eq!((task.title.as_str(), task.column()), ("So", Column::Verified));
    }
}

#[tokio::test]
async fn an_output_that_does_not_fit_is_asked_for_again() {
    let reviewer = r#"
[[session]]
step = [{ result = { verdict = "fine" } }]
"#;
    let world = World::new("auto", &["T001"], CODER, reviewer).await;
    let run = world.begin(prd(), None).await;
    let found = world.rest(run).await;
    let Situation::Failed { error } = &found.situation else { panic!("{found:?}") };
    assert_eq!(error.code.as_str(), "AGENT_OUTPUT_INVALID");
    let told = std::fs::read_to_string(world.project.transcript(first_task(), 4)).unwrap();
    assert!(told.contains("Your last answer could not be used"), "{told}");
}

#[tokio::test]
async fn a_role_that_nobody_plays_holds_the_run() {
    let world = World::new("auto", &["T001"], CODER, REVIEWER).await;
    let path = world.repo.path().join(".regatta/config.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("spec = \"planner\"\n", "")).unwrap();
    let project = std::sync::Arc::new(regatta_engine::Project::open(world.repo.path()).await.unwrap());
    let world = World { project, ..world };
    let run = world.begin(prd(), None).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Paused, "{found:?}");
    std::fs::write(&path, text).unwrap();
    let project = std::sync::Arc::new(regatta_engine::Project::open(world.repo.path()).await.unwrap());
    let world = World { project, ..world };
    runs::resume(&world.project, &caller(), run).await.unwrap();
    assert_eq!(world.rest(run).await.status(), Status::Completed);
}

#[tokio::test]
async fn a_fork_goes_on_from_an_earlier_step() {
    let coder = CODER.replace("visit ${visit}", "visit ${visit} of run ${run}");
    let world = World::new("auto", &["T001", "T002"], &coder, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    let first = world.rest(run).await;
    let steps = runs::replay(&world.project, run, None).await.unwrap();
    assert!(steps.iter().all(|step| step.differs.is_none()), "{steps:?}");
    assert_eq!(steps.len() as u64 + 1, first.step);
    // Before the second task is begun: the first is merged and stays so.
    let fork = runs::fork(&world.project, &caller(), run, Some(5), None).await.unwrap();
    let found = world.rest(fork).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(found.tasks["T001"], first.tasks["T001"]);
    assert_ne!(found.tasks["T002"], first.tasks["T002"]);
    assert_eq!(world.shown("T001.txt"), "work on T001, visit 2 of run 1");
    assert_eq!(world.shown("T002.txt"), "work on T002, visit 2 of run 2");
}
