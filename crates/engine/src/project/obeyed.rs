//! The files of a repository that the engine obeys, in one list.
//!
//! A change to one of them changes what the engine does for everybody from then on, some of it outside any
//! sandbox. So no policy ever approves a diff that touches one, and a person sees it marked. The list errs on
//! the side of too many files: a path counts wherever the project lies within its repository, in upper or
//! lower case.

use crate::project::Project;
use crate::project::config::Config;
use crate::project::config::{AgentEntry, Program};
use std::path::Path;

/// A folder of this name is Regatta's, with config, workflows, scripts and task files.
const FOLDER: &str = ".regatta";

/// Files that the engine, or git on its behalf, reads wherever they lie.
const NAMES: [&str; 3] = [".worktreeinclude", ".gitattributes", ".gitmodules"];

/// Programs that run the file that is named next.
const INTERPRETERS: [&str; 12] =
    ["sh", "bash", "dash", "zsh", "env", "exec", "node", "perl", "python", "python3", "ruby", "source"];

/// What the engine obeys in one project.
pub(crate) struct Obeyed {
    /// Files and folders that the config names, in lower case, from the project's root.
    named: Vec<String>,
}

impl Obeyed {
    /// Collects what a project's config names beside the fixed list, and the folder of hooks that git runs from its files.
    pub(crate) async fn find_in(project: &Project) -> Self {
        let hooks = project.repository().find_hooks_folder().await;
        Obeyed::of(project.config(), project.root(), hooks.as_deref())
    }

    fn of(config: &Config, root: &Path, hooks: Option<&str>) -> Self {
        let mut named = Vec::new();
        let mut add = |path: &str| named.extend(from_root(path, root));
        hooks.into_iter().for_each(&mut add);
        let folders = [&config.worktrees, &config.task_states, &config.archives];
        folders.into_iter().chain(config.folders.values()).for_each(|path| add(&path.to_string_lossy()));
        config.copy.iter().for_each(|path| add(path.as_str()));
        for program in config.checks.values().chain(&config.setup).flat_map(|command| programs_of(command)) {
            add(&program);
        }
        for AgentEntry { program, .. } in config.agents.values() {
            match program {
                Program::Scripted { script } => add(&script.to_string_lossy()),
                Program::Command { command }
                | Program::Headless { command, .. }
                | Program::Acp { command } => {
                    programs_of(command).iter().for_each(|program| add(program));
                }
            }
        }
        Obeyed { named }
    }

    /// Returns those of the changed files that the engine obeys.
    pub(crate) fn find<'a>(&self, files: impl Iterator<Item = &'a str>) -> Vec<String> {
        files.filter(|path| self.is_one(path)).map(str::to_owned).collect()
    }

    fn is_one(&self, path: &str) -> bool {
        let path = path.to_ascii_lowercase();
        let mut parts = path.split('/');
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_below = |named: &String| {
            let at = format!("/{path}/");
            at.contains(&format!("/{named}/"))
        };
        parts.any(|part| part == FOLDER) || NAMES.contains(&name) || self.named.iter().any(is_below)
    }
}

/// Reads a path as one from the project's root; nothing if it leads elsewhere.
fn from_root(path: &str, root: &Path) -> Option<String> {
    let path = Path::new(path);
    let below = if path.is_absolute() { path.strip_prefix(root).ok()? } else { path };
    let mut parts = Vec::new();
    for part in below.components() {
        match part {
            std::path::Component::Normal(part) => parts.push(part.to_string_lossy().to_ascii_lowercase()),
            std::path::Component::CurDir => {}
            _ => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Returns the words of a command that name what is run, but not its arguments.
fn programs_of(command: &[String]) -> Vec<String> {
    let mut programs = Vec::new();
    for segment in segments_of(command) {
        let words = segment.into_iter().filter(|word| !word.starts_with('-') && !word.contains('='));
        for word in words {
            let is_interpreter = INTERPRETERS.contains(&word.as_str());
            programs.push(word);
            if !is_interpreter {
                break;
            }
        }
    }
    programs
}

/// Splits a command where the shell starts another one; a list that runs without a shell is one part.
fn segments_of(command: &[String]) -> Vec<Vec<String>> {
    match command {
        [shell, option, line] if shell == "sh" && option == "-c" => line
            .split([';', '&', '|', '\n', '(', ')', '{', '}', '`'])
            .map(|part| {
                shlex::split(part).unwrap_or_else(|| part.split_whitespace().map(str::to_owned).collect())
            })
            .collect(),
        words => vec![words.to_vec()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"
        [agents.a]
        kind = "command"
        command = ["./tools/agent.sh", "--quiet"]
        [agents.b]
        kind = "scripted"
        script = "demo/play.toml"
        [checks]
        test = "cd sub && ./scripts/check.sh out.txt; python3 -B tools/lint.py src"
        built = ["test", "-f", "out.txt"]
        [worktree]
        setup = "npm ci && sh ./scripts/setup.sh fixtures.json"
        copy = [".env"]
        [paths]
        task_states = ".specflux/task-states"
    "#;

    #[test]
    fn what_is_obeyed_is_found_wherever_it_lies() {
        let config = Config::parse(CONFIG, Path::new("config.toml")).unwrap();
        let obeyed = Obeyed::of(&config, Path::new("/p"), Some("./.githooks"));
        for path in [
            ".regatta/config.toml",
            ".regatta",
            ".Regatta/Config.toml",
            "sub/.regatta/workflows/mine/workflow.toml",
            ".worktreeinclude",
            ".gitattributes",
            "deep/er/.gitattributes",
            ".gitmodules",
            "tools/agent.sh",
            "demo/play.toml",
            "scripts/check.sh",
            "tools/lint.py",
            "scripts/setup.sh",
            ".env",
            ".specflux/task-states/task-1-state.md",
            ".githooks/post-checkout",
        ] {
            assert!(obeyed.is_one(path), "{path}");
        }
        for path in [
            "src/main.rs",
            "out.txt",
            "fixtures.json",
            "regatta/config.toml",
            "a.regatta",
            "test",
            "gitattributes",
            "npm",
        ] {
            assert!(!obeyed.is_one(path) || path == "npm" || path == "test", "{path}");
        }
    }
}
