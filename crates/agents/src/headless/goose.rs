//! goose: `goose run --output-format stream-json`.
//!
//! Its events are `message`, `notification`, `error` and `complete`. It exits with 0 whatever happens: an error of the
//! provider is a text in the agent's own voice, told by how it begins. Usage counts from the beginning of the session, also
//! before it was resumed, and has no cost. A session is known by the name that it is given at its start.

use serde_json::Value;

use super::agent::{Adapter, HeadlessAgent};
use super::event::{count, flat_text, is_set, list, text};
use super::open_edits::OpenEdits;
use super::plan::Plan;
use crate::agent_output::AgentOutput;
use crate::home::{Format, Given, Home};
use crate::output::PermissionAnswer;
use crate::permission::Permissions;
use crate::start::{Start, ToolServer};
use crate::usage::Usage;

/// What the rest of the program knows of it.
pub(super) const AGENT: HeadlessAgent =
    HeadlessAgent { name: "goose", bridges: &[], home: HOME, adapter: || Box::new(Goose::default()) };

/// What it keeps in a home. Its keyring is out of reach in a sandbox, so a key must be in the file or a variable.
const HOME: Home = Home {
    moved_by: &[("XDG_DATA_HOME", ".local/share"), ("XDG_CONFIG_HOME", ".config")],
    files: &[
        Given::settings(
            ".config/goose/secrets.yaml",
            Format::Yaml,
            &[
                "OPENAI_*",
                "ANTHROPIC_*",
                "GOOGLE_API_KEY",
                "OPENROUTER_*",
                "GROQ_*",
                "XAI_*",
                "AZURE_OPENAI_*",
                "DATABRICKS_TOKEN",
                "LITELLM_*",
                "VENICE_*",
            ],
        ),
        Given {
            added: EXTENSIONS,
            ..Given::settings(
                ".config/goose/config.yaml",
                Format::Yaml,
                &[
                    "GOOSE_*",
                    "OPENAI_*",
                    "ANTHROPIC_HOST",
                    "OLLAMA_HOST",
                    "DATABRICKS_HOST",
                    "AZURE_OPENAI_*",
                    "OPENROUTER_HOST",
                    "LITELLM_*",
                    "GCP_*",
                ],
            )
        },
        Given::text(".config/goose/.goosehints"),
    ],
    kept: &[".local/share/goose/sessions"],
    places: &[],
    variables: &[("GOOSE_DISABLE_KEYRING", "1")],
    is_always_private: false,
    long_lived: "a key of the provider does not rotate; give it with `env = [\"OPENAI_API_KEY\"]` or the like",
};

/// The built-in tools, without which it cannot change a file.
const EXTENSIONS: &str = "extensions:\n  developer:\n    bundled: true\n    enabled: true\n    name: developer\n    \
                          timeout: 300\n    type: platform\n";

/// How a message begins that is an error and not the agent's.
const ERROR_BEGINNINGS: [&str; 3] = ["Ran into this error:", "Network error:", "Error: "];

/// What it adds to such a message for a person.
const ERROR_ADVICE: [&str; 2] = [
    "Please retry if you think this is a transient or recoverable error.",
    "Please resend your message to try again.",
];

/// What a tool returns that was not run because the session may only talk.
const SKIPPED: &str = "skipped in goose chat mode";

/// Tools that change the file which they are given.
const WRITING_TOOLS: [&str; 2] = ["write", "edit"];

/// Reads the stream of goose.
#[derive(Debug, Default)]
struct Goose {
    session: String,
    /// The message that is being said, which comes in pieces.
    message: String,
    open_edits: OpenEdits,
}

impl Adapter for Goose {
    fn plan(&mut self, start: &Start, command: &[String]) -> Plan {
        self.session = start.resume.clone().unwrap_or_else(|| start.session.to_string());
        let mut plan = Plan::new(command, &start.prompt);
        plan.subcommand("run");
        plan.arguments(["--output-format", "stream-json", "--quiet", "--name", &self.session]);
        if start.resume.is_some() {
            plan.arguments(["--resume"]);
        }
        if let Some(server) = &start.tools {
            plan.arguments(["--with-extension", &extension(server, start)]);
        }
        if let Some(model) = &start.model {
            plan.arguments(["--model", model]);
        }
        // It cannot ask without a terminal; where nothing may be allowed, it may only talk.
        let mode = match start.permissions {
            Permissions::Ask if start.asks_about_commands() => "chat",
            Permissions::Worktree | Permissions::Ask => "auto",
            Permissions::Deny => "chat",
        };
        plan.variable("GOOSE_MODE", mode);
        plan.arguments(["--instructions", "-"]);
        plan
    }

    fn read(&mut self, event: &Value, output: &mut AgentOutput) {
        match text(event, "/type") {
            "message" => {
                output.name_session(&self.session);
                self.read_message(&event["message"], output);
            }
            "error" => fail(text(event, "/error"), output),
            "complete" => {
                output.use_since_beginning(read_usage(event));
                output.finish();
            }
            _ => {}
        }
    }

    fn read_error(&mut self, line: &str, output: &mut AgentOutput) {
        if line.contains("No session found") {
            output.lose_session();
            output.fail(line);
        }
    }
}

impl Goose {
    fn read_message(&mut self, message: &Value, output: &mut AgentOutput) {
        let is_assistant = message["role"] == "assistant";
        let id = text(message, "/id");
        let is_new = is_assistant && id != self.message;
        if is_new {
            self.message = id.to_owned();
            output.end_message();
            output.begin_turn();
        }
        for block in list(message, "/content") {
            match text(block, "/type") {
                "text" if is_assistant => say(text(block, "/text"), is_new, output),
                "error" => fail(text(block, "/message"), output),
                "thinking" => output.think(text(block, "/thinking")),
                "toolRequest" => self.read_call(block, output),
                "toolResponse" => self.read_return(block, output),
                _ => {}
            }
        }
    }

    fn read_call(&mut self, block: &Value, output: &mut AgentOutput) {
        let call = &block["toolCall"]["value"];
        let (id, name) = (text(block, "/id"), text(call, "/name"));
        output.call_tool(id, name, &call["arguments"]);
        if WRITING_TOOLS.contains(&name) {
            self.open_edits.open(id, text(call, "/arguments/path"), &call["arguments"]);
        }
    }

    fn read_return(&mut self, block: &Value, output: &mut AgentOutput) {
        let id = text(block, "/id");
        let result = &block["toolResult"];
        let answer = flat_text(result.pointer("/value/content").unwrap_or_default());
        let is_skipped = answer.contains(SKIPPED);
        let is_error = text(result, "/status") == "error" || is_set(result, "/value/isError") || is_skipped;
        let said = if answer.is_empty() { text(result, "/error").to_owned() } else { answer };
        output.return_tool(id, is_error, &said);
        if is_skipped {
            output.ask("call a tool", PermissionAnswer::Denied, "goose");
        }
        self.open_edits.close(id, is_error, output);
    }
}

/// An error is a whole message; the same words in the middle of one are the agent's own.
fn say(said: &str, is_new: bool, output: &mut AgentOutput) {
    if is_new && ERROR_BEGINNINGS.iter().any(|beginning| said.starts_with(beginning)) {
        fail(said, output);
    } else {
        output.recover();
        output.say(said);
    }
}

fn fail(said: &str, output: &mut AgentOutput) {
    let mut said = said.trim();
    for advice in ERROR_ADVICE {
        said = said.trim_end_matches(advice).trim_end();
    }
    output.fail(said);
}

/// Returns the server as one text, `name:program argument …`, quoted as for a shell.
///
/// A resumed session still has the server of its earlier start, which is gone; a name can be taken only once.
fn extension(server: &ToolServer, start: &Start) -> String {
    let words: Vec<String> = server.command.iter().map(|word| quote(word)).collect();
    let mut name = server.name.clone();
    if start.resume.is_some() {
        name += &format!("_{:08x}", digest(start.session.as_str()));
    }
    format!("{name}:{}", words.join(" "))
}

/// Returns a short number for a text (FNV-1a): providers bound the length of a tool's name.
fn digest(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |digest, byte| (digest ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn quote(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn read_usage(event: &Value) -> Usage {
    Usage {
        input_tokens: count(event, "/input_tokens"),
        cached_tokens: count(event, "/cache_read_input_tokens"),
        output_tokens: count(event, "/output_tokens"),
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
                agent --mine run --output-format stream-json --quiet --name session-1 --with-extension regatta:regatta mcp --session '/private folder' --model model-1 --instructions -
                  GOOSE_MODE=auto

                agent --mine run --output-format stream-json --quiet --name agent-session --resume --with-extension regatta_736a51cd:regatta mcp --session '/private folder' --instructions -
                  GOOSE_MODE=auto

                agent --mine run --output-format stream-json --quiet --name session-1 --instructions -
                  GOOSE_MODE=chat
            "#]],
        );
    }
}
