//! The rule: nothing unfinished, switched off or left over from debugging.
//!
//! Clippy knows some of these too, but can be silenced; this rule cannot. Words in string literals do not
//! count, or this file would violate its own rule.

use super::fault::Fault;
use super::rust::{Named, names_in};
use crate::tree::Tree;

/// Pieces of code, as a word and what stands before and behind it, with what to do instead.
const CODE: &[(&str, &str, char, &str)] = &[
    ("todo!(", "todo", '!', "write it, or leave the case out"),
    ("unimplemented!(", "unimplemented", '!', "write it, or return an error that says so"),
    ("dbg!(", "dbg", '!', "remove it"),
    ("#[ignore", "ignore", '[', "assert today's behaviour and say in a comment what it should be"),
];

/// Marks in comments; what is known to be wrong is an issue or a test.
const MARKS: &[&str] = &["FIXME", "XXX"];

/// Other files that people write for machines; in them a mark counts wherever it stands.
const OTHERS: &[&str] = &[".toml", ".sql", ".sh", ".yml", ".yaml", ".ci/run"];

/// Finds forbidden code, and marks in comments.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let code = tree.texts_ending(".rs").flat_map(|(path, text)| check_code(path, text));
    let comments = tree.texts_ending(".rs").flat_map(|(path, text)| check_marks(path, text, &["//", "/*"]));
    let is_other = |path: &str| OTHERS.iter().any(|suffix| path.ends_with(suffix));
    let others = tree.texts().filter(|(path, _)| is_other(path));
    let others = others.flat_map(|(path, text)| check_marks(path, text, &[""]));
    code.chain(comments).chain(others).collect()
}

fn check_code(path: &str, text: &str) -> Vec<Fault> {
    let judge = |named: &Named| {
        let (before, after) = named.around;
        let is_meant = |mark: char| if mark == '[' { before == mark } else { after == mark };
        let (shown, _, _, instead) =
            CODE.iter().find(|(_, word, mark, _)| named.parts == [*word] && is_meant(*mark))?;
        Some(Fault::at(path, named.line, format!("`{shown}` is forbidden: {instead}")))
    };
    names_in(text).iter().filter_map(judge).collect()
}

/// Finds marks behind the first of `starts` in a line.
fn check_marks(path: &str, text: &str, starts: &[&str]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(start) = starts.iter().filter_map(|start| line.find(start)).min() else { continue };
        for mark in MARKS.iter().filter(|mark| has_word(&line[start..], mark)) {
            let what = format!("`{mark}` in a comment: fix it, or say what must be true first");
            faults.push(Fault::at(path, index + 1, what));
        }
    }
    faults
}

/// Tells whether a word occurs on its own, not as a part of a longer one.
fn has_word(text: &str, wanted: &str) -> bool {
    text.split(|character: char| !character.is_alphanumeric() && character != '_').any(|word| word == wanted)
}

#[cfg(test)]
mod tests {
    use super::super::fault::render;
    use super::*;

    fn check_text(text: &str) -> Vec<String> {
        render(&check(&Tree::of(&[("crates/git/src/x.rs", text)])))
    }

    #[test]
    fn each_forbidden_thing_is_found() {
        for source in [
            "todo!()",
            "unimplemented!()",
            "dbg!(x)",
            "#[ignore]",
            "#[ignore = \"slow\"]",
            concat!("/", "/ FIXME: x"),
            concat!("/", "* XXX */"),
        ] {
            assert_eq!(check_text(source).len(), 1, "{source}");
        }
        assert_eq!(
            check_text("fn f() {\n    todo!(\"later\")\n}\n"),
            ["crates/git/src/x.rs:2: `todo!(` is forbidden: write it, or leave the case out"]
        );
    }

    #[test]
    fn marks_count_in_other_files_too() {
        let tree =
            Tree::of(&[("a/Cargo.toml", "x = 1\n# XXX: why\n"), ("docs/a.md", "XXX"), ("b.sql", "dbg!(")]);
        let faults = render(&check(&tree));
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].starts_with("a/Cargo.toml:2: `XXX`"));
    }

    #[test]
    fn literals_comments_and_longer_words_are_not_meant() {
        for source in
            ["let s = \"todo!()\";", "let FIXME = 1;", "my_dbg!(x)", "// never todo!() here", "// XXXXXX"]
        {
            assert!(check_text(source).is_empty(), "{source}");
        }
    }
}
