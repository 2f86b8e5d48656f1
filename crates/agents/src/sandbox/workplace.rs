//! The usual sandbox of an agent that works in a worktree, from plain paths.
//!
//! It knows folders and not what they are for beyond that: no task, no branch, no git. What looks otherwise inside than
//! outside comes from the caller as replacements.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::process::getuid;

use super::{Replacement, Sandbox};
use crate::home::{OpenHome, cache_environment, find_shown};
use crate::kind::HeadlessKind;

/// Where an agent works, and what is around it.
#[derive(Debug)]
pub struct Workplace<'a> {
    /// The folder it works in.
    pub worktree: &'a Path,
    /// Whether it may change that.
    pub is_worktree_writable: bool,
    /// The project whose files it may read.
    pub project: &'a Path,
    /// A folder on disk that it sees as `/tmp` and `/var/tmp`; without it, those are kept in memory.
    pub temporary: Option<&'a Path>,
    /// The home that it gets.
    pub home: &'a OpenHome,
    /// The user's home, in whose place it is seen.
    pub user: Option<&'a Path>,
    /// The cache of build tools that it shares with others.
    pub cache: Option<&'a Path>,
    /// Further folders and files that it may change.
    pub writable: Vec<PathBuf>,
    /// Further folders and files that it sees, though they lie in a folder that is hidden, such as the home or `/tmp`.
    pub readable: Vec<PathBuf>,
    /// Further folders and files that it does not see.
    pub hidden: Vec<PathBuf>,
    /// What looks otherwise to it than outside, such as the repository's git folder.
    pub replaced: Vec<Replacement>,
    /// Program and arguments of the agent, which it must be able to see.
    pub command: &'a [String],
    /// Whether it reaches the network.
    pub has_network: bool,
}

/// Where the home is seen when the user has none, or the root of the machine.
const HOME_OTHERWISE: &str = "/tmp/home";

/// Where the cache of build tools is seen, below the home.
const CACHE: &str = ".cache/regatta";

/// Folders that hold what programs leave for each other, and are hidden.
const EMPTIED: [&str; 3] = ["/tmp", "/var/tmp", "/run"];

/// Variables that move what programs keep to themselves out of the home; what they name is hidden like the home. Those
/// of agents are in the description of each.
const MOVED: [&str; 18] = [
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "GNUPGHOME",
    "PASSWORD_STORE_DIR",
    "CARGO_HOME",
    "GRADLE_USER_HOME",
    "NPM_CONFIG_USERCONFIG",
    "npm_config_userconfig",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
    "AZURE_CONFIG_DIR",
    "CLOUDSDK_CONFIG",
    "DOCKER_CONFIG",
    "GH_CONFIG_DIR",
    "KUBECONFIG",
    "PGPASSFILE",
];

impl Sandbox {
    /// Builds the sandbox of an agent that works in a worktree.
    ///
    /// Of the user's home it sees the folders of PATH, with the toolchains behind them, and what is given as readable or
    /// writable. Everything else there is its own home.
    pub fn for_work(place: &Workplace<'_>) -> Sandbox {
        let mut sandbox = Sandbox {
            writable: place.writable.clone(),
            read_only: place.readable.iter().cloned().chain([place.project.to_owned()]).collect(),
            hidden: place.hidden.clone(),
            replaced: place.replaced.clone(),
            environment: Vec::new(),
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
        furnish(&mut sandbox, place);
        sandbox
    }
}

fn furnish(sandbox: &mut Sandbox, place: &Workplace<'_>) {
    let homes = find_homes(place.user);
    let home = homes.first().cloned().unwrap_or_else(|| HOME_OTHERWISE.into());
    let emptied = EMPTIED.iter().filter_map(|path| Path::new(path).canonicalize().ok());
    let moved = find_moved(&home, &|name| std::env::var_os(name));
    let hidden: Vec<PathBuf> = homes.iter().cloned().chain(emptied).chain(moved.iter().cloned()).collect();
    sandbox.hidden.extend(moved);
    let shown = find_shown(&homes, &hidden, place.command, place.readable.iter().chain(&place.writable));
    place.home.link(&home, &shown.links);
    sandbox.hidden.extend(homes.into_iter().skip(1));
    sandbox.read_only.extend(shown.paths);
    let mut replace = |path: PathBuf, by: &Path| {
        sandbox.replaced.push(Replacement { path, by: by.to_owned(), is_writable: true });
    };
    replace(home.clone(), place.home.folder());
    let environment = &mut sandbox.environment;
    if let Some(cache) = place.cache {
        replace(home.join(CACHE), cache);
        environment.extend(cache_environment(&home.join(CACHE)));
    }
    environment.extend(shown.environment);
    environment.extend(place.home.environment(&home));
    // A user may keep these elsewhere; inside they are where programs expect them.
    for (name, path) in [
        ("HOME", ""),
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
    ] {
        let place = if path.is_empty() { home.clone() } else { home.join(path) };
        environment.push((name.to_owned(), place.to_string_lossy().into_owned()));
    }
}

/// Returns the home folders of the user, without symlinks: the one that is in use first, then that of the account.
fn find_homes(user: Option<&Path>) -> Vec<PathBuf> {
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let account = find_account_home(&accounts, getuid().as_raw());
    let mut homes: Vec<PathBuf> = Vec::new();
    for home in user.map(Path::to_owned).into_iter().chain(account) {
        // A home that is the root of the machine cannot be hidden.
        let Some(home) = home.canonicalize().ok().filter(|home| home.is_dir() && home.parent().is_some())
        else {
            continue;
        };
        if !homes.contains(&home) {
            homes.push(home);
        }
    }
    homes
}

/// Returns what lies elsewhere and is as private as the home: never the root, nor anything that holds the home.
fn find_moved(home: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let of_agents = HeadlessKind::all().flat_map(|kind| kind.home().moved_by).map(|(name, _)| *name);
    let mut found = Vec::new();
    for name in MOVED.into_iter().chain(of_agents) {
        let Some(path) = variable(name).and_then(|path| Path::new(&path).canonicalize().ok()) else {
            continue;
        };
        let is_apart = path.parent().is_some() && !home.starts_with(&path) && !path.starts_with(home);
        if is_apart && !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

fn find_account_home(accounts: &str, user: u32) -> Option<PathBuf> {
    accounts.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let is_own = fields.get(2).and_then(|id| id.parse().ok()) == Some(user);
        is_own.then(|| fields.get(5).map(PathBuf::from)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::HomePlan;
    use crate::testing::headless;

    #[test]
    fn the_home_is_its_own_and_tools_find_their_caches() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["user/project", "cache", "tools"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        let user = root.join("user");
        let plan = HomePlan {
            folder: &root.join("home"),
            user: &user,
            login: Some(headless("claude")),
            git_user: None,
        };
        let home = OpenHome::open(&plan).unwrap();
        let sandbox = Sandbox::for_work(&Workplace {
            worktree: &user.join("project/w"),
            is_worktree_writable: true,
            project: &user.join("project"),
            home: &home,
            user: Some(&user),
            cache: Some(&root.join("cache")),
            writable: vec![user.join("data")],
            readable: Vec::new(),
            hidden: Vec::new(),
            command: &[],
            temporary: None,
            replaced: Vec::new(),
            has_network: true,
        });
        assert_eq!(sandbox.writable, [user.join("data"), user.join("project/w")]);
        assert!(!sandbox.read_only.contains(&user) && sandbox.read_only.contains(&user.join("project")));
        let replaced = |path: PathBuf, by: &str| Replacement { path, by: root.join(by), is_writable: true };
        assert_eq!(sandbox.replaced, [replaced(user.clone(), "home"), replaced(user.join(CACHE), "cache")]);
        let variable = |name: &str| {
            let found = sandbox.environment.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, value)| PathBuf::from(value))
        };
        assert_eq!(variable("HOME"), Some(user.clone()));
        assert_eq!(variable("CARGO_HOME"), Some(user.join(".cache/regatta/cargo")));
        assert_eq!(variable("CLAUDE_CONFIG_DIR"), Some(user.join(".claude")));
    }

    #[test]
    fn what_was_moved_out_of_the_home_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["home/.config", "config"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        let found = find_moved(&root.join("home"), &|name| match name {
            "XDG_CONFIG_HOME" => Some(root.join("config").into()),
            "XDG_DATA_HOME" => Some(root.join("home/.config").into()),
            "XDG_STATE_HOME" => Some(root.clone().into()),
            "CARGO_HOME" => Some("/no/such/folder".into()),
            _ => None,
        });
        assert_eq!(found, [root.join("config")]);
    }

    #[test]
    fn the_account_has_a_home_too() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\nme:x:1000:1000:Me:/people/me:/bin/sh\nbroken\n";
        assert_eq!(find_account_home(accounts, 1000), Some("/people/me".into()));
        assert_eq!(find_account_home(accounts, 1), None);
    }
}
