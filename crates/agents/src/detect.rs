//! Finds the agents that are installed: known programs on PATH, and which version each says it is.
//!
//! A program is only asked for its version, with the environment and the limits of any other program of a session. What
//! it answers is read by a pure function. A program that does not answer is still there, without a version.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::JoinSet;

use crate::kind::{HeadlessKind, Kind};
use crate::run::run_to_end;

/// How long a program may take to say its version; some start a whole runtime first.
const VERSION_WAIT_MAX: Duration = Duration::from_secs(30);

/// How much of its answer is read.
const VERSION_BYTES_MAX: usize = 4096;

/// Longest version that is believed.
const VERSION_LENGTH_MAX: usize = 40;

/// An agent that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detected {
    /// The name of the program.
    pub name: &'static str,
    /// The kind of agent it is.
    pub kind: Kind,
    /// Where it is.
    pub program: PathBuf,
    /// The version it says it is, if it does.
    pub version: Option<String>,
}

/// Finds the installed agents, in a fixed order. The environment is as for a session; its PATH is searched.
pub async fn detect(environment: &[(String, String)]) -> Vec<Detected> {
    let path = environment.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.into());
    let path = path.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    let mut asked = JoinSet::new();
    for (place, (name, kind)) in known().enumerate() {
        if let Some(program) = find_program(&path, name) {
            let environment = environment.to_vec();
            asked.spawn(async move {
                let version = ask_version(&program, &environment).await;
                (place, Detected { name, kind, program, version })
            });
        }
    }
    let mut found = asked.join_all().await;
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, detected)| detected).collect()
}

/// Returns the programs that are looked for, and what they are: agents first, then their ACP bridges.
fn known() -> impl Iterator<Item = (&'static str, Kind)> {
    let agents = HeadlessKind::all().map(|kind| (kind.name(), Kind::Headless(kind)));
    let bridges = HeadlessKind::all().flat_map(HeadlessKind::bridges).map(|name| (*name, Kind::Acp));
    agents.chain(bridges)
}

fn find_program(path: &OsString, name: &str) -> Option<PathBuf> {
    let is_program = |file: &PathBuf| {
        file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    // A relative entry would depend on where somebody stands.
    std::env::split_paths(path)
        .filter(|place| place.is_absolute())
        .map(|place| place.join(name))
        .find(is_program)
}

async fn ask_version(program: &Path, environment: &[(String, String)]) -> Option<String> {
    let command = [program.to_str()?.to_owned(), "--version".to_owned()];
    let asked =
        run_to_end(&command, Path::new("/"), environment, None, VERSION_WAIT_MAX, VERSION_BYTES_MAX).await;
    let report = asked.ok().filter(|report| report.exit == Some(0))?;
    parse_version(&report.tail)
}

/// Returns the first version in what a program says of itself; a warning may have numbers of its own.
fn parse_version(text: &str) -> Option<String> {
    let is_warning = |line: &&str| line.to_ascii_lowercase().contains("warning");
    let mut words = text.lines().filter(|line| !is_warning(line)).flat_map(str::split_whitespace);
    words.find_map(|word| {
        let word = word.rsplit('/').next().unwrap_or(word);
        let word = word.trim_matches(|one: char| "()[],:;\"'".contains(one));
        let version = word.strip_prefix('v').unwrap_or(word);
        is_version(version).then(|| version.to_owned())
    })
}

/// A version is two or more numbers with dots, and maybe a suffix: `1.2`, `1.2.3-beta.1`.
fn is_version(word: &str) -> bool {
    let numbers = word.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = numbers.split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-+".contains(&byte);
    word.len() <= VERSION_LENGTH_MAX
        && parts.len() >= 2
        && parts.iter().all(is_number)
        && word.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_programs_say() {
        let said = [
            ("2.1.325 (Claude Code)\n", Some("2.1.325")),
            ("WARNING: 1.0 is old, see /a/b\ncodex-cli 0.166.0\n", Some("0.166.0")),
            ("0.61.0", Some("0.61.0")),
            (" 1.52.0\n", Some("1.52.0")),
            ("@agentclientprotocol/codex-acp 2.6.0", Some("2.6.0")),
            ("tool v1.2.3-beta.1, built today", Some("1.2.3-beta.1")),
            ("tool/3.4 linux", Some("3.4")),
            ("no version in 2026", None),
            ("1..2 1.x 1.2/ .5", None),
            ("", None),
        ];
        for (text, version) in said {
            assert_eq!(parse_version(text).as_deref(), version, "{text}");
        }
        assert_eq!(parse_version(&format!("1.{}", "2".repeat(100))), None);
    }

    #[tokio::test]
    async fn programs_on_the_path_are_found_and_asked() {
        let folder = tempfile::tempdir().unwrap();
        let install = |name: &str, script: &str, mode: u32| {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        };
        install("claude", "[ \"$1\" = --version ] && echo '2.1.325 (Claude Code)'", 0o755);
        install("codex-acp", "head -c 1000000 /dev/zero | tr '\\0' x; echo; echo codex-acp 2.6.0", 0o755);
        install("goose", "echo 1.0.0; exit 1", 0o755);
        install("gemini", "echo 1.0.0", 0o644);
        let path = format!("relative:{}:/usr/bin:/bin", folder.path().display());
        let environment = [("PATH".to_owned(), path)];
        let found = tokio::time::timeout(Duration::from_secs(120), detect(&environment)).await.unwrap();
        let is_here = |detected: &&Detected| detected.program.starts_with(folder.path());
        let shown: Vec<String> = found
            .iter()
            .filter(is_here)
            .map(|one| format!("{} {} {}", one.name, one.kind, one.version.as_deref().unwrap_or("?")))
            .collect();
        assert_eq!(shown, ["claude claude 2.1.325", "goose goose ?", "codex-acp acp 2.6.0"], "{found:?}");
    }
}
