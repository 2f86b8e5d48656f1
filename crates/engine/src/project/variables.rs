//! The variables that the config gives an agent: passed on, written there, read from a file, or printed by a
//! command.
//!
//! The file is read, or the command run, again for every session, so that a changed key takes effect. The
//! values are secrets: they are never written into a transcript.

use crate::project::config::{AgentEntry, Source, Variable};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// How long a command may take; it may ask a person to unlock something.
const COMMAND_WAIT_MAX: Duration = Duration::from_secs(60);

/// Longest value; the system allows no more for one variable.
const VALUE_BYTES_MAX: usize = 128 * 1024;

/// How much of a failed command's output is shown.
const COMPLAINT_BYTES_MAX: usize = 400;

/// The variables of one session.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    /// Names and values.
    pub(crate) values: Vec<(String, String)>,
    /// The names of those whose values are secrets, whatever they are called.
    pub(crate) secrets: Vec<String>,
}

/// Why the value of a variable could not be obtained.
#[derive(Debug, thiserror::Error)]
#[error("no value for the variable {name}: {why}")]
pub(crate) struct Missing {
    name: String,
    why: String,
}

/// Finds the values of an agent's variables; one that is passed on but not set is left out.
pub(crate) async fn resolve(entry: &AgentEntry, root: &Path) -> Result<Resolved, Missing> {
    let mut resolved = Resolved::default();
    for Variable { name, source } in &entry.environment {
        let missing = |why: String| Missing { name: name.clone(), why };
        let value = match source {
            Source::Passed(from) => match std::env::var(from) {
                Ok(value) => value,
                Err(_) => continue,
            },
            Source::Value(value) => value.clone(),
            Source::File(path) => read_file(&place(path, root)).map_err(missing)?,
            Source::Command(command) => ask(command, root).await.map_err(missing)?,
        };
        if matches!(source, Source::File(_) | Source::Command(_)) {
            resolved.secrets.push(name.clone());
        }
        resolved.values.push((name.clone(), value));
    }
    Ok(resolved)
}

/// Returns the place of a file of the config: from the project's root, or from the home folder after `~`.
pub(crate) fn place(path: &Path, root: &Path) -> PathBuf {
    match (path.strip_prefix("~"), std::env::var_os("HOME")) {
        (Ok(below), Some(home)) => Path::new(&home).join(below),
        _ => root.join(path),
    }
}

fn read_file(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let bytes = std::fs::read(path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
    to_value(bytes).map_err(|why| format!("{shown} {why}"))
}

async fn ask(command: &[String], root: &Path) -> Result<String, String> {
    let shown = command.last().map(String::as_str).unwrap_or_default();
    let Some((program, arguments)) = command.split_first() else {
        return Err("the command is empty".to_owned());
    };
    let mut asked = Command::new(program);
    asked.args(arguments).current_dir(root).stdin(Stdio::null()).kill_on_drop(true);
    let output = match tokio::time::timeout(COMMAND_WAIT_MAX, asked.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("`{shown}` cannot be started: {error}")),
        Err(_) => return Err(format!("`{shown}` took longer than {} s", COMMAND_WAIT_MAX.as_secs())),
    };
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let first =
            complaint.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it printed nothing");
        let first: String = first.chars().take(COMPLAINT_BYTES_MAX).collect();
        return Err(format!("`{shown}` failed ({}): {first}", output.status));
    }
    to_value(output.stdout).map_err(|why| format!("what `{shown}` printed {why}"))
}

/// Returns a text without its final line ending.
fn to_value(bytes: Vec<u8>) -> Result<String, &'static str> {
    if bytes.len() > VALUE_BYTES_MAX {
        return Err("is too long for a variable");
    }
    let text = String::from_utf8(bytes).map_err(|_| "is no text")?;
    let value = text.trim_end_matches(['\n', '\r']);
    if value.is_empty() {
        return Err("is empty");
    }
    Ok(value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::config::Config;

    async fn resolve_in(folder: &Path, env: &str) -> Result<Resolved, Missing> {
        let text = format!("[agents.a]\nkind = \"command\"\ncommand = \"true\"\nenv = {env}\n");
        let config = Config::parse(&text, Path::new("config.toml")).unwrap();
        resolve(config.agents.values().next().unwrap(), folder).await
    }

    #[tokio::test]
    async fn values_come_from_where_the_config_says() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("key"), "from a file\r\n").unwrap();
        let env = r#"{ A = "plain", B = { file = "key" }, C = { command = "printf 'asked\n'" }, D = { variable = "PATH" }, E = { variable = "NOT_SET_ANYWHERE" } }"#;
        let resolved = resolve_in(folder.path(), env).await.unwrap();
        let find =
            |name: &str| resolved.values.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        assert_eq!((find("A"), find("B"), find("C")), (Some("plain"), Some("from a file"), Some("asked")));
        assert_eq!((find("D").is_some(), find("E")), (true, None));
        assert_eq!(resolved.secrets, ["B", "C"]);
        assert!(
            resolve_in(folder.path(), r#"["PATH", "NOT_SET_ANYWHERE"]"#).await.unwrap().values.len() == 1
        );
    }

    #[tokio::test]
    async fn what_cannot_be_had_says_why() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("empty"), "\n").unwrap();
        for (env, why) in [
            (r#"{ K = { command = "echo locked >&2; exit 3" } }"#, "failed (exit status: 3): locked"),
            (r#"{ K = { command = ["/no/such/program"] } }"#, "cannot be started"),
            (r#"{ K = { file = "missing" } }"#, "cannot be read"),
            (r#"{ K = { file = "empty" } }"#, "is empty"),
        ] {
            let said = resolve_in(folder.path(), env).await.unwrap_err().to_string();
            assert!(said.starts_with("no value for the variable K: ") && said.contains(why), "{said}");
        }
    }
}
