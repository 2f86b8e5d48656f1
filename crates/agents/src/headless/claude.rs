//! Claude Code: `claude -p --output-format stream-json --verbose`.
//!
//! Its events are `system`, `assistant`, `user` and `result`. The `result` has the last word: its `is_error` counts and
//! not its `subtype`, which says `success` for an error of the API too. Tokens and cost are those since the last result;
//! `total_cost_usd` counts from the beginning of the conversation, also before it was resumed.

use serde_json::{Value, json};

use super::agent::{Adapter, HeadlessAgent};
use super::event::{count, flat_text, is_set, list, micros, sum, text};
use super::plan::{Plan, server_entry};
use crate::agent_output::AgentOutput;
use crate::change::Change;
use crate::classify::{Verdict, moment_of_number};
use crate::failure::FailureClass;
use crate::home::{Format, Given, Home, Rotation};
use crate::output::PermissionAnswer;
use crate::permission::Permissions;
use crate::start::Start;
use crate::usage::Usage;

/// What the rest of the program knows of it.
pub(super) const AGENT: HeadlessAgent = HeadlessAgent {
    name: "claude",
    bridges: &["claude-agent-acp"],
    home: HOME,
    adapter: || Box::new(Claude::default()),
};

/// What it keeps in a home: everything in one folder, because the variable is set.
const HOME: Home = Home {
    moved_by: &[("CLAUDE_CONFIG_DIR", ".claude")],
    files: &[
        Given {
            path: ".claude/.credentials.json",
            source: None,
            format: Format::Json,
            fields: &["claudeAiOauth"],
            otherwise: None,
            added: "",
            rotation: Some(Rotation {
                record: "claudeAiOauth",
                fields: &["accessToken", "refreshToken", "expiresAt", "refreshTokenExpiresAt"],
                stamp: "expiresAt",
                same: &[],
            }),
        },
        Given {
            source: Some(".claude.json"),
            otherwise: Some("{\"hasCompletedOnboarding\":true}"),
            ..Given::settings(
                ".claude/.claude.json",
                Format::Json,
                &[
                    "oauthAccount",
                    "userID",
                    "primaryApiKey",
                    "customApiKeyResponses",
                    "hasCompletedOnboarding",
                ],
            )
        },
        Given::settings(
            ".claude/settings.json",
            Format::Json,
            &["model", "env/ANTHROPIC_*", "env/CLAUDE_CODE_*", "alwaysThinkingEnabled", "forceLoginMethod"],
        ),
        Given::text(".claude/CLAUDE.md"),
    ],
    kept: &[
        ".claude/projects",
        ".claude/todos",
        ".claude/file-history",
        ".claude/session-env",
        ".claude/plans",
    ],
    places: &[("CLAUDE_CONFIG_DIR", ".claude")],
    variables: &[],
    is_always_private: false,
    long_lived: "`claude setup-token` prints one; give it with `env = [\"CLAUDE_CODE_OAUTH_TOKEN\"]`",
};

/// Reads the stream of Claude Code.
#[derive(Debug, Default)]
struct Claude {
    /// The message that is being said: it may come in several events, each with the same usage.
    message: String,
}

impl Adapter for Claude {
    fn plan(&mut self, start: &Start, command: &[String]) -> Plan {
        let mut plan = Plan::new(command, &start.prompt);
        plan.arguments(["-p", "--output-format", "stream-json", "--verbose"]);
        let mut allowed = Vec::new();
        match start.permissions {
            // It cannot ask here, so it runs none.
            Permissions::Ask if start.asks_about_commands() => {
                plan.arguments(["--permission-mode", "acceptEdits"]);
            }
            Permissions::Worktree | Permissions::Ask => {
                plan.arguments(["--permission-mode", "acceptEdits"]);
                allowed.push("Bash".to_owned());
            }
            Permissions::Deny => plan.arguments(["--permission-mode", "default"]),
        }
        if let Some(server) = &start.tools {
            let mut servers = serde_json::Map::new();
            servers.insert(server.name.clone(), server_entry(server));
            let path = plan.file(start, "claude-mcp.json", &json!({ "mcpServers": servers }));
            plan.arguments(["--mcp-config", &path]);
            allowed.push(format!("mcp__{}", server.name));
            // Otherwise the tools are hidden behind a search.
            plan.variable("ENABLE_TOOL_SEARCH", "false");
        }
        if !allowed.is_empty() {
            plan.arguments([format!("--allowedTools={}", allowed.join(",")).as_str()]);
        }
        if let Some(model) = &start.model {
            plan.arguments(["--model", model]);
        }
        if let Some(resume) = &start.resume {
            plan.arguments(["--resume", resume]);
        }
        if let Some(cost) = start.limits.cost_micros_max {
            // It counts what the conversation cost before, too.
            let before = start.resumed_usage.and_then(|usage| usage.cost_micros).unwrap_or_default();
            let dollars = cost.saturating_add(before) as f64 / 1_000_000.0;
            plan.arguments(["--max-budget-usd", &dollars.to_string()]);
        }
        plan
    }

    fn read(&mut self, event: &Value, output: &mut AgentOutput) {
        match text(event, "/type") {
            "system" => read_system(event, output),
            "rate_limit_event" => read_rate_limit(event, output),
            "assistant" => self.read_assistant(event, output),
            "user" => read_user(event, output),
            "result" => read_result(event, output),
            _ => {}
        }
    }
}

impl Claude {
    fn read_assistant(&mut self, event: &Value, output: &mut AgentOutput) {
        let content = list(event, "/message/content");
        if is_set(event, "/is_api_error_message") {
            let said = flat_text(event.pointer("/message/content").unwrap_or_default());
            return output.fail_with_status(event["api_error_status"].as_u64(), &said);
        }
        // A message of an agent that this one started is not its own.
        let is_own = event["parent_tool_use_id"].is_null();
        if is_own && text(event, "/message/id") != self.message {
            self.message = text(event, "/message/id").to_owned();
            output.end_message();
            output.begin_turn();
            output.use_more(read_usage(&event["message"]["usage"]));
        }
        for block in content {
            match text(block, "/type") {
                "text" if is_own => output.say(text(block, "/text")),
                "text" => output.print(text(block, "/text")),
                "thinking" => output.think(text(block, "/thinking")),
                "tool_use" => output.call_tool(text(block, "/id"), text(block, "/name"), &block["input"]),
                _ => {}
            }
        }
    }
}

fn read_system(event: &Value, output: &mut AgentOutput) {
    match text(event, "/subtype") {
        "init" => output.name_session(text(event, "/session_id")),
        "api_retry" if count(event, "/error_status") == 429 => {
            let message = format!("the provider limits the rate; try {} fails", count(event, "/attempt"));
            output.limit_rate_for(&message, count(event, "/retry_delay_ms"));
        }
        _ => {}
    }
}

/// Reads what a subscription has left; `allowed` needs no word.
fn read_rate_limit(event: &Value, output: &mut AgentOutput) {
    let information = &event["rate_limit_info"];
    let until = information["resetsAt"].as_i64().and_then(moment_of_number);
    let status = text(information, "/status");
    if status != "allowed" {
        let kind = text(information, "/rateLimitType").replace('_', " ");
        output.limit_rate(&format!("the {kind} limit of the subscription: {status}"), until);
    }
    if status == "rejected" {
        output.set_reset(until);
    }
}

fn read_user(event: &Value, output: &mut AgentOutput) {
    let mut is_error = false;
    for block in list(event, "/message/content").iter().filter(|block| block["type"] == "tool_result") {
        is_error = is_set(block, "/is_error");
        output.return_tool(text(block, "/tool_use_id"), is_error, &flat_text(&block["content"]));
    }
    let result = &event["tool_use_result"];
    if !is_error && result["structuredPatch"].is_array() {
        // A new file has no hunks, and its content instead.
        let change = Change::of_hunks(list(result, "/structuredPatch")).or_else(|| Change::of_input(result));
        output.edit(text(result, "/filePath"), change);
    }
}

fn read_result(event: &Value, output: &mut AgentOutput) {
    output.name_session(text(event, "/session_id"));
    if count(event, "/num_turns") > 0 {
        output.set_turns(count(event, "/num_turns"));
    }
    output.use_total(read_total(event, output));
    for denial in list(event, "/permission_denials") {
        let what = format!("{}: {}", text(denial, "/tool_name"), denial["tool_input"]);
        output.ask(&what, PermissionAnswer::Denied, "claude");
    }
    let errors: Vec<&str> = list(event, "/errors").iter().filter_map(Value::as_str).collect();
    let said = if errors.is_empty() { text(event, "/result").to_owned() } else { errors.join("\n") };
    match text(event, "/subtype") {
        "error_max_turns" | "error_max_budget_usd" => {
            output.fail_as(Verdict::new(
                FailureClass::Budget,
                &format!("claude stopped by its own limit. {said}"),
            ));
        }
        _ if said.starts_with("No conversation found") => {
            output.lose_session();
            output.fail(&said);
        }
        _ if is_set(event, "/is_error") => {
            output.fail_with_status(event["api_error_status"].as_u64(), &said);
        }
        _ => {
            output.recover();
            output.set_message(&said);
            output.finish();
        }
    }
}

/// Returns what this start used: of all models since the last result, or else of the main one.
fn read_total(event: &Value, output: &AgentOutput) -> Usage {
    let models = event["model_usage_since_last_result"].as_object().filter(|models| !models.is_empty());
    match models {
        Some(models) => models.values().map(read_model).fold(Usage::default(), |sum, one| sum.plus(&one)),
        None => {
            let cost = micros(event, "/total_cost_usd").map(|cost| output.cost_of_this_start(cost));
            Usage { cost_micros: cost, ..read_usage(&event["usage"]) }
        }
    }
}

fn read_model(model: &Value) -> Usage {
    let cached = count(model, "/cacheReadInputTokens");
    Usage {
        input_tokens: sum([count(model, "/inputTokens"), cached, count(model, "/cacheCreationInputTokens")]),
        cached_tokens: cached,
        output_tokens: count(model, "/outputTokens"),
        cost_micros: micros(model, "/costUSD"),
    }
}

fn read_usage(usage: &Value) -> Usage {
    let cached = count(usage, "/cache_read_input_tokens");
    Usage {
        input_tokens: sum([
            count(usage, "/input_tokens"),
            cached,
            count(usage, "/cache_creation_input_tokens"),
        ]),
        cached_tokens: cached,
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
                agent --mine -p --output-format stream-json --verbose --permission-mode acceptEdits --mcp-config /private/claude-mcp.json --allowedTools=Bash,mcp__regatta --model model-1
                  ENABLE_TOOL_SEARCH=false
                  claude-mcp.json: {"mcpServers":{"regatta":{"command":"regatta","args":["mcp","--session","/private folder"]}}}

                agent --mine -p --output-format stream-json --verbose --permission-mode acceptEdits --mcp-config /private/claude-mcp.json --allowedTools=Bash,mcp__regatta --resume agent-session --max-budget-usd 2.5
                  ENABLE_TOOL_SEARCH=false
                  claude-mcp.json: {"mcpServers":{"regatta":{"command":"regatta","args":["mcp","--session","/private folder"]}}}

                agent --mine -p --output-format stream-json --verbose --permission-mode default
            "#]],
        );
    }
}
