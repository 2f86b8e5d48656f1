//! The rule: nothing unfinished, switched off or left over from debugging.
//!
//! Clippy knows some of these too, but can be silenced; this rule cannot. Words in string literals do not
//! count, or this file would violate its own rule.

use super::fault::{Fault, line_of};
use super::rust::{Masked, mask};
use crate::tree::Tree;

/// Pieces of code, with what to do instead.
const CODE: &[(&str, &str)] = &[
    ("todo!(", "write it, or leave the case out"),
    ("unimplemented!(", "write it, or return an error that says so"),
    ("dbg!(", "remove it"),
    ("#[ignore", "assert today's behaviour and say in a comment what it should be"),
];

/// Marks in comments; what is known to be wrong is an issue or a test.
const MARKS: &[&str] = &["FIXME", "XXX"];

/// Other files that people write for machines; in them a mark counts wherever it stands.
const OTHERS: &[&str] = &[".toml", ".sql", ".sh", ".yml", ".yaml", ".ci/run"];

/// Finds forbidden code, and marks in comments.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let sources = tree.texts_ending(".rs").flat_map(|(path, text)| check_source(path, &mask(text)));
    let is_other = |path: &str| OTHERS.iter().any(|suffix| path.ends_with(suffix));
    let others = tree.texts().filter(|(path, _)| is_other(path)).flat_map(|(path, text)| {
        check_source(path, &Masked { code: String::new(), comments: text.to_owned() })
    });
    sources.chain(others).collect()
}

fn check_source(path: &str, masked: &Masked) -> Vec<Fault> {
    let code = CODE.iter().flat_map(|(wanted, instead)| {
        let fault = move |offset| (offset, format!("`{wanted}` is forbidden: {instead}"));
        find_words(&masked.code, wanted).into_iter().map(fault)
    });
    let marks = MARKS.iter().flat_map(|mark| {
        let fault =
            move |offset| (offset, format!("`{mark}` in a comment: fix it, or say what must be true first"));
        find_words(&masked.comments, mark).into_iter().map(fault)
    });
    code.chain(marks).map(|(offset, what)| Fault::at(path, line_of(&masked.comments, offset), what)).collect()
}

/// Returns where a word occurs on its own, not as a part of a longer one.
fn find_words(text: &str, wanted: &str) -> Vec<usize> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let stands_alone = |offset: &usize| {
        let before = text[..*offset].chars().next_back().is_some_and(is_word);
        let ends_in_word = wanted.ends_with(is_word);
        let after = text[offset + wanted.len()..].chars().next().is_some_and(is_word);
        !(before || ends_in_word && after)
    };
    text.match_indices(wanted).map(|(offset, _)| offset).filter(stands_alone).collect()
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
            "// FIXME: x",
            "/* XXX */",
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
            ["let s = \"todo!()\";", "// never todo!() here", "my_dbg!(x)", "// XXXXXX", "let FIXME = 1;"]
        {
            assert!(check_text(source).is_empty(), "{source}");
        }
    }
}
