//! A scratch home for agents, and the whole environment that they are started with.

use std::path::Path;

use tempfile::TempDir;

use super::agent::Agent;
use super::config;
use super::installed::Installed;
use crate::repo::write_below;

/// A home that no user has: config files that point at a stub model, and what agents write meanwhile.
#[derive(Debug)]
pub struct Home {
    folder: TempDir,
    model: String,
}

/// What an agent may do without asking, as far as its config or environment says it.
///
/// Some programs take this as arguments instead, which are the adapters' subject.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Permissions {
    /// Everything.
    #[default]
    Allow,
    /// It has to ask.
    Ask,
}

impl Home {
    /// Makes an empty home for agents that ask the model at this address (`http://127.0.0.1:41234`).
    pub fn new(model: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        Home { folder, model: model.to_owned() }
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes the agent's config and returns its whole environment; nothing else is to be passed on.
    pub fn prepare(&self, installed: &Installed, permissions: Permissions) -> Vec<(String, String)> {
        let agent = installed.agent();
        for (path, text) in config::files(agent, &self.model, permissions) {
            write_below(self.path(), path, &text);
        }
        // Codex keeps its helper out of a home below TMPDIR, so TMPDIR is below the home.
        let temporary = self.path().join("tmp");
        std::fs::create_dir_all(&temporary).expect("the folder for temporary files can be made");
        let mut variables = vec![
            ("PATH".to_owned(), search_path(installed)),
            ("HOME".to_owned(), show(self.path())),
            ("TMPDIR".to_owned(), show(&temporary)),
        ];
        variables.extend(config::variables(agent, &self.model, permissions, self.path()));
        match agent {
            Agent::ClaudeAcp => {
                variables.push(variable("CLAUDE_CODE_EXECUTABLE", installed.program("claude")))
            }
            Agent::CodexAcp => variables.push(variable("CODEX_PATH", installed.program("codex"))),
            _ => {}
        }
        variables
    }
}

/// Returns a variable with its value.
pub(crate) fn variable(name: &str, value: impl Into<String>) -> (String, String) {
    (name.to_owned(), value.into())
}

/// Returns `PATH` with our own node before any other.
fn search_path(installed: &Installed) -> String {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let folders = [installed.node_folder()].into_iter().chain(std::env::split_paths(&inherited));
    std::env::join_paths(folders)
        .map_or_else(|_| show(&installed.node_folder()), |path| path.to_string_lossy().into_owned())
}

fn show(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
