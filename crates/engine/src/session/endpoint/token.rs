//! The token of a session: what its agent shows, and nobody else knows.

use crate::digest::hex;
use crate::error::Error;
use sha2::{Digest, Sha256};
use std::hint::black_box;
use std::path::Path;

/// As many as a key of the strongest ciphers.
const BYTES: usize = 32;

/// The longest first line of a connection.
pub(crate) const LINE_BYTES_MAX: u64 = 2 * BYTES as u64 + 2;

/// A secret; it is never printed.
pub(crate) struct Token(String);

impl Token {
    /// Makes a new one; `path` is where it is going to be kept, for an error.
    pub(crate) fn make(path: &Path) -> Result<Self, Error> {
        let mut bytes = [0_u8; BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| Error::io("make a token for", path)(std::io::Error::other(error.to_string())))?;
        Ok(Token(hex(&bytes)))
    }

    /// Returns one that was kept.
    pub(crate) fn kept(text: String) -> Self {
        Token(text)
    }

    /// Returns it as it is written.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares in constant time, so that the duration does not reveal how close a guess was.
    pub(crate) fn is(&self, shown: &str) -> bool {
        let (own, shown) = (Sha256::digest(self.0.as_bytes()), Sha256::digest(shown.as_bytes()));
        let differing = own.iter().zip(shown.iter()).fold(0_u8, |seen, (a, b)| black_box(seen | (a ^ b)));
        differing == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_differ_and_are_known_again() {
        let make = || Token::make(Path::new("token")).unwrap();
        let (one, other) = (make(), make());
        assert_eq!(one.as_str().len(), 64);
        assert!(one.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert!(one.is(one.as_str()) && !one.is(other.as_str()));
        for near in ["", &one.as_str()[1..], &one.as_str()[..63], &format!("{} ", one.as_str())] {
            assert!(!one.is(near), "{near:?}");
        }
    }
}
