//! A person's own agent, set up as the guide says, calls a tool of the board over stdio and over HTTP.

use regatta_testkit::agent_programs::{Agent, Home, Installed, Permissions, find};
use regatta_testkit::binary::TestProject;
use regatta_testkit::model::{StubModel, prompt};
use regatta_testkit::wait::until;
use serde_json::json;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = env!("CARGO_BIN_EXE_regatta");

/// How long a program may take for a short conversation, in seconds.
const SECONDS_MAX: &str = "120";

/// A person with a project, and the program that they talk to.
struct Person {
    project: TestProject,
    model: StubModel,
    home: Home,
    installed: Installed,
    variables: Vec<(String, String)>,
}

impl Person {
    fn new(agent: Agent) -> Option<Self> {
        let installed = find(agent)?;
        let model = StubModel::start_blocking();
        let home = Home::new(&model.url());
        let mut variables = home.prepare(&installed, Permissions::Allow);
        let folder = Path::new(PROGRAM).parent().expect("the binary is in a folder").display();
        for (_, value) in variables.iter_mut().filter(|(name, _)| name == "PATH") {
            *value = format!("{folder}:{value}");
        }
        Some(Person { project: TestProject::new(PROGRAM, ""), model, home, installed, variables })
    }

    /// Runs the program in the project, and returns what it says.
    fn run(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("timeout");
        command.arg(SECONDS_MAX).args(self.installed.command()).args(arguments);
        command.current_dir(self.project.path()).env_clear().stdin(std::process::Stdio::null());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let output = command.output().expect("the program can be started");
        let (said, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {}\n{said}\n{errors}", output.status);
        said.into_owned()
    }

    /// Asks for a task, and looks whether it is on the board and whether the model heard of it.
    fn asks_for_a_task(&self, arguments: &[&str]) {
        let steps = json!([
            {"tool": {"name": "add_task", "args": {"title": "Sell pears", "criteria": ["they are sold"]}}},
            {"say": "It is on the board."}
        ]);
        let said = self.run(&[arguments, &[&prompt("Add a task.", &steps)]].concat());
        assert!(said.contains("It is on the board."), "{said}");
        let tasks = self.project.json(&["task", "list"]);
        assert_eq!((&tasks[0]["title"], tasks.as_array().map(Vec::len)), (&"Sell pears".into(), Some(1)));
        let heard = self
            .model
            .requests()
            .into_iter()
            .any(|request| request.body.contains("they are sold") && request.body.contains("backlog"));
        assert!(heard, "the model was sent the object");
    }
}

/// Starts `up`, and returns where `/mcp` is, with the token for it.
fn serve(project: &TestProject) -> (regatta_testkit::binary::Running, String, String) {
    let up = project.start(&["up"]);
    let mut port = String::new();
    until("the server answers", || {
        port = std::fs::read_to_string(project.home().join("server/port")).unwrap_or_default();
        !port.is_empty() && TcpStream::connect(format!("127.0.0.1:{port}")).is_ok()
    });
    let token = project.json(&["token", "--mcp"])["token"].as_str().expect("it is text").to_owned();
    (up, format!("http://localhost:{port}/mcp"), token)
}

/// The tools of the board are the only ones that it may use without asking.
const CLAUDE: [&str; 2] = ["-p", "--allowedTools=mcp__regatta"];

#[test]
fn claude_over_stdio() {
    let Some(person) = Person::new(Agent::Claude) else { return };
    person.run(&["mcp", "add", "regatta", "--", "regatta", "mcp", "--board"]);
    person.asks_for_a_task(&CLAUDE);
}

#[test]
fn claude_over_http() {
    let Some(person) = Person::new(Agent::Claude) else { return };
    let (up, url, token) = serve(&person.project);
    let header = format!("Authorization: Bearer {token}");
    person.run(&["mcp", "add", "--transport", "http", "regatta", &url, "--header", &header]);
    person.asks_for_a_task(&CLAUDE);
    up.kill();
}

/// There is nobody who could approve a call.
const CODEX: [&str; 5] = [
    "exec",
    "-c",
    "approval_policy=\"never\"",
    "-c",
    "mcp_servers.regatta.default_tools_approval_mode=\"approve\"",
];

impl Person {
    fn configure_codex(&self, text: &str) {
        let path = self.home.path().join(".codex/config.toml");
        let before = std::fs::read_to_string(&path).expect("it has a config");
        std::fs::write(&path, format!("{before}\n[mcp_servers.regatta]\n{text}")).expect("it can be written");
    }
}

#[test]
fn codex_over_stdio() {
    let Some(person) = Person::new(Agent::Codex) else { return };
    let folder = person.project.path();
    person.configure_codex(&format!(
        "command = \"regatta\"\nargs = [\"-C\", {folder:?}, \"mcp\", \"--board\"]\n"
    ));
    person.asks_for_a_task(&CODEX);
}

#[test]
fn codex_over_http() {
    let Some(mut person) = Person::new(Agent::Codex) else { return };
    let (up, url, token) = serve(&person.project);
    person.configure_codex(&format!("url = {url:?}\nbearer_token_env_var = \"REGATTA_TOKEN\"\n"));
    person.variables.push(("REGATTA_TOKEN".to_owned(), token));
    person.asks_for_a_task(&CODEX);
    up.kill();
}
