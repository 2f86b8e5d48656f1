//! Qwen Code: `qwen --output-format stream-json`.
//!
//! Its events are `system`, `assistant`, `user` and `result`; an answer with thoughts is two `assistant`. An error of the
//! provider comes twice, as a text of the assistant that begins with `[API Error:` and in the `result`. It tries again for
//! minutes; what it says of that is on standard error, and a limit with a long reset is waited for without a word. Tokens of
//! the `result` count from the beginning of the session, also before it was resumed; there is no cost.

use serde_json::{Value, json};

use super::agent::{Adapter, HeadlessAgent};
use super::event::{count, flat_text, is_set, list, text};
use super::open_edits::OpenEdits;
use super::plan::{Plan, approval_mode, server_entry};
use crate::agent_output::AgentOutput;
use crate::classify::classify;
use crate::failure::FailureClass;
use crate::home::{Format, Given, Home, Rotation};
use crate::output::PermissionAnswer;
use crate::start::Start;
use crate::usage::Usage;

/// What the rest of the program knows of it.
pub(super) const AGENT: HeadlessAgent =
    HeadlessAgent { name: "qwen", bridges: &[], home: HOME, adapter: || Box::new(Qwen::default()) };

/// What it keeps in a home: everything in one folder, because the variable is set.
const HOME: Home = Home {
    moved_by: &[("QWEN_HOME", ".qwen")],
    files: &[
        Given {
            path: ".qwen/oauth_creds.json",
            source: None,
            format: Format::Json,
            fields: &["access_token", "refresh_token", "token_type", "resource_url", "expiry_date"],
            otherwise: None,
            added: "",
            rotation: Some(Rotation {
                record: "",
                fields: &["access_token", "refresh_token", "expiry_date"],
                stamp: "expiry_date",
                same: &["token_type", "resource_url"],
            }),
        },
        Given::settings(".qwen/.env", Format::Variables, &["*_API_KEY", "*_BASE_URL", "*_MODEL"]),
        // Servers, hooks, extensions and the trust in folders stay outside.
        Given::settings(
            ".qwen/settings.json",
            Format::Json,
            &[
                "$version",
                "security/auth",
                "model",
                "modelProviders",
                "fastModel",
                "env/*_API_KEY",
                "env/*_BASE_URL",
                "env/*_MODEL",
                "privacy",
                "telemetry/enabled",
                "general/enableAutoUpdate",
            ],
        ),
        Given::text(".qwen/QWEN.md"),
    ],
    kept: &[".qwen/projects", ".qwen/installation_id"],
    places: &[("QWEN_HOME", ".qwen")],
    variables: &[],
    is_always_private: false,
    long_lived: "an API key does not rotate; give it with `env = [\"OPENAI_API_KEY\"]` or the like",
};

/// Tools that change the file which they are given.
const WRITING_TOOLS: [&str; 2] = ["write_file", "edit"];

/// How a text of the assistant begins that is an error and not the model's.
const ERROR_BEGINNING: &str = "[API Error:";

/// How a line of standard error begins that says why the provider is asked again.
const RETRY_BEGINNING: &str = "Retrying in ";

/// Reads the stream of Qwen Code.
#[derive(Debug, Default)]
struct Qwen {
    open_edits: OpenEdits,
}

impl Adapter for Qwen {
    fn plan(&mut self, start: &Start, command: &[String]) -> Plan {
        let mut plan = Plan::new(command, &start.prompt);
        let approval = approval_mode(start, "auto-edit");
        plan.arguments(["--output-format", "stream-json", "--approval-mode", approval]);
        if let Some(server) = &start.tools {
            let mut entry = server_entry(server);
            entry["trust"] = json!(true);
            // Otherwise the tools are hidden behind a search.
            entry["alwaysLoadTools"] = json!(true);
            let mut servers = serde_json::Map::new();
            servers.insert(server.name.clone(), entry);
            let path = plan.file(start, "qwen-mcp.json", &json!({ "mcpServers": servers }));
            plan.arguments(["--mcp-config", &path]);
        }
        let path = plan.file(start, "qwen-defaults.json", &defaults());
        plan.variable("QWEN_CODE_SYSTEM_DEFAULTS_PATH", path);
        // The warning that nobody approves what it does would be the last line that explains a failure.
        plan.variable("QWEN_CODE_SUPPRESS_YOLO_WARNING", "1");
        if let Some(model) = &start.model {
            plan.arguments(["--model", model]);
        }
        if let Some(resume) = &start.resume {
            plan.arguments(["--resume", resume]);
        }
        plan
    }

    fn read(&mut self, event: &Value, output: &mut AgentOutput) {
        match text(event, "/type") {
            "system" if event["subtype"] == "init" => output.name_session(text(event, "/session_id")),
            "assistant" => self.read_assistant(event, output),
            "user" => self.read_user(event, output),
            "result" => read_result(event, output),
            _ => {}
        }
    }

    fn read_error(&mut self, line: &str, output: &mut AgentOutput) {
        if line.starts_with(RETRY_BEGINNING) {
            let verdict = classify(line, output.now());
            if let Some(limit) = verdict.filter(|verdict| verdict.class == FailureClass::RateLimit) {
                output.limit_rate(&limit.message, limit.until);
            }
        } else if line.starts_with("No saved session found") {
            output.lose_session();
            output.fail(line);
        }
    }
}

impl Qwen {
    fn read_assistant(&mut self, event: &Value, output: &mut AgentOutput) {
        // A message of an agent that this one started is not its own.
        let is_own = event["parent_tool_use_id"].is_null();
        if is_own {
            output.end_message();
            // An answer may come in several events, of which the last says what it used.
            let usage = read_usage(&event["message"]["usage"]);
            if usage.tokens() > 0 {
                output.begin_turn();
                output.use_more(usage);
            }
        }
        for block in list(event, "/message/content") {
            let said = text(block, "/text");
            match text(block, "/type") {
                "text" if is_own && !said.starts_with(ERROR_BEGINNING) => output.say(said),
                "text" => output.print(said),
                "thinking" => output.think(text(block, "/thinking")),
                "tool_use" => self.read_call(block, output),
                _ => {}
            }
        }
    }

    fn read_call(&mut self, block: &Value, output: &mut AgentOutput) {
        let (id, name) = (text(block, "/id"), text(block, "/name"));
        output.call_tool(id, name, &block["input"]);
        if WRITING_TOOLS.contains(&name) {
            self.open_edits.open(id, text(block, "/input/file_path"), &block["input"]);
        }
    }

    fn read_user(&mut self, event: &Value, output: &mut AgentOutput) {
        for block in list(event, "/message/content").iter().filter(|block| block["type"] == "tool_result") {
            let (id, is_error) = (text(block, "/tool_use_id"), is_set(block, "/is_error"));
            output.return_tool(id, is_error, &flat_text(&block["content"]));
            self.open_edits.close(id, is_error, output);
        }
    }
}

/// Returns settings that count where the user has none: no work in the background, which costs tokens and is swept away,
/// no mail between sessions, and one retry where it would make ten a minute apart: the engine retries a task itself.
fn defaults() -> Value {
    json!({
        "general": { "enableAutoUpdate": false },
        "memory": { "enableManagedAutoMemory": false, "enableManagedAutoDream": false, "enableAutoSkill": false },
        "agents": { "crossSessionMessaging": false },
        "model": { "generationConfig": { "maxRetries": 1 } },
    })
}

fn read_result(event: &Value, output: &mut AgentOutput) {
    output.name_session(text(event, "/session_id"));
    if count(event, "/num_turns") > 0 {
        output.set_turns(count(event, "/num_turns"));
    }
    let usage = read_usage(&event["usage"]);
    // A run that failed counts nothing.
    if usage.tokens() > 0 {
        output.use_since_beginning(usage);
    }
    for denial in list(event, "/permission_denials") {
        let what = format!("{}: {}", text(denial, "/tool_name"), denial["tool_input"]);
        output.ask(&what, PermissionAnswer::Denied, "qwen");
    }
    if is_set(event, "/is_error") {
        output.fail(text(event, "/error/message"));
    } else {
        output.recover();
        output.set_message(text(event, "/result"));
        output.finish();
    }
}

/// Cached tokens are part of the input.
fn read_usage(usage: &Value) -> Usage {
    Usage {
        input_tokens: count(usage, "/input_tokens"),
        cached_tokens: count(usage, "/cache_read_input_tokens"),
        output_tokens: count(usage, "/output_tokens"),
        cost_micros: None,
    }
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
                agent --mine --output-format stream-json --approval-mode yolo --mcp-config /private/qwen-mcp.json --model model-1
                  QWEN_CODE_SYSTEM_DEFAULTS_PATH=/private/qwen-defaults.json
                  QWEN_CODE_SUPPRESS_YOLO_WARNING=1
                  qwen-mcp.json: {"mcpServers":{"regatta":{"command":"regatta","args":["mcp","--session","/private folder"],"trust":true,"alwaysLoadTools":true}}}
                  qwen-defaults.json: {"general":{"enableAutoUpdate":false},"memory":{"enableManagedAutoMemory":false,"enableManagedAutoDream":false,"enableAutoSkill":false},"agents":{"crossSessionMessaging":false},"model":{"generationConfig":{"maxRetries":1}}}

                agent --mine --output-format stream-json --approval-mode yolo --mcp-config /private/qwen-mcp.json --resume agent-session
                  QWEN_CODE_SYSTEM_DEFAULTS_PATH=/private/qwen-defaults.json
                  QWEN_CODE_SUPPRESS_YOLO_WARNING=1
                  qwen-mcp.json: {"mcpServers":{"regatta":{"command":"regatta","args":["mcp","--session","/private folder"],"trust":true,"alwaysLoadTools":true}}}
                  qwen-defaults.json: {"general":{"enableAutoUpdate":false},"memory":{"enableManagedAutoMemory":false,"enableManagedAutoDream":false,"enableAutoSkill":false},"agents":{"crossSessionMessaging":false},"model":{"generationConfig":{"maxRetries":1}}}

                agent --mine --output-format stream-json --approval-mode default
                  QWEN_CODE_SYSTEM_DEFAULTS_PATH=/private/qwen-defaults.json
                  QWEN_CODE_SUPPRESS_YOLO_WARNING=1
                  qwen-defaults.json: {"general":{"enableAutoUpdate":false},"memory":{"enableManagedAutoMemory":false,"enableManagedAutoDream":false,"enableAutoSkill":false},"agents":{"crossSessionMessaging":false},"model":{"generationConfig":{"maxRetries":1}}}
            "#]],
        );
    }
}
