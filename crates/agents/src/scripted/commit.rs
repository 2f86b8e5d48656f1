//! Commits the working folder for a script, by the git program.
//!
//! Hooks, signing and prompts are off, and git may not look for a repository above the folder. The identity is
//! the one in the session's environment, or a stand-in.

use crate::folder::Folder;

/// The identity used when the session's environment names none.
const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Regatta scripted agent"),
    ("GIT_AUTHOR_EMAIL", "agent@regatta.invalid"),
    ("GIT_COMMITTER_NAME", "Regatta scripted agent"),
    ("GIT_COMMITTER_EMAIL", "agent@regatta.invalid"),
];

/// Settings that keep the user's own out of the way, and git from leaving work behind in the background.
const SETTINGS: [&str; 5] = [
    "core.hooksPath=/dev/null",
    "commit.gpgSign=false",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// Takes all changes into the index.
pub(super) fn add_command() -> Vec<String> {
    git(&["add", "--all"])
}

/// Exits with 1 if there is something to commit, with 0 if there is nothing.
pub(super) fn compare_command() -> Vec<String> {
    git(&["diff", "--cached", "--quiet", "--no-ext-diff"])
}

/// Commits the index.
pub(super) fn commit_command(message: &str) -> Vec<String> {
    git(&["commit", "--quiet", "--no-verify", "--message", message])
}

/// Returns the environment for git: the session's own, and what it leaves open.
pub(super) fn environment(folder: &Folder, given: &[(String, String)]) -> Vec<(String, String)> {
    let mut variables: Vec<(String, String)> =
        IDENTITY.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    variables.extend_from_slice(given);
    variables.push(("GIT_TERMINAL_PROMPT".to_owned(), "0".to_owned()));
    if let Some(above) = folder.root().parent().and_then(|above| above.to_str()) {
        variables.push(("GIT_CEILING_DIRECTORIES".to_owned(), above.to_owned()));
    }
    variables
}

fn git(arguments: &[&str]) -> Vec<String> {
    let mut command = vec!["git".to_owned()];
    for setting in SETTINGS {
        command.extend(["-c".to_owned(), setting.to_owned()]);
    }
    command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    command
}
