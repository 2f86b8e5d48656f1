//! What of a home folder can be seen read-only by default: the folders of PATH, and the toolchains behind them.
//!
//! Only known toolchains are shown whole: the folder above a `bin` often holds logins as well (`~/.cargo/credentials.toml`,
//! `~/.fly/config.yml`).

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// Toolchains: what shows that one is used, as a beginning of a PATH entry below the home, and what is behind it.
const TOOLCHAINS: [(&str, &[&str]); 30] = [
    (".cargo/bin", &[".rustup"]),
    (".nvm", &[".nvm/versions", ".nvm/alias", ".nvm/nvm.sh", ".nvm/nvm-exec"]),
    (".pyenv", &[".pyenv"]),
    (".sdkman", &[".sdkman/candidates", ".sdkman/bin", ".sdkman/src"]),
    ("go", &["go/bin", "sdk"]),
    ("sdk", &["sdk"]),
    (".bun", &[".bun/bin", ".bun/install/global"]),
    (".volta", &[".volta"]),
    (".asdf", &[".asdf"]),
    (".rbenv", &[".rbenv"]),
    (".jenv", &[".jenv"]),
    (".goenv", &[".goenv"]),
    (".nodenv", &[".nodenv"]),
    (".fnm", &[".fnm"]),
    (".deno", &[".deno/bin"]),
    (".ghcup", &[".ghcup"]),
    (".opam", &[".opam"]),
    (".elan", &[".elan"]),
    (".juliaup", &[".juliaup", ".julia/juliaup"]),
    (".dotnet", &[".dotnet"]),
    (".nix-profile", &[".local/state/nix/profiles"]),
    (".rye", &[".rye/py", ".rye/shims", ".rye/tools"]),
    (".npm-global", &[".npm-global/bin", ".npm-global/lib"]),
    (".local/share/mise", &[".local/share/mise"]),
    (".local/share/fnm", &[".local/share/fnm", ".local/state/fnm_multishells"]),
    (".local/state/fnm_multishells", &[".local/share/fnm", ".local/state/fnm_multishells"]),
    (
        ".local/bin",
        &[
            ".local/share/uv/tools",
            ".local/share/uv/python",
            ".local/share/pipx/venvs",
            ".local/pipx/venvs",
            ".local/share/claude/versions",
        ],
    ),
    ("miniconda3", &["miniconda3"]),
    ("anaconda3", &["anaconda3"]),
    ("miniforge3", &["miniforge3"]),
];

/// Variables that say where a toolchain is; they are passed on, and what they name is shown.
const VARIABLES: [&str; 11] = [
    "RUSTUP_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "SDKMAN_DIR",
    "GOROOT",
    "JAVA_HOME",
    "VOLTA_HOME",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "DOTNET_ROOT",
];

/// A folder of PATH with more entries is not searched for links.
const ENTRIES_MAX: usize = 4_096;

/// How many links in a row are followed to the folder that a PATH entry means.
const LINKS_MAX: usize = 8;

/// What is shown of the hidden parts of the machine.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Files and folders, without symlinks.
    pub(crate) paths: Vec<PathBuf>,
    /// Symlinks: their absolute paths, and what they lead to.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// Variables that say where toolchains are.
    pub(crate) environment: Vec<(String, String)>,
}

/// Finds what PATH, the variables of toolchains and a command need of the folders that are hidden, and the symlinks on
/// the way to paths that are shown anyway.
///
/// `homes` are among the hidden folders, and never shown whole.
pub(crate) fn find_shown<'a>(
    homes: &[PathBuf],
    hidden: &[PathBuf],
    command: &[String],
    given: impl IntoIterator<Item = &'a PathBuf>,
) -> Shown {
    let mut shown = find(&std::env::var_os("PATH").unwrap_or_default(), homes, hidden);
    for name in VARIABLES {
        if let Ok(value) = std::env::var(name)
            && Path::new(&value).is_absolute()
        {
            shown.add(Path::new(&value), homes, hidden);
            shown.environment.push((name.to_owned(), value));
        }
    }
    for word in command.iter().map(Path::new).filter(|word| word.is_absolute()) {
        shown.add_program(word, homes, hidden);
        shown.add_neighbours(word, homes, hidden);
    }
    for path in given {
        shown.add_links_to(path, hidden);
    }
    shown
}

fn find(path: &OsStr, homes: &[PathBuf], hidden: &[PathBuf]) -> Shown {
    let mut shown = Shown::default();
    for entry in std::env::split_paths(path).filter(|entry| entry.is_absolute()) {
        let Ok(folder) = entry.canonicalize() else { continue };
        if !folder.is_dir() {
            continue;
        }
        for name in std::iter::once(&folder).chain([&entry]) {
            for (home, below) in homes.iter().filter_map(|home| Some((home, name.strip_prefix(home).ok()?))) {
                for (trigger, behind) in TOOLCHAINS {
                    if below.starts_with(trigger) {
                        behind.iter().for_each(|path| shown.add(&home.join(path), homes, hidden));
                    }
                }
            }
        }
        shown.add(&folder, homes, hidden);
        shown.add_links_to(&entry, hidden);
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten().take(ENTRIES_MAX);
        if is_within(&folder, hidden) {
            for link in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink())) {
                shown.add_program(&link.path(), homes, hidden);
            }
        }
    }
    shown
}

impl Shown {
    /// Shows a program, with the package or virtual environment that it belongs to.
    fn add_program(&mut self, program: &Path, homes: &[PathBuf], hidden: &[PathBuf]) {
        let Ok(real) = program.canonicalize() else { return };
        if !real.is_file() {
            return;
        }
        if let Some(environment) = find_environment(&real) {
            // Its interpreter is often a link to that of a toolchain.
            if let Ok(python) = environment.join("bin/python").canonicalize() {
                self.add(&find_root(&python, homes), homes, hidden);
            }
        }
        self.add(&find_root(&real, homes), homes, hidden);
    }

    /// Shows the folder of a named program that lies in a folder for passing things, such as `/tmp`: the program may need
    /// what is beside it. In a home that would be too much.
    fn add_neighbours(&mut self, program: &Path, homes: &[PathBuf], hidden: &[PathBuf]) {
        let Ok(real) = program.canonicalize() else { return };
        let folder = real.parent().filter(|_| real.is_file() && !is_within(&real, homes));
        if let Some(folder) = folder {
            self.add(folder, homes, hidden);
        }
    }

    /// Shows a path, unless it can be seen anyway, or is so broad that everything could.
    fn add(&mut self, path: &Path, homes: &[PathBuf], hidden: &[PathBuf]) {
        let Ok(path) = path.canonicalize() else { return };
        let is_broad = homes.iter().chain(hidden).any(|above| above.starts_with(&path));
        let is_seen = !is_within(&path, hidden) || self.paths.iter().any(|above| path.starts_with(above));
        if !is_broad && !is_seen {
            self.paths.push(path);
        }
    }

    /// Notes the symlinks on the way of a path, so that it leads to the same place inside.
    fn add_links_to(&mut self, path: &Path, hidden: &[PathBuf]) {
        let mut path = path.to_owned();
        for _ in 0..LINKS_MAX {
            let mut above: Vec<&Path> = path.ancestors().collect();
            above.reverse();
            let link =
                above.into_iter().find_map(|above| Some((above.to_owned(), std::fs::read_link(above).ok()?)));
            let Some((link, target)) = link else { return };
            let parent = link.parent().unwrap_or(&link);
            let Ok(parent) = parent.canonicalize() else { return };
            let rest = path.strip_prefix(&link).map(Path::to_owned).unwrap_or_default();
            let next = normalize(&parent.join(&target)).join(rest);
            if is_within(&link, hidden) && !self.links.iter().any(|(known, _)| *known == link) {
                self.links.push((link, target));
            }
            path = next;
        }
    }
}

fn is_within(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// Returns the folder that a program needs around it, or the program.
fn find_root(program: &Path, homes: &[PathBuf]) -> PathBuf {
    for (home, below) in homes.iter().filter_map(|home| Some((home, program.strip_prefix(home).ok()?))) {
        let behind = TOOLCHAINS.iter().flat_map(|(_, behind)| behind.iter());
        if let Some(root) = behind.into_iter().find(|root| below.starts_with(root)) {
            return home.join(root);
        }
    }
    let packages = program.ancestors().filter(|above| above.ends_with("node_modules")).last();
    packages.map(Path::to_owned).or_else(|| find_environment(program)).unwrap_or_else(|| program.to_owned())
}

/// Returns the virtual environment of Python that a program is in.
fn find_environment(program: &Path) -> Option<PathBuf> {
    let folder = program.parent()?.parent()?;
    folder.join("pyvenv.cfg").is_file().then(|| folder.to_owned())
}

/// Resolves `.` and `..` in a path, by its words alone.
fn normalize(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn folders_of_the_path_and_what_is_behind_them_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap().join("home");
        for path in [
            ".cargo/bin",
            ".rustup/toolchains",
            ".local/bin",
            ".local/share/claude/versions",
            ".local/share/keyrings",
            "tools/node_modules/.bin",
            "tools/node_modules/agent",
            "venv/bin",
            ".sdkman/candidates/java/21/bin",
            "bin",
        ] {
            std::fs::create_dir_all(home.join(path)).unwrap();
        }
        for path in [
            ".cargo/credentials.toml",
            ".local/share/claude/versions/2",
            "tools/node_modules/agent/cli.js",
            "venv/pyvenv.cfg",
            "venv/bin/aider",
            "secret",
        ] {
            std::fs::write(home.join(path), "").unwrap();
        }
        symlink("../agent/cli.js", home.join("tools/node_modules/.bin/agent")).unwrap();
        symlink("../share/claude/versions/2", home.join(".local/bin/claude")).unwrap();
        symlink("../../tools/node_modules/.bin/agent", home.join(".local/bin/agent")).unwrap();
        symlink(home.join("venv/bin/aider"), home.join("bin/aider")).unwrap();
        symlink("21", home.join(".sdkman/candidates/java/current")).unwrap();
        let entries =
            [".cargo/bin", ".local/bin", "bin", ".sdkman/candidates/java/current/bin", "missing", ""];
        let path =
            std::env::join_paths(entries.map(|entry| home.join(entry)).iter().chain(&["/usr/bin".into()]))
                .unwrap();
        let homes = [home.clone()];
        let shown = find(&path, &homes, &homes);
        let mut names: Vec<&str> =
            shown.paths.iter().map(|path| path.strip_prefix(&home).unwrap().to_str().unwrap()).collect();
        names.sort_unstable();
        let expected = [
            ".cargo/bin",
            ".local/bin",
            ".local/share/claude/versions",
            ".rustup",
            ".sdkman/candidates",
            "bin",
            "tools/node_modules",
            "venv",
        ];
        assert_eq!(names, expected);
        assert_eq!(shown.links, [(home.join(".sdkman/candidates/java/current"), PathBuf::from("21"))]);
    }
}
