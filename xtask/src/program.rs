//! Runs programs for the chores, with their output streaming through or captured.

use std::fmt;
use std::path::Path;
use std::process::{Command, Output};

use crate::error::Error;

/// What cargo tells the program it runs about that program's own package. A nested cargo that inherits it
/// rebuilds crates whose build scripts look at it.
const PACKAGE_VARIABLES: [&str; 3] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"];

/// A command line that can be shown and run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    name: &'static str,
    arguments: Vec<String>,
    environment: Vec<(&'static str, &'static str)>,
}

impl Program {
    /// Returns a program with its arguments.
    pub(crate) fn new(name: &'static str, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Program { name, arguments, environment: Vec::new() }
    }

    /// Sets a variable of its environment.
    pub(crate) fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.environment.push((name, value));
        self
    }

    /// Runs it in a folder with its output going where ours goes.
    pub(crate) fn run(&self, folder: &Path) -> Result<(), Error> {
        let status = self.command(folder).status().map_err(|source| self.not_started(source))?;
        if status.success() { Ok(()) } else { Err(Error::Failed { command: self.to_string(), status }) }
    }

    /// Runs it in a folder and returns what it printed, whatever its exit status.
    pub(crate) fn capture(&self, folder: &Path) -> Result<Output, Error> {
        self.command(folder).output().map_err(|source| self.not_started(source))
    }

    /// Runs it in a folder and returns its standard output, or fails with it.
    pub(crate) fn read(&self, folder: &Path) -> Result<Vec<u8>, Error> {
        let output = self.capture(folder)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        Err(Error::Failed { command: self.to_string(), status: output.status })
    }

    /// Tells whether it can be run here and succeeds, without a word of its output.
    pub(crate) fn succeeds(&self, folder: &Path) -> bool {
        self.capture(folder).is_ok_and(|output| output.status.success())
    }

    fn command(&self, folder: &Path) -> Command {
        // Cargo names itself to what it runs; that one is of the toolchain the user chose.
        let own = if self.name == "cargo" { std::env::var_os("CARGO") } else { None };
        let mut command = Command::new(own.unwrap_or_else(|| self.name.into()));
        for (name, _) in std::env::vars_os() {
            if PACKAGE_VARIABLES.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command.args(&self.arguments).envs(self.environment.iter().copied()).current_dir(folder);
        command
    }

    fn not_started(&self, source: std::io::Error) -> Error {
        Error::NotStarted { command: self.to_string(), source }
    }
}

impl fmt::Display for Program {
    /// Shows it as one would type it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.environment {
            write!(formatter, "{name}={} ", quote(value))?;
        }
        formatter.write_str(self.name)?;
        for argument in &self.arguments {
            write!(formatter, " {}", quote(argument))?;
        }
        Ok(())
    }
}

fn quote(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) { word.to_owned() } else { format!("'{word}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_shown_as_one_would_type_it() {
        let program = Program::new("cargo", &["doc", "--no-deps"]).with("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(program.to_string(), "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps");
    }

    #[test]
    fn a_missing_program_and_a_failing_one_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let missing = Program::new("regatta-no-such-program", &[]).run(folder.path()).unwrap_err();
        assert!(matches!(missing, Error::NotStarted { .. }), "{missing}");
        let failing = Program::new("git", &["no-such-verb"]).read(folder.path()).unwrap_err();
        assert!(matches!(failing, Error::Failed { .. }), "{failing}");
        assert!(!Program::new("git", &["no-such-verb"]).succeeds(folder.path()));
    }
}
