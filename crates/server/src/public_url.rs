//! The address under which a proxy shows the server to others.

use regatta_engine::core::Problem;
use std::fmt;
use std::str::FromStr;

/// A URL such as `https://regatta.example.com`: a host, perhaps a port, and nothing more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    authority: String,
}

impl PublicUrl {
    /// Returns what requests name as their host.
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "https://{}", self.authority)
    }
}

impl FromStr for PublicUrl {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let wrong = |why: &str| crate::answer::invalid("public-url", why);
        let rest = text.strip_prefix("https://");
        let rest = rest.ok_or_else(|| {
            wrong("must begin with `https://`: a proxy has to encrypt what it shows to others")
        })?;
        let authority = rest.strip_suffix('/').unwrap_or(rest).to_ascii_lowercase();
        let (host, port) = authority.rsplit_once(':').unwrap_or((&authority, "443"));
        let is_label = |label: &str| {
            !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        if !host.split('.').all(is_label) || port.parse::<u16>().is_err() || host == "localhost" {
            return Err(wrong(
                "must be `https://HOST` or `https://HOST:PORT`, with a public name and without a path",
            ));
        }
        // A browser leaves out the port that is understood.
        let authority = authority.strip_suffix(":443").unwrap_or(&authority).to_owned();
        Ok(PublicUrl { authority })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_a_host_behind_tls() {
        for (text, shown) in [
            ("https://regatta.example.com", "https://regatta.example.com"),
            ("https://Regatta.Example.com/", "https://regatta.example.com"),
            ("https://x.ts.net:8443", "https://x.ts.net:8443"),
            ("https://x.ts.net:443", "https://x.ts.net"),
        ] {
            assert_eq!(text.parse::<PublicUrl>().unwrap().to_string(), shown);
        }
        for text in [
            "",
            "http://example.com",
            "https://",
            "https://example.com/path",
            "https://a b",
            "https://x:99999",
            "https://me@example.com",
            "https://localhost",
            "https://example.com?x",
            "https://a..b",
            "https://[::1]",
        ] {
            assert!(text.parse::<PublicUrl>().is_err(), "{text}");
        }
    }
}
