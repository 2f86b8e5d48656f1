//! `regatta up` with its server, `regatta url` and `regatta token`, and the same objects from both sides.

use crate::support::{add, read_when_written, until_in, with_agents, with_shell};
use regatta_testkit::binary::{Running, TestProject};
use regatta_testkit::wait::until;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn port_of(project: &TestProject) -> Option<u16> {
    std::fs::read_to_string(project.home().join("server/port")).ok()?.parse().ok()
}

/// Starts `up` and waits until it answers.
pub(crate) fn up(project: &TestProject) -> (Running, u16) {
    up_with(project, &["up"])
}

/// Starts `up` with options and waits until it answers.
pub(crate) fn up_with(project: &TestProject, arguments: &[&str]) -> (Running, u16) {
    let up = project.start(arguments);
    let mut port = 0;
    until("the server answers", || {
        port = port_of(project).unwrap_or(0);
        port != 0 && TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    (up, port)
}

pub(crate) fn get(project: &TestProject, port: u16, path: &str) -> Value {
    let token = project.json(&["token"])["token"].as_str().expect("the token is text").to_owned();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    let head = format!(
        "host: localhost:{port}\r\nauthorization: Bearer {token}\r\naccept: application/json\r\nconnection: close"
    );
    stream.write_all(format!("GET {path} HTTP/1.1\r\n{head}\r\n\r\n").as_bytes()).expect("it can be sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer comes");
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{path}: {error}: {text}"))
}

#[test]
fn the_api_and_the_command_line_show_the_same_objects() {
    let project = with_agents("");
    let prd = project.repo.outside().join("shop.md");
    std::fs::write(&prd, "# Shop\n").unwrap();
    project.json(&["prd", "add", prd.to_str().unwrap()]);
    project.json(&["epic", "add", "Till", "--prd", "shop"]);
    project.json(&["task", "add", "one", "--epic", "1", "--criterion", "it works"]);
    add(&project, "two");
    project.json(&["messages", "send", "hello", "--to", "task:1"]);
    let (up, port) = up(&project);
    project.json(&["task", "assign", "1", "--agent", "worker"]);
    let single: [(&[&str], &str); 7] = [
        (&["task", "show", "1"], "/api/tasks/1"),
        (&["task", "diff", "1"], "/api/tasks/1/diff"),
        (&["task", "output", "1"], "/api/tasks/1/chain-output"),
        (&["epic", "show", "1"], "/api/epics/1"),
        (&["prd", "show", "shop"], "/api/prds/shop"),
        (&["workflow", "show", "speckit"], "/api/workflows/speckit"),
        (&["cost", "--by", "task"], "/api/cost?by=task"),
    ];
    for (arguments, path) in single {
        assert_eq!(project.json(arguments), get(&project, port, path), "{path}");
    }
    let lists: [(&[&str], &str); 11] = [
        (&["task", "list"], "/api/tasks"),
        (&["task", "criteria", "1"], "/api/tasks/1/criteria"),
        (&["task", "salvage", "1", "--list"], "/api/tasks/1/salvages"),
        (&["task", "log", "1"], &output_of(&project, port)),
        (&["epic", "list"], "/api/epics"),
        (&["prd", "list"], "/api/prds"),
        (&["run", "list"], "/api/runs"),
        (&["workflow", "list"], "/api/workflows"),
        (&["agent", "list"], "/api/agents"),
        (&["agent", "questions"], "/api/questions"),
        (&["messages"], "/api/messages"),
    ];
    for (arguments, path) in lists {
        let page = get(&project, port, path);
        assert_eq!((project.json(arguments), &Value::Null), (page["items"].clone(), &page["next"]), "{path}");
    }
    assert_eq!(project.json(&["events"]), get(&project, port, "/api/events?limit=1000&after=0")["items"]);
    up.kill();
}

fn output_of(project: &TestProject, port: u16) -> String {
    let sessions = get(project, port, "/api/tasks/1/sessions");
    format!("/api/sessions/{}/output", sessions["items"][0]["session"].as_str().expect("there is a session"))
}

#[test]
fn the_address_is_printed_and_a_second_up_says_where_the_first_is() {
    let project = with_agents("");
    let refused = project.refusal(&["url"]);
    assert_eq!(refused["code"], "SERVER_NOT_RUNNING");
    let (first, port) = up(&project);
    let url = project.json(&["url"]);
    assert_eq!(url["port"], json!(port));
    let address = url["url"].as_str().unwrap();
    assert!(address.contains(".localhost:") && address.contains("/open?code="), "{address}");
    let refused = project.refusal(&["up"]);
    assert_eq!(
        (refused["code"].as_str(), &refused["details"]["pid"]),
        (Some("ENGINE_ALREADY_RUNNING"), &json!(first.pid()))
    );
    let opened = refused["details"]["address"].as_str().unwrap();
    assert!(
        address.starts_with(opened) && refused["hint"].as_str().unwrap().contains("regatta url"),
        "{refused}"
    );
    let token = project.run(&["token"]).stdout;
    assert!(token.starts_with("rgt_") && token.trim().len() == 68, "{token}");
    first.kill();
    let (second, again) = up(&project);
    assert_eq!(again, port, "the port is kept");
    let begin = Instant::now();
    let pid = second.pid().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let outcome = second.wait();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert!(outcome.stdout.starts_with("http://"), "{outcome:?}");
}

#[test]
fn the_limit_of_open_files_is_raised_as_far_as_connections_need_it() {
    let project = with_agents("");
    let sealed = project.command(&["up"]);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -Sn 1024; ulimit -Hn 6000; exec \"$0\" up"]).arg(sealed.get_program());
    command.current_dir(project.path()).env_clear();
    command.envs(sealed.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = command.stdout(std::process::Stdio::null()).spawn().expect("a shell can be started");
    let limits = format!("/proc/{}/limits", child.id());
    until("the limit is raised", || {
        let text = std::fs::read_to_string(&limits).expect("it runs");
        let line = text.lines().find(|line| line.starts_with("Max open files")).expect("there is a limit");
        line.split_whitespace().nth(3) == Some("4608")
    });
    child.kill().and_then(|()| child.wait()).expect("it can be ended");
}

/// Works until it is ended; the second time it is done at once.
const SLOW: &str = "cat > /dev/null; echo work >> work.txt; echo $$ >> \"$REGATTA_PROJECT/.regatta/pids\"; \
    trap '' TERM; if [ ! -e \"$REGATTA_PROJECT/.regatta/go\" ]; then while :; do sleep 0.05; done; fi";

#[test]
fn a_stop_ends_streams_and_agents_in_time_and_a_restart_continues() {
    let project = with_shell(SLOW, "");
    let task = add(&project, "Do it");
    project.json(&["task", "assign", &task, "--agent", "shell", "--no-wait"]);
    let (up, port) = up(&project);
    let pid = read_when_written(&project.path().join(".regatta/pids")).trim().to_owned();
    let token = project.json(&["token"])["token"].as_str().unwrap().to_owned();
    let open = |path: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let head = format!("host: localhost:{port}\r\nauthorization: Bearer {token}");
        stream.write_all(format!("GET {path} HTTP/1.1\r\n{head}\r\n\r\n").as_bytes()).unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("the stream begins");
        stream
    };
    let _streams = [open("/api/events?after=0"), open("/streams/log?offset=-1&live=sse"), open("/api/live")];
    let begin = Instant::now();
    assert!(
        std::process::Command::new("kill").args(["-TERM", &up.pid().to_string()]).status().unwrap().success()
    );
    let outcome = up.wait();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    until("the agent is gone", || !std::path::Path::new(&format!("/proc/{pid}")).exists());
    project.repo.write(".regatta/go", "");
    let again = project.start(&["up"]);
    until_in(&project, &task, "waiting_approval");
    assert_eq!(project.json(&["task", "show", &task])["sessions"], 1, "it is the same session");
    again.kill();
}

#[test]
fn a_log_for_programs_is_one_object_a_line() {
    let project = with_agents("");
    let up = project.start(&["up", "--log-format", "json"]);
    until("the server answers", || {
        port_of(&project).is_some_and(|port| TcpStream::connect(("127.0.0.1", port)).is_ok())
    });
    project.json(&["task", "add", "one"]);
    project.json(&["task", "assign", "1", "--agent", "worker"]);
    assert!(
        std::process::Command::new("kill").args(["-TERM", &up.pid().to_string()]).status().unwrap().success()
    );
    let outcome = up.wait();
    let lines: Vec<Value> = outcome
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let messages: Vec<&str> = lines.iter().filter_map(|line| line["message"].as_str()).collect();
    for message in ["engine up", "server up", "task:created", "task:assigned", "stopping", "stopped"] {
        assert!(messages.contains(&message), "{message}: {messages:?}");
    }
    assert!(lines.iter().all(|line| line["at"].is_string() && line["level"].is_string()), "{lines:?}");
}

#[test]
fn a_proxy_needs_a_public_address_with_tls() {
    let project = with_agents("");
    let outcome = project.run(&["up", "--behind-proxy"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    let refused = project.refusal(&["up", "--behind-proxy", "--public-url", "http://example.com"]);
    assert_eq!(refused["code"], "VALIDATION_ERROR");
    let up = project.start(&["up", "--behind-proxy", "--public-url", "https://regatta.example.com"]);
    until("the address is public", || {
        let outcome = project.run(&["url"]);
        outcome.stdout.starts_with("https://regatta.example.com/open?code=")
    });
    assert!(project.run(&["url", "--local"]).stdout.starts_with("http://"));
    up.kill();
}
