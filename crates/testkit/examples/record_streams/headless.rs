//! Records programs that take a prompt, print events, and end.

use std::process::Stdio;
use std::time::Duration;

use regatta_testkit::agent_programs::{Agent, Installed, Permissions};
use regatta_testkit::repo::TestRepo;
use serde_json::{Value, json};

use crate::cases;
use crate::fixture::World;
use crate::process::{Start, read_all};

/// Longer than any program takes, but for those that try again for minutes.
const RUN_MAX: Duration = Duration::from_secs(90);

/// The name that goose gives a session; the others make up ids.
const SESSION_NAME: &str = "recorded";

/// How one run differs from the plain one.
#[derive(Default)]
struct Run<'a> {
    prompt: String,
    session: Option<&'a str>,
    permissions: Permissions,
    has_mcp: bool,
}

/// Records all cases of an agent.
pub(crate) fn record(installed: &Installed) {
    let mut world = World::new(installed);
    let repo = world.make_repo();
    let printed = run(&mut world, installed, &repo, "edit", &Run { prompt: cases::edit(), ..Run::default() });
    let session = session_of(installed.agent(), &printed);
    let resumed = Run { prompt: cases::resume(), session: session.as_deref(), ..Run::default() };
    run(&mut world, installed, &repo, "resume", &resumed);
    for (name, prompt) in cases::simple() {
        let repo = world.make_repo();
        run(&mut world, installed, &repo, name, &Run { prompt, ..Run::default() });
    }
    if installed.agent() == Agent::Codex {
        let repo = world.make_repo();
        run(&mut world, installed, &repo, "patch", &Run { prompt: cases::patch(), ..Run::default() });
    }
    let repo = world.make_repo();
    let denied = Run { prompt: cases::edit(), permissions: Permissions::Ask, ..Run::default() };
    run(&mut world, installed, &repo, "permission-denied", &denied);
    let repo = world.make_repo();
    run(&mut world, installed, &repo, "mcp", &Run { prompt: cases::mcp(), has_mcp: true, ..Run::default() });
}

fn run(world: &mut World, installed: &Installed, repo: &TestRepo, case: &str, run: &Run<'_>) -> String {
    if run.has_mcp {
        write_mcp_config(world.agent, repo);
    }
    let command = [installed.command(), arguments(world.agent, run)].concat();
    let environment = world.home.prepare(installed, run.permissions);
    let start = Start { command: &command, environment: &environment, folder: repo.path() };
    let mut running = start.spawn(Stdio::null());
    let stdout = read_all(running.child.stdout.take().expect("the output is piped"));
    let ended = running.wait(RUN_MAX);
    let printed = String::from_utf8_lossy(&stdout.join().expect("the reader does not panic")).into_owned();
    world.keep(case, &printed, &command, &ended);
    printed
}

fn arguments(agent: Agent, run: &Run<'_>) -> Vec<String> {
    let may =
        |yes: &'static str, no: &'static str| if run.permissions == Permissions::Allow { yes } else { no };
    let mut words: Vec<String> = Vec::new();
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    match agent {
        Agent::Claude => {
            let mode = may("acceptEdits", "default");
            add(&[
                "-p",
                &run.prompt,
                "--output-format",
                "stream-json",
                "--verbose",
                "--permission-mode",
                mode,
            ]);
            run.session.into_iter().for_each(|session| add(&["--resume", session]));
            if run.has_mcp {
                add(&["--mcp-config", ".mcp.json", "--allowedTools", "mcp__board__tick"]);
            }
        }
        Agent::Codex => {
            add(&["exec"]);
            run.session.into_iter().for_each(|_| add(&["resume"]));
            add(&["--json"]);
            match run.permissions {
                Permissions::Allow => add(&["--dangerously-bypass-approvals-and-sandbox"]),
                Permissions::Ask => add(&["--sandbox", "read-only"]),
            }
            if run.has_mcp {
                let server = own_path();
                let (command, arguments) =
                    (format!("mcp_servers.board.command={server:?}"), "mcp_servers.board.args=[\"mcp\"]");
                add(&["-c", &command, "-c", arguments]);
            }
            run.session.into_iter().for_each(|session| add(&[session]));
            add(&[&run.prompt]);
        }
        Agent::Gemini => {
            add(&["--output-format", "stream-json", "--approval-mode", may("yolo", "default")]);
            run.session.into_iter().for_each(|session| add(&["--resume", session]));
            add(&["-p", &run.prompt]);
        }
        Agent::Qwen => {
            add(&["--output-format", "stream-json", "--approval-mode", may("yolo", "default")]);
            run.session.into_iter().for_each(|session| add(&["--resume", session]));
            if run.has_mcp {
                add(&["--mcp-config", ".mcp.json"]);
            }
            add(&["-p", &run.prompt]);
        }
        Agent::Goose => {
            add(&["run", "--output-format", "stream-json", "-q"]);
            // Each case is a session of its own but for the second turn.
            match run.session {
                Some(session) => add(&["-r", "-n", session]),
                None if run.has_mcp => add(&["--with-extension", &format!("{} mcp", own_path())]),
                None if run.permissions == Permissions::Allow => add(&["-n", SESSION_NAME]),
                None => {}
            }
            add(&["-t", &run.prompt]);
        }
        _ => {
            add(&["run", "--format", "json", "-m", "stub/stub-model"]);
            run.session.into_iter().for_each(|session| add(&["-s", session]));
            add(&[&run.prompt]);
        }
    }
    words
}

/// Writes the files of a project by which some programs know MCP servers.
fn write_mcp_config(agent: Agent, repo: &TestRepo) {
    let server = json!({"command": own_path(), "args": ["mcp"]});
    match agent {
        Agent::Claude => repo.write(".mcp.json", &json!({"mcpServers": {"board": server}}).to_string()),
        Agent::Qwen => {
            // Otherwise the tools are hidden behind a search.
            let server = json!({"command": own_path(), "args": ["mcp"], "alwaysLoadTools": true});
            repo.write(".mcp.json", &json!({"mcpServers": {"board": server}}).to_string());
        }
        Agent::Gemini => {
            repo.write(".gemini/settings.json", &json!({"mcpServers": {"board": server}}).to_string())
        }
        Agent::Opencode => {
            let board = json!({"type": "local", "command": [own_path(), "mcp"], "enabled": true});
            repo.write("opencode.json", &json!({"mcp": {"board": board}}).to_string());
        }
        _ => {}
    }
}

fn own_path() -> String {
    std::env::current_exe().expect("a running program has a path").to_string_lossy().into_owned()
}

/// Returns the id by which the session of a run is resumed.
fn session_of(agent: Agent, printed: &str) -> Option<String> {
    if agent == Agent::Goose {
        return Some(SESSION_NAME.to_owned());
    }
    let events = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let names = ["session_id", "thread_id", "sessionID"];
    let id_of = |event: Value| names.iter().find_map(|name| Some(event.get(name)?.as_str()?.to_owned()));
    events.filter_map(id_of).next()
}
