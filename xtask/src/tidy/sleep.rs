//! The rule: a test waits for something that happens, never for time to pass.
//!
//! A pause between two looks at a condition belongs into the one function that waits with a limit, which lives in
//! library code and has its own tests.

use super::fault::{Fault, line_of};
use super::rust::{Named, is_test_file, mask, names_in, test_ranges};
use crate::tree::Tree;

/// The ways to sleep.
const NAMES: &[&[&str]] = &[&["thread", "sleep"], &["time", "sleep"], &["sleep"], &["sleep_until"]];

/// Finds sleeping in test code.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    tree.texts_ending(".rs").flat_map(|(path, text)| check_source(path, text)).collect()
}

fn check_source(path: &str, text: &str) -> Vec<Fault> {
    let code = mask(text).code;
    let (is_test_file, ranges) = (is_test_file(path), test_ranges(&code));
    let is_test =
        |named: &Named<'_>| is_test_file || ranges.iter().any(|range| range.contains(&named.offset));
    names_in(&code)
        .iter()
        .filter(|named| is_test(named) && sleeps(&code, named))
        .map(|named| {
            Fault::at(path, line_of(&code, named.offset), "a test sleeps: wait for a condition, with a limit")
        })
        .collect()
}

/// Tells whether a path is one of the ways to sleep; a bare word is one only when it is called.
fn sleeps(code: &str, named: &Named<'_>) -> bool {
    let Some(last) = named.parts.last() else { return false };
    let is_called = code[named.offset + last.len()..].trim_start().starts_with('(');
    let is_method = code[..named.offset].ends_with('.');
    NAMES.iter().any(|name| named.parts.ends_with(name) && (name.len() > 1 || is_called && !is_method))
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
