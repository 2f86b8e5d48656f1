//! As much of Rust as the rules need: which paths (`std::fs::read`) a source names, and which of them are test code.
//!
//! The tokens come from `proc_macro2`, so comments and the contents of literals are no names.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// A path that a source names, with groups (`std::{fs, io}`) written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// Its parts, in order.
    pub(crate) parts: Vec<String>,
    /// The line of its last part, from 1.
    pub(crate) line: usize,
    /// The punctuation or the open bracket before it, and that behind it.
    pub(crate) around: (char, char),
    /// Whether it is built only for tests.
    pub(crate) is_test: bool,
}

impl Named {
    /// Tells whether these parts stand in it, one after the other.
    pub(crate) fn contains(&self, wanted: &[&str]) -> bool {
        self.parts.windows(wanted.len()).any(|window| window == wanted)
    }
}

/// Tells whether a whole file is test code, by its path.
pub(crate) fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.split('/').any(|folder| folder == "tests")
}

/// Returns every path that a source names, single words too; nothing of one that is not Rust, which does not compile.
pub(crate) fn names_in(text: &str) -> Vec<Named> {
    let mut names = Vec::new();
    if let Ok(tokens) = text.parse() {
        read(tokens, &[], ' ', false, &mut names);
    }
    names
}

/// Reads the inside of a bracket: `prefix` is the path before it, if it is a group of one.
fn read(tokens: TokenStream, prefix: &[String], open: char, in_tests: bool, names: &mut Vec<Named>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut path, mut is_test) = (prefix.to_vec(), in_tests);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(word) => {
                path.push(word.to_string());
                let before = at.checked_sub(1).map_or(open, |before| mark_of(&tokens[before]));
                let after = tokens.get(at + 1).map_or(' ', mark_of);
                if !leads_on(&tokens[at + 1..]) {
                    let line = word.span().start().line;
                    let parts = std::mem::replace(&mut path, prefix.to_vec());
                    names.push(Named { parts, line, around: (before, after), is_test });
                }
            }
            TokenTree::Group(group) => {
                let is_attribute = at > 0 && mark_of(&tokens[at - 1]) == '#';
                read(group.stream(), &path, mark_of(token), is_test, names);
                is_test |= is_attribute && is_for_tests(&group.stream().to_string());
                path = prefix.to_vec();
                if group.delimiter() == Delimiter::Brace {
                    is_test = in_tests;
                }
            }
            TokenTree::Punct(mark) if mark.as_char() == ';' => is_test = in_tests,
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Tells whether `::` and more of the path follow: a word, or a group of it.
fn leads_on(after: &[TokenTree]) -> bool {
    let [TokenTree::Punct(first), second, third, ..] = after else { return false };
    let is_separator = first.as_char() == ':' && first.spacing() == Spacing::Joint && mark_of(second) == ':';
    is_separator && (matches!(third, TokenTree::Ident(_)) || mark_of(third) == '{')
}

fn mark_of(token: &TokenTree) -> char {
    match token {
        TokenTree::Punct(mark) => mark.as_char(),
        TokenTree::Group(group) => match group.delimiter() {
            Delimiter::Parenthesis => '(',
            Delimiter::Brace => '{',
            Delimiter::Bracket => '[',
            Delimiter::None => ' ',
        },
        TokenTree::Ident(_) | TokenTree::Literal(_) => ' ',
    }
}

fn is_for_tests(attribute: &str) -> bool {
    let mut words = attribute.split(|character: char| !character.is_alphanumeric() && character != '_');
    words.next() == Some("cfg") && words.any(|word| word == "test") && !attribute.contains("not")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(code: &str) -> Vec<String> {
        names_in(code).into_iter().map(|named| named.parts.join("::")).collect()
    }

    fn tests(code: &str) -> Vec<String> {
        names_in(code).into_iter().filter(|named| named.is_test).map(|named| named.parts.join("::")).collect()
    }

    #[test]
    fn groups_are_written_out() {
        assert_eq!(
            names("use std::{fs, collections::{BTreeMap, BTreeSet}, io};"),
            ["use", "std::fs", "std::collections::BTreeMap", "std::collections::BTreeSet", "std::io"]
        );
        assert_eq!(names("{ std :: fs } x"), ["std::fs", "x"]);
        assert_eq!(names("Vec::<u8>::new(); y"), ["Vec", "u8", "new", "y"]);
    }

    #[test]
    fn comments_and_literals_name_nothing() {
        assert_eq!(names("a /* b /* c */ d */ e // f\ng"), ["a", "e", "g"]);
        assert_eq!(names(r##"f("a \" b", r#"c " d"#, b"e", 'g', '\'')"##), ["f"]);
    }

    #[test]
    fn a_name_has_its_line_and_what_stands_around_it() {
        let named = names_in("use a::{\n    b,\n};\n#[c] d.e(f!())");
        let found: Vec<_> =
            named.iter().map(|named| (named.parts.last().unwrap().as_str(), named.line)).collect();
        assert_eq!(found, [("use", 1), ("b", 2), ("c", 4), ("d", 4), ("e", 4), ("f", 4)]);
        assert_eq!((named[2].around.0, named[4].around, named[5].around.1), ('[', ('.', '('), '!'));
    }

    #[test]
    fn a_test_item_ends_with_its_block_or_semicolon() {
        assert_eq!(
            tests("fn a() {}\n#[cfg(test)]\nmod b { fn c(d: [e; 2]) { f } }\nfn g() {}"),
            ["mod", "b", "fn", "c", "d", "e", "f"]
        );
        assert_eq!(tests("#[cfg(all(test, unix))] use x::y; fn z() {}"), ["use", "x::y"]);
        for other in
            ["#[cfg(not(test))] mod m { }", "#[cfg(unix)] mod m { }", "#[cfg(feature_test_x)] mod m { }"]
        {
            assert!(tests(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn parts_must_stand_together() {
        let parts = ["std", "time", "Instant"].map(str::to_owned).to_vec();
        let named = Named { parts, line: 1, around: (' ', ' '), is_test: false };
        assert!(named.contains(&["Instant"]) && named.contains(&["time", "Instant"]));
        assert!(!named.contains(&["std", "Instant"]));
    }

    #[test]
    fn folders_and_names_tell_test_files() {
        assert!(is_test_file("crates/git/tests/merge.rs"));
        assert!(is_test_file("crates/core/src/task/tests.rs"));
        assert!(is_test_file("crates/core/src/tests/cancel.rs"));
        assert!(!is_test_file("crates/testkit/src/lib.rs"));
        assert!(!is_test_file("xtask/src/stages.rs"));
    }
}
