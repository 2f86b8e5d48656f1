//! Stops and pauses that come before an agent is started: it is not.
//!
//! One stop is recorded while a session is being opened.
//!
//! To make this happen, a process stands in for what a killed engine left of the session. It is ended before
//! an agent starts, reports that it was asked to, and stays until it is released.

use crate::support::{CODER, REVIEWER, World, caller};
use regatta_engine::core::run::{Run, Situation, Status};
use regatta_engine::core::{Code, RunId};
use regatta_engine::runs::{self, NewRun};
use regatta_testkit::wait::until_async;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Notes by which name it was started. What is left of a session has all the time of this test to end.
const AGENT: &str = r#"
[agents.marker]
kind = "command"
command = ["sh", "-c", 'printf %s "$REGATTA_SESSION" > NOTE; printf {} > "$REGATTA_RESULT_FILE"']
limits = { grace = "10m" }

[sandbox]
mode = "off"
"#;

/// Ends when the test says so and not when it is asked to by a signal, of which it leaves a note.
const LEFT_OVER: &str = r#"trap ': > "$NOTE"' TERM; while ! [ -e "$GO" ]; do read -r line || :; done"#;

#[tokio::test]
async fn a_session_that_is_stopped_while_it_is_being_opened_is_not_started() {
    let world = World::new("person", &[], CODER, REVIEWER).await;
    let note = world.repo.outside().join("session");
    let world = world.configured(&AGENT.replace("NOTE", &note.display().to_string())).await;
    world.write_plain("plain", "marker");
    let first = begin(&world).await;
    assert!(matches!(world.rest(first).await.situation, Situation::Completed { .. }));
    let name = std::fs::read_to_string(&note).unwrap();
    std::fs::remove_file(&note).unwrap();

    let second = begin(&world).await;
    let mark = name.split_once(&format!("-run-{first}-")).unwrap().0;
    let mut left = LeftOver::start(world.repo.outside(), &format!("{mark}-run-{second}-1.before"));
    let stop_meanwhile = async {
        until_async("what is left is being ended", || left.is_being_ended()).await;
        runs::stop(&world.project, &caller(), second, Some("not now".to_owned())).await.unwrap();
        left.let_go();
    };
    let (run, ()) = tokio::join!(world.rest(second), stop_meanwhile);
    assert_eq!(code_of(&run), Some(Code::RunStopped), "{run:?}");
    assert!(!note.exists(), "the agent was started after the stop");
}

#[tokio::test]
async fn a_step_that_was_paused_or_stopped_before_an_engine_came_is_not_begun() {
    let world = World::new("person", &[], CODER, REVIEWER).await;
    let note = world.repo.outside().join("session");
    let world = world.configured(&AGENT.replace("NOTE", &note.display().to_string())).await;
    world.write_plain("plain", "marker");
    let paused = begin(&world).await;
    runs::pause(&world.project, &caller(), paused).await.unwrap();
    let (view, _) = runs::show_run(&world.project, paused).await.unwrap();
    assert_eq!(view.next, "it is paused before this step: regatta run --resume 1");
    let found = world.rest(paused).await;
    assert_eq!((found.status(), found.step, note.exists()), (Status::Paused, 1, false), "{found:?}");
    runs::resume(&world.project, &caller(), paused).await.unwrap();
    assert!(matches!(world.rest(paused).await.situation, Situation::Completed { .. }));
    std::fs::remove_file(&note).unwrap();

    let stopped = begin(&world).await;
    runs::stop(&world.project, &caller(), stopped, None).await.unwrap();
    assert_eq!(code_of(&world.rest(stopped).await), Some(Code::RunStopped));
    assert!(!note.exists(), "the agent was started after the stop");
}

async fn begin(world: &World) -> RunId {
    let workflow = runs::find_workflow(Some(&world.project), "plain").unwrap();
    world
        .create(NewRun { workflow, prd: None, level: None, input: json!({}), board: false, recording: None })
        .await
}

fn code_of(run: &Run) -> Option<Code> {
    match &run.situation {
        Situation::Failed { error } => Some(error.code),
        _ => None,
    }
}

/// A process that carries the mark of a session.
pub(crate) struct LeftOver {
    child: Child,
    note: PathBuf,
    go: PathBuf,
}

impl LeftOver {
    pub(crate) fn start(folder: &Path, mark: &str) -> Self {
        let (note, go) = (folder.join("asked-to-end"), folder.join("go"));
        let mut command = Command::new("sh");
        command.args(["-c", LEFT_OVER]).env("REGATTA_SESSION", mark).env("NOTE", &note).env("GO", &go);
        let child = command.stdin(Stdio::piped()).spawn().unwrap();
        LeftOver { child, note, go }
    }

    pub(crate) fn is_being_ended(&self) -> bool {
        self.note.exists()
    }

    pub(crate) fn let_go(&mut self) {
        std::fs::write(&self.go, "").unwrap();
        self.child.stdin.take().unwrap().write_all(b"\n").unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for LeftOver {
    /// A test that fails leaves nothing running.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
