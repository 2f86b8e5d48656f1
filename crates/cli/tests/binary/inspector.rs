//! The official inspector of MCP against the tools of a session that is kept open.
//!
//! It is an npm package, installed with the other programs of the tests. Where it is not, the test says so and shows nothing.

use crate::support::{PROGRAM, add, read_when_written, until_in, with_shell};
use regatta_testkit::binary::TestProject;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// Keeps its session open until it is told to end.
const WAITER: &str = "cat > /dev/null; echo work > work.txt; \
    echo \"$REGATTA_SESSION_FOLDER\" > \"$REGATTA_PROJECT/.regatta/folder\"; \
    while [ ! -e \"$REGATTA_PROJECT/.regatta/go\" ]; do sleep 0.02; done";

const NODE: &str = "node-22.23.3/node_modules/node-linux-{arch}/bin/node";
const INSPECTOR: &str =
    "inspector-2.12.0/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

/// Finds an installed program; where programs are said to be installed, one that is missing is a failure.
fn find(program: &str) -> Option<PathBuf> {
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let own = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/agent-programs");
    let place = std::env::var_os("REGATTA_AGENT_PROGRAMS").map_or_else(own, PathBuf::from);
    let path = place.join(program.replace("{arch}", arch));
    if path.is_file() {
        return Some(path);
    }
    let is_required = std::env::var_os("REGATTA_AGENT_PROGRAMS_REQUIRED").is_some();
    assert!(!is_required, "{} is not installed", path.display());
    eprintln!("skipped: {} is not installed; npm is needed for it", path.display());
    None
}

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
    let (Some(node), Some(script)) = (find(NODE), find(INSPECTOR)) else { return };
    let project = with_shell(WAITER, "");
    let task = add(&project, "Do it");
    project.json(&["task", "assign", &task, "--agent", "shell", "--no-wait"]);
    let mut engine = project.start(&["up"]);
    let folder = read_when_written(&project.path().join(".regatta/folder")).trim_end().to_owned();
    let inspector = Inspector { project: &project, node, script, folder };
    let listed = inspector.run(&["--method", "tools/list", "--strict"]);
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names.len(), 9, "{names:?}");
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
