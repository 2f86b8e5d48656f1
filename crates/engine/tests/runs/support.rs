//! A project with scripted roles, and runs in it.

use regatta_engine::core::Actor;
use regatta_engine::core::run::{RecordingMode, Run};
use regatta_engine::core::{RunId, Task, TaskId};
use regatta_engine::orders::Caller;
use regatta_engine::runs::{self, NewRun, Roles};
use regatta_engine::{Followed, Project, Supervisor};
use regatta_testkit::repo::TestRepo;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const CONFIG: &str = r#"
[project]
default_branch = "main"
max_concurrent_agents = 4
approval = "APPROVAL"

[agents.planner]
kind = "scripted"
script = "scripts/spec.toml"

[agents.worker]
kind = "scripted"
script = "scripts/coder.toml"

[agents.judge]
kind = "scripted"
script = "scripts/reviewer.toml"

[roles]
spec = "planner"
coder = "worker"
reviewer = "judge"
"#;

/// A config that names nobody who could work.
pub(crate) const NOBODY: &str = "[project]\ndefault_branch = \"main\"\napproval = \"auto\"\n";

/// Fails its own validation once, then passes.
pub(crate) const CODER: &str = r#"
[[session]]
step = [
    { write = { path = "${item}.txt", text = "draft\n" } },
    { result = { code = "draft", taskId = "${item}", status = "needs_revision", selfValidation = { passed = false, issues = ["it is a draft"] } } },
]

[[session]]
step = [
    { write = { path = "${item}.txt", text = "work on ${item}, visit ${visit}\n" } },
    { result = { code = "done", taskId = "${item}", status = "complete", selfValidation = { passed = true, issues = [] } } },
]
"#;

/// Approves everything.
pub(crate) const REVIEWER: &str = r#"
[[session]]
step = [{ result = { taskId = "${item}", approved = true, issues = [], criteriaResults = [{ criterion = "${item}.txt is there", met = true }] } }]
"#;

const PLAIN: &str = r#"
name = "NAME"
start = "work"
nodes.work = { kind = "agent", role = "ROLE" }
nodes.done = { kind = "end" }
edges = [{ id = "worked", from = "work", to = "done" }]
"#;

/// A project with one run's worth of scripts.
pub(crate) struct World {
    pub(crate) repo: TestRepo,
    pub(crate) project: Arc<Project>,
}

impl World {
    pub(crate) async fn new(approval: &str, tasks: &[&str], coder: &str, reviewer: &str) -> Self {
        let repo = TestRepo::new();
        let task = |id: &&str| {
            format!(
                "{{ id = \"{id}\", title = \"Do {id}\", description = \"All of {id}\", priority = 1, complexity = \"simple\", \
                 acceptanceCriteria = [\"{id}.txt is there\"], status = \"pending\" }}"
            )
        };
        let tasks: Vec<String> = tasks.iter().map(task).collect();
        let count = tasks.len();
        let spec = format!(
            "[[session]]\nstep = [{{ result = {{ tasks = [{}], summary = {{ totalTasks = {count}, byPriority = {{ \"1\" = {count} }}, \
             estimatedComplexity = \"hours\" }} }} }}]\n",
            tasks.join(", ")
        );
        repo.write(".regatta/config.toml", &CONFIG.replace("APPROVAL", approval));
        repo.write(".gitignore", ".regatta/\n");
        repo.write("scripts/spec.toml", &spec);
        repo.write("scripts/coder.toml", coder);
        repo.write("scripts/reviewer.toml", reviewer);
        repo.commit("a project");
        let project = Arc::new(Project::open_own(repo.path()).await.unwrap());
        World { repo, project }
    }

    /// Gives the project a workflow of one step, which a role performs on no task.
    pub(crate) fn write_plain(&self, name: &str, role: &str) {
        for (file, text) in [
            ("workflow.toml", PLAIN.replace("NAME", name).replace("ROLE", role)),
            ("state.schema.json", r#"{"type": "object", "properties": {}}"#.to_owned()),
            (&format!("roles/{role}.md"), "Work.\n".to_owned()),
            (&format!("roles/{role}.output.json"), "{}".to_owned()),
        ] {
            self.repo.write(&format!(".regatta/workflows/{name}/{file}"), &text);
        }
    }

    /// Adds to the end of the config, and opens the project again.
    pub(crate) async fn configured(self, more: &str) -> Self {
        let text = std::fs::read_to_string(self.repo.path().join(".regatta/config.toml")).unwrap();
        self.with_config(&format!("{text}{more}")).await
    }

    /// Writes another config, and opens the project again.
    pub(crate) async fn with_config(self, text: &str) -> Self {
        std::fs::write(self.repo.path().join(".regatta/config.toml"), text).unwrap();
        let project = Arc::new(Project::open_own(self.repo.path()).await.unwrap());
        World { project, ..self }
    }

    pub(crate) async fn begin(&self, input: Value, level: Option<u32>) -> RunId {
        self.begin_on(None, input, level).await
    }

    /// Begins a run that has to do with a recording.
    pub(crate) async fn begin_on(
        &self,
        recording: Option<RecordingMode>,
        input: Value,
        level: Option<u32>,
    ) -> RunId {
        let workflow = runs::find_workflow(Some(&self.project), "speckit").unwrap();
        self.create(NewRun { workflow, prd: None, level, input, board: true, recording }).await
    }

    pub(crate) async fn create(&self, new: NewRun) -> RunId {
        runs::create(&self.project, &caller(), new).await.unwrap()
    }

    /// Lets an engine work until the run rests.
    pub(crate) async fn rest(&self, run: RunId) -> Run {
        let mut supervisor =
            Supervisor::take(Arc::clone(&self.project), CancellationToken::new()).await.unwrap();
        let found = supervisor.rest_run(run, &mut |_| {}).await.unwrap();
        supervisor.release().await.unwrap();
        found
    }

    /// Answers what a run asks.
    pub(crate) async fn answer(&self, run: RunId, approved: bool, text: &str) {
        let step = runs::get_run(&self.project, run).await.unwrap().step;
        runs::answer(&self.project, &caller(), (run, step), approved, text.to_owned()).await.unwrap();
    }

    /// Lets an engine work until nothing more happens to the task automatically.
    pub(crate) async fn rest_task(&self, task: TaskId) -> Task {
        self.carry_task(task).await.task
    }

    /// Does the same, and says too which run has the task in its hands.
    pub(crate) async fn carry_task(&self, task: TaskId) -> Followed {
        let mut supervisor =
            Supervisor::take(Arc::clone(&self.project), CancellationToken::new()).await.unwrap();
        let found = supervisor.rest(task, &mut |_| {}).await.unwrap();
        supervisor.release().await.unwrap();
        found
    }

    pub(crate) async fn rest_with(&self, run: RunId, roles: Arc<dyn Roles>) -> Run {
        let project = Arc::clone(&self.project);
        let mut supervisor = Supervisor::take_alone(project, roles, CancellationToken::new()).await.unwrap();
        let found = supervisor.rest_run(run, &mut |_| {}).await.unwrap();
        supervisor.release().await.unwrap();
        found
    }

    pub(crate) fn shown(&self, path: &str) -> String {
        self.repo.git(&["show", &format!("main:{path}")])
    }
}

pub(crate) fn caller() -> Caller {
    Caller::new(Actor::User("local".to_owned()))
}

pub(crate) fn prd() -> Value {
    json!({ "prd": "Make it so.", "title": "So" })
}

pub(crate) fn first_task() -> TaskId {
    TaskId::FIRST
}

pub(crate) fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}
