//! A project with one real agent, in a home of its own that points it at the stub.

use regatta_testkit::agent_programs::{Agent, Home, Permissions, find};
use regatta_testkit::binary::{Running, TestProject};
use regatta_testkit::model::{StubModel, prompt};
use regatta_testkit::repo::fingerprint;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

const PROGRAM: &str = env!("CARGO_BIN_EXE_regatta");

/// What a session has to itself whatever the config says.
const PASSED_THROUGH: [&str; 3] = ["PATH", "HOME", "TMPDIR"];

/// A project, an agent called `real`, and its model.
pub(crate) struct World {
    pub(crate) project: TestProject,
    pub(crate) model: StubModel,
    home: Home,
}

impl World {
    /// Makes a world for an agent that is installed.
    pub(crate) fn new(agent: Agent, settings: &str) -> Option<World> {
        Self::with_sandbox(agent, settings, "auto")
    }

    /// Makes a world with this mode of the sandbox.
    pub(crate) fn with_sandbox(agent: Agent, settings: &str, mode: &str) -> Option<World> {
        let installed = find(agent)?;
        let model = StubModel::start_blocking();
        let home = Home::new(&model.url());
        let environment = home.prepare(&installed, Permissions::Allow);
        let is_own = |name: &&str| !PASSED_THROUGH.contains(name);
        let names: Vec<&str> = environment.iter().map(|(name, _)| name.as_str()).filter(is_own).collect();
        let kind = if Agent::ACP.contains(&agent) { "acp" } else { agent.name() };
        let config = format!(
            "[agents.real]\nkind = \"{kind}\"\ncommand = {:?}\nenv = {names:?}\n{settings}\n[sandbox]\nmode = \"{mode}\"\nreadable = [{:?}]\n",
            installed.command(),
            installed.folder()
        );
        let mut project = TestProject::new(PROGRAM, &config);
        for (name, value) in &environment {
            project.set(name, value);
        }
        Some(World { project, model, home })
    }

    /// Adds a task whose description carries a script for the model, has the agent do it, and returns what is shown.
    pub(crate) fn play(&self, steps: &Value) -> Value {
        let id = self.add(steps);
        self.project.run(&["task", "assign", &id, "--agent", "real"]);
        self.project.json(&["task", "show", &id])
    }

    /// Adds such a task and starts the agent on it.
    pub(crate) fn start(&self, steps: &Value) -> Running {
        let id = self.add(steps);
        self.project.start(&["task", "assign", &id, "--agent", "real"])
    }

    /// Returns every file of the user's home, but for those that a program makes in its folder for temporary ones.
    pub(crate) fn fingerprint_home(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut files = fingerprint(self.home.path());
        files.retain(|path, _| !path.starts_with("tmp"));
        files
    }

    fn add(&self, steps: &Value) -> String {
        let text = prompt("Add a greeting.", steps);
        let task =
            self.project.json(&["task", "add", "Greet", "--description", &text, "--criterion", "It greets"]);
        task["id"].to_string()
    }
}
