//! Codex: `codex exec --json`.
//!
//! Its events are `thread.started`, `turn.*`, `item.*` and `error`. An `error` may be got over ("Reconnecting…");
//! `turn.failed` is not. Usage counts from the beginning of the thread, also before it was resumed, and has no cost. Items
//! of the type `error` are warnings.

use serde_json::{Value, json};

use super::agent::{Adapter, HeadlessAgent};
use super::event::{count, flat_text, list, text};
use super::plan::Plan;
use crate::agent_output::AgentOutput;
use crate::home::{Format, Given, Home, Rotation};
use crate::output::{PlanState, PlanStep};
use crate::permission::Permissions;
use crate::start::{Start, ToolServer};
use crate::usage::Usage;

/// What the rest of the program knows of it.
pub(super) const AGENT: HeadlessAgent =
    HeadlessAgent { name: "codex", bridges: &["codex-acp"], home: HOME, adapter: || Box::new(Codex) };

/// What it keeps in a home.
const HOME: Home = Home {
    moved_by: &[("CODEX_HOME", ".codex")],
    files: &[
        Given {
            path: ".codex/auth.json",
            source: None,
            format: Format::Json,
            fields: &["auth_mode", "OPENAI_API_KEY", "tokens", "last_refresh"],
            otherwise: None,
            added: "",
            rotation: Some(Rotation {
                record: "",
                fields: &["tokens/id_token", "tokens/access_token", "tokens/refresh_token", "last_refresh"],
                stamp: "last_refresh",
                same: &["tokens/account_id"],
            }),
        },
        // Servers, hooks, `notify` and the trust in folders stay outside.
        Given::settings(
            ".codex/config.toml",
            Format::Toml,
            &[
                "model",
                "model_provider",
                "model_providers",
                "model_reasoning_effort",
                "model_reasoning_summary",
                "model_verbosity",
                "model_context_window",
                "model_max_output_tokens",
                "preferred_auth_method",
                "forced_login_method",
                "cli_auth_credentials_store",
                "check_for_update_on_startup",
                "analytics",
                "service_tier",
            ],
        ),
        Given::text(".codex/AGENTS.md"),
    ],
    kept: &[".codex/sessions", ".codex/*.sqlite*", ".codex/session_index.jsonl", ".codex/installation_id"],
    places: &[("CODEX_HOME", ".codex")],
    variables: &[],
    is_always_private: false,
    long_lived: "an API key does not rotate; give it with `env = [\"CODEX_API_KEY\"]`",
};

/// Reads the stream of Codex.
#[derive(Debug, Default)]
struct Codex;

impl Adapter for Codex {
    fn plan(&mut self, start: &Start, command: &[String]) -> Plan {
        let mut plan = Plan::new(command, &start.prompt);
        plan.subcommand("exec");
        plan.arguments(["--json", "--skip-git-repo-check"]);
        set(&mut plan, "approval_policy", &json!("never"));
        // Its own sandbox cannot be built inside of ours, and is not needed there. Without ours, it holds commands.
        let sandbox = match (start.permissions, &start.sandbox) {
            (Permissions::Deny, _) => "read-only",
            (_, Some(_)) => "danger-full-access",
            (_, None) => "workspace-write",
        };
        set(&mut plan, "sandbox_mode", &json!(sandbox));
        if let Some(server) = &start.tools {
            set_server(&mut plan, server);
        }
        if let Some(model) = &start.model {
            plan.arguments(["-m", model]);
        }
        if let Some(resume) = &start.resume {
            plan.arguments(["resume", resume]);
        }
        plan.arguments(["-"]);
        plan
    }

    fn read(&mut self, event: &Value, output: &mut AgentOutput) {
        match text(event, "/type") {
            "thread.started" => output.name_session(text(event, "/thread_id")),
            "item.started" => start_item(&event["item"], output),
            "item.completed" => complete_item(&event["item"], output),
            "item.updated" if event["item"]["type"] == "todo_list" => plan_item(&event["item"], output),
            "turn.completed" => {
                output.use_since_beginning(read_usage(&event["usage"]));
                output.recover();
                output.finish();
            }
            "turn.failed" => output.fail(text(event, "/error/message")),
            "error" => output.fail(text(event, "/message")),
            _ => {}
        }
    }

    fn read_error(&mut self, line: &str, output: &mut AgentOutput) {
        if line.contains("no rollout found") {
            output.lose_session();
            output.fail(line);
        }
    }
}

fn set(plan: &mut Plan, key: &str, value: &Value) {
    // A JSON text or list of texts is TOML too.
    plan.arguments(["-c", &format!("{key}={value}")]);
}

fn set_server(plan: &mut Plan, server: &ToolServer) {
    let Some((program, arguments)) = server.command.split_first() else { return };
    set(plan, &format!("mcp_servers.{}.command", server.name), &json!(program));
    set(plan, &format!("mcp_servers.{}.args", server.name), &json!(arguments));
    // Otherwise each call would have to be approved, and there is nobody to do it.
    set(plan, &format!("mcp_servers.{}.default_tools_approval_mode", server.name), &json!("approve"));
}

fn start_item(item: &Value, output: &mut AgentOutput) {
    let id = text(item, "/id");
    match text(item, "/type") {
        "command_execution" => output.call_tool(id, "shell", &item["command"]),
        "mcp_tool_call" => {
            let name = format!("{}.{}", text(item, "/server"), text(item, "/tool"));
            output.call_tool(id, &name, &item["arguments"]);
        }
        "web_search" => output.call_tool(id, "web_search", &item["query"]),
        "todo_list" => plan_item(item, output),
        _ => {}
    }
}

fn complete_item(item: &Value, output: &mut AgentOutput) {
    let id = text(item, "/id");
    let is_error = text(item, "/status") == "failed";
    match text(item, "/type") {
        "agent_message" => {
            output.begin_turn();
            output.end_message();
            output.say(text(item, "/text"));
        }
        "reasoning" => output.think(text(item, "/text")),
        "command_execution" => {
            output.begin_turn();
            output.return_tool(id, is_error, text(item, "/aggregated_output"));
        }
        "mcp_tool_call" => {
            output.begin_turn();
            let answer = flat_text(item.pointer("/result/content").unwrap_or_default());
            let said = if answer.is_empty() { text(item, "/error/message").to_owned() } else { answer };
            output.return_tool(id, is_error, &said);
        }
        "file_change" if !is_error => {
            output.begin_turn();
            for change in list(item, "/changes") {
                // It does not say what changes in them.
                output.edit(text(change, "/path"), None);
            }
        }
        "web_search" => output.return_tool(id, is_error, ""),
        "todo_list" => plan_item(item, output),
        _ => {}
    }
}

fn plan_item(item: &Value, output: &mut AgentOutput) {
    let step = |step: &Value| {
        let state = if step["completed"] == true { PlanState::Done } else { PlanState::Pending };
        PlanStep { text: text(step, "/text").to_owned(), state }
    };
    output.plan(list(item, "/items").iter().map(step).collect());
}

fn read_usage(usage: &Value) -> Usage {
    Usage {
        input_tokens: count(usage, "/input_tokens"),
        cached_tokens: count(usage, "/cached_input_tokens"),
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
                agent --mine exec --json --skip-git-repo-check -c approval_policy="never" -c sandbox_mode="workspace-write" -c mcp_servers.regatta.command="regatta" -c mcp_servers.regatta.args=["mcp","--session","/private folder"] -c mcp_servers.regatta.default_tools_approval_mode="approve" -m model-1 -

                agent --mine exec --json --skip-git-repo-check -c approval_policy="never" -c sandbox_mode="danger-full-access" -c mcp_servers.regatta.command="regatta" -c mcp_servers.regatta.args=["mcp","--session","/private folder"] -c mcp_servers.regatta.default_tools_approval_mode="approve" resume agent-session -

                agent --mine exec --json --skip-git-repo-check -c approval_policy="never" -c sandbox_mode="read-only" -
            "#]],
        );
    }
}
