//! What points each program at the stub model: its config files and its variables, with keys that are good for nothing.
//!
//! Updates, telemetry and lists of models from elsewhere are switched off: a program asks the stub and nobody else.

use std::path::Path;

use serde_json::json;

use super::agent::Agent;
use super::home::{Permissions, variable};

/// A model that Gemini CLI knows; it refuses names that it does not.
const GEMINI_MODEL: &str = "gemini-2.5-flash";

/// The model of all others. Codex treats a name that it knows as one with tools of its own, which a stub has not.
const MODEL: &str = "stub-model";

/// Returns the config files of an agent, with their paths in the home.
pub(crate) fn files(agent: Agent, model: &str, permissions: Permissions) -> Vec<(&'static str, String)> {
    match agent {
        Agent::Codex | Agent::CodexAcp => vec![(".codex/config.toml", codex(model))],
        Agent::Gemini | Agent::GeminiAcp => vec![(".gemini/settings.json", gemini())],
        Agent::Goose | Agent::GooseAcp => vec![(".config/goose/config.yaml", goose(permissions))],
        Agent::Opencode | Agent::OpencodeAcp => {
            vec![(".config/opencode/opencode.json", opencode(model, permissions))]
        }
        Agent::Qwen => vec![(".qwen/settings.json", qwen())],
        Agent::Claude | Agent::ClaudeAcp => Vec::new(),
    }
}

/// Returns the variables of an agent.
pub(crate) fn variables(
    agent: Agent,
    model: &str,
    permissions: Permissions,
    home: &Path,
) -> Vec<(String, String)> {
    match agent {
        Agent::Claude | Agent::ClaudeAcp => vec![
            variable("CLAUDE_CONFIG_DIR", home.join(".claude").to_string_lossy()),
            variable("ANTHROPIC_BASE_URL", model),
            variable("ANTHROPIC_API_KEY", "sk-ant-stub"),
            variable("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            variable("DISABLE_TELEMETRY", "1"),
            variable("DISABLE_AUTOUPDATER", "1"),
            variable("DISABLE_ERROR_REPORTING", "1"),
            // Tools of MCP servers are shown at once, not behind a search.
            variable("ENABLE_TOOL_SEARCH", "false"),
            variable("CLAUDE_CODE_MAX_RETRIES", "2"),
        ],
        Agent::Codex => vec![variable("STUB_KEY", "sk-stub")],
        Agent::CodexAcp => {
            let mode = if permissions == Permissions::Ask { "read-only" } else { "agent-full-access" };
            vec![variable("STUB_KEY", "sk-stub"), variable("INITIAL_AGENT_MODE", mode)]
        }
        Agent::Gemini | Agent::GeminiAcp => vec![
            variable("GEMINI_API_KEY", "stub-key"),
            variable("GEMINI_MODEL", GEMINI_MODEL),
            variable("GOOGLE_GEMINI_BASE_URL", model),
            variable("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            variable("GEMINI_TELEMETRY_ENABLED", "false"),
        ],
        Agent::Goose | Agent::GooseAcp => vec![
            variable("GOOSE_DISABLE_KEYRING", "1"),
            variable("OPENAI_HOST", model),
            variable("OPENAI_API_KEY", "sk-stub"),
            variable("GOOSE_PROVIDER", "openai"),
            variable("GOOSE_MODEL", MODEL),
            variable("GOOSE_MODE", goose_mode(permissions)),
        ],
        Agent::Opencode | Agent::OpencodeAcp => vec![
            variable("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            variable("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            variable("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
            variable("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ],
        Agent::Qwen => vec![
            variable("OPENAI_BASE_URL", format!("{model}/v1")),
            variable("OPENAI_API_KEY", "sk-stub"),
            variable("OPENAI_MODEL", MODEL),
            variable("QWEN_USAGE_STATISTICS_ENABLED", "false"),
            variable("QWEN_TELEMETRY_ENABLED", "false"),
        ],
    }
}

fn codex(model: &str) -> String {
    format!(
        "model = \"{MODEL}\"\nmodel_provider = \"stub\"\ncheck_for_update_on_startup = false\n\n\
         [model_providers.stub]\nname = \"stub\"\nbase_url = \"{model}/v1\"\nwire_api = \"responses\"\n\
         env_key = \"STUB_KEY\"\nrequest_max_retries = 1\nstream_max_retries = 1\n\n[analytics]\nenabled = false\n"
    )
}

fn gemini() -> String {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
        "privacy": {"usageStatisticsEnabled": false},
        "general": {"enableAutoUpdate": false, "disableAutoUpdate": true, "disableUpdateNag": true},
        "telemetry": {"enabled": false},
    });
    settings.to_string()
}

fn qwen() -> String {
    let settings = json!({
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": false},
        "general": {"enableAutoUpdate": false},
        "telemetry": {"enabled": false},
    });
    settings.to_string()
}

fn goose(permissions: Permissions) -> String {
    let mode = goose_mode(permissions);
    format!(
        "GOOSE_PROVIDER: openai\nGOOSE_MODEL: {MODEL}\nGOOSE_MODE: {mode}\nGOOSE_TELEMETRY_ENABLED: false\n\
         extensions:\n  developer:\n    bundled: true\n    enabled: true\n    name: developer\n    timeout: 300\n    \
         type: platform\n"
    )
}

fn goose_mode(permissions: Permissions) -> &'static str {
    match permissions {
        Permissions::Allow => "auto",
        Permissions::Ask => "approve",
    }
}

fn opencode(model: &str, permissions: Permissions) -> String {
    let may = if permissions == Permissions::Ask { "ask" } else { "allow" };
    let name = format!("stub/{MODEL}");
    let limit = json!({"context": 128_000, "output": 8_000});
    let described =
        json!({"name": "stub", "tool_call": true, "limit": limit, "cost": {"input": 1, "output": 10}});
    let settings = json!({
        "autoupdate": false,
        "share": "disabled",
        "model": name,
        "small_model": name,
        "permission": {"edit": may, "bash": may},
        "provider": {"stub": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "stub",
            "options": {"baseURL": format!("{model}/v1"), "apiKey": "sk-stub"},
            "models": {MODEL: described},
        }},
    });
    settings.to_string()
}
