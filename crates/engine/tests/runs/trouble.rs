//! Trouble of one run: it is held with the error, the engine and everything else continue, and no session is
//! repeated.

use crate::support::{CODER, REVIEWER, World, caller, first_task, prd};
use regatta_engine::core::machine::Column;
use regatta_engine::core::run::{Hold, Phase, RecordingMode, Run, Status};
use regatta_engine::core::{
    Assignee, Code, Create, Depend, Failure, Priority, RunId, Stage, Task, TaskId, WorkPhase,
};
use regatta_engine::orders::{self, Approving};
use regatta_engine::runs::{self, Recording, close_recording};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const BY_HAND: &str = "[[session]]\nstep = [{ write = { path = 'by-hand.txt', text = 'by hand' } }]\n";

fn name(folder: &Path) -> String {
    folder.to_str().unwrap().to_owned()
}

fn second_task() -> TaskId {
    "2".parse().unwrap()
}

fn hold_of(run: &Run) -> Failure {
    match run.hold() {
        Some(Hold::Error { error }) => error.clone(),
        _ => panic!("it is not held: {run:?}"),
    }
}

async fn approve(world: &World, task: TaskId) -> Task {
    orders::approve(&world.project, &caller(), task, Approving { anyway: true, ..Approving::default() })
        .await
        .unwrap();
    world.rest_task(task).await
}

async fn go_on(world: &World, run: RunId) -> Run {
    runs::resume(&world.project, &caller(), run).await.unwrap();
    world.rest(run).await
}

/// A run of two tasks, of which the first waits for approval.
async fn first_is_up() -> (World, RunId) {
    let world = World::new("person", &["T001", "T002"], CODER, REVIEWER).await;
    world.repo.write("scripts/hand.toml", BY_HAND);
    let world =
        world.configured("\n[agents.hand]\nkind = \"scripted\"\nscript = \"scripts/hand.toml\"\n").await;
    let run = world.begin(prd(), None).await;
    let found = world.rest(run).await;
    assert!(matches!(found.phase(), Some(Phase::Landing { .. })), "{found:?}");
    (world, run)
}

/// Lets an agent work on a task without the run that it is from.
async fn do_by_hand(world: &World, task: TaskId) {
    orders::assign(&world.project, &caller(), task, Assignee::Agent("hand".parse().unwrap()), None, true)
        .await
        .unwrap();
    assert_eq!(world.rest_task(task).await.column(), Column::WaitingApproval);
}

fn recording_of(world: &World) -> PathBuf {
    let folder = world.repo.outside().join("tape");
    Recording::create(&folder).unwrap();
    folder
}

/// Puts a file where the folder of a recording is.
fn spoil(recording: &Path) {
    std::fs::remove_dir_all(recording).unwrap();
    std::fs::write(recording, "no folder").unwrap();
}

#[tokio::test]
async fn a_recording_that_cannot_be_written_holds_the_run_before_a_session_is_paid_for() {
    let world = World::new("person", &["T001", "T002"], CODER, REVIEWER).await;
    let recording = recording_of(&world);
    let run = world.begin_on(Some(RecordingMode::Record(name(&recording))), prd(), None).await;
    assert!(matches!(world.rest(run).await.phase(), Some(Phase::Landing { .. })));
    spoil(&recording);
    approve(&world, first_task()).await;

    let held = world.rest(run).await;
    let error = hold_of(&held);
    assert_eq!((error.code, held.node.as_str()), (Code::IoFailed, "coder"), "{error:?}");
    assert!(error.hint.contains("`regatta run --resume 1`; or `regatta run fork 1`"), "{error:?}");
    let task = orders::get_task(&world.project, second_task()).await.unwrap();
    assert_eq!((task.column(), task.sessions), (Column::Backlog, 0));

    std::fs::remove_file(&recording).unwrap();
    std::fs::create_dir(&recording).unwrap();
    let found = go_on(&world, run).await;
    assert!(matches!(found.phase(), Some(Phase::Landing { .. })), "{found:?}");
    assert!(recording.join("0005-coder-T002.json").exists());
    assert!(!recording.join(".trial").exists(), "nothing else is left on a tape");
}

/// Notes that it was there, and leaves no recording to record on.
const SPOILER: &str = r#"
cat > /dev/null
echo session >> COUNT
rm -r TAPE
echo no folder > TAPE
printf '{"code":"x","taskId":"T001","status":"complete","selfValidation":{"passed":true,"issues":[]}}' > "$REGATTA_RESULT_FILE"
"#;

#[tokio::test]
async fn an_answer_that_cannot_be_recorded_is_not_paid_for_again_and_again() {
    let world = World::new("person", &["T001"], CODER, REVIEWER).await;
    let (recording, count) = (recording_of(&world), world.repo.outside().join("count"));
    let script = SPOILER.replace("COUNT", &name(&count)).replace("TAPE", &name(&recording));
    let config = std::fs::read_to_string(world.repo.path().join(".regatta/config.toml")).unwrap();
    let scripted = "kind = \"scripted\"\nscript = \"scripts/coder.toml\"";
    assert!(config.contains(scripted));
    let command = format!("kind = \"command\"\ncommand = [\"sh\", \"-c\", '''{script}''']");
    let config = format!("{}\n[sandbox]\nmode = \"off\"\n", config.replace(scripted, &command));
    let world = world.with_config(&config).await;

    let run = world.begin_on(Some(RecordingMode::Record(name(&recording))), prd(), None).await;
    let held = world.rest(run).await;
    let error = hold_of(&held);
    assert_eq!((error.code, held.node.as_str()), (Code::IoFailed, "coder"), "{error:?}");
    assert_eq!(std::fs::read_to_string(&count).unwrap(), "session\n");
    let task = orders::get_task(&world.project, first_task()).await.unwrap();
    let Stage::InProgress(work) = &task.stage else { panic!("{task:?}") };
    assert!(matches!(work.phase, WorkPhase::Driven { session: None, .. }), "its session is over: {task:?}");
}

#[tokio::test]
async fn a_replay_whose_recording_is_gone_keeps_nobody_else_from_working() {
    let world = World::new("auto", &["T001"], CODER, REVIEWER).await;
    let recording = recording_of(&world);
    let recorded = world.begin_on(Some(RecordingMode::Record(name(&recording))), prd(), None).await;
    assert_eq!(world.rest(recorded).await.status(), Status::Completed);
    close_recording(&world.project, recorded).await.unwrap();

    let replay = world.begin_on(Some(RecordingMode::Replay(name(&recording))), prd(), None).await;
    std::fs::remove_dir_all(&recording).unwrap();
    world.repo.write("scripts/coder.toml", &CODER.replace("work on", "more work on"));
    let other = world.begin(prd(), None).await;
    assert_eq!(world.rest(other).await.status(), Status::Completed);
    let held = world.rest(replay).await;
    let error = hold_of(&held);
    assert_eq!(error.code, Code::IoFailed, "{error:?}");
    assert!(error.hint.contains("`regatta run --resume 2`"), "{error:?}");
}

#[tokio::test]
async fn a_run_is_held_while_its_target_is_not_there() {
    let world = World::new("auto", &["T001"], CODER, REVIEWER).await;
    let run = world.begin(prd(), None).await;
    world.repo.git(&["branch", "-m", "main", "elsewhere"]);
    let error = hold_of(&world.rest(run).await);
    assert_eq!(error.code, Code::NotARepository, "{error:?}");
    assert!(error.hint.ends_with("`regatta run --resume 1` performs the step again"), "{error:?}");

    world.repo.git(&["branch", "-m", "elsewhere", "main"]);
    assert_eq!(go_on(&world, run).await.status(), Status::Completed);
}

#[tokio::test]
async fn a_task_that_waits_for_another_says_how_its_run_goes_on() {
    let (world, run) = first_is_up().await;
    let project = &world.project;
    let create =
        Create::new("Before".to_owned(), "Do it.".to_owned(), Vec::new(), BTreeSet::new(), Priority::Medium);
    let before = orders::create(project, &caller(), create.unwrap()).await.unwrap();
    let add = Depend { add: [before].into(), remove: BTreeSet::new() };
    orders::depend(project, &caller(), second_task(), add).await.unwrap();
    approve(&world, first_task()).await;
    let error = hold_of(&world.rest(run).await);
    assert_eq!(error.code, Code::TaskBlocked, "{error:?}");
    assert!(error.hint.contains("`regatta task depends 2 --remove"), "{error:?}");
    assert!(error.hint.ends_with("`regatta run --resume 1` performs the step again"), "{error:?}");

    let remove = Depend { add: BTreeSet::new(), remove: [before].into() };
    orders::depend(project, &caller(), second_task(), remove).await.unwrap();
    let found = go_on(&world, run).await;
    assert!(matches!(found.phase(), Some(Phase::Landing { .. })), "{found:?}");
}

#[tokio::test]
async fn a_task_that_a_person_had_done_and_merged_is_done_again_by_a_fork() {
    let (world, run) = first_is_up().await;
    do_by_hand(&world, second_task()).await;
    assert_eq!(approve(&world, second_task()).await.column(), Column::Verified);
    approve(&world, first_task()).await;
    let held = world.rest(run).await;
    let error = hold_of(&held);
    assert_eq!(error.code, Code::TaskBusy, "{error:?}");
    assert_eq!(
        error.hint,
        "`regatta run fork 1` works on the item as a new task, from what is merged now, and `regatta run stop 1` ends this run"
    );

    let fork = runs::fork(&world.project, &caller(), run, None, None).await.unwrap();
    let Some(&Phase::Landing { task, .. }) = world.rest(fork).await.phase() else {
        panic!("the fork does not work on it")
    };
    assert_ne!(task, second_task());
    approve(&world, task).await;
    assert_eq!(world.rest(fork).await.status(), Status::Completed);
    assert_eq!(world.shown("T002.txt"), "work on T002, visit 2");
    assert_eq!(world.shown("by-hand.txt"), "by hand");
    runs::stop(&world.project, &caller(), run, None).await.unwrap();
    assert!(world.rest(run).await.is_over());
}

#[tokio::test]
async fn a_task_that_somebody_else_works_on_is_the_runs_again_when_that_is_given_up() {
    let (world, run) = first_is_up().await;
    do_by_hand(&world, second_task()).await;
    approve(&world, first_task()).await;
    let error = hold_of(&world.rest(run).await);
    assert_eq!(error.code, Code::TaskBusy, "{error:?}");
    assert!(error.hint.starts_with("`regatta task cancel 2` gives that work up"), "{error:?}");

    orders::cancel(&world.project, &caller(), second_task(), None).await.unwrap();
    world.rest_task(second_task()).await;
    let found = go_on(&world, run).await;
    assert!(
        matches!(found.phase(), Some(Phase::Landing { task, .. }) if *task == second_task()),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_policy_that_cannot_look_leaves_the_task_to_a_person() {
    let world = World::new("auto", &["T001"], CODER, REVIEWER).await;
    let config = "\n[sandbox]\nmode = \"off\"\n\n[checks]\nremoves = [\"sh\", \"-c\", 'rm -r \"$PWD\"']\n";
    let world = world.configured(config).await;
    let run = world.begin(prd(), None).await;
    let found = world.rest(run).await;
    assert!(matches!(found.phase(), Some(Phase::Landing { .. })), "{found:?}");
    let task = orders::get_task(&world.project, first_task()).await.unwrap();
    assert_eq!(task.column(), Column::WaitingApproval);
    assert_eq!(task.error.map(|error| error.code), Some(Code::WorktreeMissing));
}
