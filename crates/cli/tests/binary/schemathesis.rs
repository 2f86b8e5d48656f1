//! schemathesis on the API's own description: thousands of odd requests, and no answer that is not described.
//!
//! `cargo xtask schemathesis` installs it, and `cargo xtask test` does so first; where it is missing the test says so and
//! skips itself.

use crate::server::up;
use crate::support::{add, with_agents};
use std::path::{Path, PathBuf};
use std::process::Command;

const REQUIRED: &str = "REGATTA_SCHEMATHESIS_REQUIRED";

/// What is judged: everything that the description promises. That a request with wrong data is refused is not among it,
/// because many limits are rules, and not part of a schema.
const CHECKS: &str =
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";

/// They answer until the client goes.
const ENDLESS: [&str; 2] = ["followEvents", "followAll"];

fn find_program() -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/schemathesis");
    let program = place.join("bin/schemathesis");
    if place.join("installed").is_file() && program.is_file() {
        return Some(program);
    }
    assert!(
        std::env::var_os(REQUIRED).is_none(),
        "schemathesis is not installed: run `cargo xtask schemathesis`"
    );
    eprintln!("skipped: schemathesis is not installed; `cargo xtask schemathesis` does that");
    None
}

#[test]
fn no_request_gets_an_answer_that_is_not_described() {
    let Some(program) = find_program() else { return };
    // About eighty operations, in three phases: some 5,000 requests in all.
    let examples = if std::env::var_os("REGATTA_TESTS_FULL").is_some() { "60" } else { "2" };
    let project = with_agents("");
    let prd = project.repo.outside().join("shop.md");
    std::fs::write(&prd, "# Shop\n").expect("the PRD can be written");
    project.json(&["prd", "add", prd.to_str().expect("its path is text")]);
    project.json(&["epic", "add", "Till", "--prd", "shop"]);
    project.json(&["task", "add", "one", "--epic", "1", "--criterion", "it works"]);
    add(&project, "two");
    let (running, port) = up(&project);
    let token = project.json(&["token"])["token"].as_str().expect("the token is text").to_owned();
    let mut command = Command::new(program);
    command.args(["run", &format!("http://localhost:{port}/api/openapi.json")]);
    command.args(["--header", &format!("Authorization: Bearer {token}"), "--checks", CHECKS]);
    command.args(["--max-examples", examples, "--seed", "1", "--workers", "1", "--no-color"]);
    command.args(["--phases", "examples,coverage,fuzzing", "--request-timeout", "70"]);
    command.args([
        "--continue-on-failure",
        "--no-shrink",
        "--suppress-health-check",
        "all",
        "--warnings",
        "off",
    ]);
    command.args(ENDLESS.iter().flat_map(|name| ["--exclude-operation-id", *name]));
    let folder = project.repo.outside().join("schemathesis");
    std::fs::create_dir(&folder).expect("the folder can be made");
    let output = command.current_dir(&folder).env("HOME", &folder).output().expect("it can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    let mistakes = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{mistakes}");
    eprintln!("{}", said.lines().rev().take(12).collect::<Vec<_>>().join("\n"));
    running.kill();
}
