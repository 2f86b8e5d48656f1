//! Turns a [`Sandbox`] into the arguments of bubblewrap.
//!
//! Symlinks in the given paths are resolved first, because a mount on a symlink lands where it points. Mounts are made from
//! the shortest path to the longest, so that each lies over what is above it. Only the existence of paths is asked for;
//! nothing is created or changed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Sandbox;

/// The program of bubblewrap.
pub(crate) const PROGRAM: &str = "bwrap";

/// Namespaces and rights. The capabilities matter when the engine is root: with them, every mount could be undone.
const SEPARATION: [&str; 8] = [
    "--die-with-parent",
    "--new-session",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
];

/// Folders for passing things, which a session has to itself. They are kept in memory unless they are replaced.
const EMPTIED: [&str; 2] = ["/tmp", "/var/tmp"];

/// The folder of sockets and of what programs leave for each other.
const RUN: &str = "/run";

/// What is shown of `/run` all the same: how names are looked up, and where some systems keep their programs. The
/// sockets there are not: over those of a container engine or a user's service manager a program leaves any sandbox.
const KEPT_OF_RUN: [&str; 6] = [
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/nscd",
    "/run/current-system",
    "/run/opengl-driver",
];

/// What is to be seen at a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sight {
    Empty { is_writable: bool },
    Nothing,
    Shown { from: PathBuf, is_writable: bool },
}

/// Returns the arguments that run a command in a folder inside the sandbox.
pub(crate) fn arguments(sandbox: &Sandbox, folder: &Path, command: &[OsString]) -> Vec<OsString> {
    let mut words: Vec<OsString> = SEPARATION.map(OsString::from).into();
    if !sandbox.has_network {
        words.push("--unshare-net".into());
    }
    for word in ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"] {
        words.push(word.into());
    }
    let sights = sights(sandbox, command);
    for (path, sight) in &sights {
        push(&mut words, path, sight);
    }
    // Only now, since the places for what is shown in them had to be made. What is hidden takes up no memory so.
    for (path, _) in sights.iter().filter(|(_, sight)| *sight == Sight::Empty { is_writable: false }) {
        words.extend(["--remount-ro".into(), path.clone().into_os_string()]);
    }
    words.extend(["--chdir".into(), resolve(folder).unwrap_or_else(|| folder.to_owned()).into_os_string()]);
    words.push("--".into());
    words.extend(command.iter().cloned());
    words
}

fn push(words: &mut Vec<OsString>, path: &Path, sight: &Sight) {
    let (option, from) = match sight {
        Sight::Empty { .. } => {
            words.extend(["--tmpfs".into(), path.into()]);
            return;
        }
        Sight::Nothing => ("--ro-bind", Path::new("/dev/null")),
        Sight::Shown { from, is_writable: true } => ("--bind", from.as_path()),
        Sight::Shown { from, is_writable: false } => ("--ro-bind", from.as_path()),
    };
    words.extend([option.into(), from.into(), path.into()]);
}

/// Returns what is mounted where, in order; of several on one path, the last counts.
pub(super) fn sights(sandbox: &Sandbox, command: &[OsString]) -> Vec<(PathBuf, Sight)> {
    let mut found: Vec<(PathBuf, Sight)> = Vec::new();
    let mut named: Vec<(PathBuf, Sight)> = Vec::new();
    let mut add = |path: &Path, sight: &dyn Fn(PathBuf) -> Sight| {
        if let Some(path) = resolve(path) {
            found.push((path.clone(), sight(path)));
        }
    };
    let shown = |is_writable| move |from: PathBuf| Sight::Shown { from, is_writable };
    for path in EMPTIED {
        add(Path::new(path), &|_| Sight::Empty { is_writable: true });
    }
    add(Path::new(RUN), &|_| Sight::Empty { is_writable: false });
    for path in KEPT_OF_RUN {
        add(Path::new(path), &shown(false));
    }
    // A program may lie in a folder that is hidden, and the user has said by name that it is to be run.
    for word in command.iter().map(Path::new).filter(|word| word.is_absolute() && word.is_file()) {
        add(word, &shown(false));
        // By the name that it was given too, which may be a symlink in such a folder.
        if let (Some(folder), Some(name), Some(from)) =
            (word.parent().and_then(resolve), word.file_name(), resolve(word))
        {
            named.push((folder.join(name), Sight::Shown { from, is_writable: false }));
        }
    }
    for path in &sandbox.hidden {
        add(path, &|path| match path.is_dir() {
            true => Sight::Empty { is_writable: false },
            false => Sight::Nothing,
        });
    }
    for path in &sandbox.writable {
        add(path, &shown(true));
    }
    for path in &sandbox.read_only {
        add(path, &shown(false));
    }
    for replacement in &sandbox.replaced {
        if let Some(from) = resolve(&replacement.by) {
            let path = resolve(&replacement.path).unwrap_or_else(|| replacement.path.clone());
            found.push((path, Sight::Shown { from, is_writable: replacement.is_writable }));
        }
    }
    named.retain(|(path, _)| is_hidden(&found, path));
    found.extend(named);
    // Of equal paths the last given counts, so it comes first here and the others go.
    found.reverse();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found.dedup_by(|(later, _), (first, _)| later == first);
    found
}

/// Tells whether what is at a path outside is not there inside, so that it has to be shown by itself.
pub(super) fn is_hidden(found: &[(PathBuf, Sight)], path: &Path) -> bool {
    let above = found.iter().filter(|(above, _)| path.starts_with(above));
    let nearest = above.max_by_key(|(above, _)| above.as_os_str().len());
    nearest.is_some_and(|(above, sight)| match sight {
        Sight::Empty { .. } | Sight::Nothing => true,
        Sight::Shown { from, .. } => from != above,
    })
}

/// Returns a path without symlinks; nothing when there is nothing at it. The root is mounted already, and a second time
/// would lie over everything.
fn resolve(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.parent().is_some())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::Replacement;
    use super::*;

    fn mounts(sandbox: &Sandbox) -> Vec<String> {
        let words = arguments(sandbox, Path::new("/"), &["sh".into()]);
        let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let from = words.iter().position(|word| word == "/proc").unwrap() + 1;
        let to = words.iter().position(|word| word == "--chdir").unwrap();
        let own = |line: &String| !line.contains(" /run") && !line.contains(" /var");
        words[from..to].join(" ").replace(" --", "\n--").lines().map(str::to_owned).filter(own).collect()
    }

    #[test]
    fn the_longer_path_lies_over_the_shorter_and_symlinks_are_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("state/worktree/.git")).unwrap();
        std::fs::write(root.join("secret"), "x").unwrap();
        symlink(root.join("state"), root.join("link")).unwrap();
        let sandbox = Sandbox {
            writable: vec![root.join("link/worktree"), root.join("missing")],
            read_only: vec![root.join("state/worktree/.git")],
            hidden: vec![root.join("link"), root.join("secret")],
            replaced: vec![Replacement {
                path: root.join("state/worktree/new"),
                by: root.join("secret"),
                is_writable: false,
            }],
            environment: Vec::new(),
            has_network: true,
        };
        let root = root.display();
        assert_eq!(
            mounts(&sandbox),
            [
                "--tmpfs /tmp".to_owned(),
                format!("--ro-bind /dev/null {root}/secret"),
                format!("--tmpfs {root}/state"),
                format!("--bind {root}/state/worktree {root}/state/worktree"),
                format!("--ro-bind {root}/state/worktree/.git {root}/state/worktree/.git"),
                format!("--ro-bind {root}/secret {root}/state/worktree/new"),
                format!("--remount-ro {root}/state"),
            ]
        );
    }

    #[test]
    fn a_named_program_is_seen_wherever_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().canonicalize().unwrap().join("agent.sh");
        std::fs::write(&program, "").unwrap();
        let command = ["sh".into(), program.clone().into_os_string(), "/no/such/file".into(), "-c".into()];
        let words = arguments(&Sandbox::default(), Path::new("/"), &command);
        assert_eq!(words.iter().filter(|word| **word == program).count(), 3, "bound on itself, and named");
        assert!(words.contains(&"--unshare-net".into()));
        assert_eq!(words[words.len() - 4..], command);
    }
}
