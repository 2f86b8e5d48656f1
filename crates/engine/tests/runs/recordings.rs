//! Recording a run and playing it again with no agent.

use crate::support::{CODER, NOBODY, REVIEWER, World, prd};
use regatta_engine::core::Code;
use regatta_engine::core::run::{Hold, RecordingMode, Status};
use regatta_engine::runs::{AgentRoles, Recording, close_recording};
use std::path::Path;
use std::sync::Arc;

fn name(folder: &Path) -> String {
    folder.to_str().unwrap().to_owned()
}

async fn nobody() -> World {
    World::new("auto", &[], "", "").await.with_config(NOBODY).await
}

#[tokio::test]
async fn a_recorded_run_can_be_played_without_agents() {
    let world = World::new("auto", &["T001", "T002"], CODER, REVIEWER).await;
    let folder = recorded(&world).await;

    // Another project, which has no agent at all.
    let other = nobody().await;
    let recording = Recording::open(Path::new(&folder)).unwrap();
    let head = recording.head().unwrap();
    let replay = Some(RecordingMode::Replay(folder));
    let run = other.begin_on(replay.clone(), head.input.clone(), Some(head.level)).await;
    let roles = Arc::new(AgentRoles::default());
    let found = other.rest_with(run, Arc::clone(&roles) as Arc<_>).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    let branch = &replay_branches(&other)[0];
    assert_eq!(other.repo.git(&["show", &format!("{branch}:T002.txt")]), "work on T002, visit 2");
    assert_eq!(recording.compare(&other.project, run, roles.differences()).await.unwrap(), []);

    // At another level the same answers lead elsewhere.
    let third = nobody().await;
    let run = third.begin_on(replay, head.input, Some(4)).await;
    let found = third.rest_with(run, roles).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    let found = recording.compare(&third.project, run, Vec::new()).await.unwrap();
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["step 4: recorded `reviewer` -next-task-> `coder`, now `reviewer` -reviewed-> `done`"]
    );
}

fn replay_branches(world: &World) -> Vec<String> {
    let listed = world.repo.git(&["branch", "--list", "replay/*", "--format=%(refname:short)"]);
    listed.lines().map(str::to_owned).collect()
}

/// Records a run, and returns its recording.
async fn recorded(world: &World) -> String {
    let folder = world.repo.outside().join("tape");
    Recording::create(&folder).unwrap();
    let run = world.begin_on(Some(RecordingMode::Record(name(&folder))), prd(), None).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    close_recording(&world.project, run).await.unwrap();
    name(&folder)
}

#[tokio::test]
async fn a_recording_plays_where_its_own_work_is_merged_and_moves_no_branch() {
    let world = World::new("auto", &["T001", "T002"], CODER, REVIEWER).await;
    let base = world.repo.git(&["rev-parse", "main"]);
    let folder = recorded(&world).await;
    world.repo.write("T001.txt", "somebody went on with it\n");
    let head = world.repo.commit("later work, and the tape");
    let recording = Recording::open(Path::new(&folder)).unwrap();
    assert_eq!(recording.head().unwrap().base.map(|base| base.to_string()), Some(base.clone()));

    let world = world.with_config(NOBODY).await;
    let run = world.begin_on(Some(RecordingMode::Replay(folder)), prd(), None).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(recording.compare(&world.project, run, Vec::new()).await.unwrap(), []);
    assert_eq!(world.repo.git(&["rev-parse", "main"]), head, "a replay leaves the target alone");
    let branch = &replay_branches(&world)[0];
    assert_eq!(world.repo.git(&["show", &format!("{branch}:T001.txt")]), "work on T001, visit 2");
    assert_eq!(world.repo.git(&["merge-base", "main", branch]), base);
}

#[tokio::test]
async fn a_recording_that_does_not_fit_says_so() {
    let world = World::new("auto", &["T001"], CODER, REVIEWER).await;
    let folder = recorded(&world).await;
    let base = Recording::open(Path::new(&folder)).unwrap().head().unwrap().base.unwrap();
    for (text, why) in
        [("work of others\n", "`T001.txt` is not as recorded"), ("draft\n", "its changes are already there")]
    {
        let other = nobody().await;
        other.repo.write("T001.txt", text);
        other.repo.commit("another history");
        let run = other.begin_on(Some(RecordingMode::Replay(folder.clone())), prd(), None).await;
        let found = other.rest(run).await;
        let Some(Hold::Error { error }) = found.hold() else { panic!("{found:?}") };
        assert_eq!(error.code, Code::TapeBaseDiffers, "{error:?}");
        let what = format!("the recording does not fit at step 2 of run {run}");
        let base = format!("it was recorded at commit {base}, which this repository does not have");
        assert_eq!(error.message, format!("{what}: {why}: {base}"));
        assert!(error.hint.contains("git fetch --unshallow"), "{error:?}");
        assert_eq!(other.shown("T001.txt"), text.trim_end());
    }
}

/// Leaves a file that can be executed, and a link to it.
const SHELL: &str = r#"
cat > /dev/null
printf 'echo hello\n' > hello.sh
chmod +x hello.sh
ln -s hello.sh greet
echo '{"code":"","taskId":"PRD","status":"complete","selfValidation":{"passed":true,"issues":[]}}'
"#;

#[tokio::test]
async fn a_recording_keeps_links_and_what_can_be_executed() {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    let config = std::fs::read_to_string(world.repo.path().join(".regatta/config.toml")).unwrap();
    let scripted = "kind = \"scripted\"\nscript = \"scripts/coder.toml\"";
    let shell = format!("kind = \"command\"\ncommand = [\"sh\", \"-c\", '''{SHELL}''']");
    assert!(config.contains(scripted));
    let world = world.with_config(&config.replace(scripted, &shell)).await;
    let folder = world.repo.outside().join("tape");
    Recording::create(&folder).unwrap();
    let run = world.begin_on(Some(RecordingMode::Record(name(&folder))), prd(), Some(1)).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    close_recording(&world.project, run).await.unwrap();

    let other = nobody().await;
    let run = other.begin_on(Some(RecordingMode::Replay(name(&folder))), prd(), Some(1)).await;
    let found = other.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    let listed = |world: &World, branch: &str| {
        let listed = world.repo.git(&["ls-tree", branch]);
        let lines: Vec<&str> = listed.lines().filter(|line| !line.contains("scripts")).collect();
        lines.join("\n")
    };
    let played = listed(&other, &replay_branches(&other)[0]);
    for line in ["120000 blob", "100755 blob"] {
        assert!(played.contains(line), "{line}: {played}");
    }
    assert_eq!(played, listed(&world, "main"));
}
