//! Each program edits a file, hands in its result, and its work waits for approval.

use crate::world::World;
use regatta_testkit::agent_programs::Agent;
use serde_json::json;

fn works(agent: Agent) {
    let Some(world) = World::new(agent, "") else { return };
    works_in(&world, agent);
}

fn works_in(world: &World, agent: Agent) {
    let shown = world.play(&json!([
        {"write": {"path": "greeting.txt", "content": "ahoy\n"}},
        {"tool": {"name": "tick_criterion", "args": {"criterion": 1}}},
        {"tool": {"name": "submit_result", "args": {"result": {"summary": "it greets now"}}}},
        {"say": "The greeting is there."}
    ]));
    let name = agent.name();
    assert_eq!(shown["column"], "waiting_approval", "{name}: {shown:#}");
    assert_eq!(
        (&shown["diff"]["filesChanged"], &shown["error"]),
        (&1.into(), &serde_json::Value::Null),
        "{name}"
    );
    assert_eq!(shown["summary"], "it greets now", "{name}: the result was handed in by tool");
    assert_eq!(shown["criteria"][0]["checked"], true, "{name}: the criterion was ticked by tool");
    assert!(world.model.requests().len() >= 4, "{name} asked the stub");
    let spent = &shown["spent"];
    assert!(spent["outputTokens"].as_u64() > Some(0), "{name} says what it used: {spent}");
    let transcript = world.project.path().join(".git/regatta/sessions/task-1-session-1.jsonl");
    let said = std::fs::read_to_string(transcript).expect("the session has a transcript");
    assert!(said.contains("The greeting is there."), "{name}");
    let log = world.project.run(&["task", "log", "1"]).stdout;
    assert!(log.contains("greeting.txt") && log.contains("The greeting is there."), "{name}: {log}");
    let is_told = log.contains("tick_criterion") || log.contains("tick criterion");
    assert!(is_told, "{name}: a call is a line: {log}");
    assert!(!log.contains("{\"type\"") && !log.contains("jsonrpc"), "{name}: no protocol is shown: {log}");
    // Codex names the files of a patch, and not what changes in them.
    assert!(agent == Agent::Codex || log.contains("+ ahoy"), "{name}: an edit is a small diff: {log}");
}

#[test]
fn claude() {
    works(Agent::Claude);
}

#[test]
fn codex() {
    works(Agent::Codex);
}

#[test]
fn gemini() {
    works(Agent::Gemini);
}

#[test]
fn goose() {
    works(Agent::Goose);
}

#[test]
fn opencode() {
    works(Agent::Opencode);
}

#[test]
fn qwen() {
    works(Agent::Qwen);
}

#[test]
fn claude_over_acp() {
    works(Agent::ClaudeAcp);
}

#[test]
fn gemini_over_acp() {
    works(Agent::GeminiAcp);
}

#[test]
fn goose_over_acp() {
    works(Agent::GooseAcp);
}

/// Shows that a rejection continues the agent's own session, which its private home keeps.
fn resumes(agent: Agent) {
    let Some(world) = World::new(agent, "") else { return };
    resumes_in(&world, agent);
}

fn resumes_in(world: &World, agent: Agent) {
    let said = "The first part is there.";
    let first = world.play(&json!([{"write": {"path": "greeting.txt", "content": "ahoy\n"}}, {"say": said}]));
    let name = agent.name();
    assert_eq!(first["column"], "waiting_approval", "{name}: {first:#}");
    let before = world.model.requests().len();
    let steps = json!([{"write": {"path": "more.txt", "content": "more\n"}}, {"say": "More is done."}]);
    let feedback = regatta_testkit::model::prompt("Say more.", &steps);
    world.project.run(&["task", "reject", "1", "--reason", "too short", "--feedback", &feedback]);
    let second = world.project.json(&["task", "show", "1"]);
    assert_eq!(
        (&second["column"], &second["diff"]["filesChanged"]),
        (&"waiting_approval".into(), &2.into()),
        "{name}: {second:#}"
    );
    let events = world.project.json(&["events"]);
    let opened: Vec<&serde_json::Value> = events
        .as_array()
        .expect("events are a list")
        .iter()
        .filter(|event| event["type"] == "session:opened")
        .collect();
    assert!(opened[0]["resumes"].is_null() && opened[1]["resumes"].is_string(), "{name}: {opened:?}");
    let asked = world.model.requests().split_off(before);
    assert!(asked.iter().any(|request| request.body.contains(said)), "{name} knows what it said before");
}

macro_rules! resuming {
    ($($test:ident: $agent:ident,)*) => {
        mod a_rejection_continues_the_session_of {
            use super::*;

            $(#[test]
            fn $test() {
                resumes(Agent::$agent);
            })*
        }
    };
}

resuming! {
    claude: Claude,
    codex: Codex,
    gemini: Gemini,
    goose: Goose,
    opencode: Opencode,
    qwen: Qwen,
    claude_over_acp: ClaudeAcp,
    gemini_over_acp: GeminiAcp,
    goose_over_acp: GooseAcp,
}

/// Without a sandbox too, its tools and its own session are there, and the user's home is what it was.
mod without_a_sandbox {
    use super::*;

    #[test]
    fn gemini() {
        let Some(world) = World::with_sandbox(Agent::Gemini, "", "off") else { return };
        let before = world.fingerprint_home();
        works_in(&world, Agent::Gemini);
        assert_eq!(world.fingerprint_home(), before);
    }

    #[test]
    fn gemini_is_resumed() {
        let Some(world) = World::with_sandbox(Agent::Gemini, "", "off") else { return };
        let before = world.fingerprint_home();
        resumes_in(&world, Agent::Gemini);
        assert_eq!(world.fingerprint_home(), before);
    }

    #[test]
    fn qwen() {
        let Some(world) = World::with_sandbox(Agent::Qwen, "", "off") else { return };
        works_in(&world, Agent::Qwen);
    }

    #[test]
    fn claude() {
        let Some(world) = World::with_sandbox(Agent::Claude, "", "off") else { return };
        works_in(&world, Agent::Claude);
    }
}
