//! A project with an agent that is a shell script, its server, and a browser that is signed in.

use regatta_testkit::binary::{Running, TestProject};
use regatta_testkit::browser::{Browser, Look};
use regatta_testkit::repo::TestRepo;
use regatta_testkit::wait::until;
use serde_json::Value;

/// The binary under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_regatta");

/// Keeps its prompt and writes a file of its own.
pub(crate) const WORKER: &str = r#"
prompt="$HOME/prompt-$REGATTA_TASK_ID-$REGATTA_SESSION_NUMBER.txt"
cat > "$prompt.part"
mv "$prompt.part" "$prompt"
printf 'one\ntwo\nsession %s\n' "$REGATTA_SESSION_NUMBER" > "work-$REGATTA_TASK_ID.txt"
"#;

/// Returns the config of an agent that is a shell script.
pub(crate) fn command(agent: &str, script: &str) -> String {
    format!("[agents.{agent}]\nkind = \"command\"\ncommand = ['sh', '-c', '''{script}''']\n")
}

/// A project whose server runs, and a browser on its board.
pub(crate) struct World {
    pub(crate) browser: Browser,
    pub(crate) project: TestProject,
    up: Option<Running>,
}

impl World {
    /// Starts everything with one agent, `worker`; nothing where there is no browser.
    pub(crate) fn new() -> Option<Self> {
        Self::of(&command("worker", WORKER), |_| {})
    }

    /// Starts everything with this config, after the project was prepared.
    pub(crate) fn of(config: &str, prepare: impl FnOnce(&TestProject)) -> Option<Self> {
        Self::named("project", config, prepare)
    }

    /// Starts everything in a project of this name.
    pub(crate) fn named(name: &str, config: &str, prepare: impl FnOnce(&TestProject)) -> Option<Self> {
        let browser = Browser::find(Look::DESKTOP)?;
        let project = TestProject::in_repository(PROGRAM, TestRepo::named(name), config);
        prepare(&project);
        let mut world = World { browser, project, up: None };
        world.start();
        world.browser.open(&world.address());
        Some(world)
    }

    /// Starts the server, and waits until it has an address.
    pub(crate) fn start(&mut self) {
        self.up = Some(self.project.start(&["up"]));
        until("the server has an address", || self.project.run(&["url", "--json"]).code == Some(0));
    }

    /// Ends the server with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.up.take().expect("the server runs").kill();
    }

    /// Returns an address that signs in, once.
    pub(crate) fn address(&self) -> String {
        self.project.json(&["url"])["url"].as_str().expect("an address is text").to_owned()
    }

    /// Opens a page by its path.
    pub(crate) fn open(&self, path: &str) {
        let address = self.browser.run("return location.origin");
        self.browser.open(&format!("{}{path}", address.as_str().expect("an origin is text")));
    }

    /// Adds a task, and has the agent work on it until it waits for approval.
    pub(crate) fn add_and_work(&self, title: &str) -> String {
        let task = self.project.json(&["task", "add", title])["id"].to_string();
        self.project.json(&["task", "assign", &task, "--agent", "worker"]);
        task
    }

    /// Lets agents go on that wait for the file `go` in their home.
    pub(crate) fn go_on(&self) {
        self.project.repo.write("../home/go", "");
    }

    /// Returns a task as the command line shows it.
    pub(crate) fn task(&self, task: &str) -> Value {
        self.project.json(&["task", "show", task])
    }

    /// Returns the prompt of a session, once it is there.
    pub(crate) fn prompt(&self, task: u64, session: u64) -> String {
        let path = self.project.repo.outside().join(format!("home/prompt-{task}-{session}.txt"));
        until("the prompt is there", || path.is_file());
        std::fs::read_to_string(path).expect("the prompt is text")
    }

    /// Waits until a card is in a column.
    pub(crate) fn until_card(&self, task: &str, column: &str) {
        self.browser.until_shown(&format!("#card-{task}[data-column=\"{column}\"]"));
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let page = &self.browser;
            eprintln!("{} says:\n{}\n{:?}", page.address(), page.text("body"), page.complaints());
        }
        if let Some(up) = self.up.take() {
            up.kill();
        }
    }
}
