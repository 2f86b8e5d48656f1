//! What goes wrong with a provider, as each program tells it, ends in the class that has its answer.

use crate::world::World;
use regatta_testkit::agent_programs::Agent;
use serde_json::{Value, json};

/// Short enough for a test, and long enough for a program that starts slowly and tries again by itself.
const LIMITS: &str = "limits = { wall = \"100s\", silence = \"25s\", grace = \"1s\" }\n";

/// How often the trouble is met: more often than any program tries again.
const STEPS: usize = 12;

/// Shows that the session ends as one of these classes, with nothing left running and the work kept.
fn ends_as(agent: Agent, step: &Value, classes: &[&str]) {
    let Some(world) = World::new(agent, LIMITS) else { return };
    // One program continues a text that was cut, and so asks for the next step; it gives up after a few.
    let mut steps = vec![json!({"write": {"path": "half.txt", "content": "half\n"}})];
    steps.extend(std::iter::repeat_n(step.clone(), STEPS));
    let steps = Value::from(steps);
    let shown = world.play(&steps);
    let class = shown["error"]["details"]["class"].as_str().unwrap_or("none");
    let name = agent.name();
    assert!(classes.contains(&class), "{name}: `{class}` is none of {classes:?}: {shown:#}");
    assert_eq!(shown["column"], "in_progress", "{name}");
    let kept = world.project.path().join(".regatta/worktrees/task-1/half.txt");
    assert_eq!(std::fs::read_to_string(kept).ok().as_deref(), Some("half\n"), "{name}: the work is kept");
}

/// Three programs wait for hours without a word about why, and look like one that hangs.
fn meets_a_rate_limit(agent: Agent) {
    let says_nothing = matches!(agent, Agent::Goose | Agent::GooseAcp | Agent::Opencode | Agent::Qwen);
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
    qwen: Qwen,
}
