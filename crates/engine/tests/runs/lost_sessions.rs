//! Sessions that an engine left open: what is left of them is ended, and what was set aside for them is given back.

use crate::stops::LeftOver;
use crate::support::{CODER, REVIEWER, World, caller};
use regatta_engine::core::run::{Hold, Run, Status};
use regatta_engine::core::{Assignee, Code, Create, Priority, RunId, Stage};
use regatta_engine::runs::{self, NewRun};
use regatta_engine::{Supervisor, orders};
use regatta_testkit::wait::until_async;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Begins its work, notes that it did, and keeps working until it is released.
const AGENT: &str = r#"
[agents.NAME]
kind = "command"
command = ["sh", "-c", ': > work.txt; : > "FOLDER/$REGATTA_SESSION"; until [ -e FOLDER/go ]; do sleep 0.02; done; printf {} > "$REGATTA_RESULT_FILE"']
"#;

/// A project with the agents `alpha` and `beta`, each of which has a workflow of its own.
struct Office {
    world: World,
    notes: PathBuf,
}

impl Office {
    async fn new(budget: &str) -> Self {
        let world = World::new("person", &[], CODER, REVIEWER).await;
        let notes = world.repo.outside().join("notes");
        std::fs::create_dir(&notes).unwrap();
        for name in ["alpha", "beta"] {
            world.write_plain(&format!("by-{name}"), name);
        }
        let folder = notes.display().to_string();
        let agent = |name| AGENT.replace("NAME", name).replace("FOLDER", &folder);
        let sandbox = "[sandbox]\nmode = \"off\"\n";
        let world = world.configured(&format!("{}{}{sandbox}{budget}", agent("alpha"), agent("beta"))).await;
        Office { world, notes }
    }

    async fn begin(&self, agent: &str) -> RunId {
        let workflow = runs::find_workflow(Some(&self.world.project), &format!("by-{agent}")).unwrap();
        self.world
            .create(NewRun {
                workflow,
                prd: None,
                level: None,
                input: json!({}),
                board: false,
                recording: None,
            })
            .await
    }

    /// Lets an engine run until so many sessions have started, and then exit at once.
    async fn leave_over(&self, sessions: usize) {
        let project = Arc::clone(&self.world.project);
        let supervisor = Supervisor::take_everything(project, CancellationToken::new()).await.unwrap();
        until_async("sessions are under way", || self.count_begun() == sessions).await;
        supervisor.release().await.unwrap();
    }

    fn count_begun(&self) -> usize {
        std::fs::read_dir(&self.notes).unwrap().count()
    }

    fn let_go(&self) {
        std::fs::write(self.notes.join("go"), "").unwrap();
    }

    async fn with_config(self, from: &str, to: &str) -> Self {
        let path = self.world.repo.path().join(".regatta/config.toml");
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(from), "{text}");
        Office { world: self.world.with_config(&text.replace(from, to)).await, ..self }
    }

    async fn is_completed(&self, run: RunId) -> Result<(), Run> {
        let found = self.world.rest(run).await;
        if found.status() == Status::Completed { Ok(()) } else { Err(found) }
    }
}

/// A session without a limit of its own sets aside all that is left.
const DAY: &str = "[budget.day]\ntokens = 1000\n";

#[tokio::test]
async fn what_a_run_had_set_aside_is_given_back_when_it_is_stopped_without_an_engine() {
    let office = Office::new(DAY).await;
    let stopped = office.begin("alpha").await;
    office.leave_over(1).await;
    runs::stop(&office.world.project, &caller(), stopped, None).await.unwrap();
    office.let_go();
    let next = office.begin("beta").await;
    assert_eq!(office.is_completed(next).await, Ok(()));
}

#[tokio::test]
async fn what_is_left_of_a_session_is_ended_when_its_run_is_stopped_without_an_engine() {
    let office = Office::new("").await;
    let stopped = office.begin("alpha").await;
    office.leave_over(1).await;
    let name = std::fs::read_dir(&office.notes).unwrap().next().unwrap().unwrap().file_name();
    let mark = name.to_str().unwrap().split_once('.').unwrap().0;
    let mut left = LeftOver::start(office.world.repo.outside(), &format!("{mark}.before"));
    runs::stop(&office.world.project, &caller(), stopped, None).await.unwrap();
    let let_go = async {
        until_async("what is left is being ended", || left.is_being_ended()).await;
        left.let_go();
    };
    let (run, ()) = tokio::join!(office.world.rest(stopped), let_go);
    assert_eq!(run.status(), Status::Failed, "{run:?}");
}

#[tokio::test]
async fn a_run_that_is_paused_keeps_nothing_from_others() {
    let office = Office::new(DAY).await;
    let paused = office.begin("alpha").await;
    office.leave_over(1).await;
    runs::pause(&office.world.project, &caller(), paused).await.unwrap();
    office.let_go();
    let next = office.begin("beta").await;
    assert_eq!(office.is_completed(next).await, Ok(()));
    runs::resume(&office.world.project, &caller(), paused).await.unwrap();
    assert_eq!(office.is_completed(paused).await, Ok(()));
}

#[tokio::test]
async fn a_run_that_is_held_by_an_error_keeps_nothing_from_others() {
    let office = Office::new(DAY).await;
    let held = office.begin("alpha").await;
    office.leave_over(1).await;
    let office = office.with_config("[agents.alpha]", "[agents.gamma]").await;
    office.let_go();
    let found = office.world.rest(held).await;
    assert!(
        matches!(found.hold(), Some(Hold::Error { error }) if error.code == Code::AgentNotFound),
        "{found:?}"
    );
    let next = office.begin("beta").await;
    assert_eq!(office.is_completed(next).await, Ok(()));
}

#[tokio::test]
async fn a_task_that_a_person_completes_keeps_nothing_from_others() {
    let office = Office::new(DAY).await;
    let project = &office.world.project;
    let new =
        Create::new("By hand".to_owned(), String::new(), vec![], BTreeSet::new(), Priority::Medium).unwrap();
    let task = orders::create(project, &caller(), new).await.unwrap();
    orders::assign(project, &caller(), task, Assignee::Agent("alpha".parse().unwrap()), None, true)
        .await
        .unwrap();
    office.leave_over(1).await;
    orders::complete(project, &caller(), task).await.unwrap();
    office.let_go();
    let next = office.begin("beta").await;
    assert_eq!(office.is_completed(next).await, Ok(()));
    let found = office.world.rest_task(task).await;
    assert!(matches!(found.stage, Stage::WaitingApproval(_)), "{found:?}");
}
