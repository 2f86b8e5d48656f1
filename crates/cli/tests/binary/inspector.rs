//! The official inspector of MCP against the tools of a session that is kept open, and against the board.
//!
//! It is an npm package, installed with the other programs of the tests. Where it is not, the test says so and shows nothing.

use crate::support::{PROGRAM, add, read_when_written, until_in, with_agents, with_shell};
use regatta_testkit::agent_programs::find_program;
use regatta_testkit::binary::TestProject;
use regatta_testkit::wait::until;
use serde_json::Value;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;

/// Keeps its session open until the test ends it.
const WAITER: &str = "cat > /dev/null; echo work > work.txt; \
    echo \"$REGATTA_SESSION_FOLDER\" > \"$REGATTA_PROJECT/.regatta/folder\"; \
    while [ ! -e \"$REGATTA_PROJECT/.regatta/go\" ]; do sleep 0.02; done";

struct Inspector<'a> {
    project: &'a TestProject,
    node: PathBuf,
    script: PathBuf,
    /// How the service is reached.
    service: Vec<String>,
}

impl<'a> Inspector<'a> {
    /// Finds the program for a service; nothing where it is not installed.
    fn find(project: &'a TestProject, service: &[&str]) -> Option<Self> {
        let (node, script) = (find_program("node")?, find_program("inspector")?);
        let service = service.iter().map(|word| (*word).to_owned()).collect();
        Some(Inspector { project, node, script, service })
    }

    fn run(&self, arguments: &[&str]) -> Value {
        let mut command = Command::new(&self.node);
        command.arg(&self.script).arg("--cli").args(&self.service).args(arguments);
        command
            .env_clear()
            .env("HOME", self.project.repo.outside().join("home"))
            .env("REGATTA_USER", "tester")
            .current_dir(self.project.path());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let output = command.output().expect("the inspector can be started");
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{arguments:?}: {}\n{stdout}{stderr}", output.status);
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
    }

    fn list(&self) -> Vec<String> {
        let listed = self.run(&["--method", "tools/list", "--strict"]);
        let tools = listed["tools"].as_array().expect("a list of tools");
        let names = tools.iter().filter_map(|tool| tool["name"].as_str());
        names.map(str::to_owned).collect()
    }

    /// Calls a tool, and returns what it answers.
    fn call(&self, tool: &str, arguments: &[&str]) -> Value {
        let mut words = vec!["--method", "tools/call", "--tool-name", tool];
        for argument in arguments {
            words.extend(["--tool-arg", argument]);
        }
        self.run(&words)["structuredContent"].take()
    }
}

#[test]
fn the_inspector_lists_and_calls_the_tools() {
    if find_program("inspector").is_none() {
        return;
    }
    let project = with_shell(WAITER, "");
    let task = add(&project, "Do it");
    project.json(&["task", "assign", &task, "--agent", "shell", "--no-wait"]);
    let mut engine = project.start(&["up"]);
    let folder = read_when_written(&project.path().join(".regatta/folder")).trim_end().to_owned();
    let token = std::fs::read_to_string(format!("{folder}/token")).unwrap();
    let (address, bearer) = (address_of(&project), format!("Authorization: Bearer {}", token.trim_end()));
    let services: [&[&str]; 3] = [
        &[PROGRAM, "mcp", "--session", &folder],
        &[&format!("{address}/mcp/session"), "--transport", "http", "--header", &bearer],
        &[&format!("{address}/mcp/session/{}", token.trim_end()), "--transport", "http"],
    ];
    for (number, service) in (1..).zip(services) {
        let Some(inspector) = Inspector::find(&project, service) else { return };
        assert_eq!(inspector.list().len(), 13);
        assert_eq!(inspector.call("read_task", &[])["title"], "Do it");
        // Entries of one session are one entry.
        let logged = inspector.call("append_progress", &[&format!("did=looked {number}"), "next=write"]);
        assert_eq!(logged["entry"], 1, "{logged}");
    }
    assert!(engine.is_running());
    project.repo.write(".regatta/go", "");
    until_in(&project, &task, "waiting_approval");
    engine.kill();
}

/// Returns where the project's server listens, once it does.
fn address_of(project: &TestProject) -> String {
    let mut port = String::new();
    until("the server answers", || {
        port = std::fs::read_to_string(project.home().join("server/port")).unwrap_or_default();
        !port.is_empty() && TcpStream::connect(format!("127.0.0.1:{port}")).is_ok()
    });
    format!("http://127.0.0.1:{port}")
}

#[test]
fn the_inspector_uses_the_board_over_stdio_and_http() {
    if find_program("inspector").is_none() {
        return;
    }
    let project = with_agents("");
    let engine = project.start(&["up"]);
    let token = project.json(&["token", "--mcp"])["token"].as_str().unwrap().to_owned();
    let (address, bearer) =
        (format!("{}/mcp", address_of(&project)), format!("Authorization: Bearer {token}"));
    let services: [&[&str]; 2] =
        [&[PROGRAM, "mcp", "--board"], &[&address, "--transport", "http", "--header", &bearer]];
    for (number, service) in (1..).zip(services) {
        let Some(inspector) = Inspector::find(&project, service) else { return };
        let names = inspector.list();
        assert!(
            names.iter().any(|name| name == "add_task") && !names.iter().any(|name| name.contains("approve"))
        );
        let added = inspector.call("add_task", &["title=Over MCP"]);
        assert_eq!((&added["id"], &added["title"]), (&number.into(), &"Over MCP".into()), "{added}");
        let listed = inspector.call("list_tasks", &["column=backlog"]);
        assert_eq!(listed["items"].as_array().map(Vec::len), Some(number), "{listed}");
    }
    engine.kill();
}
