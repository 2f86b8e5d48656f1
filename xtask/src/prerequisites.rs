//! What the tests need besides cargo: a git program that is new enough, bubblewrap for the sandbox, and a browser.
//!
//! On Debian, as root (a CI container), they are installed; anywhere else the user is asked to, because a
//! test should not install software on somebody's machine.

use std::path::Path;

use crate::error::Error;
use crate::program::Program;
use crate::stage::Verdict;

/// The oldest git that will do: the first with `merge-tree --write-tree`.
const GIT_NEEDED: (u32, u32) = (2, 38);

/// Makes sure that git is there and new enough.
pub(crate) fn ensure_git(root: &Path) -> Result<Verdict, Error> {
    if is_enough(find_git(root)) {
        return Ok(Verdict::Passed);
    }
    if can_install(root) {
        Program::new("apt-get", &["update"]).run(root)?;
        Program::new("apt-get", &["install", "-y", "git"]).run(root)?;
    }
    let found = find_git(root);
    if is_enough(found) { Ok(Verdict::Passed) } else { Err(explain(found)) }
}

/// Makes sure that bubblewrap is there, if that can be done: without it, tests of the sandbox pass over and say so.
pub(crate) fn ensure_sandbox(root: &Path) -> Result<Verdict, Error> {
    let is_there = || Program::new("bwrap", &["--version"]).read(root).is_ok();
    if !is_there() && can_install(root) {
        Program::new("apt-get", &["update"]).run(root)?;
        Program::new("apt-get", &["install", "-y", "bubblewrap"]).run(root)?;
    }
    if is_there() {
        return Ok(Verdict::Passed);
    }
    Ok(Verdict::Skipped("bubblewrap is not installed; tests of the sandbox pass over"))
}

/// Makes sure that Chromium and its driver are there, if that can be done: without them, tests of the pages pass over and say so.
pub(crate) fn ensure_browser(root: &Path) -> Result<Verdict, Error> {
    if !has_browser(root) && can_install(root) {
        Program::new("apt-get", &["update"]).run(root)?;
        Program::new("apt-get", &["install", "-y", "--no-install-recommends", "chromium", "chromium-driver"])
            .run(root)?;
    }
    if has_browser(root) {
        return Ok(Verdict::Passed);
    }
    Ok(Verdict::Skipped("chromium and chromium-driver are not installed; tests of the pages pass over"))
}

/// Tells whether the tests of the pages find their browser.
pub(crate) fn has_browser(root: &Path) -> bool {
    ["chromium", "chromedriver"].iter().all(|name| Program::new(name, &["--version"]).succeeds(root))
}

fn find_git(root: &Path) -> Option<(u32, u32)> {
    let printed = Program::new("git", &["version"]).read(root).ok()?;
    parse_version(&String::from_utf8_lossy(&printed))
}

/// Tells whether packages of the system can be installed: on Debian, as root.
pub(crate) fn can_install(root: &Path) -> bool {
    let is_root = Program::new("id", &["-u"]).read(root).is_ok_and(|printed| printed.trim_ascii() == b"0");
    is_root && Path::new("/etc/debian_version").exists()
}

fn is_enough(found: Option<(u32, u32)>) -> bool {
    found.is_some_and(|found| found >= GIT_NEEDED)
}

fn explain(found: Option<(u32, u32)>) -> Error {
    let (major, minor) = GIT_NEEDED;
    let found = match found {
        Some((major, minor)) => format!("git {major}.{minor} is there"),
        None => "no usable `git` was found on PATH".to_owned(),
    };
    Error::Git { found, needed: format!("{major}.{minor}") }
}

/// Reads `git version 2.39.5 (Apple Git-154)` as `(2, 39)`.
fn parse_version(printed: &str) -> Option<(u32, u32)> {
    let mut numbers = printed.trim().strip_prefix("git version ")?.split(['.', ' ', '-']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let enough = |printed| is_enough(parse_version(printed));
        assert!(enough("git version 2.38.0\n"));
        assert!(enough("git version 2.39.5 (Apple Git-154)"));
        assert!(enough("git version 3.0.0-rc1"));
        assert!(!enough("git version 2.37.9"));
        assert!(!enough("git version 2.9.1"));
        assert!(!enough("something else"));
    }

    #[test]
    fn the_message_says_what_is_there_and_what_is_needed() {
        let message = |found| explain(found).to_string();
        assert!(message(Some((2, 30))).starts_with("git 2.38 or newer is needed, and git 2.30 is there;"));
        assert!(message(None).contains("no usable `git` was found on PATH"));
    }
}
