//! The conformance suite of MCP against the service over HTTP, with a baseline of what it cannot pass.
//!
//! Most scenarios ask for tools, prompts and resources of a sample server, which this is not; `conformance.yml` names them and
//! says why. The suite fails on a failure that is not in the baseline, and on a line of the baseline that passes. It is an npm
//! package, installed with the other programs of the tests; where it is not, the test says so and shows nothing.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "support/http.rs"]
mod http;
#[path = "support/tools.rs"]
mod tools;

use regatta_testkit::agent_programs::find_program;
use std::path::Path;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_conforms_but_for_the_baseline() {
    let (Some(node), Some(suite)) = (find_program("node"), find_program("conformance")) else { return };
    let url = http::serve_http().await;
    let baseline = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance.yml");
    let folder = tempfile::tempdir().unwrap();
    let mut command = tokio::process::Command::new(node);
    command.arg(suite).args(["server", "--url", &url, "--expected-failures"]).arg(baseline);
    command.env_clear().env("HOME", folder.path()).current_dir(folder.path());
    let output = command.output().await.expect("the suite can be started");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{stdout}\n{stderr}", output.status);
}
