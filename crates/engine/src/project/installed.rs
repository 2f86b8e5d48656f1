//! The agents that are installed on this machine, and writing them into the config.

use crate::core::AgentId;
use crate::error::Error;
use crate::project::Project;
use crate::project::config::Config;
use regatta_agents::{Detected, HeadlessKind, Kind};
use regatta_files::disk;
use serde::Serialize;

/// An agent that is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstalledView {
    /// What it is called in the config.
    pub id: String,
    /// Its kind.
    pub kind: &'static str,
    /// Where its program is.
    pub program: String,
    /// The version that it says it is.
    pub version: Option<String>,
    /// Whether the config had an entry of that name already.
    pub is_known: bool,
}

/// Returns the names of the agents that have a kind of their own.
pub fn known_agents() -> &'static [&'static str] {
    HeadlessKind::names()
}

/// Finds the agents that are installed.
pub async fn find_installed(project: &Project) -> Vec<InstalledView> {
    let found = regatta_agents::detect(&[]).await;
    found.iter().map(|detected| view(project.config(), detected)).collect()
}

fn view(config: &Config, detected: &Detected) -> InstalledView {
    let is_same = |id: &AgentId| id.as_str() == detected.name;
    InstalledView {
        id: detected.name.to_owned(),
        kind: detected.kind.name(),
        program: detected.program.display().to_string(),
        version: detected.version.clone(),
        is_known: config.agents.keys().any(is_same),
    }
}

/// Adds entries for installed agents at the end of the config; what stands there is left as it is.
///
/// The new text is checked before it replaces the old one.
pub fn add_to_config(project: &Project, installed: &[InstalledView]) -> Result<(), Error> {
    let path = project.config_path();
    let mut text = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
    for agent in installed.iter().filter(|agent| !agent.is_known) {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&entry(agent));
    }
    Config::parse(&text, &path)?;
    disk::write_atomically(&path, text.as_bytes()).map_err(Error::StateFile)
}

fn entry(agent: &InstalledView) -> String {
    let command =
        if agent.kind == Kind::Acp.name() { format!("command = [{:?}]\n", agent.id) } else { String::new() };
    format!("\n[agents.{}]\nkind = \"{}\"\n{command}", agent.id, agent.kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_kind_of_entry_can_be_read_back() {
        for kind in HeadlessKind::all().map(Kind::Headless).chain([Kind::Acp]) {
            let agent = InstalledView {
                id: "codex-acp".to_owned(),
                kind: kind.name(),
                program: "codex-acp".to_owned(),
                version: None,
                is_known: false,
            };
            let config = Config::parse(&entry(&agent), Path::new("config.toml")).unwrap();
            assert_eq!(config.agents.len(), 1, "{kind}");
        }
    }
}
