//! opencode: `opencode run --format json`.
//!
//! Its events are `step_start`, `text`, `reasoning`, `tool_use`, `step_finish` and `error`. Every step reports its own
//! tokens and cost, which are added up. A turn is over with a step whose reason is not `tool-calls`.

use serde_json::{Value, json};

use super::agent::{Adapter, HeadlessAgent};
use super::event::{count, is_set, micros, sum, text};
use super::plan::Plan;
use crate::agent_output::AgentOutput;
use crate::change::Change;
use crate::classify::Verdict;
use crate::failure::FailureClass;
use crate::home::{Format, Given, Home, Rotation};
use crate::output::PermissionAnswer;
use crate::permission::Permissions;
use crate::start::Start;
use crate::usage::Usage;

/// What the rest of the program knows of it.
pub(super) const AGENT: HeadlessAgent =
    HeadlessAgent { name: "opencode", bridges: &[], home: HOME, adapter: || Box::new(Opencode::default()) };

/// What it keeps in a home.
const HOME: Home = Home {
    moved_by: &[("XDG_DATA_HOME", ".local/share"), ("XDG_CONFIG_HOME", ".config")],
    files: &[
        Given {
            path: ".local/share/opencode/auth.json",
            source: None,
            format: Format::Json,
            fields: &["*"],
            otherwise: None,
            added: "",
            rotation: Some(Rotation {
                record: "*",
                fields: &["access", "refresh", "expires"],
                stamp: "expires",
                same: &["type", "accountId"],
            }),
        },
        Given::settings(".config/opencode/opencode.json", Format::Json, SETTINGS),
        Given::settings(".config/opencode/opencode.jsonc", Format::Json, SETTINGS),
        Given::text(".config/opencode/AGENTS.md"),
    ],
    kept: &[
        ".local/share/opencode/opencode.db*",
        ".local/share/opencode/storage",
        ".local/share/opencode/project",
        ".local/share/opencode/snapshot",
    ],
    places: &[],
    variables: &[],
    is_always_private: false,
    long_lived: "an API key of the provider does not rotate; add it with `opencode auth login`",
};

/// The settings that are copied: no plugin, server, command or formatter is among them.
const SETTINGS: &[&str] = &[
    "provider",
    "model",
    "small_model",
    "disabled_providers",
    "enabled_providers",
    "autoupdate",
    "share",
    "snapshot",
    "permission",
];

/// Tools that change the file which they are given.
const WRITING_TOOLS: [&str; 2] = ["write", "edit"];

/// What a tool returns that was not run because it has to be asked for.
const DENIED: &str = "rejected permission";

/// Reads the stream of opencode.
#[derive(Debug, Default)]
struct Opencode {
    /// The tool that was denied in this step: it ends the turn, mostly.
    denied: Option<String>,
}

impl Adapter for Opencode {
    fn plan(&mut self, start: &Start, command: &[String]) -> Plan {
        let mut plan = Plan::new(command, &start.prompt);
        plan.subcommand("run");
        plan.arguments(["--format", "json"]);
        let path = plan.file(start, "opencode.json", &settings(start));
        plan.variable("OPENCODE_CONFIG", path);
        if let Some(model) = &start.model {
            plan.arguments(["--model", model]);
        }
        if let Some(resume) = &start.resume {
            plan.arguments(["--session", resume]);
        }
        plan
    }

    fn read(&mut self, event: &Value, output: &mut AgentOutput) {
        output.name_session(text(event, "/sessionID"));
        let part = &event["part"];
        match text(event, "/type") {
            "step_start" => {
                output.begin_turn();
                output.end_message();
            }
            "text" => output.say(text(part, "/text")),
            "reasoning" => output.think(text(part, "/text")),
            "tool_use" => self.read_tool(part, output),
            "step_finish" => {
                output.use_more(read_usage(part));
                output.recover();
                if let Some(tool) = self.denied.take() {
                    let said = format!("the agent gave up because it was denied: {tool}");
                    output.fail_as(Verdict::new(FailureClass::Refused, &said));
                } else if text(part, "/reason") != "tool-calls" {
                    output.finish();
                }
            }
            "error" => read_error(&event["error"], output),
            _ => {}
        }
    }

    fn read_error(&mut self, line: &str, output: &mut AgentOutput) {
        if line.contains("Session not found") {
            output.lose_session();
            output.fail(line);
        }
    }
}

fn settings(start: &Start) -> Value {
    let answer = match start.permissions {
        Permissions::Worktree | Permissions::Ask => "allow",
        Permissions::Deny => "deny",
    };
    // It cannot ask here, so it runs no command.
    let commands = if start.asks_about_commands() { "deny" } else { answer };
    let mut settings = json!({
        "autoupdate": false,
        "share": "disabled",
        "permission": { "edit": answer, "bash": commands, "webfetch": answer, "external_directory": "deny" },
    });
    if let Some(server) = &start.tools {
        let entry = json!({ "type": "local", "command": server.command, "enabled": true });
        settings["mcp"] = json!({ &server.name: entry });
    }
    settings
}

impl Opencode {
    fn read_tool(&mut self, part: &Value, output: &mut AgentOutput) {
        let (id, name) = (text(part, "/callID"), text(part, "/tool"));
        output.call_tool(id, name, &part["state"]["input"]);
        let is_error = text(part, "/state/status") == "error";
        let said = if is_error { text(part, "/state/error") } else { text(part, "/state/output") };
        output.return_tool(id, is_error, said);
        if is_error && said.contains(DENIED) {
            output.ask(name, PermissionAnswer::Denied, "opencode");
            self.denied = Some(name.to_owned());
        }
        if WRITING_TOOLS.contains(&name) && !is_error {
            output.edit(text(part, "/state/input/filePath"), Change::of_input(&part["state"]["input"]));
        }
    }
}

fn read_usage(part: &Value) -> Usage {
    let cached = count(part, "/tokens/cache/read");
    Usage {
        input_tokens: sum([count(part, "/tokens/input"), cached, count(part, "/tokens/cache/write")]),
        cached_tokens: cached,
        output_tokens: sum([count(part, "/tokens/output"), count(part, "/tokens/reasoning")]),
        cost_micros: micros(part, "/cost"),
    }
}

fn read_error(error: &Value, output: &mut AgentOutput) {
    let message = text(error, "/data/message");
    let message = if message.is_empty() { text(error, "/name") } else { message };
    let after = text(error, "/data/responseHeaders/retry-after");
    let with_reset =
        if after.is_empty() { message.to_owned() } else { format!("{message} (retry-after: {after})") };
    let status = error.pointer("/data/statusCode").and_then(Value::as_u64);
    let is_passing = status.is_none() && is_set(error, "/data/isRetryable");
    let text = if is_passing { format!("connection error: {with_reset}") } else { with_reset };
    output.fail_with_status(status, &text);
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::plan_check::check;
    use super::AGENT;

    #[test]
    fn it_is_started_with_what_the_session_needs() {
        check(
            &AGENT,
            expect![[r#"
                agent --mine run --format json --model model-1
                  OPENCODE_CONFIG=/private/opencode.json
                  opencode.json: {"autoupdate":false,"share":"disabled","permission":{"edit":"allow","bash":"allow","webfetch":"allow","external_directory":"deny"},"mcp":{"regatta":{"type":"local","command":["regatta","mcp","--session","/private folder"],"enabled":true}}}

                agent --mine run --format json --session agent-session
                  OPENCODE_CONFIG=/private/opencode.json
                  opencode.json: {"autoupdate":false,"share":"disabled","permission":{"edit":"allow","bash":"allow","webfetch":"allow","external_directory":"deny"},"mcp":{"regatta":{"type":"local","command":["regatta","mcp","--session","/private folder"],"enabled":true}}}

                agent --mine run --format json
                  OPENCODE_CONFIG=/private/opencode.json
                  opencode.json: {"autoupdate":false,"share":"disabled","permission":{"edit":"deny","bash":"deny","webfetch":"deny","external_directory":"deny"}}
            "#]],
        );
    }
}
