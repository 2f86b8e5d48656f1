//! Gemini CLI: `gemini --output-format stream-json`.
//!
//! Its events are `init`, `message`, `tool_use`, `tool_result`, `error` and `result`; the exit code is the HTTP status cut
//! to a byte and says nothing. It tries again for minutes by itself and says so on standard error only. Tokens are those of
//! the run; there is no cost.
//!
//! No option names a server of tools. The variables that name system settings will not do: it reads such a file only if root
//! owns it and every folder above, and nobody else may write there. So the server stands in the settings of a home that is
//! ours, which `GEMINI_CLI_HOME` names.

use serde_json::{Value, json};

use super::agent::{Adapter, HeadlessAgent};
use super::event::{count, text};
use super::open_edits::OpenEdits;
use super::plan::{Plan, approval_mode, server_entry};
use crate::agent_output::AgentOutput;
use crate::classify::classify;
use crate::failure::FailureClass;
use crate::home::{Format, Given, Home, Rotation};
use crate::start::Start;
use crate::usage::Usage;

/// What the rest of the program knows of it.
pub(super) const AGENT: HeadlessAgent =
    HeadlessAgent { name: "gemini", bridges: &[], home: HOME, adapter: || Box::new(Gemini::default()) };

/// What it keeps in a home.
const HOME: Home = Home {
    moved_by: &[("GEMINI_CLI_HOME", "")],
    files: &[
        Given {
            path: ".gemini/oauth_creds.json",
            source: None,
            format: Format::Json,
            fields: &["access_token", "refresh_token", "scope", "token_type", "id_token", "expiry_date"],
            otherwise: None,
            added: "",
            rotation: Some(Rotation {
                record: "",
                fields: &["access_token", "refresh_token", "id_token", "expiry_date"],
                stamp: "expiry_date",
                same: &["token_type"],
            }),
        },
        Given::settings(".gemini/google_accounts.json", Format::Json, &["active"]),
        Given::settings(
            ".gemini/.env",
            Format::Variables,
            &[
                "GEMINI_API_KEY",
                "GEMINI_MODEL",
                "GOOGLE_API_KEY",
                "GOOGLE_CLOUD_*",
                "GOOGLE_GENAI_*",
                "GOOGLE_GEMINI_*",
            ],
        ),
        Given::settings(
            SETTINGS,
            Format::Json,
            &[
                "security/auth/selectedType",
                "security/folderTrust",
                "selectedAuthType",
                "privacy",
                "general/enableAutoUpdate",
                "general/disableAutoUpdate",
                "general/disableUpdateNag",
                "telemetry/enabled",
                "model",
            ],
        ),
        Given::text(".gemini/GEMINI.md"),
    ],
    kept: &[".gemini/tmp", ".gemini/history", ".gemini/projects.json", ".gemini/installation_id"],
    places: &[("GEMINI_CLI_HOME", "")],
    variables: &[],
    is_always_private: true,
    long_lived: "an API key does not rotate; give it with `env = [\"GEMINI_API_KEY\"]`",
};

const SETTINGS: &str = ".gemini/settings.json";

/// Tools that change the file which they are given.
const WRITING_TOOLS: [&str; 2] = ["write_file", "replace"];

/// Reads the stream of Gemini CLI.
#[derive(Debug, Default)]
struct Gemini {
    open_edits: OpenEdits,
    /// Whether the model is answering.
    is_in_turn: bool,
}

impl Adapter for Gemini {
    fn plan(&mut self, start: &Start, command: &[String]) -> Plan {
        let mut plan = Plan::new(command, &start.prompt);
        let approval = approval_mode(start, "auto_edit");
        plan.arguments(["--output-format", "stream-json", "--skip-trust", "--approval-mode", approval]);
        if let Some(server) = &start.tools {
            let mut entry = server_entry(server);
            entry["trust"] = json!(true);
            let mut servers = serde_json::Map::new();
            servers.insert(server.name.clone(), entry);
            plan.home_settings = Some((SETTINGS, json!({ "mcpServers": servers })));
        }
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
            "init" => output.name_session(text(event, "/session_id")),
            "message" if event["role"] == "assistant" => {
                self.begin_turn(output);
                if event["delta"] != true {
                    output.end_message();
                }
                output.say(text(event, "/content"));
            }
            "tool_use" => self.read_call(event, output),
            "tool_result" => self.read_return(event, output),
            "error" if event["severity"] != "warning" => output.fail(text(event, "/message")),
            "result" => read_result(event, output),
            _ => {}
        }
    }

    fn read_error(&mut self, line: &str, output: &mut AgentOutput) {
        if line.starts_with("Attempt ") && line.contains(" failed") {
            let verdict =
                classify(line, output.now()).filter(|verdict| verdict.class == FailureClass::RateLimit);
            if let Some(verdict) = verdict {
                output.limit_rate(&verdict.message, verdict.until);
            }
        } else if line.starts_with("Error resuming session") {
            output.lose_session();
            output.fail(line);
        }
    }
}

impl Gemini {
    /// Several calls may belong to one answer of the model; the next answer follows what they return.
    fn begin_turn(&mut self, output: &mut AgentOutput) {
        if !std::mem::replace(&mut self.is_in_turn, true) {
            output.begin_turn();
        }
    }

    fn read_call(&mut self, event: &Value, output: &mut AgentOutput) {
        self.begin_turn(output);
        let (id, name) = (text(event, "/tool_id"), text(event, "/tool_name"));
        output.call_tool(id, name, &event["parameters"]);
        if WRITING_TOOLS.contains(&name) {
            self.open_edits.open(id, text(event, "/parameters/file_path"), &event["parameters"]);
        }
    }

    fn read_return(&mut self, event: &Value, output: &mut AgentOutput) {
        self.is_in_turn = false;
        let id = text(event, "/tool_id");
        let is_error = event["status"] == "error";
        let said = if is_error { text(event, "/error/message") } else { text(event, "/output") };
        output.return_tool(id, is_error, said);
        self.open_edits.close(id, is_error, output);
    }
}

fn read_result(event: &Value, output: &mut AgentOutput) {
    output.use_total(Usage {
        input_tokens: count(event, "/stats/input_tokens"),
        cached_tokens: count(event, "/stats/cached"),
        output_tokens: count(event, "/stats/output_tokens"),
        cost_micros: None,
    });
    if event["status"] == "success" {
        output.recover();
        output.finish();
    } else {
        output.fail(text(event, "/error/message"));
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
                agent --mine --output-format stream-json --skip-trust --approval-mode yolo --model model-1
                  ~/.gemini/settings.json: {"mcpServers":{"regatta":{"command":"regatta","args":["mcp","--session","/private folder"],"trust":true}}}

                agent --mine --output-format stream-json --skip-trust --approval-mode yolo --resume agent-session
                  ~/.gemini/settings.json: {"mcpServers":{"regatta":{"command":"regatta","args":["mcp","--session","/private folder"],"trust":true}}}

                agent --mine --output-format stream-json --skip-trust --approval-mode default
            "#]],
        );
    }
}
