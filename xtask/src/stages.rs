//! What `cargo xtask test` checks, in order: cheap and telling first, slow and rare last.

use std::num::NonZero;
use std::path::Path;

use crate::error::Error;
use crate::program::Program;
use crate::stage::{Stage, Verdict};
use crate::{agents, docs, licences, prerequisites, schemathesis, tidy};

/// What tells the slow suites to run at their full size; the tests look for it by this name.
const FULL: &str = "REGATTA_TESTS_FULL";

/// Tells the tests of the pages that there is a browser, so that one that is not found is a failure.
const BROWSER_REQUIRED: &str = "REGATTA_BROWSER_REQUIRED";

/// The crates without IO: their tests are fast, and most mistakes show there.
const PURE: [&str; 3] = ["regatta-expr", "regatta-flow", "regatta-core"];

/// How large the slow suites are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// Small enough to run the whole command often.
    Small,
    /// As large as they are worth running at all.
    Full,
}

/// Returns the stages of `cargo xtask test`.
pub(crate) fn all(root: &Path, size: Size) -> Vec<Stage<'_>> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let tests = tests(has_nextest(root), cores);
    let tests = match size {
        Size::Small => tests,
        Size::Full => tests.with(FULL, "1"),
    };
    vec![
        own(root, "prerequisites", "git version", prerequisites::ensure_git),
        own(root, "sandbox", "bwrap --version", prerequisites::ensure_sandbox),
        own(root, "browser", "chromedriver --version", prerequisites::ensure_browser),
        own(root, "agents", "cargo xtask agents", agents::ensure),
        own(root, "schemathesis", "cargo xtask schemathesis", schemathesis::ensure),
        outside(root, "format", Program::new("cargo", &["fmt", "--all", "--check"])),
        outside(root, "clippy", clippy()),
        tests_stage(root, tests),
        outside(root, "doctests", Program::new("cargo", &["test", "--doc", "--workspace", "--locked"])),
        own(root, "tidy", "cargo xtask tidy", tidy::check),
        own(root, "docs", "cargo xtask docs --check", docs::check),
        own(root, "licences", "cargo xtask licences", licences::check),
        outside(root, "rustdoc", rustdoc()),
    ]
}

/// Returns the stages of `cargo xtask quick`.
pub(crate) fn quick(root: &Path) -> Vec<Stage<'_>> {
    vec![
        outside(root, "format", Program::new("cargo", &["fmt", "--all", "--check"])),
        outside(root, "clippy", clippy()),
        outside(root, "tests", pure_tests(has_nextest(root))),
        own(root, "tidy", "cargo xtask tidy", tidy::check),
    ]
}

/// Keeps the pictures of the test that looks at every view; a test runs in the folder of its package.
pub(crate) fn screenshots(root: &Path) -> Result<Verdict, Error> {
    let place = root.join("docs/screenshots");
    std::fs::create_dir_all(&place).map_err(|source| Error::File {
        action: "make",
        path: place.clone(),
        source,
    })?;
    let words = ["test", "--locked", "--package", "regatta-cli", "--test", "board", "pictures"];
    Program::new("cargo", &words)
        .with("REGATTA_SCREENSHOTS", "../../docs/screenshots")
        .with(BROWSER_REQUIRED, "1")
        .run(root)
        .map(|()| Verdict::Passed)
}

fn has_nextest(root: &Path) -> bool {
    Program::new("cargo", &["nextest", "--version"]).succeeds(root)
}

fn pure_tests(has_nextest: bool) -> Program {
    let mut words = if has_nextest { vec!["nextest", "run"] } else { vec!["test"] };
    words.push("--locked");
    words.extend(PURE.iter().flat_map(|name| ["--package", *name]));
    Program::new("cargo", &words)
}

fn clippy() -> Program {
    Program::new("cargo", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
}

fn tests(has_nextest: bool, cores: usize) -> Program {
    if has_nextest {
        let places = (2 * cores).to_string();
        let words = ["nextest", "run", "--workspace", "--locked", "--no-fail-fast", "--profile", "whole"];
        Program::new("cargo", &[&words[..], &["--test-threads", &places]].concat())
    } else {
        Program::new("cargo", &["test", "--workspace", "--locked", "--no-fail-fast"])
    }
}

/// Returns the stage of the tests; where programs for them are installed, a test that does not find one fails.
fn tests_stage<'a>(root: &'a Path, program: Program) -> Stage<'a> {
    let alone = program.to_string();
    let run = move || {
        let is_required = agents::are_installed(root)?;
        let program = if is_required { program.with(agents::REQUIRED, "1") } else { program };
        let program =
            if prerequisites::has_browser(root) { program.with(BROWSER_REQUIRED, "1") } else { program };
        let is_required = schemathesis::is_installed(root);
        let program = if is_required { program.with(schemathesis::REQUIRED, "1") } else { program };
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
        let lines: Vec<String> = all(root.path(), Size::Small)
            .iter()
            .filter(|stage| stage.name != "tests")
            .map(|stage| format!("{}: {}", stage.name, stage.alone))
            .collect();
        expect![[r#"
            prerequisites: git version
            sandbox: bwrap --version
            browser: chromedriver --version
            agents: cargo xtask agents
            schemathesis: cargo xtask schemathesis
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
    fn the_pure_crates_are_tested_quickly() {
        let packages = "--package regatta-expr --package regatta-flow --package regatta-core";
        assert_eq!(pure_tests(true).to_string(), format!("cargo nextest run --locked {packages}"));
        assert_eq!(pure_tests(false).to_string(), format!("cargo test --locked {packages}"));
    }

    #[test]
    fn nextest_is_used_where_it_is_installed() {
        let nextest =
            "cargo nextest run --workspace --locked --no-fail-fast --profile whole --test-threads 4";
        assert_eq!(tests(true, 2).to_string(), nextest);
        assert_eq!(tests(false, 2).to_string(), "cargo test --workspace --locked --no-fail-fast");
    }
}
