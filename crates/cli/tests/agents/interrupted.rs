//! Each program is limited for a moment, cancelled, or left behind by a killed engine, while it works.

use crate::world::World;
use regatta_testkit::agent_programs::Agent;
use regatta_testkit::binary::Running;
use regatta_testkit::wait::until;
use serde_json::{Value, json};

const LIMITS: &str = "limits = { wall = \"100s\", silence = \"60s\", grace = \"1s\" }\n";

/// Makes the program write a file and then wait for its model, which never answers.
fn start_working(world: &World) -> Running {
    let steps = json!([{"write": {"path": "half.txt", "content": "half\n"}}, {"hang": true}]);
    let running = world.start(&steps);
    let half = world.project.path().join(".regatta/worktrees/task-1/half.txt");
    until("the program works", || std::fs::read_to_string(&half).is_ok_and(|text| text == "half\n"));
    running
}

/// Shows that a task is back in the backlog with its work kept, and that no process of it is left.
fn assert_given_up(world: &World, name: &str) {
    let shown = world.project.json(&["task", "show", "1"]);
    assert_eq!(shown["column"], "backlog", "{name}: {shown:#}");
    let salvage = shown["salvages"][0]["ref"].as_str().unwrap_or_else(|| panic!("{name}: {shown:#}"));
    assert_eq!(world.project.repo.git(&["show", &format!("{salvage}:half.txt")]), "half", "{name}");
    let healthy = world.project.run(&["doctor"]);
    assert_eq!(healthy.code, Some(0), "{name}: {healthy:?}");
}

fn is_cancelled(agent: Agent) {
    let Some(world) = World::new(agent, LIMITS) else { return };
    let running = start_working(&world);
    let cancelled = world.project.run(&["task", "cancel", "1"]);
    assert_eq!(cancelled.code, Some(0), "{}: {cancelled:?}", agent.name());
    running.wait();
    assert_given_up(&world, agent.name());
}

fn outlives_its_engine(agent: Agent) {
    let Some(world) = World::new(agent, LIMITS) else { return };
    start_working(&world).kill();
    let cancelled = world.project.run(&["task", "cancel", "1"]);
    assert_eq!(cancelled.code, Some(0), "{}: {cancelled:?}", agent.name());
    assert_given_up(&world, agent.name());
}

/// Some programs wait by themselves; others end, and their session is resumed.
fn is_limited_for_a_moment(agent: Agent) {
    let Some(world) = World::new(agent, LIMITS) else { return };
    let write = |path: &str| json!({"write": {"path": path, "content": "ahoy\n"}});
    let mut limited = write("second.txt");
    limited["rate_limit"] = json!({"seconds": 1});
    limited["times"] = json!(1);
    let mut shown = world.play(&json!([write("first.txt"), limited, {"say": "Both are there."}]));
    let name = agent.name();
    if shown["column"] == "in_progress" {
        assert_eq!(shown["error"]["details"]["class"], "rate_limit", "{name}: {shown:#}");
        world.project.run(&["task", "resume", "1"]);
        shown = world.project.json(&["task", "show", "1"]);
    }
    assert_eq!(shown["column"], "waiting_approval", "{name}: {shown:#}");
    assert_eq!(
        (&shown["diff"]["filesChanged"], &shown["error"]),
        (&2.into(), &Value::Null),
        "{name}: {shown:#}"
    );
}

macro_rules! interruptions {
    ($($module:ident: $agent:ident,)*) => {
        $(mod $module {
            use super::*;

            #[test]
            fn cancelled() {
                is_cancelled(Agent::$agent);
            }

            #[test]
            fn engine_killed() {
                outlives_its_engine(Agent::$agent);
            }

            #[test]
            fn limited_for_a_moment() {
                is_limited_for_a_moment(Agent::$agent);
            }
        })*
    };
}

interruptions! {
    claude: Claude,
    codex: Codex,
    gemini: Gemini,
    goose: Goose,
    opencode: Opencode,
    qwen: Qwen,
    claude_acp: ClaudeAcp,
    gemini_acp: GeminiAcp,
    goose_acp: GooseAcp,
}
