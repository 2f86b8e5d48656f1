//! What goes wrong with a provider, as each program tells it, ends in the class that has its answer.

use crate::world::World;
use regatta_testkit::agent_programs::Agent;
use serde_json::{Value, json};

/// Short enough for a test, and long enough for a program that starts slowly and tries again by itself.
const LIMITS: &str = "limits = { wall = \"100s\", silence = \"25s\", grace = \"1s\" }\n";

/// Shows that the session ends as one of these classes, with nothing left running and the work kept.
fn ends_as(agent: Agent, step: &Value, classes: &[&str]) {
    let Some(world) = World::new(agent, LIMITS) else { return };
    let steps = json!([{"write": {"path": "half.txt", "content": "half\n"}}, step, step, step]);
    let shown = world.play(&steps);
    let class = shown["error"]["details"]["class"].as_str().unwrap_or("none");
    let name = agent.name();
    assert!(classes.contains(&class), "{name}: `{class}` is none of {classes:?}: {shown:#}");
    assert_eq!(shown["column"], "in_progress", "{name}");
    let kept = world.project.path().join(".regatta/worktrees/task-1/half.txt");
    assert_eq!(std::fs::read_to_string(kept).ok().as_deref(), Some("half\n"), "{name}: the work is kept");
}

/// Two programs wait for hours without a word about why, and look like one that hangs.
fn meets_a_rate_limit(agent: Agent) {
    let says_nothing = matches!(agent, Agent::Goose | Agent::GooseAcp | Agent::Opencode);
    let classes: &[&str] = if says_nothing { &["rate_limit", "silence", "timeout"] } else { &["rate_limit"] };
    ends_as(agent, &json!({"rate_limit": {"seconds": 7200, "of": "usage"}}), classes);
}

fn meets_an_error(agent: Agent) {
    ends_as(agent, &json!({"error": 400}), &["refused"]);
}

/// Some programs try again until their time is up.
fn meets_a_dropped_stream(agent: Agent) {
    let drop = json!([{"drop": true}, {"say": "one two three four five six seven eight"}]);
    ends_as(agent, &drop, &["network", "timeout", "silence"]);
}

fn meets_a_server_error(agent: Agent) {
    ends_as(agent, &json!({"error": 500}), &["network", "timeout", "silence"]);
}

fn meets_a_hang(agent: Agent) {
    ends_as(agent, &json!({"hang": true}), &["silence", "timeout"]);
}

macro_rules! troubles {
    ($($module:ident: $agent:ident,)*) => {
        $(mod $module {
            use super::*;

            #[test]
            fn rate_limit() {
                meets_a_rate_limit(Agent::$agent);
            }

            #[test]
            fn error() {
                meets_an_error(Agent::$agent);
            }

            #[test]
            fn dropped_stream() {
                meets_a_dropped_stream(Agent::$agent);
            }

            #[test]
            fn server_error() {
                meets_a_server_error(Agent::$agent);
            }

            #[test]
            fn hang() {
                meets_a_hang(Agent::$agent);
            }
        })*
    };
}

troubles! {
    claude: Claude,
    codex: Codex,
    gemini: Gemini,
    claude_acp: ClaudeAcp,
    gemini_acp: GeminiAcp,
    goose_acp: GooseAcp,
    goose: Goose,
    opencode: Opencode,
}
