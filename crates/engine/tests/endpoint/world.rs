//! A project whose agent says where its endpoint is, and then waits for a signal to end.

use regatta_engine::core::{Actor, Assignee, Create, Priority, Task, TaskId};
use regatta_engine::orders::{self, Caller};
use regatta_engine::{Journal, Project, Supervisor};
use regatta_testkit::repo::TestRepo;
use regatta_testkit::wait::until_async;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Waits in steps that nobody notices; the engine ends it when a test gives up.
const WAITER: &str = r#"
echo "work of $REGATTA_SESSION" > work.txt
printf '%s\n' "$REGATTA_SESSION_FOLDER" > "$REGATTA_PROJECT/.regatta/folder"
while [ ! -e "$REGATTA_PROJECT/.regatta/go" ]; do sleep 0.02; done
echo '{"summary": "what was printed"}'
"#;

/// Uses something, and then waits as the other does.
const SPENDER: &str = r#"
[[session]]
step = [{ usage = { input = 900, output = 100, cost_micros = 250_000 } }, { run = ["sh", "-c", '''WAITER'''] }]
"#;

const CONFIG: &str = r#"
[sandbox]
mode = "off"

[project]
default_branch = "main"
approval = "auto"

[agents.waiter]
kind = "command"
command = ['sh', '-c', '''WAITER''']

[agents.spender]
kind = "scripted"
script = "scripts/spender.toml"

[agents.worker]
kind = "scripted"
script = "scripts/coder.toml"

[agents.judge]
kind = "scripted"
script = "scripts/reviewer.toml"

[roles]
spec = "waiter"
coder = "worker"
reviewer = "judge"
"#;

const CODER: &str = r#"
[[session]]
step = [
    { write = { path = "${item}.txt", text = "work\n" } },
    { result = { code = "done", taskId = "${item}", status = "complete", selfValidation = { passed = true, issues = [] } } },
]
"#;

const REVIEWER: &str = r#"
[[session]]
step = [{ result = { taskId = "${item}", approved = true, issues = [], criteriaResults = [{ criterion = "${item}.txt is there", met = true }] } }]
"#;

/// A project with a running engine.
pub(crate) struct World {
    pub(crate) project: Arc<Project>,
    pub(crate) supervisor: Supervisor,
    repo: TestRepo,
}

impl World {
    pub(crate) async fn new() -> Self {
        World::with("").await
    }

    /// Makes a project whose config ends with these lines.
    pub(crate) async fn with(settings: &str) -> Self {
        let repo = TestRepo::new();
        repo.write(".regatta/config.toml", &format!("{}{settings}", CONFIG.replace("WAITER", WAITER)));
        repo.write("scripts/spender.toml", &SPENDER.replace("WAITER", WAITER));
        repo.write(".gitignore", ".regatta/\n");
        repo.write("scripts/coder.toml", CODER);
        repo.write("scripts/reviewer.toml", REVIEWER);
        repo.commit("a project");
        let project = Arc::new(Project::open_own(repo.path()).await.unwrap());
        let supervisor =
            Supervisor::take_everything(Arc::clone(&project), CancellationToken::new()).await.unwrap();
        World { project, supervisor, repo }
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, path: &str, text: &str) {
        self.repo.write(path, text);
    }

    pub(crate) async fn add(&self, title: &str, criteria: &[&str], on: &[TaskId]) -> TaskId {
        let criteria = criteria.iter().map(|text| (*text).to_owned()).collect();
        let on: BTreeSet<TaskId> = on.iter().copied().collect();
        let create =
            Create::new(title.to_owned(), "Do it.".to_owned(), criteria, on, Priority::Medium).unwrap();
        orders::create(&self.project, &caller(), create).await.unwrap()
    }

    pub(crate) async fn assign(&self, task: TaskId) {
        self.assign_to(task, "waiter").await;
    }

    pub(crate) async fn assign_to(&self, task: TaskId, agent: &str) {
        orders::assign(&self.project, &caller(), task, Assignee::Agent(agent.parse().unwrap()), None, true)
            .await
            .unwrap();
    }

    /// Waits for the private folder of the session that has just begun.
    pub(crate) async fn folder(&self) -> PathBuf {
        let path = self.repo.path().join(".regatta/folder");
        let mut text = String::new();
        until_async("the agent says where its endpoint is", || {
            text = std::fs::read_to_string(&path).unwrap_or_default();
            text.ends_with('\n')
        })
        .await;
        PathBuf::from(text.trim_end())
    }

    /// Makes the agent end.
    pub(crate) fn go(&self) {
        self.repo.write(".regatta/go", "");
    }

    /// Makes the agent end, and waits until nothing more happens to its task.
    pub(crate) async fn finish(&mut self, task: TaskId) -> Task {
        self.go();
        self.supervisor.rest(task, &mut |_| {}).await.unwrap().task
    }

    pub(crate) async fn task(&self, task: TaskId) -> Task {
        orders::get_task(&self.project, task).await.unwrap()
    }

    /// Returns the events of one kind, flat.
    pub(crate) async fn events(&self, kind: &str) -> Vec<Value> {
        let mut journal = Journal::after(&self.project, 0);
        let mut found = Vec::new();
        loop {
            let page = journal.read().await.unwrap();
            if page.is_empty() {
                return found;
            }
            found.extend(page.iter().map(|entry| entry.to_json()).filter(|event| event["type"] == kind));
        }
    }

    pub(crate) async fn leave(self) {
        self.supervisor.release().await.unwrap();
    }
}

pub(crate) fn caller() -> Caller {
    Caller::new(Actor::User("local".to_owned()))
}
