//! What `cargo xtask test` checks, in order: cheap and telling first, slow and rare last.

use std::path::Path;

use crate::error::Error;
use crate::program::Program;
use crate::stage::{Stage, Verdict};
use crate::{agents, docs, licences, prerequisites, tidy};

/// Returns the stages of `cargo xtask test`.
pub(crate) fn all(root: &Path) -> Vec<Stage<'_>> {
    let has_nextest = Program::new("cargo", &["nextest", "--version"]).succeeds(root);
    vec![
        own(root, "prerequisites", "git version", prerequisites::ensure_git),
        own(root, "sandbox", "bwrap --version", prerequisites::ensure_sandbox),
        own(root, "agents", "cargo xtask agents", agents::ensure),
        outside(root, "format", Program::new("cargo", &["fmt", "--all", "--check"])),
        outside(root, "clippy", clippy()),
        tests_stage(root, tests(has_nextest)),
        outside(root, "doctests", Program::new("cargo", &["test", "--doc", "--workspace", "--locked"])),
        own(root, "tidy", "cargo xtask tidy", tidy::check),
        own(root, "docs", "cargo xtask docs --check", docs::check),
        own(root, "licences", "cargo xtask licences", licences::check),
        outside(root, "rustdoc", rustdoc()),
    ]
}

fn clippy() -> Program {
    Program::new("cargo", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
}

fn tests(has_nextest: bool) -> Program {
    if has_nextest {
        Program::new("cargo", &["nextest", "run", "--workspace", "--locked"])
    } else {
        Program::new("cargo", &["test", "--workspace", "--locked"])
    }
}

/// Returns the stage of the tests; where the agent programs are installed, a test that does not find one fails.
fn tests_stage<'a>(root: &'a Path, program: Program) -> Stage<'a> {
    let alone = program.to_string();
    let run = move || {
        let is_required = agents::are_installed(root)?;
        let program = if is_required { program.with(agents::REQUIRED, "1") } else { program };
        program.run(root).map(|()| Verdict::Passed)
    };
    Stage { name: "tests", alone, run: Box::new(run) }
}

fn rustdoc() -> Program {
    Program::new("cargo", &["doc", "--no-deps", "--workspace", "--locked"])
        .with("RUSTDOCFLAGS", "-D warnings")
}

fn outside<'a>(root: &'a Path, name: &'static str, program: Program) -> Stage<'a> {
    Stage {
        name,
        alone: program.to_string(),
        run: Box::new(move || program.run(root).map(|()| Verdict::Passed)),
    }
}

fn own<'a>(
    root: &'a Path,
    name: &'static str,
    alone: &str,
    check: fn(&Path) -> Result<Verdict, Error>,
) -> Stage<'a> {
    Stage { name, alone: alone.to_owned(), run: Box::new(move || check(root)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn the_stages_are_these_in_this_order() {
        let root = tempfile::tempdir().unwrap();
        let lines: Vec<String> = all(root.path())
            .iter()
            .filter(|stage| stage.name != "tests")
            .map(|stage| format!("{}: {}", stage.name, stage.alone))
            .collect();
        expect![[r#"
            prerequisites: git version
            sandbox: bwrap --version
            agents: cargo xtask agents
            format: cargo fmt --all --check
            clippy: cargo clippy --workspace --all-targets --locked -- -D warnings
            doctests: cargo test --doc --workspace --locked
            tidy: cargo xtask tidy
            docs: cargo xtask docs --check
            licences: cargo xtask licences
            rustdoc: RUSTDOCFLAGS='-D warnings' cargo doc --no-deps --workspace --locked"#]]
        .assert_eq(&lines.join("\n"));
    }

    #[test]
    fn nextest_is_used_where_it_is_installed() {
        assert_eq!(tests(true).to_string(), "cargo nextest run --workspace --locked");
        assert_eq!(tests(false).to_string(), "cargo test --workspace --locked");
    }
}
