//! Recording a run and playing it again with no agent.

use crate::support::{CODER, REVIEWER, World, prd};
use regatta_engine::Project;
use regatta_engine::core::run::{Status, Taping};
use regatta_engine::runs::{AgentRoles, Tape, close_tape};
use std::path::Path;
use std::sync::Arc;

fn name(folder: &Path) -> String {
    folder.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_recorded_run_can_be_played_without_agents() {
    let world = World::new("auto", &["T001", "T002"], CODER, REVIEWER).await;
    let folder = world.repo.outside().join("tape");
    Tape::create(&folder).unwrap();
    let run = world.begin_on(Some(Taping::Record(name(&folder))), prd(), None).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    close_tape(&world.project, run).await.unwrap();

    // Another project, whose agents could not do the work.
    let silent = "[[session]]\nstep = [{ exit = 3 }]\n";
    let other = World::new("auto", &[], silent, silent).await;
    let tape = Tape::open(&folder).unwrap();
    let head = tape.head().unwrap();
    let replay = Some(Taping::Replay(name(&folder)));
    let run = other.begin_on(replay.clone(), head.input.clone(), Some(head.level)).await;
    let roles = Arc::new(AgentRoles::default());
    let found = other.rest_with(run, Arc::clone(&roles) as Arc<_>).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    assert_eq!(other.shown("T002.txt"), "work on T002, visit 2");
    assert_eq!(roles.differences(), [""; 0]);
    assert_eq!(tape.compare(&other.project, run).await.unwrap(), [""; 0]);

    // At another level the same answers lead elsewhere.
    let third = World::new("auto", &[], silent, silent).await;
    let run = third.begin_on(replay, head.input, Some(4)).await;
    let found = third.rest_with(run, roles).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    let lines = tape.compare(&third.project, run).await.unwrap();
    assert_eq!(
        lines,
        ["step 4: recorded `reviewer` -next-task-> `coder`, now `reviewer` -reviewed-> `done`"]
    );
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
async fn a_tape_keeps_links_and_what_can_be_executed() {
    let world = World::new("auto", &[], CODER, REVIEWER).await;
    let path = world.repo.path().join(".regatta/config.toml");
    let config = std::fs::read_to_string(&path).unwrap();
    let scripted = "kind = \"scripted\"\nscript = \"scripts/coder.toml\"";
    let shell = format!("kind = \"command\"\ncommand = [\"sh\", \"-c\", '''{SHELL}''']");
    assert!(config.contains(scripted));
    std::fs::write(&path, config.replace(scripted, &shell)).unwrap();
    let project = Arc::new(Project::open(world.repo.path()).await.unwrap());
    let world = World { project, ..world };
    let folder = world.repo.outside().join("tape");
    Tape::create(&folder).unwrap();
    let run = world.begin_on(Some(Taping::Record(name(&folder))), prd(), Some(1)).await;
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    close_tape(&world.project, run).await.unwrap();

    let silent = "[[session]]\nstep = [{ exit = 3 }]\n";
    let other = World::new("auto", &[], silent, silent).await;
    let run = other.begin_on(Some(Taping::Replay(name(&folder))), prd(), Some(1)).await;
    let found = other.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    let listed = |world: &World| world.repo.git(&["ls-tree", "main", "hello.sh", "greet"]);
    let modes: Vec<String> = listed(&other).lines().map(|line| line[..6].to_owned()).collect();
    assert_eq!(modes, ["120000", "100755"]);
    assert_eq!(listed(&other), listed(&world));
}
