//! Where the programs are installed, and what a test does when one is not.

use std::path::{Path, PathBuf};

use super::agent::{Agent, NODE, entry};

/// Names the folder with the programs, for checkouts that share one.
const PLACE: &str = "REGATTA_AGENT_PROGRAMS";

/// Set by `cargo xtask test` after it has installed them: then a missing program is a failure.
const REQUIRED: &str = "REGATTA_AGENT_PROGRAMS_REQUIRED";

/// An agent whose programs are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    agent: Agent,
    place: PathBuf,
}

/// Finds an agent; where it is not installed a test says so and skips itself.
///
/// Panics when programs must be there, as they must be under `cargo xtask test` once it has installed them.
pub fn find(agent: Agent) -> Option<Installed> {
    let found = find_below(&place(), agent);
    if found.is_none() {
        say_missing(agent.name());
    }
    found
}

/// Finds a program of the table that is no agent, such as `node`; like [`find`].
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = Some(path_of(&place(), name)).filter(|path| path.is_file());
    if path.is_none() {
        say_missing(name);
    }
    path
}

fn say_missing(name: &str) {
    assert!(std::env::var_os(REQUIRED).is_none(), "{name} is not installed: run `cargo xtask agents`");
    eprintln!("skipped: {name} is not installed; `cargo xtask agents` does that");
}

/// Finds an agent below a folder.
fn find_below(place: &Path, agent: Agent) -> Option<Installed> {
    let is_there = agent.needs().into_iter().all(|program| path_of(place, program).is_file());
    is_there.then(|| Installed { agent, place: place.to_path_buf() })
}

impl Installed {
    /// Returns the agent.
    pub fn agent(&self) -> Agent {
        self.agent
    }

    /// Returns the program with the arguments that make it this agent.
    pub fn command(&self) -> Vec<String> {
        let program = self.program(self.agent.program());
        let arguments = self.agent.arguments().iter().map(|argument| (*argument).to_owned());
        [program].into_iter().chain(arguments).collect()
    }

    /// Returns the folder that it is in with all the others.
    pub fn folder(&self) -> &Path {
        &self.place
    }

    /// Returns the path of a program of the table.
    pub(crate) fn program(&self, program: &str) -> String {
        path_of(&self.place, program).to_string_lossy().into_owned()
    }

    /// Returns the folder of the program that runs JavaScript.
    pub(crate) fn node_folder(&self) -> PathBuf {
        path_of(&self.place, NODE).parent().map_or_else(PathBuf::new, Path::to_path_buf)
    }
}

/// Returns the folder with the programs: the one that the environment names, or `target/agent-programs`.
fn place() -> PathBuf {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/agent-programs");
    let place = std::env::var_os(PLACE).map_or_else(own, PathBuf::from);
    // Without `..`: in a sandbox a folder on the way may not be there.
    place.canonicalize().unwrap_or(place)
}

fn path_of(place: &Path, program: &str) -> PathBuf {
    let entry = entry(program);
    let folder = format!("{program}-{}", entry.version);
    place.join(folder).join("node_modules").join(entry.program.replace("{arch}", arch()))
}

/// Returns the word that npm packages have for this machine.
fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::write_below;

    #[test]
    fn an_agent_is_found_when_all_of_its_programs_are_there() {
        let place = tempfile::tempdir().unwrap();
        let put = |program: &str| {
            let path = path_of(place.path(), program);
            write_below(place.path(), path.strip_prefix(place.path()).unwrap().to_str().unwrap(), "");
        };
        put("codex-acp");
        put("node");
        assert_eq!(find_below(place.path(), Agent::CodexAcp), None);
        put("codex");
        let found = find_below(place.path(), Agent::CodexAcp).unwrap();
        assert!(found.command()[0].ends_with("/codex-acp-2.6.0/node_modules/.bin/codex-acp"));
        assert!(found.node_folder().ends_with(format!("node-linux-{}/bin", arch())));
    }

    #[test]
    fn an_acp_server_is_its_program_with_an_argument() {
        let installed = Installed { agent: Agent::GooseAcp, place: PathBuf::from("/p") };
        let command = installed.command();
        assert!(command[0].ends_with("/bin/goose"), "{command:?}");
        assert_eq!(command[1..], ["acp"]);
    }
}
