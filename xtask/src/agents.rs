//! Installs the agent programs that some tests run against a stub model.
//!
//! Each program of `agent-programs.toml` gets a folder of its own, named with its exact version. It is filled beside its
//! place and then renamed, so a folder that is there is whole, and two checkouts may install at the same time. No
//! script of a package is run. What is installed is found by `regatta_testkit::agent_programs`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;
use crate::prerequisites::can_install;
use crate::program::Program;
use crate::stage::Verdict;

/// Tells tests that the programs are there, so that one that is not found is a failure.
pub(crate) const REQUIRED: &str = "REGATTA_AGENT_PROGRAMS_REQUIRED";

/// Names another folder for the programs, for checkouts that share one.
const PLACE: &str = "REGATTA_AGENT_PROGRAMS";

/// The table of programs, from the root.
const TABLE: &str = "crates/testkit/agent-programs.toml";

/// The arguments for npm: run no scripts, ask nothing, keep only the packages, and give up soon without a
/// network.
const NPM: &[&str] = &[
    "install",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-package-lock",
    "--no-update-notifier",
    "--loglevel=error",
    "--fetch-retries=1",
    "--fetch-timeout=60000",
];

/// One program of the table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Entry {
    version: String,
    package: String,
    program: String,
    #[serde(default)]
    is_bridge: bool,
}

/// Installs what is missing for the tests, or says why they must do without.
pub(crate) fn ensure(root: &Path) -> Result<Verdict, Error> {
    match install(root) {
        Err(error @ (Error::Npm | Error::Install { .. })) => {
            eprintln!("{}", error.render());
            Ok(Verdict::Skipped("see above; tests with real agent programs skip themselves"))
        }
        other => other,
    }
}

/// Installs what is missing.
pub(crate) fn install(root: &Path) -> Result<Verdict, Error> {
    if !cfg!(target_os = "linux") {
        return Ok(Verdict::Skipped("the programs are packaged for Linux alone"));
    }
    install_into(&place(root), root)?;
    Ok(Verdict::Passed)
}

/// Tells whether all programs are there.
pub(crate) fn are_installed(root: &Path) -> Result<bool, Error> {
    Ok(find_missing(&place(root), root)?.is_empty())
}

fn install_into(place: &Path, root: &Path) -> Result<(), Error> {
    let missing = find_missing(place, root)?;
    if !missing.is_empty() {
        ensure_npm(root)?;
    }
    missing.iter().try_for_each(|(name, entry)| entry.install(place, name))
}

fn find_missing(place: &Path, root: &Path) -> Result<BTreeMap<String, Entry>, Error> {
    let mut table = load_table(root)?;
    table.retain(|name, entry| !entry.path(place, name).is_file());
    Ok(table)
}

fn load_table(root: &Path) -> Result<BTreeMap<String, Entry>, Error> {
    let path = root.join(TABLE);
    let text = std::fs::read_to_string(&path).map_err(|source| Error::File {
        action: "read",
        path: path.clone(),
        source,
    })?;
    toml::from_str(&text).map_err(|source| Error::Table { path, source: Box::new(source) })
}

fn place(root: &Path) -> PathBuf {
    std::env::var_os(PLACE).map_or_else(|| root.join("target/agent-programs"), PathBuf::from)
}

fn ensure_npm(root: &Path) -> Result<(), Error> {
    let is_there = || Program::new("npm", &["--version"]).succeeds(root);
    if !is_there() && can_install(root) {
        Program::new("apt-get", &["update"]).run(root)?;
        Program::new("apt-get", &["install", "-y", "--no-install-recommends", "npm"]).run(root)?;
    }
    if is_there() { Ok(()) } else { Err(Error::Npm) }
}

impl Entry {
    fn folder(&self, place: &Path, name: &str) -> PathBuf {
        place.join(format!("{name}-{}", self.version))
    }

    /// Returns where the program is, or will be.
    fn path(&self, place: &Path, name: &str) -> PathBuf {
        self.folder(place, name).join("node_modules").join(named_for_machine(&self.program))
    }

    fn install(&self, place: &Path, name: &str) -> Result<(), Error> {
        eprintln!("installing {name} {}", self.version);
        let (folder, path) = (self.folder(place, name), self.path(place, name));
        let filled = place.join(format!(".{name}-{}-{}", self.version, std::process::id()));
        std::fs::create_dir_all(&filled).map_err(failed("make", &filled))?;
        // A package of its own keeps npm from looking for one in the folders above.
        let manifest = filled.join("package.json");
        std::fs::write(&manifest, "{\"private\": true}\n").map_err(failed("write", &manifest))?;
        self.npm().run(&filled).map_err(|source| {
            let _ = std::fs::remove_dir_all(&filled);
            Error::Install { program: format!("{name} {}", self.version), source: Box::new(source) }
        })?;
        // What stands there lacks the program, or we would not be here; another checkout may be faster now.
        if folder.exists() && !path.is_file() {
            std::fs::remove_dir_all(&folder).map_err(failed("remove", &folder))?;
        }
        if let Err(source) = std::fs::rename(&filled, &folder) {
            let _ = std::fs::remove_dir_all(&filled);
            if !path.is_file() {
                return Err(failed("make", &folder)(source));
            }
        }
        if path.is_file() { Ok(()) } else { Err(Error::NoProgram { package: self.spec(), path }) }
    }

    /// Returns the npm that installs it; a bridge goes without the program that it would bring along.
    fn npm(&self) -> Program {
        let spec = self.spec();
        let mut arguments = NPM.to_vec();
        if self.is_bridge {
            arguments.push("--omit=optional");
        }
        arguments.push(&spec);
        Program::new("npm", &arguments)
    }

    fn spec(&self) -> String {
        format!("{}@{}", named_for_machine(&self.package), self.version)
    }
}

/// Puts in the word that packages have for this machine.
fn named_for_machine(text: &str) -> String {
    let word = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    text.replace("{arch}", word)
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_path_buf();
    move |source| Error::File { action, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::find_root;

    #[test]
    fn every_program_of_the_table_has_an_exact_version() {
        let table = load_table(&find_root()).unwrap();
        assert!(table.len() >= 5, "{table:?}");
        for (name, entry) in table {
            let numbers: Vec<_> = entry.version.split('.').map(str::parse::<u32>).collect();
            assert!(numbers.len() == 3 && numbers.iter().all(Result::is_ok), "{name}: {}", entry.version);
        }
    }

    #[test]
    fn npm_runs_no_script_and_a_bridge_goes_without_its_program() {
        let entry = |is_bridge| Entry {
            version: "1.2.3".to_owned(),
            package: "@a/b".to_owned(),
            program: ".bin/b".to_owned(),
            is_bridge,
        };
        let plain = entry(false).npm().to_string();
        assert!(plain.contains(" --ignore-scripts ") && plain.ends_with(" '@a/b@1.2.3'"), "{plain}");
        assert!(!plain.contains("--omit=optional"));
        assert!(entry(true).npm().to_string().contains(" --omit=optional "));
        let path = entry(false).path(Path::new("p"), "b");
        assert_eq!(path, Path::new("p/b-1.2.3/node_modules/.bin/b"));
    }

    #[test]
    fn what_is_there_is_not_installed_again() {
        let root = tempfile::tempdir().unwrap();
        let table = root.path().join(TABLE);
        std::fs::create_dir_all(table.parent().unwrap()).unwrap();
        std::fs::write(&table, "[b]\nversion = \"1.2.3\"\npackage = \"@a/b\"\nprogram = \"b\"\n").unwrap();
        let place = root.path().join("programs");
        assert_eq!(find_missing(&place, root.path()).unwrap().len(), 1);
        let program = place.join("b-1.2.3/node_modules/b");
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::write(program, "").unwrap();
        assert!(find_missing(&place, root.path()).unwrap().is_empty());
        install_into(&place, root.path()).unwrap();
    }
}
