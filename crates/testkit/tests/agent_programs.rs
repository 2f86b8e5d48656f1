//! Real agent programs in a scratch home, against the stub model: each edits a file and comes to its end.
//!
//! What they print is the adapters' subject; here it is shown that a home and the stub are all that they need. Those that
//! are not installed are skipped.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use regatta_testkit::agent_programs::{Agent, Home, Permissions, find};
use regatta_testkit::model::{StubModel, prompt};
use regatta_testkit::repo::{TestRepo, write_below};
use regatta_testkit::wait::until;
use serde_json::json;

/// A program whose process group ends with the test, however that ends.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.0.wait();
    }
}

/// Runs an agent headless with a script that writes a file, and looks at the file.
fn check(agent: Agent, arguments: &[&str]) {
    let Some(installed) = find(agent) else { return };
    let (model, repo) = (StubModel::start_blocking(), TestRepo::new());
    let home = Home::new(&model.url());
    write_below(home.path(), "output", "");
    let output =
        std::fs::OpenOptions::new().append(true).open(home.path().join("output")).expect("it was made");
    let asked =
        prompt("Go.", &json!([{"write": {"path": "new.txt", "content": "ahoy\n"}}, {"say": "Done."}]));
    let command = installed.command();
    let child = Command::new(&command[0])
        .args(&command[1..])
        .args(arguments)
        .arg(&asked)
        .env_clear()
        .envs(home.prepare(&installed, Permissions::Allow))
        .current_dir(repo.path())
        .stdin(Stdio::null())
        .stdout(output.try_clone().expect("a file can be shared"))
        .stderr(output)
        .process_group(0)
        .spawn()
        .expect("the program can be started");
    let mut group = Group(child);
    let mut status = None;
    until(&format!("{} ended", agent.name()), || {
        status = group.0.try_wait().expect("a child can be asked");
        status.is_some()
    });
    let printed = std::fs::read_to_string(home.path().join("output")).expect("the output is text");
    assert!(status.is_some_and(|status| status.success()), "{status:?}\n{printed}");
    let written = std::fs::read_to_string(repo.path().join("new.txt"));
    assert_eq!(written.ok().as_deref(), Some("ahoy\n"), "{printed}");
    assert!(model.requests().len() >= 2, "the result of the tool was told to the model: {printed}");
}

#[test]
fn claude_needs_only_the_stub() {
    check(Agent::Claude, &["--permission-mode", "acceptEdits", "-p"]);
}

#[test]
fn codex_needs_only_the_stub() {
    check(Agent::Codex, &["exec", "--json", "--dangerously-bypass-approvals-and-sandbox"]);
}

#[test]
fn gemini_needs_only_the_stub() {
    check(Agent::Gemini, &["--approval-mode", "yolo", "-p"]);
}

#[test]
fn goose_needs_only_the_stub() {
    check(Agent::Goose, &["run", "-q", "-t"]);
}

#[test]
fn qwen_needs_only_the_stub() {
    check(Agent::Qwen, &["--approval-mode", "yolo", "-p"]);
}

#[test]
fn opencode_needs_only_the_stub() {
    check(Agent::Opencode, &["run", "--format", "json", "-m", "stub/stub-model"]);
}
