//! `[paths]`: where the folders of state files are.

use super::{Fault, fault};
use crate::core::find_nearest;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Deserialize)]
#[serde(default)]
pub(super) struct RawPaths {
    pub(super) worktrees: PathBuf,
    /// Was a setting once; see [`RawPaths::check`].
    sessions: Option<toml::Value>,
    pub(super) task_states: PathBuf,
    pub(super) archives: PathBuf,
    /// Every other key names the folder of a workflow.
    #[serde(flatten)]
    pub(super) folders: BTreeMap<String, PathBuf>,
}

impl Default for RawPaths {
    fn default() -> Self {
        RawPaths {
            worktrees: ".regatta/worktrees".into(),
            sessions: None,
            task_states: ".regatta/task-states".into(),
            archives: ".regatta/archives".into(),
            folders: BTreeMap::new(),
        }
    }
}

impl RawPaths {
    pub(super) fn check(&self) -> Result<(), Fault> {
        self.check_folders()?;
        let Some(given) = &self.sessions else { return Ok(()) };
        Err(fault(
            "sessions",
            format!(
                "`paths.sessions` is no longer a setting: transcripts are kept in `.git/regatta/sessions`; \
                 remove the line, and move there what you want to keep of {given}"
            ),
        ))
    }
}

impl RawPaths {
    /// A folder of a workflow has the name that it has there, and nobody else writes to it.
    fn check_folders(&self) -> Result<(), Fault> {
        const KEYS: [&str; 3] = ["worktrees", "task_states", "archives"];
        for (name, path) in &self.folders {
            if let Some(known) = find_nearest(name, KEYS) {
                let message = format!(
                    "`paths.{name}` is no setting; did you mean `{known}`? Any other name is that of a workflow's `folder`"
                );
                return Err(fault(name, message));
            }
            if !regatta_flow::is_safe_path(name) {
                return Err(fault(
                    name,
                    format!("`paths.{name}`: no workflow can have a folder of that name"),
                ));
            }
            let others = self.folders.iter().filter(|(other, _)| *other != name).map(|(_, path)| path);
            let own = [&self.worktrees, &self.task_states, &self.archives];
            if others.chain(own).any(|other| other == path) {
                let message = format!("`paths.{name}`: {} is used for something else", path.display());
                return Err(fault(name, message));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::project::config::Config;
    use std::path::Path;

    fn parse(paths: &str) -> Result<Config, String> {
        let text = format!("[paths]\n{paths}\n");
        Config::parse(&text, Path::new("config.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_name_that_is_no_setting_is_that_of_a_folder() {
        let config = parse("cycles = \".workflow/.cycle\"\n\"a/b\" = \"c\"").unwrap();
        let found: Vec<(&str, &Path)> =
            config.folders.iter().map(|(name, path)| (name.as_str(), path.as_path())).collect();
        assert_eq!(found, [("a/b", Path::new("c")), ("cycles", Path::new(".workflow/.cycle"))]);
    }

    #[test]
    fn a_mistyped_setting_and_a_folder_with_two_names_are_refused() {
        let said = parse("worktree = \"x\"").unwrap_err();
        assert!(said.starts_with("config.toml:2:") && said.contains("did you mean `worktrees`?"), "{said}");
        for paths in [
            "cycles = \"x\"\ngroups = \"x\"",
            "cycles = \".regatta/archives\"",
            "\"../cycles\" = \"x\"",
            "sessions = \"x\"",
        ] {
            assert!(parse(paths).is_err(), "{paths}");
        }
    }
}
