//! The oldest supported git, and the version of the installed one.

use crate::command::Git;
use crate::error::Error;

/// The first version with `merge-tree --write-tree -z --name-only` as it is used here.
pub(crate) const NEEDED: &str = "2.38";
const NEEDED_NUMBERS: (u32, u32) = (2, 38);

/// Refuses a git that is missing or older than [`NEEDED`].
pub(crate) async fn check() -> Result<(), Error> {
    let git = Git::anywhere().arg("version");
    let printed = git.text().await?;
    match parse(&printed) {
        Some(found) if found >= NEEDED_NUMBERS => Ok(()),
        _ => Err(Error::TooOld {
            found: printed.trim_start_matches("git version ").to_owned(),
            needed: NEEDED,
        }),
    }
}

/// Reads `git version 2.39.5 (Apple Git-154)` as `(2, 39)`.
fn parse(printed: &str) -> Option<(u32, u32)> {
    let mut numbers = printed.trim().strip_prefix("git version ")?.split(['.', ' ', '-']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{NEEDED_NUMBERS, parse};

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(parse("git version 2.47.3"), Some((2, 47)));
        assert_eq!(parse("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(parse("git version 2.50.0-rc1"), Some((2, 50)));
        assert_eq!(parse("hub 2"), None);
        assert!(parse("git version 2.9.1").expect("a version") < NEEDED_NUMBERS);
        assert!(parse("git version 3.0.0").expect("a version") >= NEEDED_NUMBERS);
    }
}
