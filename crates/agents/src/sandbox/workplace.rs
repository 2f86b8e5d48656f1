//! The usual sandbox of an agent that works in a worktree, from plain paths.
//!
//! It knows folders and not what they are for beyond that: no task, no branch, no git. What looks otherwise inside than
//! outside comes from the caller as replacements.

use std::path::{Path, PathBuf};

use super::settings::{CACHES, SECRETS, SETTINGS, Settings};
use super::{Replacement, Sandbox};

/// Where an agent works, and what is around it.
#[derive(Debug, Clone)]
pub struct Workplace<'a> {
    /// The folder it works in.
    pub worktree: &'a Path,
    /// Whether it may change that.
    pub is_worktree_writable: bool,
    /// The project whose files it may read.
    pub project: &'a Path,
    /// A folder on disk that it sees as `/tmp` and `/var/tmp`; without it, those are kept in memory.
    pub temporary: Option<&'a Path>,
    /// The user's home folder.
    pub home: Option<&'a Path>,
    /// Further folders and files that it may change.
    pub writable: Vec<PathBuf>,
    /// Further folders and files that it sees, though they lie in a folder that is emptied, such as `/tmp`.
    pub readable: Vec<PathBuf>,
    /// Further folders and files that it does not see.
    pub hidden: Vec<PathBuf>,
    /// What looks otherwise to it than outside, such as the repository's git folder.
    pub replaced: Vec<Replacement>,
    /// Program and arguments of the agent, by which its settings are known.
    pub command: &'a [String],
    /// Whether it reaches the network.
    pub has_network: bool,
}

impl Sandbox {
    /// Builds the sandbox of an agent that works in a worktree.
    ///
    /// In the home folder it may write to its own settings and to caches. An agent whose program is not known by name may
    /// be a wrapper around any other, and gets the settings of all. Keys are hidden unless they are named as writable.
    pub fn for_work(place: &Workplace<'_>) -> Sandbox {
        let mut sandbox = Sandbox {
            writable: place.writable.clone(),
            read_only: place.readable.iter().cloned().chain([place.project.to_owned()]).collect(),
            hidden: place.hidden.clone(),
            replaced: place.replaced.clone(),
            has_network: place.has_network,
        };
        let own = if place.is_worktree_writable { &mut sandbox.writable } else { &mut sandbox.read_only };
        own.push(place.worktree.to_owned());
        if let Some(temporary) = place.temporary {
            for path in ["/tmp", "/var/tmp"] {
                let by = temporary.to_owned();
                sandbox.replaced.push(Replacement { path: path.into(), by, is_writable: true });
            }
        }
        if let Some(home) = place.home {
            furnish(&mut sandbox, home, place);
        }
        sandbox
    }
}

/// Returns the folders in a home in which the agent of a command keeps what it needs to run and to be resumed.
///
/// One that is not there cannot be made from within a sandbox, so whoever builds one makes it first.
pub fn find_own_folders(command: &[String], home: &Path) -> Vec<PathBuf> {
    let is_folder = |path: &&&str| Path::new(path).extension().is_none();
    let own: Vec<PathBuf> = find_known(command)
        .flat_map(|settings| settings.writable.iter().filter(is_folder))
        .map(|path| home.join(path))
        .collect();
    let cache = (!own.is_empty()).then(|| home.join(CACHES[0]));
    own.into_iter().chain(cache).collect()
}

fn furnish(sandbox: &mut Sandbox, home: &Path, place: &Workplace<'_>) {
    let is_named = |path: &PathBuf| place.writable.iter().any(|named| named.starts_with(path));
    let below = |paths: &[&str]| paths.iter().map(|path| home.join(path)).collect::<Vec<_>>();
    // The home may lie in a folder that is emptied, such as `/tmp`.
    sandbox.read_only.push(home.to_owned());
    for settings in find_settings(place.command) {
        sandbox.writable.extend(below(settings.writable));
        sandbox.read_only.extend(below(settings.read_only));
    }
    sandbox.writable.extend(below(&CACHES));
    sandbox.hidden.extend(below(&SECRETS).into_iter().filter(|path| !is_named(path)));
}

/// Returns the settings of the agent whose program a command names, or of all when it names none.
fn find_settings(command: &[String]) -> impl Iterator<Item = &'static Settings> {
    let is_known = find_known(command).next().is_some();
    SETTINGS.iter().filter(move |settings| !is_known || is_named(settings, command))
}

fn find_known(command: &[String]) -> impl Iterator<Item = &'static Settings> {
    SETTINGS.iter().filter(move |settings| is_named(settings, command))
}

/// A bridge is named after its agent: `codex-acp` keeps what `codex` does.
fn is_named(settings: &Settings, command: &[String]) -> bool {
    let name_of =
        |word: &String| Path::new(word).file_name().and_then(|name| name.to_str()).map(str::to_owned);
    command.iter().filter_map(name_of).any(|name| {
        let rest = name.strip_prefix(settings.program);
        rest.is_some_and(|rest| rest.is_empty() || rest == "-acp" || rest == "-agent-acp")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox(command: &[&str], writable: &[&str]) -> Sandbox {
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        Sandbox::for_work(&Workplace {
            worktree: Path::new("/p/.state/w"),
            is_worktree_writable: true,
            project: Path::new("/p"),
            home: Some(Path::new("/h")),
            writable: writable.iter().map(PathBuf::from).collect(),
            readable: Vec::new(),
            hidden: vec![PathBuf::from("/p/.state")],
            command: &command,
            temporary: None,
            replaced: Vec::new(),
            has_network: true,
        })
    }

    #[test]
    fn a_known_agent_gets_its_own_settings_and_a_wrapper_those_of_all() {
        let holds = |sandbox: &Sandbox, path: &str| sandbox.writable.contains(&PathBuf::from(path));
        let claude = sandbox(&["/usr/bin/claude", "-p"], &[]);
        assert!(holds(&claude, "/h/.claude") && !holds(&claude, "/h/.codex"));
        assert!(claude.read_only.contains(&PathBuf::from("/h/.claude/settings.json")));
        let bridge = sandbox(&["/opt/claude-agent-acp"], &[]);
        assert!(holds(&bridge, "/h/.claude") && !holds(&bridge, "/h/.codex"));
        let through_npx = sandbox(&["npx", "codex"], &[]);
        assert!(holds(&through_npx, "/h/.codex") && !holds(&through_npx, "/h/.claude"));
        let wrapper = sandbox(&["sh", "agent.sh"], &[]);
        assert!(holds(&wrapper, "/h/.codex") && holds(&wrapper, "/h/.claude"));
        assert!(holds(&wrapper, "/p/.state/w") && holds(&wrapper, "/h/.cache"));
    }

    #[test]
    fn keys_are_hidden_unless_they_are_named() {
        let hides = |sandbox: &Sandbox, path: &str| sandbox.hidden.contains(&PathBuf::from(path));
        assert!(hides(&sandbox(&[], &[]), "/h/.ssh") && hides(&sandbox(&[], &[]), "/p/.state"));
        let named = sandbox(&[], &["/h/.ssh"]);
        assert!(!hides(&named, "/h/.ssh") && hides(&named, "/h/.gnupg"));
    }
}
