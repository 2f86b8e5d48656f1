//! `regatta up` with its server, `regatta url` and `regatta token`, and the same objects from both sides.

use crate::support::{add, with_agents};
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
    let up = project.start(&["up"]);
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
