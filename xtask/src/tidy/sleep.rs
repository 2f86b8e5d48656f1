//! The rule: a test waits for something that happens, never for time to pass.
//!
//! A pause between two looks at a condition belongs into the one function that waits with a limit, which lives in
//! library code and has its own tests.

use super::fault::Fault;
use super::rust::{Named, is_test_file, names_in};
use crate::tree::Tree;

/// The ways to sleep.
const NAMES: &[&[&str]] = &[&["thread", "sleep"], &["time", "sleep"], &["sleep"], &["sleep_until"]];

/// Finds sleeping in test code.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    tree.texts_ending(".rs").flat_map(|(path, text)| check_source(path, text)).collect()
}

fn check_source(path: &str, text: &str) -> Vec<Fault> {
    let is_test_file = is_test_file(path);
    let sleeping =
        names_in(text).into_iter().filter(|named| (is_test_file || named.is_test) && sleeps(named));
    sleeping
        .map(|named| Fault::at(path, named.line, "a test sleeps: wait for a condition, with a limit"))
        .collect()
}

fn ends_with(parts: &[String], name: &[&str]) -> bool {
    parts.len() >= name.len() && parts[parts.len() - name.len()..] == *name
}

/// Tells whether a path is one of the ways to sleep; a bare word is one only when it is called.
fn sleeps(named: &Named) -> bool {
    let (before, after) = named.around;
    let is_call = after == '(' && before != '.';
    NAMES.iter().any(|name| ends_with(&named.parts, name) && (name.len() > 1 || is_call))
}

#[cfg(test)]
mod tests {
    use super::super::fault::render;
    use super::*;

    fn check_text(path: &str, text: &str) -> Vec<String> {
        render(&check(&Tree::of(&[(path, text)])))
    }

    #[test]
    fn each_way_to_sleep_is_found_in_test_code() {
        for line in [
            "std::thread::sleep(x);",
            "tokio::time::sleep(x).await;",
            "use tokio::time::{sleep, timeout};",
            "sleep(x).await;",
            "tokio::time::sleep_until(x).await;",
        ] {
            let inline = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n    {line}\n}}\n");
            assert_eq!(
                check_text("crates/git/src/x.rs", &inline),
                ["crates/git/src/x.rs:4: a test sleeps: wait for a condition, with a limit"],
                "{line}"
            );
            assert_eq!(check_text("crates/git/tests/x.rs", line).len(), 1, "{line}");
        }
    }

    #[test]
    fn library_code_may_pause_and_other_words_are_not_meant() {
        assert!(check_text("crates/git/src/x.rs", "tokio::time::sleep(pause).await;").is_empty());
        for line in [
            "run(\"sleep 5\");",
            "// thread::sleep",
            "let sleep = 1;",
            "script.sleep(3);",
            "time::timeout(x)",
        ] {
            assert!(check_text("crates/git/tests/x.rs", line).is_empty(), "{line}");
        }
    }
}
