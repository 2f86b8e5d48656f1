//! Records ACP servers: every message of a session, in both directions.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use regatta_testkit::agent_programs::{Installed, Permissions};
use regatta_testkit::repo::TestRepo;
use serde_json::{Value, json};

use crate::cases;
use crate::fixture::World;
use crate::process::{Running, Start};

/// How long an answer may take; a server that does not come back from a cancellation is given up then.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// How long a server may take to end when its input is closed.
const END_MAX: Duration = Duration::from_secs(10);

/// How long a server is left alone after its last answer. Gemini saves a session slightly later, and loses
/// one whose input is closed at once.
const SAVE_GRACE: Duration = Duration::from_secs(2);

/// How often it is seen whether something is to be done while an answer is awaited.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How the client behaves in a case.
#[derive(Default)]
struct Case {
    prompt: String,
    permissions: Permissions,
    /// The kind of option that is chosen when the agent asks.
    choice: &'static str,
    cancels: bool,
    has_mcp: bool,
    /// A session of an earlier case to be loaded.
    loads: Option<String>,
}

/// Records all cases of an agent.
pub(crate) fn record(installed: &Installed) {
    let mut world = World::new(installed);
    let repo = world.make_repo();
    let edit = Case { prompt: cases::edit(), choice: "allow", ..Case::default() };
    let session = run(&mut world, installed, &repo, "edit", &edit);
    let load = Case { prompt: cases::resume(), choice: "allow", loads: session, ..Case::default() };
    run(&mut world, installed, &repo, "load", &load);
    let asking = |choice| Case {
        prompt: cases::edit_asking(),
        permissions: Permissions::Ask,
        choice,
        ..Case::default()
    };
    let simple = |prompt| Case { prompt, choice: "allow", ..Case::default() };
    let mut all = vec![
        ("permission-allow", asking("allow")),
        ("permission-reject", asking("reject")),
        ("cancel", Case { cancels: true, ..simple(cases::hang()) }),
        ("error", simple(cases::error())),
        ("mcp", Case { has_mcp: true, ..simple(cases::mcp()) }),
    ];
    let kept = ["thinking", "rate-limit", "dropped-stream"];
    all.extend(
        cases::simple()
            .into_iter()
            .filter(|(name, _)| kept.contains(name))
            .map(|(name, prompt)| (name, simple(prompt))),
    );
    for (name, case) in all {
        let repo = world.make_repo();
        run(&mut world, installed, &repo, name, &case);
    }
}

/// Plays one case and returns the session's id.
fn run(world: &mut World, installed: &Installed, repo: &TestRepo, name: &str, case: &Case) -> Option<String> {
    let command = installed.command();
    let environment = world.home.prepare(installed, case.permissions);
    let start = Start { command: &command, environment: &environment, folder: repo.path() };
    let mut client = Client::start(&start, case.choice);
    let session = converse(&mut client, world, repo, case);
    let Client { running, input, record, .. } = client;
    std::thread::sleep(SAVE_GRACE);
    drop(input);
    let ended = running.wait(END_MAX);
    world.keep(name, &record, &command, &ended);
    session
}

fn converse(client: &mut Client, world: &World, repo: &TestRepo, case: &Case) -> Option<String> {
    let capabilities = json!({"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false});
    let hello = json!({
        "protocolVersion": 1, "clientCapabilities": capabilities,
        "clientInfo": {"name": "regatta", "version": "0.1.0"},
    });
    client.call("initialize", &hello, || false)?;
    let own = std::env::current_exe().expect("a running program has a path");
    let server = json!({"name": "board", "command": own.to_string_lossy(), "args": ["mcp"], "env": []});
    let servers = if case.has_mcp { json!([server]) } else { json!([]) };
    let mut place = json!({"cwd": repo.path().to_string_lossy(), "mcpServers": servers});
    let session = match &case.loads {
        Some(session) => {
            place["sessionId"] = json!(session);
            client.call("session/load", &place, || false)?;
            session.clone()
        }
        None => client.call("session/new", &place, || false)?["sessionId"].as_str()?.to_owned(),
    };
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": case.prompt}]});
    let before = world.model.requests().len();
    // The request that hangs has come, so there is something to be cancelled.
    let is_time =
        || case.cancels && world.model.requests()[before..].iter().any(|request| request.method == "POST");
    client.call("session/prompt", &prompt, is_time);
    Some(session)
}

/// A client of one server.
struct Client {
    running: Running,
    input: ChildStdin,
    lines: Receiver<String>,
    record: String,
    choice: &'static str,
    last_id: u64,
}

impl Client {
    fn start(start: &Start<'_>, choice: &'static str) -> Self {
        let mut running = start.spawn(Stdio::piped());
        let input = running.child.stdin.take().expect("the input is piped");
        let output = running.child.stdout.take().expect("the output is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Client { running, input, lines, record: String::new(), choice, last_id: 0 }
    }

    /// Calls a method and returns its result; cancels the session once, when it is time.
    fn call(&mut self, method: &str, parameters: &Value, is_time: impl Fn() -> bool) -> Option<Value> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        let begin = Instant::now();
        let mut is_cancelled = false;
        while begin.elapsed() < ANSWER_MAX {
            if !is_cancelled && is_time() {
                is_cancelled = true;
                let session = json!({"sessionId": parameters["sessionId"]});
                self.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": session}));
            }
            match self.lines.recv_timeout(LOOK_EVERY) {
                Ok(line) => {
                    if let Some(answer) = self.take(&line, id) {
                        return answer.get("result").cloned();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        None
    }

    /// Takes a line of the server down, and returns it when it is the answer that is awaited.
    fn take(&mut self, line: &str, awaited: u64) -> Option<Value> {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            self.note("agent", &json!(line).to_string());
            return None;
        };
        self.note("agent", line.trim());
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(id)) => {
                let reply = self.reply(method, &message["params"]);
                self.send(&json!({"jsonrpc": "2.0", "id": id, reply.0: reply.1}));
                None
            }
            (None, Some(id)) if *id == json!(awaited) => Some(message),
            _ => None,
        }
    }

    fn reply(&self, method: &str, parameters: &Value) -> (&'static str, Value) {
        if method != "session/request_permission" {
            return ("error", json!({"code": -32601, "message": "no such method"}));
        }
        let options = parameters["options"].as_array().cloned().unwrap_or_default();
        let of_kind = |kind: String| options.iter().find(|option| option["kind"] == kind).cloned();
        let chosen =
            of_kind(format!("{}_once", self.choice)).or_else(|| of_kind(format!("{}_always", self.choice)));
        let outcome = match chosen {
            Some(option) => json!({"outcome": "selected", "optionId": option["optionId"]}),
            None => json!({"outcome": "cancelled"}),
        };
        ("result", json!({"outcome": outcome}))
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.note("client", &text);
        // A server that has ended is seen when its output ends.
        let _ = writeln!(self.input, "{text}").and_then(|()| self.input.flush());
    }

    /// Adds a message unchanged to the record.
    fn note(&mut self, from: &str, text: &str) {
        self.record.push_str(&format!("{{\"from\":\"{from}\",\"message\":{text}}}\n"));
    }
}
