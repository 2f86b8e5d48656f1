//! How a headless agent is started: command line, environment, files and input, as plain data.
//!
//! Nothing secret goes into the command line, which every user of the machine can read; the prompt goes to standard
//! input, which also has no bound on its size.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use serde_json::{Value, json};

use crate::start::{Start, StartError, ToolServer};

/// How a program is to be started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) command: Vec<String>,
    /// Variables for those that the session's own environment does not name.
    pub(crate) environment: Vec<(String, String)>,
    /// Files of the private folder: their names and texts.
    pub(crate) files: Vec<(&'static str, String)>,
    /// What it gets on standard input.
    pub(crate) input: String,
}

impl Plan {
    /// Begins with the user's own words. Subcommand and options are added after them.
    pub(crate) fn new(command: &[String], prompt: &str) -> Plan {
        let (environment, files) = (Vec::new(), Vec::new());
        Plan { command: command.to_vec(), environment, files, input: prompt.to_owned() }
    }

    /// Adds words to the command line.
    pub(crate) fn arguments<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        self.command.extend(words.into_iter().map(str::to_owned));
    }

    /// Adds a subcommand, unless the user named it in order to put options of it behind.
    pub(crate) fn subcommand(&mut self, name: &str) {
        if !self.command.iter().skip(1).any(|word| word == name) {
            self.command.push(name.to_owned());
        }
    }

    /// Adds a variable.
    pub(crate) fn variable(&mut self, name: &str, value: impl Into<String>) {
        self.environment.push((name.to_owned(), value.into()));
    }

    /// Adds a file of the private folder and returns its path as text.
    pub(crate) fn file(&mut self, start: &Start, name: &'static str, content: &Value) -> String {
        self.files.push((name, format!("{content:#}\n")));
        start.private.join(name).to_string_lossy().into_owned()
    }
}

/// Returns the server of tools in the form that several agents share: `{"command": …, "args": […]}`.
pub(crate) fn server_entry(server: &ToolServer) -> Value {
    let (program, arguments) = server.command.split_first().map_or(("", &[][..]), |(one, rest)| (one, rest));
    json!({ "command": program, "args": arguments })
}

/// Writes the files of a plan, for their owner only.
pub(crate) fn save_files(private: &Path, files: &[(&'static str, String)]) -> Result<(), StartError> {
    for (name, text) in files {
        let path = private.join(name);
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(flags)
            .open(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|source| StartError::PrivateFile { path, source })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use expect_test::{Expect, expect};

    use super::*;
    use crate::kind::HeadlessKind;
    use crate::permission::Permissions;
    use crate::sandbox::Sandbox;
    use crate::testing::{headless, start_for};
    use crate::usage::Usage;

    /// Shows a first start with tools and a model, a resumed one in a sandbox, and one that is allowed nothing.
    fn check(kind: HeadlessKind, expected: Expect) {
        let plain = start_for(Path::new("/project"));
        let command = ["regatta", "mcp", "--session", "/private folder"].map(str::to_owned).to_vec();
        let first = Start {
            tools: Some(ToolServer { name: "regatta".to_owned(), command }),
            model: Some("model-1".to_owned()),
            ..plain.clone()
        };
        let mut resumed = Start {
            resume: Some("agent-session".to_owned()),
            resumed_usage: Some(Usage { cost_micros: Some(500_000), ..Usage::default() }),
            sandbox: Some(Sandbox::default()),
            tools: first.tools.clone(),
            ..plain.clone()
        };
        resumed.limits.cost_micros_max = Some(2_000_000);
        let denied = Start { permissions: Permissions::Deny, ..plain };
        let shown: Vec<String> = [first, resumed, denied].iter().map(|start| show(kind, start)).collect();
        expected.assert_eq(&shown.join("\n"));
    }

    fn show(kind: HeadlessKind, start: &Start) -> String {
        let plan = kind.adapter().plan(start, &["agent".to_owned(), "--mine".to_owned()]);
        assert_eq!(plan.input, start.prompt);
        assert!(!plan.command.iter().any(|word| word.contains(&start.prompt)), "{:?}", plan.command);
        let mut shown = format!("{}\n", plan.command.join(" "));
        for (name, value) in plan.environment {
            shown += &format!("  {name}={value}\n");
        }
        for (name, text) in plan.files {
            let value: Value = serde_json::from_str(&text).unwrap();
            shown += &format!("  {name}: {value}\n");
        }
        shown
    }

    #[test]
    fn claude() {
        check(
            headless("claude"),
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

    #[test]
    fn codex() {
        check(
            headless("codex"),
            expect![[r#"
                agent --mine exec --json --skip-git-repo-check -c approval_policy="never" -c sandbox_mode="workspace-write" -c mcp_servers.regatta.command="regatta" -c mcp_servers.regatta.args=["mcp","--session","/private folder"] -c mcp_servers.regatta.default_tools_approval_mode="approve" -m model-1 -

                agent --mine exec --json --skip-git-repo-check -c approval_policy="never" -c sandbox_mode="danger-full-access" -c mcp_servers.regatta.command="regatta" -c mcp_servers.regatta.args=["mcp","--session","/private folder"] -c mcp_servers.regatta.default_tools_approval_mode="approve" resume agent-session -

                agent --mine exec --json --skip-git-repo-check -c approval_policy="never" -c sandbox_mode="read-only" -
            "#]],
        );
    }

    #[test]
    fn gemini() {
        check(
            headless("gemini"),
            expect![[r#"
                agent --mine --output-format stream-json --skip-trust --approval-mode yolo --model model-1
                  GEMINI_CLI_SYSTEM_DEFAULTS_PATH=/private/gemini-settings.json
                  gemini-settings.json: {"mcpServers":{"regatta":{"command":"regatta","args":["mcp","--session","/private folder"],"trust":true}}}

                agent --mine --output-format stream-json --skip-trust --approval-mode yolo --resume agent-session
                  GEMINI_CLI_SYSTEM_DEFAULTS_PATH=/private/gemini-settings.json
                  gemini-settings.json: {"mcpServers":{"regatta":{"command":"regatta","args":["mcp","--session","/private folder"],"trust":true}}}

                agent --mine --output-format stream-json --skip-trust --approval-mode default
            "#]],
        );
    }

    #[test]
    fn opencode() {
        check(
            headless("opencode"),
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

    #[test]
    fn goose() {
        check(
            headless("goose"),
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

    #[test]
    fn a_subcommand_of_the_user_is_not_doubled() {
        let command = ["npx", "codex", "exec", "--profile", "mine"].map(str::to_owned);
        let plan = headless("codex").adapter().plan(&start_for(Path::new("/project")), &command);
        assert!(plan.command.join(" ").starts_with("npx codex exec --profile mine --json "), "{plan:?}");
    }

    #[test]
    fn files_are_private_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let files = [("settings.json", "{}\n".to_owned())];
        save_files(folder.path(), &files).unwrap();
        save_files(folder.path(), &files).unwrap();
        let path = folder.path().join("settings.json");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(matches!(save_files(folder.path(), &files), Err(StartError::PrivateFile { .. })));
        assert!(!folder.path().join("elsewhere").exists());
    }
}
