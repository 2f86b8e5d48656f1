//! What an agent of the config still needs before it can work: a program, a script, a variable, a login.
//!
//! Nothing is started and nothing is asked over the network, so a login that is there may still have run out. An agent is
//! only said to lack one where neither a variable nor a file of it can be seen.

use crate::project::Project;
use crate::project::config::{AgentEntry, Program, Source};
use crate::project::reach;
use crate::project::variables;
use std::path::{Path, PathBuf};

/// Lists what an agent lacks, each in a few words; nothing if it can start.
pub(crate) fn find_missing(project: &Project, entry: &AgentEntry) -> Vec<String> {
    let mut missing = Vec::new();
    let command = match &entry.program {
        Program::Scripted { script } => {
            let place = project.place(script);
            if !place.is_file() {
                missing.push(format!("script {} is not there", place.display()));
            }
            None
        }
        Program::Command { command } | Program::Headless { command, .. } | Program::Acp { command } => {
            command.first()
        }
    };
    if let Some(program) = command.filter(|program| !is_installed(program, project.root())) {
        let place = if program.contains('/') { "is not there" } else { "is not on PATH" };
        missing.push(format!("program `{program}` {place}"));
    }
    for variable in &entry.environment {
        match &variable.source {
            Source::Passed(from) if std::env::var_os(from).is_none() => {
                missing.push(format!("variable {from} is not set"));
            }
            Source::File(path) => {
                let place = variables::place(path, project.root());
                if !place.is_file() {
                    missing.push(format!(
                        "variable {}: file {} is not there",
                        variable.name,
                        place.display()
                    ));
                }
            }
            Source::Passed(_) | Source::Value(_) | Source::Command(_) => {}
        }
    }
    if missing.is_empty()
        && !is_key_given(entry)
        && let Some(login) = reach::look_at_login(entry).filter(|login| login.found.is_empty())
    {
        missing.push(format!("login: none was found; log in, or use one that lasts: {}", login.long_lived));
    }
    missing
}

/// Tells whether a program can be started; a path is taken from the worktree, so one in the project counts.
fn is_installed(program: &str, root: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let is_program = |file: PathBuf| {
        file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return is_program(root.join(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|place| is_program(place.join(program)))
}

/// Tells whether a variable stands for a login: a key or a token of a provider, or a provider of one's own.
fn is_key_given(entry: &AgentEntry) -> bool {
    const ENDS: [&str; 7] =
        ["_API_KEY", "_TOKEN", "_BASE_URL", "_PROVIDER", "_CREDENTIALS", "_CONFIG", "_HOST"];
    const USES: &str = "_USE_";
    let is_key = |name: &str| ENDS.iter().any(|end| name.ends_with(end)) || name.contains(USES);
    entry.environment.iter().any(|variable| is_key(&variable.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use regatta_testkit::repo::TestRepo;

    async fn missing(config: &str) -> Vec<String> {
        let repo = TestRepo::new();
        repo.write(".regatta/config.toml", config);
        crate::project::trust::trust(repo.path()).unwrap();
        let project = Project::open(repo.path()).await.unwrap();
        let root = format!("{}/", project.root().display());
        let found = find_missing(&project, project.config().agents.values().next().unwrap());
        found.into_iter().map(|text| text.replace(&root, "")).collect()
    }

    #[tokio::test]
    async fn program_script_variable_and_file_are_named() {
        let none: [&str; 0] = [];
        assert_eq!(missing("[agents.a]\nkind = \"command\"\ncommand = \"true\"\n").await, none);
        assert_eq!(
            missing("[agents.a]\nkind = \"command\"\ncommand = \"no-such-program-of-ours\"\nenv = [\"NOT_SET_ANYWHERE\"]\n").await,
            ["program `no-such-program-of-ours` is not on PATH", "variable NOT_SET_ANYWHERE is not set"]
        );
        assert_eq!(
            missing(
                "[agents.a]\nkind = \"command\"\ncommand = \"./run.sh\"\nenv = { K = { file = \"key\" } }\n"
            )
            .await,
            ["program `./run.sh` is not there", "variable K: file key is not there"]
        );
        assert_eq!(
            missing("[agents.a]\nkind = \"scripted\"\nscript = \"play.toml\"\n").await,
            ["script play.toml is not there"]
        );
    }

    #[tokio::test]
    async fn a_key_stands_for_a_login() {
        let repo = TestRepo::new();
        repo.write(
            ".regatta/config.toml",
            "[agents.a]\nkind = \"claude\"\nenv = [\"PAGER\"]\n[agents.b]\nkind = \"claude\"\nenv = [\"ANTHROPIC_API_KEY\"]\n",
        );
        crate::project::trust::trust(repo.path()).unwrap();
        let project = Project::open(repo.path()).await.unwrap();
        let given: Vec<bool> = project.config().agents.values().map(is_key_given).collect();
        assert_eq!(given, [false, true]);
    }
}
