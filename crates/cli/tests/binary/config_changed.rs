//! A config that changes while `regatta up` runs: what applies at once, and what waits for a restart.

use crate::server::up;
use crate::support::{add, with_agents};
use regatta_testkit::binary::TestProject;
use regatta_testkit::wait::until;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

const CONFIG: &str = ".regatta/config.toml";

fn config_of(project: &TestProject) -> String {
    std::fs::read_to_string(project.path().join(CONFIG)).expect("there is a config")
}

/// Asks without a token: with a broken config no command gives one.
fn state_of(port: u16) -> Value {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    let request = format!("GET /healthz HTTP/1.1\r\nhost: localhost:{port}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it can be sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer comes");
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let health: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {text}"));
    health["config"].clone()
}

/// Writes another config, and waits until the server has applied it.
fn change(project: &TestProject, port: u16, text: &str) -> Value {
    let before = state_of(port);
    project.repo.write(CONFIG, text);
    let mut state = Value::Null;
    until("the server has seen the change", || {
        state = state_of(port);
        state != before
    });
    state
}

#[test]
fn agents_limits_and_checks_apply_at_once_and_programs_outside_the_sandbox_wait() {
    let project = with_agents("[project]\nmax_concurrent_agents = 1\n");
    let (running, port) = up(&project);
    let original = config_of(&project);
    assert_eq!(state_of(port), json!({ "changes": 0, "waitsForRestart": [], "error": null }));

    let added = "\n[agents.newcomer]\nkind = \"scripted\"\nscript = \".regatta/scripts/worker.toml\"\n\
                 [worktree]\nsetup = \"touch was-set-up\"\n";
    let state = change(&project, port, &format!("{original}{added}"));
    let why = "it names a program that runs outside of the sandbox";
    assert_eq!(state["waitsForRestart"], json!([{ "key": "worktree.setup", "why": why }]));
    let task = add(&project, "one");
    let assigned = project.json(&["task", "assign", &task, "--agent", "newcomer"]);
    assert_eq!(assigned["column"], "waiting_approval", "the running engine knows the new agent: {assigned}");
    let worktree = assigned["worktree"].as_str().expect("it has a worktree");
    assert!(!std::path::Path::new(worktree).join("was-set-up").exists(), "the set-up has to wait");

    let broken = change(&project, port, "[project]\ncolour = \"red\"\n");
    assert_eq!(broken["error"]["code"], "CONFIG_INVALID", "{broken}");
    let again = change(&project, port, &original);
    assert_eq!((&again["error"], &again["waitsForRestart"]), (&Value::Null, &json!([])), "{again}");

    project.repo.write(CONFIG, &format!("{original}{added}"));
    until("it waits again", || state_of(port)["waitsForRestart"][0]["key"] == "worktree.setup");
    let pid = running.pid().to_string();
    assert!(
        std::process::Command::new("kill").args(["-TERM", &pid]).status().expect("kill is there").success()
    );
    let said = running.wait().stderr;
    for line in ["config applied", "`worktree.setup` waits for a restart", "config not applied"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let (running, port) = up(&project);
    assert_eq!(state_of(port)["waitsForRestart"], json!([]), "a start applies everything");
    let task = add(&project, "two");
    let assigned = project.json(&["task", "assign", &task, "--agent", "newcomer"]);
    let worktree = assigned["worktree"].as_str().expect("it has a worktree");
    assert!(std::path::Path::new(worktree).join("was-set-up").exists(), "{assigned}");
    running.kill();
}

#[test]
fn a_higher_limit_lets_a_queued_task_start_and_a_running_session_keeps_its_place() {
    let project = with_agents("[project]\nmax_concurrent_agents = 1\n");
    let slow = "while [ ! -e \"$REGATTA_PROJECT/.regatta/open\" ]; do sleep 0.05; done; echo x > x.txt";
    let agent = format!("\n[agents.slow]\nkind = \"command\"\ncommand = ['sh', '-c', '''{slow}''']\n");
    let config = format!("{}{agent}", config_of(&project));
    project.repo.write(CONFIG, &config);
    let (running, port) = up(&project);
    let (first, second) = (add(&project, "one"), add(&project, "two"));
    project.json(&["task", "assign", &first, "--agent", "slow", "--no-wait"]);
    let queued = project.json(&["task", "assign", &second, "--agent", "worker", "--no-wait"]);
    assert_eq!(queued["queuePosition"], 1, "{queued}");
    change(&project, port, &config.replace("max_concurrent_agents = 1", "max_concurrent_agents = 2"));
    until("the queued task was done", || {
        project.json(&["task", "show", &second])["column"] == "waiting_approval"
    });
    assert_eq!(project.json(&["task", "show", &first])["column"], "in_progress");
    project.repo.write(".regatta/open", "");
    until("the first one ends well", || {
        project.json(&["task", "show", &first])["column"] == "waiting_approval"
    });
    running.kill();
}
