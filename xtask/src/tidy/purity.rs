//! The rule: rooms that hold rules touch nothing of the world.
//!
//! What a decision needs from outside (a time, an id, a commit) arrives inside the command, or replay would not
//! give the same state again. Tests beside the code keep to it too: a rule needs no disk to be tested. Those under
//! `tests/` are crates of their own and may, because recorded logs are files.

use super::fault::Fault;
use super::rust::{Named, names_in};
use crate::tree::Tree;

/// The rooms that must be pure.
const PURE: &[&str] = &["core", "flow", "expr"];

/// Crates that bring the world with them.
const CRATES: &[&str] = &["tokio", "tokio-util", "rusqlite", "tokio-postgres", "rustix"];

/// Names of the world, with what they would do.
const NAMES: &[(&[&str], &str)] = &[
    (&["tokio"], "runs tasks"),
    (&["rusqlite"], "opens a database"),
    (&["std", "fs"], "touches files"),
    (&["std", "process"], "starts programs"),
    (&["std", "net"], "uses the network"),
    (&["std", "env"], "reads the environment"),
    (&["std", "thread"], "starts threads"),
    (&["thread", "spawn"], "starts threads"),
    (&["SystemTime"], "reads a clock"),
    (&["Instant"], "reads a clock"),
    (&["Timestamp", "now"], "reads a clock"),
    (&["Zoned", "now"], "reads a clock"),
    (&["async"], "waits"),
];

/// Finds what a pure room depends on or names.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for room in PURE {
        let folder = format!("crates/{room}/");
        for (path, text) in tree.texts().filter(|(path, _)| path.starts_with(&folder)) {
            if path.ends_with(".rs") && !path[folder.len()..].starts_with("tests/") {
                faults.extend(check_source(room, path, text));
            } else if path.ends_with("/Cargo.toml") {
                faults.extend(check_manifest(room, path, text));
            }
        }
    }
    faults
}

fn check_source(room: &str, path: &str, text: &str) -> Vec<Fault> {
    let judge = |named: &Named| {
        let (name, does) = NAMES.iter().find(|(name, _)| named.contains(name))?;
        let what =
            format!("`{}` {does}, and `{room}` is pure; let it arrive inside the command", name.join("::"));
        Some(Fault::at(path, named.line, what))
    };
    names_in(text).iter().filter_map(judge).collect()
}

fn check_manifest(room: &str, path: &str, text: &str) -> Vec<Fault> {
    // A manifest that does not parse is a fault of the rule on arrows.
    let dependencies = super::arrows::parse_dependencies(text).unwrap_or_default();
    dependencies
        .into_iter()
        .filter(|dependency| CRATES.contains(&dependency.package.as_str()))
        .map(|found| {
            Fault::at(path, found.line, format!("`{room}` is pure and may not use `{}`", found.package))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::fault::render;
    use super::*;

    fn check_text(text: &str) -> Vec<String> {
        render(&check(&Tree::of(&[("crates/core/src/x.rs", text)])))
    }

    #[test]
    fn each_name_of_the_world_is_found() {
        let sources = [
            "use tokio::sync::mpsc;",
            "fn f() { rusqlite::Connection::open_in_memory(); }",
            "use std::{fmt, fs};",
            "std::process::exit(1)",
            "use std::net::TcpStream;",
            "let home = std::env::var(\"HOME\");",
            "use std::thread;",
            "thread::spawn(f)",
            "use std::time::SystemTime;",
            "use std::time::{Duration, Instant};",
            "let now = Timestamp::now();",
            "let now = jiff::Zoned::now();",
            "pub async fn f() {}",
        ];
        assert_eq!(sources.len(), NAMES.len());
        for source in sources {
            assert_eq!(check_text(source).len(), 1, "{source}");
        }
    }

    #[test]
    fn words_in_comments_and_strings_are_not_names() {
        assert!(check_text("//! No `std::fs`, no async.\nconst A: &str = \"tokio\";\n").is_empty());
        assert!(check_text("use std::time::Duration;\nuse jiff::Timestamp;\nfn instant() {}\n").is_empty());
    }

    #[test]
    fn other_rooms_and_recorded_logs_may() {
        let tree = Tree::of(&[
            ("crates/core/tests/histories.rs", "use std::fs;"),
            ("crates/git/src/x.rs", "use std::fs;"),
            ("crates/core/src/y.rs", "\n\nuse std::fs;"),
        ]);
        assert_eq!(
            render(&check(&tree)),
            [
                "crates/core/src/y.rs:3: `std::fs` touches files, and `core` is pure; let it arrive inside the command"
            ]
        );
    }

    #[test]
    fn a_dependency_is_a_breach_too() {
        let manifest = "[dependencies]\njiff = \"0.2\"\n[dev-dependencies]\ntokio.workspace = true\n";
        let tree = Tree::of(&[("crates/core/Cargo.toml", manifest)]);
        assert_eq!(
            render(&check(&tree)),
            ["crates/core/Cargo.toml:4: `core` is pure and may not use `tokio`"]
        );
    }
}
