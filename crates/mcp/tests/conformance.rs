//! The conformance suite of MCP against the service over HTTP, with a baseline of what it cannot pass.
//!
//! Most scenarios ask for tools, prompts and resources of a sample server, which this is not; `conformance.yml` names them and
//! says why. The suite fails on a failure that is not in the baseline, and on a line of the baseline that passes. It is an npm
//! package, installed with the other programs of the tests; where it is not, the test says so and shows nothing.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "support/desk.rs"]
mod desk;
#[path = "support/http.rs"]
mod http;

use std::path::{Path, PathBuf};

const NODE: &str = "node-22.23.3/node_modules/node-linux-{arch}/bin/node";
const SUITE: &str = "conformance-0.1.16/node_modules/@modelcontextprotocol/conformance/dist/index.js";

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_conforms_but_for_the_baseline() {
    let (Some(node), Some(suite)) = (find(NODE), find(SUITE)) else { return };
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
