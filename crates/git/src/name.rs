//! Names that cannot be wrong: branches, refs, commits and paths inside a worktree.
//!
//! Parsing is pure and follows `git check-ref-format`; nothing here runs git or touches a disk. Whatever parses
//! is safe to pass as one argument: it never begins with `-` and holds no control character.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Longer names break on file systems once `.lock` and a folder are added (255 bytes per component).
const BRANCH_BYTES_MAX: usize = 200;
/// Room for `refs/` folders before a name of the longest kind.
const REF_BYTES_MAX: usize = 240;
/// The longest path Linux takes.
const PATH_BYTES_MAX: usize = 4096;
/// Hex digits of a SHA-1 and of a SHA-256 object name.
const COMMIT_DIGITS: [usize; 2] = [40, 64];

/// A name that breaks git's rules, and which one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {kind}: {why}")]
pub struct NameError {
    /// The refused text, cut to a readable length.
    pub text: String,
    /// What it should have been.
    pub kind: &'static str,
    /// The rule it breaks.
    pub why: &'static str,
}

macro_rules! text_type {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $check:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Parses the text, or says which rule it breaks.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                match $check(text) {
                    Ok(()) => Ok(Self(text.to_owned())),
                    Err(why) => Err(NameError { text: text.chars().take(80).collect(), kind: $kind, why }),
                }
            }

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = NameError;
            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::parse(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;
            fn try_from(text: String) -> Result<Self, NameError> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }
    };
}

text_type!(
    /// The short name of a branch, as `git check-ref-format --branch` accepts it.
    BranchName,
    "branch name",
    check_branch
);
text_type!(
    /// The full name of a ref, beginning with `refs/`.
    RefName,
    "ref name",
    check_ref
);
text_type!(
    /// The full object name of a commit: 40 or 64 lower-case hex digits.
    CommitId,
    "commit id",
    check_commit
);
text_type!(
    /// A path below a worktree's root that cannot leave it or reach into `.git`.
    RelativePath,
    "relative path",
    check_path
);

impl BranchName {
    /// Returns the full name, `refs/heads/<name>`.
    pub fn to_ref(&self) -> RefName {
        RefName(format!("refs/heads/{}", self.0))
    }
}

impl RefName {
    /// Returns the name one level deeper, `<self>/<number>`.
    pub(crate) fn numbered(&self, number: u64) -> Self {
        Self(format!("{}/{number}", self.0))
    }
}

impl CommitId {
    /// Returns the first digits, for showing to people.
    pub fn short(&self) -> &str {
        &self.0[..10]
    }
}

impl RelativePath {
    /// Tells whether the slash-separated path is this one or lies below it.
    pub(crate) fn covers(&self, path: &[u8]) -> bool {
        path.strip_prefix(self.0.as_bytes()).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }
}

fn check_branch(text: &str) -> Result<(), &'static str> {
    if text.len() > BRANCH_BYTES_MAX {
        return Err("it is longer than 200 bytes");
    }
    if text.starts_with('-') {
        return Err("it begins with '-'");
    }
    if text == "HEAD" {
        return Err("HEAD is not a branch");
    }
    if text == "@" {
        return Err("it is a single '@'");
    }
    check_components(text)
}

fn check_ref(text: &str) -> Result<(), &'static str> {
    if text.len() > REF_BYTES_MAX {
        return Err("it is longer than 240 bytes");
    }
    if !text.starts_with("refs/") {
        return Err("it does not begin with refs/");
    }
    check_components(text)
}

fn check_components(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.contains("..") {
        return Err("it holds '..'");
    }
    if text.contains("@{") {
        return Err("it holds '@{'");
    }
    if text.ends_with('.') {
        return Err("it ends with '.'");
    }
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err("it holds a control character");
    }
    if text.bytes().any(|byte| b" ~^:?*[\\".contains(&byte)) {
        return Err("it holds a space or one of ~ ^ : ? * [ \\");
    }
    for component in text.split('/') {
        if component.is_empty() {
            return Err("it begins or ends with '/', or holds '//'");
        }
        if component.starts_with('.') {
            return Err("a part of it begins with '.'");
        }
        if component.ends_with(".lock") {
            return Err("a part of it ends with '.lock'");
        }
    }
    Ok(())
}

fn check_commit(text: &str) -> Result<(), &'static str> {
    if !COMMIT_DIGITS.contains(&text.len()) {
        return Err("it does not have 40 or 64 digits");
    }
    if !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return Err("it holds something other than lower-case hex digits");
    }
    Ok(())
}

fn check_path(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.len() > PATH_BYTES_MAX {
        return Err("it is longer than 4096 bytes");
    }
    if text.contains('\0') {
        return Err("it holds a NUL");
    }
    if text.starts_with('/') {
        return Err("it is absolute");
    }
    for component in text.split('/') {
        match component {
            "" => return Err("it ends with '/' or holds '//'"),
            "." => return Err("a part of it is '.'"),
            ".." => return Err("a part of it is '..'"),
            _ if component.eq_ignore_ascii_case(".git") => return Err("a part of it is '.git'"),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{BranchName, CommitId, RefName, RelativePath};

    #[test]
    fn a_refused_branch_says_which_rule_it_breaks() {
        for (text, why) in [
            ("", "it is empty"),
            ("-x", "it begins with '-'"),
            ("HEAD", "HEAD is not a branch"),
            ("@", "it is a single '@'"),
            ("a..b", "it holds '..'"),
            ("a@{1}", "it holds '@{'"),
            ("a.", "it ends with '.'"),
            ("a b", "it holds a space or one of ~ ^ : ? * [ \\"),
            ("a\nb", "it holds a control character"),
            ("a//b", "it begins or ends with '/', or holds '//'"),
            ("a/", "it begins or ends with '/', or holds '//'"),
            ("a/.b", "a part of it begins with '.'"),
            ("a.lock/b", "a part of it ends with '.lock'"),
        ] {
            assert_eq!(BranchName::parse(text).expect_err(text).why, why, "{text:?}");
        }
        assert!(BranchName::parse(&"x".repeat(201)).is_err());
        assert_eq!(
            BranchName::parse("task/12-ä").expect("a branch").to_ref().as_str(),
            "refs/heads/task/12-ä"
        );
    }

    #[test]
    fn a_ref_begins_with_refs() {
        assert!(RefName::parse("refs/regatta/salvage/12").is_ok());
        assert!(RefName::parse("heads/main").is_err());
        assert!(RefName::parse("refs/").is_err());
    }

    #[test]
    fn a_commit_has_40_or_64_lower_case_digits() {
        assert!(CommitId::parse(&"0a".repeat(20)).is_ok());
        assert!(CommitId::parse(&"0a".repeat(32)).is_ok());
        assert!(CommitId::parse(&"0A".repeat(20)).is_err());
        assert!(CommitId::parse("abc").is_err());
    }

    #[test]
    fn a_relative_path_stays_inside_and_out_of_git() {
        for good in [".env", "a/b.txt", ".gitignore", "a/...", "-x"] {
            assert!(RelativePath::parse(good).is_ok(), "{good:?}");
        }
        for bad in ["", "/a", "..", "a/../b", "./a", "a//b", "a/", ".git/config", "sub/.GIT/x", "a\0b"] {
            assert!(RelativePath::parse(bad).is_err(), "{bad:?}");
        }
        let folder = RelativePath::parse("a/b").expect("a path");
        assert!(folder.covers(b"a/b") && folder.covers(b"a/b/c"));
        assert!(!folder.covers(b"a/bc") && !folder.covers(b"a"));
    }
}
