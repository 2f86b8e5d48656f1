//! The official inspector of MCP against the tools of a session that is kept open.
//!
//! It is an npm package, installed with the other programs of the tests. Where it is not, the test says so and shows nothing.

use crate::support::{PROGRAM, add, read_when_written, until_in, with_shell};
use regatta_testkit::agent_programs::find_program;
use regatta_testkit::binary::TestProject;
use serde_json::Value;
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
    folder: String,
}

impl Inspector<'_> {
    fn run(&self, arguments: &[&str]) -> Value {
        let mut command = Command::new(&self.node);
        command.arg(&self.script).args(["--cli", PROGRAM, "mcp", "--session", &self.folder]).args(arguments);
        command
            .env_clear()
            .env("HOME", self.project.repo.outside().join("home"))
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
}

#[test]
fn the_inspector_lists_and_calls_the_tools() {
    let (Some(node), Some(script)) = (find_program("node"), find_program("inspector")) else { return };
    let project = with_shell(WAITER, "");
    let task = add(&project, "Do it");
    project.json(&["task", "assign", &task, "--agent", "shell", "--no-wait"]);
    let mut engine = project.start(&["up"]);
    let folder = read_when_written(&project.path().join(".regatta/folder")).trim_end().to_owned();
    let inspector = Inspector { project: &project, node, script, folder };
    let listed = inspector.run(&["--method", "tools/list", "--strict"]);
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names.len(), 12, "{names:?}");
    let read = inspector.run(&["--method", "tools/call", "--tool-name", "read_task"]);
    assert_eq!(read["structuredContent"]["title"], "Do it", "{read}");
    let call = ["--method", "tools/call", "--tool-name", "append_progress", "--tool-arg"];
    let logged = inspector.run(&[&call[..], &["did=looked", "next=write"]].concat());
    assert_eq!(logged["structuredContent"]["entry"], 1, "{logged}");
    assert!(engine.is_running());
    project.repo.write(".regatta/go", "");
    until_in(&project, &task, "waiting_approval");
    engine.kill();
}
