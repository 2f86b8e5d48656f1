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

use crate::permission::Permissions;
use crate::start::{Start, StartError, ToolServer};

/// How a program is to be started.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) command: Vec<String>,
    /// Variables for those that the session's own environment does not name.
    pub(crate) environment: Vec<(String, String)>,
    /// Files of the private folder: their names and texts.
    pub(crate) files: Vec<(&'static str, String)>,
    /// A file of settings in the session's home, and the fields that are added to it.
    pub(crate) home_settings: Option<(&'static str, Value)>,
    /// What it gets on standard input.
    pub(crate) input: String,
}

impl Plan {
    /// Begins with the user's own words. Subcommand and options are added after them.
    pub(crate) fn new(command: &[String], prompt: &str) -> Plan {
        Plan {
            command: command.to_vec(),
            environment: Vec::new(),
            files: Vec::new(),
            home_settings: None,
            input: prompt.to_owned(),
        }
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

/// Returns the approval mode of agents that cannot ask without a terminal; `edits` is their word for the mode that
/// allows edits and no commands.
pub(crate) fn approval_mode(start: &Start, edits: &'static str) -> &'static str {
    match start.permissions {
        // A person would have to be asked about each command, so it runs none.
        Permissions::Ask if start.asks_about_commands() => edits,
        Permissions::Worktree | Permissions::Ask => "yolo",
        Permissions::Deny => "default",
    }
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

    use super::*;
    use crate::testing::{headless, start_for};

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
