//! Who made a commit and when; always passed explicitly and never read from the user's configuration.

use jiff::Timestamp;

/// Longer names and addresses are cut, so that a commit header stays a header.
const TEXT_BYTES_MAX: usize = 200;

/// An author or committer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The name to show; what a commit header cannot hold is left out when it is used.
    pub name: String,
    /// The address; treated like the name.
    pub email: String,
    /// When; part of the commit's id, so that the same request makes the same commit.
    pub at: Timestamp,
}

impl Signature {
    pub(crate) fn header_name(&self) -> String {
        clean(&self.name, "regatta")
    }

    pub(crate) fn header_email(&self) -> String {
        clean(&self.email, "regatta@localhost")
    }

    /// Returns the time in git's raw form; git has no times before 1970.
    pub(crate) fn header_date(&self) -> String {
        format!("@{} +0000", self.at.as_second().max(0))
    }
}

/// Removes what git refuses or strips from an identity, and never returns an empty text.
fn clean(text: &str, fallback: &str) -> String {
    let kept: String =
        text.chars().filter(|letter| !letter.is_control() && !"<>".contains(*letter)).collect();
    let mut end = kept.len().min(TEXT_BYTES_MAX);
    while !kept.is_char_boundary(end) {
        end -= 1;
    }
    let trimmed =
        kept[..end].trim_matches(|letter: char| letter.is_whitespace() || ".,:;\"\\'".contains(letter));
    if trimmed.is_empty() { fallback.to_owned() } else { trimmed.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::Signature;
    use jiff::Timestamp;

    #[test]
    fn a_header_cannot_be_broken_out_of() {
        let signature = Signature {
            name: "Agent <x>\nparent 123\0".to_owned(),
            email: "<>".to_owned(),
            at: Timestamp::from_second(-5).expect("a time"),
        };
        assert_eq!(signature.header_name(), "Agent xparent 123");
        assert_eq!(signature.header_email(), "regatta@localhost");
        assert_eq!(signature.header_date(), "@0 +0000");
    }

    #[test]
    fn a_long_name_is_cut_between_letters() {
        let at = Timestamp::UNIX_EPOCH;
        let signature = Signature { name: "ä".repeat(150), email: "a@b".to_owned(), at };
        assert_eq!(signature.header_name(), "ä".repeat(100));
    }
}
